"""Whatever a model writes: no scorer fault, a finite score in [0, 1], and metrics that can be computed."""

from __future__ import annotations

import json
import math
import warnings
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.vectors import Case, dataset_names, scorable_cases

from datbench.reformatting import score_if_reformatted
from datbench.sample_scoring import score_fields, scorer_fields
from datbench.samples import read_row
from datbench.scorers import SOURCE_DATASETS

SNIPPETS = (
    "\\boxed{", "}", "{", "\\text{", "\\frac{1}{2}", "<answer>", "</answer>", "<|begin_of_box|>", "<|end_of_box|>",
    "Answer: ", "\nFinal answer:", "```", "```json\n", "**", "$", "[", "]", "(", ")", "[1, 2, 3, 4]", "(1.5, 2)", ",",
    ":", '"', "'", "-", "%", ".", "/", "^", "!", "1e999", "nan", "inf", "-0", "10\u00b2", "\u0663", "\uff15", "9" * 30,
    "0x1f", "[...]", "A", "B.", "(c)", "yes", "<table><tr><td>", "</td></tr></table>", "<td rowspan=9999>", "|", "&",
    "\\\\", "\\begin{tabular}", "\\hline", '{"answer": ', '"bbox": [0, 0, 1, 1]', "null", "twenty-one", "no target",
    "\u4e2d\u6587", "\u7b80\u7b54", "\u0130", "\u017f", "\ud800", "\0", "\u2028", "\u3000", "\n", " ", "\\",
)  # fmt: skip

anything = st.text(st.characters(exclude_categories=()), max_size=60)
patchwork = st.lists(st.one_of(st.sampled_from(SNIPPETS), anything), max_size=12).map("".join)


@st.composite
def mutated(draw: st.DrawFn, outputs: tuple[str, ...]) -> str:
    """An output with one to four slices cut out, doubled or replaced."""
    text = draw(st.sampled_from(outputs))
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        kept = draw(st.sampled_from(("", text[start:end] * 2, text[start:end])))
        text = text[:start] + kept + draw(st.one_of(st.just(""), patchwork)) + text[end:]
    return text


@cache
def short_cases(name: str) -> tuple[Case, ...]:
    return tuple(case for case in scorable_cases(name) if len(str(case["output"])) < 2_000 and not case.get("hangs"))


@pytest.mark.parametrize("name", dataset_names())
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_any_output_is_scored(name, data):
    cases = short_cases(name)
    outputs = tuple(case["output"] for case in cases if isinstance(case["output"], str))
    sample = read_row(data.draw(st.sampled_from(cases))["row"], 0, None)
    output = data.draw(st.one_of(anything, patchwork, mutated(outputs)))
    fields = scorer_fields(sample)

    def score(text: str) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            details, fault = score_fields(sample.dataset, fields, text)
        assert not fault, details["error"]
        assert math.isfinite(details["score"]) and 0.0 <= details["score"] <= 1.0
        if sample.dataset in SOURCE_DATASETS:
            json.dumps(SOURCE_DATASETS[sample.dataset].compute_metrics([details]), allow_nan=False)
        return details["score"]

    official = score(output)
    assert official <= score_if_reformatted(score, output, official) <= 1.0
    assert score(output) == official
