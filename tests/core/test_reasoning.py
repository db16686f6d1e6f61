"""Reasoning set aside: closed blocks, lone closing tags, blocks left open."""

import pytest

from datbench_tasks.reasoning import set_reasoning_aside

CASES = [
    ("4", "4", False),
    (" 4 \n", " 4 \n", False),
    ("<think>2+2</think>4", "4", False),
    ("<THINK>2+2</Think>\n\n4", "4", False),
    ("<thinking>a</thinking> 4 <analysis>b</analysis>", "4", False),
    ("a <think>b</think> c", "a  c", False),
    ("so it is\n</think>\n4", "4", False),
    ("x</think>y</analysis>z", "z", False),
    ("<think>a</think>b</think>c", "c", False),
    ("<think>never closed 4", "<think>never closed 4", True),
    ("<think>a</think> 4 <think>b", "4 <think>b", True),
    ("<think>a<think>b</think>c", "c", False),
    ("<think>a<analysis>b</analysis></think>c", "c", False),
    ("<think>a</thinking>b", "b", False),
    ("x<think>a</analysis>b</think>c", "xc", False),
    ("x<think>a</think>b</think>c", "c", False),
    ("<think></think>", "", False),
    ("a < b and <b>c</b>", "a < b and <b>c</b>", False),
]


@pytest.mark.parametrize(("output", "text", "unclosed"), CASES)
def test_reasoning(output, text, unclosed):
    assert set_reasoning_aside(output) == (text, unclosed)


@pytest.mark.parametrize("piece", ["<think>", "</think>", "<think>a</think>", "<", "<think></analysis>"])
def test_a_hundred_thousand_characters_of_tags(piece):
    set_reasoning_aside(piece * (100_000 // len(piece)))
