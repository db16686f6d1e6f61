from __future__ import annotations

import pytest
from support.scoring_calls import details_of, score_of

from datbench import SOURCE_DATASETS


@pytest.mark.parametrize(
    ("output", "answer", "descriptive", "reasoning"),
    [
        ("Blue ", "blue", 1.0, 1.0),
        ("the blue line", "blue", 0.0, 1.0),
        ("b", "blue", 0.0, 1.0),  # one letter is enough
        ("red", "blue", 0.0, 0.0),
        ("1,200%", "1200", 1.0, 0.0),
        ("1e3", "1000.0", 1.0, 0.0),
        ("1.0000005", "1", 1.0, 1.0),
        ("0.000001", "0", 0.0, 1.0),  # the bound is strict
        ("-3", "3", 0.0, 1.0),
        ("nan", "NaN%", 0.0, 1.0),
        ("It is not applicable here", "Not Applicable", 1.0, 1.0),
        ("applicable", "not applicable", 0.0, 1.0),
        ("", "blue", 0.0, 0.0),
        ("blue", "", 0.0, 0.0),
        ("blue", " ", 0.0, 1.0),  # emptiness is asked before trimming
    ],
)
def test_rules(output, answer, descriptive, reasoning):
    for name in ("charxiv_descriptive", "charxiv_reasoning"):
        assert score_of(name, output, answer) == descriptive
        assert score_of(name, output, answer, question_type="descriptive") == descriptive
        assert score_of(name, output, answer, question_type="") == descriptive
        assert score_of(name, output, answer, question_type="Descriptive") == reasoning
        assert score_of(name, output, answer, question_type=["descriptive"]) == reasoning


def test_an_answer_that_is_no_text_is_refused():
    with pytest.raises(ValueError, match=r"row-1.*answer"):
        score_of("charxiv_reasoning", "5", 5)


def test_metrics_name_only_the_types_seen():
    scorer = SOURCE_DATASETS["charxiv_reasoning"]
    right = details_of("charxiv_reasoning", "a", "a")
    wrong = details_of("charxiv_reasoning", "b", "a", question_type="reasoning")
    assert scorer.compute_metrics([]) == {"accuracy__CharXiv-Overall": 0.0}
    assert scorer.compute_metrics([right]) == {"accuracy__CharXiv-Overall": 1.0, "accuracy__CharXiv-Descriptive": 1.0}
    assert scorer.compute_metrics([{"score_details": right}, wrong]) == {
        "accuracy__CharXiv-Overall": 0.5,
        "accuracy__CharXiv-Descriptive": 1.0,
        "accuracy__CharXiv-Reasoning": 0.0,
    }
