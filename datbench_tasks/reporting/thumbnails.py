"""Small pictures for the page."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

SIDE = 384
"""Longest side in pixels: charts stay readable, 45,000 of them stay under half a gigabyte."""

QUALITY = 60


def thumbnail(image: Image.Image) -> bytes | None:
    """WebP of an image, at most ``SIDE`` pixels wide and high, transparent parts white; None if it cannot be decoded.

    The image is read to the size needed, so that a JPEG of 50 megapixels costs no 50 megapixels.
    """
    from PIL import Image as pillow

    try:
        image.draft("RGB", (SIDE, SIDE))
        small = image.convert("RGBA") if "A" in image.getbands() or "transparency" in image.info else image
        small = small.convert(small.mode if small.mode == "RGBA" else "RGB")
        small.thumbnail((SIDE, SIDE))
        if small.mode == "RGBA":
            paper = pillow.new("RGB", small.size, "white")
            paper.paste(small, mask=small.getchannel("A"))
            small = paper
        target = io.BytesIO()
        small.save(target, "WEBP", quality=QUALITY, method=2)
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError):
        return None
    return target.getvalue()
