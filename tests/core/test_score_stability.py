from __future__ import annotations

import json
import warnings

from support.pinned_scores import PINNED, current_scores

from datbench.version import SCORER_VERSION

WHAT_TO_DO = (
    "If the change is meant: raise SCORER_VERSION in datbench/version.py, name what moves in CHANGELOG.md, "
    "and run `PYTHONPATH=tests python -m support.pinned_scores`. If it is not, it is a regression."
)


def test_scores_change_only_with_the_scorer_version():
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = current_scores()
    moved = [
        f"{dataset} {row} {form}: {before} -> {scores.get(dataset, {}).get(row, {}).get(form)}"
        for dataset, rows in pinned["scores"].items()
        for row, forms in rows.items()
        for form, before in forms.items()
        if scores.get(dataset, {}).get(row, {}).get(form) != before
    ]
    assert not moved, f"{len(moved)} pinned scores moved, e.g. {moved[:10]}. {WHAT_TO_DO}"
    assert pinned["scores"].keys() == scores.keys(), WHAT_TO_DO
    assert pinned["scorer_version"] == SCORER_VERSION, f"pinned under {pinned['scorer_version']}. {WHAT_TO_DO}"
