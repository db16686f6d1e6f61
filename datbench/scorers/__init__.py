"""The table of the source datasets and their scorers."""

from __future__ import annotations

from datbench.scorers.base import Scorer
from datbench.scorers.cc_ocr import CC_OCR_DOC_PARSING, CC_OCR_KIE
from datbench.scorers.charts import CHARTQA, CHARTQAPRO
from datbench.scorers.charxiv import CHARXIV
from datbench.scorers.counting import COUNTBENCH, TALLYQA
from datbench.scorers.documents import DOCVQA, INFOVQA, OCR_VQA
from datbench.scorers.logicvista import LOGICVISTA
from datbench.scorers.mathverse import MATHVERSE
from datbench.scorers.mathvision import MATHVISION
from datbench.scorers.mathvista import MATHVISTA
from datbench.scorers.mme_realworld import MME_REALWORLD
from datbench.scorers.multiple_choice import AI2D, MMBENCH, MMMU, MMMUPRO
from datbench.scorers.ocrbench_v2 import OCRBENCH_V2
from datbench.scorers.pixmo_points import PIXMO_POINTS
from datbench.scorers.realworldqa import REALWORLDQA
from datbench.scorers.refcoco import REFCOCO
from datbench.scorers.scene_text import CC_OCR_SCENE, TEXT_VQA
from datbench.scorers.vqa_v2 import VQA_V2

SOURCE_DATASETS: dict[str, Scorer] = {
    "pixmo_points_eval": PIXMO_POINTS,
    "refcoco_testA": REFCOCO,
    "refcoco_testB": REFCOCO,
    "refcoco_plus_testA": REFCOCO,
    "refcoco_plus_testB": REFCOCO,
    "refcoco_m_val": REFCOCO,
    "refcocog_test": REFCOCO,
    "docvqa": DOCVQA,
    "ocr-vqa": OCR_VQA,
    "infovqa": INFOVQA,
    "cc-ocr-doc_parsing": CC_OCR_DOC_PARSING,
    "cc-ocr-kie": CC_OCR_KIE,
    "ocrbench-v2": OCRBENCH_V2,
    "countbench": COUNTBENCH,
    "tallyqa": TALLYQA,
    "text-vqa": TEXT_VQA,
    "cc-ocr-multi_scene_ocr": CC_OCR_SCENE,
    "vqa-v2": VQA_V2,
    "ai2d": AI2D,
    "mmbench": MMBENCH,
    "mmmu": MMMU,
    "mmmupro": MMMUPRO,
    "realworldqa": REALWORLDQA,
    "mme-realworld-ocr": MME_REALWORLD,
    "mme-realworld-ad": MME_REALWORLD,
    "mme-realworld-mo": MME_REALWORLD,
    "mme-realworld-dt": MME_REALWORLD,
    "chartqa": CHARTQA,
    "chartqapro": CHARTQAPRO,
    "charxiv_descriptive": CHARXIV,
    "charxiv_reasoning": CHARXIV,
    "mathvista": MATHVISTA,
    "mathverse_reasoning": MATHVERSE,
    "mathverse_wo": MATHVERSE,
    "mathvision": MATHVISION,
    "logicvista": LOGICVISTA,
}
"""Source dataset (name compared exactly) -> its scoring rule."""
