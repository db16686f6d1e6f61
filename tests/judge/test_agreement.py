"""Agreement of judges: kappa against a second implementation, tables, JSON, exit statuses."""

from __future__ import annotations

import json
import random

import pytest
from support.chat_server import Call, ChatServer, Reply
from support.judge_runs import reading_judge

from datbench_tasks.cli import main
from datbench_tasks.judge.agreement import agreement, compare


def pairs_of(table: dict[tuple[str, str], int]) -> dict[str, tuple[str, str]]:
    listed = [pair for pair, count in table.items() for _ in range(count)]
    return {f"s{number:04d}": pair for number, pair in enumerate(listed)}


def kappa_by_counting(pairs: list[tuple[str, str]]) -> float:
    """Cohen (1960), written from the definition over any labels."""
    total = len(pairs)
    labels = {label for pair in pairs for label in pair}
    observed = sum(a == b for a, b in pairs) / total
    expected = sum(
        (sum(a == label for a, _ in pairs) / total) * (sum(b == label for _, b in pairs) / total) for label in labels
    )
    return (observed - expected) / (1 - expected)


def test_kappa_of_a_textbook_table():
    table = {
        ("correct", "correct"): 20,
        ("correct", "incorrect"): 5,
        ("incorrect", "correct"): 10,
        ("incorrect", "incorrect"): 15,
    }
    row = agreement(("A", "B"), "x", pairs_of(table))
    assert row.agreement == pytest.approx(0.7) and row.kappa == pytest.approx(0.4)
    assert row.accuracy == pytest.approx((0.5, 0.6))
    assert row.kappa_interval.low < 0.4 < row.kappa_interval.high
    assert row.kappa_interval.low == pytest.approx(0.15, abs=0.06) and row.kappa_interval.high == pytest.approx(
        0.64, abs=0.06
    )


@pytest.mark.parametrize("seed", range(5))
def test_kappa_equals_the_definition(seed):
    draw = random.Random(seed)
    verdicts = {str(n): tuple(draw.choices(["correct", "incorrect"], [seed + 1, 3], k=2)) for n in range(200)}
    assert agreement(("A", "B"), "x", verdicts).kappa == pytest.approx(kappa_by_counting(list(verdicts.values())))


def test_equal_input_gives_equal_intervals():
    verdicts = pairs_of({("correct", "correct"): 9, ("incorrect", "correct"): 4, ("incorrect", "incorrect"): 7})
    assert agreement(("A", "B"), "x", verdicts) == agreement(("A", "B"), "x", verdicts)


@pytest.mark.parametrize(
    ("table", "agreed", "kappa"),
    [
        ({("correct", "correct"): 8}, 1.0, None),
        ({("correct", "correct"): 8, ("incorrect", "incorrect"): 2}, 1.0, 1.0),
        ({("correct", "incorrect"): 4, ("incorrect", "correct"): 4}, 0.0, -1.0),
        ({("correct", "missing"): 3, ("unparsed", "incorrect"): 2}, None, None),
        ({}, None, None),
    ],
)
def test_boundaries(table, agreed, kappa):
    row = agreement(("A", "B"), "x", pairs_of(table))
    assert row.agreement == agreed and row.kappa == kappa


def test_unread_verdicts_are_counted_left_out_of_kappa_and_wrong_in_the_accuracy():
    table = {
        ("correct", "correct"): 4,
        ("incorrect", "incorrect"): 4,
        ("correct", "unparsed"): 1,
        ("missing", "correct"): 1,
    }
    row = agreement(("A", "B"), "x", pairs_of(table))
    assert (row.samples, row.unread, row.kappa) == (10, 2, 1.0)
    assert row.accuracy == pytest.approx((0.5, 0.5))
    assert row.differing == ("s0008", "s0009")


def test_rows_by_source_dataset_and_only_what_both_judged():
    first = {"a": ("vqa", "correct"), "b": ("ai2d", "correct"), "only": ("ai2d", "correct")}
    second = {"a": ("vqa", "incorrect"), "b": ("ai2d", "correct")}
    rows = compare("A", first, "B", second)
    assert [(row.dataset, row.samples, row.differing) for row in rows] == [
        ("ai2d", 1, ()), ("vqa", 1, ("a",)), ("all", 2, ("a",)),
    ]  # fmt: skip


def test_command_prints_pairs_and_writes_every_id(make_run, tmp_path, capsys):
    run = make_run(60)

    def lenient(call: Call) -> Reply:
        return Reply("true") if "What is 3 plus" in call.text else reading_judge(call)

    for tag, script in {"A": reading_judge, "B": lenient, "C": Reply("true")}.items():
        with ChatServer(script) as server:
            options = ["--judge-model", tag, "--judge-base-url", server.base_url, "--tag", tag]
            assert main(["judge", str(run), *options]) == 0
    capsys.readouterr()
    assert main(["agreement", str(run), "--out", str(tmp_path / "out.json")]) == 0
    printed = capsys.readouterr().out
    assert "A against B" in printed and "B against C" in printed and "mathverse_wo" in printed
    assert "A / B differ in mathverse_wo: db_math_000003\n" in printed
    rows = json.loads((tmp_path / "out.json").read_text())["pairs"]
    by_pair = {(row["first"], row["second"], row["dataset"]): row for row in rows}
    assert by_pair["A", "B", "mathverse_wo"]["differing"] == ["db_math_000003"]
    assert len(by_pair["A", "C", "all"]["differing"]) == 16
    assert main(["agreement", str(run), "--tags", "A", "C"]) == 0
    assert "A against B" not in capsys.readouterr().out


def test_one_judge_is_not_enough(make_run, capsys):
    run = make_run(10)
    with ChatServer(reading_judge) as server:
        main(["judge", str(run), "--judge-model", "A", "--judge-base-url", server.base_url])
    assert main(["agreement", str(run)]) == 5
    assert "judge it twice" in capsys.readouterr().err
    assert main(["agreement", str(run), "--tags", "A", "nobody"]) == 5
