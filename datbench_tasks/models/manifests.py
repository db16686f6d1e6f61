"""Our models as lmms-eval's registry wants them."""

from __future__ import annotations

from typing import Any

MODELS = {"datbench_ocr": ("ocr", "Ocr"), "datbench_replay": ("replay", "Replay")}
"""Name for ``--model`` -> (module in this package, class of the simple model; the chat model ends in ``Chat``)."""


def model_manifests() -> list[Any]:
    """A ``ModelManifest`` for each of our models; imports no model."""
    from lmms_eval.models.registry_v2 import ModelManifest

    paths = {name: f"{__package__}.{module}.{cls}" for name, (module, cls) in MODELS.items()}
    return [ModelManifest(name, simple_class_path=path, chat_class_path=f"{path}Chat") for name, path in paths.items()]
