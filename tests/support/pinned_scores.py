"""Scores that may not change while SCORER_VERSION stays: three rows a source dataset, each answered in many forms.

``PYTHONPATH=tests python -m support.pinned_scores`` writes the file anew, once the version has been raised.
"""

from __future__ import annotations

import json
import re
import sys

from support.vectors import VECTORS, dataset_names, scorable_cases

from datbench.reformatting import score_if_reformatted
from datbench.sample_scoring import score_fields, scorer_fields
from datbench.samples import read_row
from datbench.version import SCORER_VERSION

PINNED = VECTORS / "pinned_scores.json"

FORMS = {
    "nothing": "",
    "plain": "@",
    "full stop": "@.",
    "two lines": "\n  @  \nIT IS @",
    "sentence": "I looked twice. The answer is @.",
    "label": "I looked twice.\nAnswer: @\n",
    "bold label": "**Final answer:** @\n\nHope this helps!",
    "box": "Thus \\boxed{@}.",
    "nested box": "Thus $\\boxed{\\text{@}}$.",
    "pipe box": "<|begin_of_box|>@<|end_of_box|>",
    "tag": "<answer>@</answer>",
    "tag over lines": "<answer>\n@\n</answer>",
    "fence": "```json\n@\n```",
    "correction": "@? No: 7, or rather B.",
    "more": "@ @ and more",
}
"""Outputs; ``@`` stands for the row's answer."""

Scores = dict[str, dict[str, dict[str, list[float]]]]
"""Dataset -> row id -> form -> [official score, score if reformatted], rounded to nine places."""


def current_scores() -> Scores:
    """The scores that the code at hand gives."""
    return {name: _scores_of(name) for name in dataset_names()}


def _scores_of(name: str) -> dict[str, dict[str, list[float]]]:
    cases = [case for case in scorable_cases(name) if not case.get("hangs")]
    scores = {}
    for case in (cases[0], cases[len(cases) // 2], cases[-1]):
        sample = read_row(case["row"], 0, None)
        fields = scorer_fields(sample)

        def score(text: str, dataset: str = sample.dataset, fields: dict = fields) -> float:
            return score_fields(dataset, fields, text)[0]["score"]

        scores[sample.id] = {}
        for form, template in FORMS.items():
            output = template.replace("@", str(sample.answer))
            official = score(output)
            best = score_if_reformatted(score, output, official)
            scores[sample.id][form] = [round(float(official), 9), round(float(best), 9)]
    return scores


def main() -> None:
    """Write the pinned scores; refuse where numbers moved and the version did not."""
    scores = current_scores()
    if PINNED.exists():
        pinned = json.loads(PINNED.read_text(encoding="utf-8"))
        if pinned["scorer_version"] == SCORER_VERSION and pinned["scores"] != scores:
            sys.exit(f"scores changed: raise SCORER_VERSION ({SCORER_VERSION}) in datbench/version.py first")
    text = json.dumps({"scorer_version": SCORER_VERSION, "scores": scores}, ensure_ascii=False, indent=1)
    text = re.sub(r"\[\s+([\d.]+),\s+([\d.]+)\s+\]", r"[\1, \2]", text)  # one form a line
    PINNED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
