"""The HTML page of a run: tables, pictures and every sample, with no network and no trust in what the samples say.

Up to ``INLINE_LIMIT`` bytes the page is one file. Above, samples and thumbnails lie in ``<page>_files/<version>/``
beside it and are loaded by script and image elements, since a page opened from disk may not fetch. The version is a
hash of the content: an old page keeps its own folder until the new page is in place.

No text of a sample becomes markup: samples travel as JSON and ``assets/page.js`` sets them as text. The content
security policy allows the one script and the one style sheet by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

from datbench.jsonio import scratch_beside, write_atomically
from datbench_tasks.reporting.page_data import STATES, TEXT_LIMIT, embed, sample_data
from datbench_tasks.reporting.page_overview import overview
from datbench_tasks.reporting.report import Report
from datbench_tasks.reporting.thumbnails import thumbnail
from datbench_tasks.sample_logs import Sample

if TYPE_CHECKING:
    from PIL import Image

INLINE_LIMIT = 20_000_000
"""Bytes of samples and thumbnails that the page itself may hold."""

Images = Callable[[str], "Image.Image | None"]
"""Sample id -> its image, None if there is none."""

ASSETS = Path(__file__).with_name("assets")

_VERSION = re.compile(r"[0-9a-f]{16}")


def write_page(
    report: Report,
    path: str | os.PathLike[str],
    *,
    samples: Iterable[Sample],
    other: Report | None = None,
    images: Images | None = None,
) -> None:
    """Write the page, and the folder beside it where that is needed.

    Args:
        report: the numbers of the run.
        path: of the page.
        samples: all of the run, streamed; those of one capability keep their order.
        other: the numbers of a second run, shown beside the first.
        images: where thumbnails come from.
    """
    path = Path(path)
    with scratch_beside(path) as scratch:
        parts = _write_parts(samples, images, scratch)
        inline = sum(part.size for part in parts) <= INLINE_LIMIT
        folder = None if inline else _move_beside(scratch, path, parts)
        values = {
            "report": embed(overview(report, other) | _contents(parts, folder)),
            "parts": "\n".join(_inline(parts, scratch)) if inline else "",
        }
        write_atomically(path, lambda file: _fill_template(file, values, inline))
    _remove_versions(_folder_of(path), keep=folder)


@dataclass
class _Part:
    """The samples of one capability, as they were written."""

    number: int
    capability: str
    file: IO[str]
    count: int = 0
    size: int = 0
    digest: Any = field(default_factory=hashlib.sha256)
    thumbnails: dict[bytes, int] = field(default_factory=dict)

    def add(self, data: dict[str, Any]) -> None:
        line = ("," if self.count else "") + "\n" + embed(data)
        self.file.write(line)
        self.count += 1
        self._counted(line.encode())

    def add_thumbnail(self, content: bytes, folder: Path) -> int:
        """Number of the thumbnail among those of this part; equal ones are kept once."""
        key = hashlib.sha256(content).digest()
        if key not in self.thumbnails:
            number = self.thumbnails[key] = len(self.thumbnails)
            target = _thumbnails(folder, self.number) / f"{number}.webp"
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(content)
            self._counted(content)
        return self.thumbnails[key]

    def _counted(self, content: bytes) -> None:
        self.size += len(content)
        self.digest.update(content)


def _write_parts(samples: Iterable[Sample], images: Images | None, folder: Path) -> list[_Part]:
    parts: dict[str, _Part] = {}
    try:
        for sample in samples:
            capability = sample.record["capability"]
            part = parts.get(capability)
            if part is None:
                file = _samples(folder, len(parts)).open("w", encoding="utf-8", newline="\n")
                part = parts[capability] = _Part(len(parts), capability, file)
                file.write(_opening(part))
            data = sample_data(sample)
            image = images(sample.record["id"]) if images else None
            small = thumbnail(image) if image is not None else None
            if small is not None:
                data["thumbnail"] = part.add_thumbnail(small, folder)
            part.add(data)
        for part in parts.values():
            part.file.write(_CLOSING)
    finally:
        for part in parts.values():
            part.file.close()
    return list(parts.values())


def _opening(part: _Part) -> str:
    return f"datbenchPart({part.number},["


_CLOSING = "\n]);\n"


def _samples(folder: Path, number: int) -> Path:
    return folder / f"part-{number}.js"


def _thumbnails(folder: Path, number: int) -> Path:
    return folder / f"images-{number}"


def _contents(parts: Iterable[_Part], folder: Path | None) -> dict[str, Any]:
    """What the page knows of its samples before it has read them."""
    place = folder and {
        "name": folder.parent.name,
        "address": "/".join(quote(os.fsencode(name)) for name in (folder.parent.name, folder.name)),
    }
    return {
        "parts": [{"capability": part.capability, "count": part.count} for part in parts],
        "folder": place,
        "megabytes": round(sum(part.size for part in parts) / 1e6),
        "states": STATES,
        "textLimit": TEXT_LIMIT,
    }


def _inline(parts: Iterable[_Part], folder: Path) -> Iterator[str]:
    """Script elements that are data: the samples of each part, and its thumbnails in base64."""
    for part in parts:
        text = _samples(folder, part.number).read_text(encoding="utf-8")
        samples = text.removeprefix(_opening(part)).removesuffix(_CLOSING)
        yield _data_element(f"part-{part.number}", f"[{samples}\n]")
        contents = (
            (_thumbnails(folder, part.number) / f"{number}.webp").read_bytes() for number in part.thumbnails.values()
        )
        yield _data_element(f"images-{part.number}", embed([base64.b64encode(item).decode() for item in contents]))


def _data_element(name: str, content: str) -> str:
    return f'<script type="application/json" id="{name}">{content}</script>'


def _folder_of(page: Path) -> Path:
    return page.with_name(f"{page.stem}_files")


def _move_beside(scratch: Path, page: Path, parts: Iterable[_Part]) -> Path:
    digest = hashlib.sha256(b"".join(part.digest.digest() for part in parts))
    folder = _folder_of(page) / digest.hexdigest()[:16]
    folder.parent.mkdir(exist_ok=True)
    if not folder.exists():
        scratch.chmod(0o755)
        scratch.rename(folder)
        scratch.mkdir()
    return folder


def _remove_versions(folder: Path, keep: Path | None) -> None:
    """Remove what earlier pages of this name left behind, and nothing else."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry != keep and _VERSION.fullmatch(entry.name):
            shutil.rmtree(entry)
    if not any(folder.iterdir()):
        folder.rmdir()


def _fill_template(file: IO[str], values: Mapping[str, str], inline: bool) -> None:
    """Fill the template in one pass, so that no value is read as a template in turn."""
    script, style, template = (
        (ASSETS / name).read_text(encoding="utf-8") for name in ("page.js", "page.css", "template.html")
    )
    filled = {**values, "script": script, "style": style, "policy": _policy(script, style, inline)}
    file.writelines(
        filled[piece] if position % 2 else piece for position, piece in enumerate(re.split(r"\{\{(\w+)\}\}", template))
    )


def _policy(script: str, style: str, inline: bool) -> str:
    folder = "" if inline else " 'self'"
    return (
        f"default-src 'none'; script-src {_hash(script)}{folder}; style-src {_hash(style)}; img-src data:{folder}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
