from __future__ import annotations

import pytest
from support.scoring_calls import details_of, score_of

from datbench import SOURCE_DATASETS

NAME = "refcoco_testA"
BOX = [0.2, 0.3, 0.6, 0.8]


@pytest.mark.parametrize(
    ("output", "box"),
    [
        ("[200, 300, 600, 800]", BOX),
        ("[0.2 0.3 0.6 0.8]", BOX),
        ("\\boxed{200,300,600,800} [1,1,1,1]", BOX),
        ("\\boxed{1,1,1,1} \\boxed{200,300,600,800}", BOX),
        ("\\boxed{1,1,1,1} \\boxed{} [200, 300, 600, 800]", BOX),  # an empty box counts, and holds no box
        ("\\boxed{1,2,3} [200, 300, 600, 800]", BOX),
        ("[] [200, 300, 600, 800]", BOX),
        ("[[200, 300, 600, 800], [1, 1, 1, 1]]", BOX),
        ("[200,\n300, 600, 800, 5]", BOX),
        ("[a] [200, 300, 600, 800]", [0.0] * 4),
        ("[[1, 2], [3, 4]]", [0.0] * 4),
        ("(200,300),(600,800)", [0.0] * 4),
        ("[1, 2, 3, 4", [0.0] * 4),
        ('[{"bbox_2d": [200, 300, 600, 800]}]', [0.002, 0.2, 0.3, 0.6]),
        ("[.5, .5, 1, 1]", [0.005, 0.005, 0.001, 0.001]),
        ("[2e2, 1,200]", [0.002, 0.002, 0.001, 0.2]),
        ("[10-20, 30-40]", [0.01, 0.0, 0.03, 0.0]),
        ("[1.5, -0.5, 0.5, 0.5]", [1.0, 0.0, 0.5, 0.5]),
        ("[-2, 1, 1, 1]", [0.0, 0.001, 0.001, 0.001]),
        ("[1.6, 0, 0, 0]", [0.0016, 0.0, 0.0, 0.0]),
        (f"[{'9' * 400}, -{'9' * 400}, 0, 0]", [1.0, 0.0, 0.0, 0.0]),
        ("", [0.0] * 4),
        (None, [0.0] * 4),
    ],
)
def test_parsing(output, box):
    assert details_of(NAME, output, bbox=BOX)["pred_bbox"] == pytest.approx(box, abs=1e-12)


def test_thresholds_are_hit_exactly():
    details = details_of(NAME, "[0, 0, 1, 0.5]", bbox=[0, 0, 1, 1, 7])
    assert (details["iou"], details["score"], details["gt_bbox"]) == (0.5, 1.0, [0, 0, 1, 1, 7])
    assert [details[f"recall@{t}"] for t in (0.3, 0.5, 0.7)] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("output", "box", "iou", "centre"),
    [
        ("[0.6, 0.8, 0.2, 0.3]", BOX, 0.0, 1.0),  # reversed corners keep their centre
        ("nothing", [0, 0, 1, 1], 0.0, 1.0),  # an unparsed output has its centre at 0, 0
        ("nothing", BOX, 0.0, 0.0),
        ("[0.5, 0.5, 0.5, 0.5]", [0.5, 0.5, 0.5, 0.5], 0.0, 1.0),
        ("[0.6, 0.8, 0.9, 0.9]", BOX, 0.0, 0.0),
        ("[0.2, 0.3, 0.6, 0.8]", [0.6, 0.8, 0.2, 0.3], 0.0, 0.0),  # the truth is not reordered either
        ("[0.2, 0.3, 0.6, 0.8]", [200, 300, 600, 800], 0.0, 0.0),  # nor scaled
    ],
)
def test_degenerate_boxes(output, box, iou, centre):
    details = details_of(NAME, output, bbox=box)
    assert (details["iou"], details["center_acc"]) == (iou, centre)


@pytest.mark.parametrize("box", [None, [1, 2, 3], "0.1,0.2,0.3,0.4", [0, 0, 1, "1"], [0, 0, 1, True], [10**400] * 4])
def test_a_malformed_box_is_refused(box):
    with pytest.raises(ValueError, match=r"row-1.*bbox"):
        score_of(NAME, "[1,2,3,4]", bbox=box)


def test_metrics():
    scorer = SOURCE_DATASETS[NAME]
    assert scorer.compute_metrics([]) == {}
    items = [details_of(NAME, output, bbox=[0, 0, 1, 1]) for output in ("[0, 0, 1, 1]", "[0, 0, 0.5, 0.5]")]
    assert scorer.compute_metrics(items) == {
        "recall@0.3": 0.5, "recall@0.5": 0.5, "recall@0.7": 0.5, "iou_mean": 0.625, "iou": 0.625, "center_acc": 1.0,
    }  # fmt: skip
