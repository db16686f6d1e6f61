"""Signatures: what moves them, and what makes two of them incomparable."""

from __future__ import annotations

import re

import pytest

from datbench_tasks.reporting.signature import differences, publishable, signature_hash, signature_line


def signature(**changed):
    values = {
        "scorer_version": "1", "dataset": "DatologyAI/DatBench", "split": "test", "variant": "", "reasoning": "rule",
        "host": "lmms-eval 0.7.3", "model": "acme/vlm (vllm)", "revision": {"math": "a" * 40, "chart": "a" * 40},
        "generation": {"math": {"temperature": 0}, "chart": {"temperature": 0}}, "limit": {"math": None, "chart": None},
        "samples": {"math": 3, "chart": 4}, "ids": {"math": "12", "chart": "34"},
        "judge": {"model": "acme/judge", "prompt": "ab"},
    }  # fmt: skip
    return values | changed


CHANGES = [
    ({"scorer_version": "2"}, "scorer: 1 against 2"),
    ({"dataset": "DatologyAI/DatBench-Full"}, "dataset: "),
    ({"split": "train"}, "split: "),
    ({"variant": "blind"}, "variant: none against blind"),
    ({"reasoning": "as is"}, "reasoning: "),
    ({"revision": {"math": "b" * 40, "chart": "a" * 40}}, "revision of math: "),
    ({"generation": {"math": {"top_p": 1}, "chart": {"top_p": 1}}}, 'generation: {"temperature": 0} against {"top_p"'),
    ({"ids": {"math": "12", "chart": "35"}}, "sample ids of chart: 34 against 35"),
    ({"judge": {"model": "acme/judge", "prompt": "cd"}}, "judge: acme/judge#ab against acme/judge#cd"),
    ({"judge": None}, "judge: acme/judge#ab against none"),
]


@pytest.mark.parametrize(("changed", "text"), CHANGES)
def test_what_decides_a_number_makes_two_reports_incomparable(changed, text):
    found = differences(signature(), signature(**changed), ["math", "chart"])
    assert len(found) == 1
    assert found[0].startswith(text)
    assert signature_hash(signature()) != signature_hash(signature(**changed))
    assert signature_line(signature()) != signature_line(signature(**changed))


@pytest.mark.parametrize("changed", [{"model": "other"}, {"host": "lmms-eval 0.7.2"}, {"limit": {"math": "9"}}])
def test_what_a_comparison_is_about_may_differ(changed):
    assert differences(signature(), signature(**changed), ["math", "chart"]) == []
    assert signature_hash(signature()) != signature_hash(signature(**changed))


def test_only_compared_capabilities_count():
    changed = signature(ids={"math": "12", "chart": "35"})
    assert differences(signature(), changed, ["math"]) == []


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("acme/vlm-7b", "acme/vlm-7b"),
        ("vlm", "vlm"),
        ("", ""),
        ("/data/me/step-1/vlm/", "vlm#[0-9a-f]{6}"),
        ("./vlm", "vlm#[0-9a-f]{6}"),
        ("runs/step-1/vlm.gguf", "vlm.gguf#[0-9a-f]{6}"),
    ],
)
def test_no_folder_of_a_local_model_is_published(model, shown):
    assert re.fullmatch(shown, publishable(model))


def test_equal_names_in_other_folders_stay_apart():
    assert publishable("/data/step-1/vlm") != publishable("/data/step-2/vlm")


def test_the_variant_of_a_blind_run_is_meant_to_differ():
    assert differences(signature(), signature(variant="blind"), ["math"], ignored=["variant"]) == []


def test_the_line_says_all_and_ends_in_the_hash():
    line = signature_line(signature())
    assert line == (
        "scorer:1|data:DatologyAI/DatBench@aaaaaaaa|split:test|capabilities:chart,math|samples:7|limit:none"
        "|generation:temperature=0|host:lmms-eval 0.7.3|model:acme/vlm (vllm)|reasoning:rule|judge:acme/judge#ab"
        f"|signature:{signature_hash(signature())}"
    )


def test_values_that_differ_between_capabilities_are_said_to_be_mixed():
    assert "@mixed#" in signature_line(signature(revision={"math": "b" * 40, "chart": "a" * 40}))
