"""The nine capabilities of DatBench and the source datasets that feed each of them."""

from __future__ import annotations

SOURCE_DATASETS_BY_CAPABILITY: dict[str, tuple[str, ...]] = {
    "chart": ("chartqa", "chartqapro", "charxiv_descriptive", "charxiv_reasoning", "infovqa"),
    "counting": ("countbench", "tallyqa"),
    "document": ("cc-ocr-doc_parsing", "cc-ocr-kie", "docvqa", "ocr-vqa", "ocrbench-v2"),
    "general": ("mmbench", "mmmu", "mmmupro", "vqa-v2"),
    "grounding": (
        "pixmo_points_eval",
        "refcoco_m_val",
        "refcoco_plus_testA",
        "refcoco_plus_testB",
        "refcoco_testA",
        "refcoco_testB",
        "refcocog_test",
    ),
    "math": ("logicvista", "mathverse_reasoning", "mathverse_wo", "mathvision", "mathvista"),
    "scene": ("cc-ocr-multi_scene_ocr", "mme-realworld-ocr", "text-vqa"),
    "spatial": ("mme-realworld-ad", "mme-realworld-mo", "realworldqa"),
    "table": ("ai2d", "mme-realworld-dt"),
}
"""Capability -> its source datasets, as published (arXiv 2601.02316); both in alphabetical order."""

CAPABILITIES: tuple[str, ...] = tuple(SOURCE_DATASETS_BY_CAPABILITY)
"""The capabilities, which are also the config names of the dataset."""
