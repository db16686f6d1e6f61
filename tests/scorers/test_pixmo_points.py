from __future__ import annotations

import pytest
from support.scoring_calls import details_of

from datbench import SOURCE_DATASETS

NAME = "pixmo_points_eval"
FULL = [[1] * 10] * 10
LEFT = [[True] * 5 + [False] * 5] * 10
RIGHT = [[False] * 5 + [True] * 5] * 10


def details(output, targets=((0.5, 0.5),), masks=(FULL,), has_target=True):
    return details_of(
        NAME,
        output,
        points_target=[list(t) if isinstance(t, tuple) else t for t in targets],
        points_mask=list(masks) if isinstance(masks, tuple) else masks,
        has_target=has_target,
    )


@pytest.mark.parametrize(
    ("output", "points"),
    [
        ("(100, 200)", [[0.1, 0.2]]),
        ("[100 , 200] (300,400)", [[0.3, 0.4]]),  # round pairs win alone
        ("( 100, 200) [300,400]", [[0.3, 0.4]]),
        ("[100, 200] [300,400]", [[0.1, 0.2], [0.3, 0.4]]),
        ("at 100,200 and 300 , 400", [[0.1, 0.2], [0.3, 0.4]]),
        ("100 200", []),
        ("\\boxed{100 200}", [[0.1, 0.2]]),
        ("\\boxed{125,250 525,450}", [[0.125, 0.25], [0.525, 0.45], [0.25, 0.525]]),
        ("\\boxed{1,1} \\boxed{100,200} \\boxed{} \\boxed{none}", [[0.1, 0.2]]),
        ("\\boxed{1,1", [[1.0, 1.0]]),
        ("(0.5, 1)", [[0.5, 1.0]]),
        ("(0.5, 1.5)", [[0.0005, 0.0015]]),
        ("(-5, 2000)", [[0.005, 1.0]]),
        (f"({'9' * 400}, 1)", [[1.0, 0.001]]),
        ("(x=1, y=2)", []),
        ('{"x": 1, "y": 2}', []),
        ("1\uff0c2", []),
        ("5%, 6%", []),
        ("1,2,3,4", [[0.001, 0.002], [0.003, 0.004]]),
        ("12.5.1,3", [[0.0051, 0.003]]),
        ("", []),
    ],
)
def test_predicted_points(output, points):
    expected = [pytest.approx(point, abs=1e-12) for point in points]
    assert details(output)["predicted_points"] == expected


@pytest.mark.parametrize(
    ("target", "points"),
    [
        ({"x": 0.5, "y": 1}, [[0.5, 1.0]]),
        ({"x": 1, "y": 1.01}, [[0.01, 0.0101]]),
        ([100, 50, 7], [[1.0, 0.5]]),
        ([101, 50], [[0.101, 0.05]]),
        ([2000, 0], [[1.0, 0.0]]),
        ([101, -1], []),
        ([50, -1], [[0.5, 0.0]]),
        (["50", "25"], [[0.5, 0.25]]),
        (["a", 1], []),
        ([1], []),
        ({"x": 1}, []),
        (None, []),
        (float("nan"), []),
    ],
)
def test_target_points(target, points):
    expected = [pytest.approx(point, abs=1e-12) for point in points]
    assert details("(1,1)", [target])["ground_truth_points"] == expected


def test_a_dropped_target_keeps_its_mask():
    """The next target is then held against the wrong mask."""
    assert details("(900,500)", [(0.9, 0.5)], (RIGHT,))["score"] == 1.0
    assert details("(900,500)", [None, (0.9, 0.5)], (LEFT, RIGHT))["score"] == 0.0


def test_score_is_the_harmonic_mean_of_precision_and_recall():
    found = details("(100,500) (200,500) (900,500)", [(0.1, 0.5), (0.9, 0.5)], (LEFT, RIGHT))
    assert (found["precision"], found["recall"]) == (2 / 3, 1.0)
    assert found["score"] == pytest.approx(0.8, abs=1e-12)


def test_pairs_have_the_least_total_distance_not_the_nearest():
    found = details("(400,500) (600,500)", [(0.55, 0.5), (0.9, 0.5)], (LEFT, RIGHT))
    assert found["score"] == 1.0


def test_missing_masks_count_as_misses():
    assert details("(100,500) (900,500)", [(0.1, 0.5), (0.9, 0.5)], (LEFT,))["score"] == 0.5


@pytest.mark.parametrize("masks", [None, (None,), ([[1], []],), (5,), {"a": 1}])
def test_malformed_masks_score_zero(masks):
    found = details("(0.5, 0.5)", [(0.5, 0.5)], masks)
    assert (found["score"], found["precision"], found["recall"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("point", "width", "inside"),
    [("(0.29,0)", 100, 28), ("(0.5,0)", 10, 5), ("(1,0)", 10, None), ("(999,0)", 10, 9)],
)
def test_a_point_lies_in_the_cell_of_its_truncated_product(point, width, inside):
    for column in range(width):
        mask = [[int(i == column) for i in range(width)]]
        assert details(point, [(0.5, 0.5)], (mask,))["score"] == float(column == inside)


def test_a_point_on_the_right_border_is_a_miss_like_any_other():
    assert details("(0.2,0.5) (1,0.5)", [(0.2, 0.5), (1.0, 0.5)], (FULL, FULL))["score"] == 0.5


@pytest.mark.parametrize("mask", [[], [[]]])
def test_an_empty_mask_holds_no_point(mask):
    assert details("(0.5,0.5)", [(0.5, 0.5)], (mask,))["score"] == 0.0


@pytest.mark.parametrize(
    ("output", "score"),
    [
        ("There is NO TARGET.", 1.0), ("no such object", 1.0), ("I can't find it", 1.0), ("I can\u2019t find it", 0.0),
        ("It is not present (1,2)", 1.0), ("nothing there", 0.0), ("", 0.0), ("no object found", 1.0),
    ],
)  # fmt: skip
def test_rows_without_a_target(output, score):
    for has_target in (False, 0, None, []):
        found = details(output, has_target=has_target)
        assert (found["score"], found["precision"], found["recall"]) == (score, 0.0, 0.0)


@pytest.mark.parametrize("targets", [None, "1,2", {"x": 1, "y": 2}, [{"x": None, "y": 1}], [{"x": "a", "y": 1}]])
def test_malformed_targets_are_refused(targets):
    with pytest.raises(ValueError, match=r"row-1.*points_target"):
        details_of(NAME, "(1,2)", points_target=targets, points_mask=[], has_target=True)


def test_missing_metadata_is_named():
    with pytest.raises(ValueError, match=r"row-1.*points_mask, has_target"):
        details_of(NAME, "(1,2)", points_target=[])


def test_metrics():
    scorer = SOURCE_DATASETS[NAME]
    assert scorer.compute_metrics([]) == {}
    items = [
        details("(0.5,0.5)"),
        details("nothing"),
        details("absent", has_target=False),
        details("(1,1)", has_target=False),
    ]
    assert scorer.compute_metrics(items) == {
        "precision__PixmoPointsEval-Precision": 0.25,
        "recall__PixmoPointsEval-Recall": 0.25,
        "f1__PixmoPointsEval-F1": 0.25,
        "accuracy__PixmoPointsEval-NoTargetAccuracy": 0.5,
        "accuracy__PixmoPointsEval-ParsingFailureRate": 0.25,
    }
