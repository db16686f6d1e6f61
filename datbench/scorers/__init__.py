"""The table of the 36 source datasets and their scorers."""

from __future__ import annotations

import importlib

from datbench.scorers.base import Scorer

_WHERE: dict[str, tuple[str, str]] = {
    "pixmo_points_eval": ("pixmo_points", "PIXMO_POINTS"),
    "refcoco_testA": ("refcoco", "REFCOCO"),
    "refcoco_testB": ("refcoco", "REFCOCO"),
    "refcoco_plus_testA": ("refcoco", "REFCOCO"),
    "refcoco_plus_testB": ("refcoco", "REFCOCO"),
    "refcoco_m_val": ("refcoco", "REFCOCO"),
    "refcocog_test": ("refcoco", "REFCOCO"),
    "docvqa": ("documents", "DOCVQA"),
    "ocr-vqa": ("documents", "OCR_VQA"),
    "infovqa": ("documents", "INFOVQA"),
    "cc-ocr-doc_parsing": ("cc_ocr", "CC_OCR_DOC_PARSING"),
    "cc-ocr-kie": ("cc_ocr", "CC_OCR_KIE"),
    "ocrbench-v2": ("ocrbench_v2", "OCRBENCH_V2"),
    "countbench": ("counting", "COUNTBENCH"),
    "tallyqa": ("counting", "TALLYQA"),
    "text-vqa": ("scene_text", "TEXT_VQA"),
    "cc-ocr-multi_scene_ocr": ("scene_text", "CC_OCR_SCENE"),
    "vqa-v2": ("vqa_v2", "VQA_V2"),
    "ai2d": ("multiple_choice", "AI2D"),
    "mmbench": ("multiple_choice", "MMBENCH"),
    "mmmu": ("multiple_choice", "MMMU"),
    "mmmupro": ("multiple_choice", "MMMUPRO"),
    "realworldqa": ("realworldqa", "REALWORLDQA"),
    "mme-realworld-ocr": ("mme_realworld", "MME_REALWORLD"),
    "mme-realworld-ad": ("mme_realworld", "MME_REALWORLD"),
    "mme-realworld-mo": ("mme_realworld", "MME_REALWORLD"),
    "mme-realworld-dt": ("mme_realworld", "MME_REALWORLD"),
    "chartqa": ("charts", "CHARTQA"),
    "chartqapro": ("charts", "CHARTQAPRO"),
    "charxiv_descriptive": ("charxiv", "CHARXIV"),
    "charxiv_reasoning": ("charxiv", "CHARXIV"),
    "mathvista": ("mathvista", "MATHVISTA"),
    "mathverse_reasoning": ("mathverse", "MATHVERSE"),
    "mathverse_wo": ("mathverse", "MATHVERSE"),
    "mathvision": ("mathvision", "MATHVISION"),
    "logicvista": ("logicvista", "LOGICVISTA"),
}


def _load() -> dict[str, Scorer]:  # until every family has landed
    table = {}
    for dataset, (module, name) in _WHERE.items():
        try:
            table[dataset] = getattr(importlib.import_module(f"datbench.scorers.{module}"), name)
        except (ImportError, AttributeError):
            continue
    return table


SOURCE_DATASETS: dict[str, Scorer] = _load()
"""Every source dataset that has a scoring rule of its own."""
