"""The order of rows, lines, files and workers moves no byte of a result."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from support.chat_server import ChatServer
from support.judge_runs import make_judge_run, reading_judge
from support.synthetic_run import make_run

from datbench_tasks.cli import main
from datbench_tasks.dataset_source import load_capability

SEEDS = [1, 2]


def shuffle_lines(file: Path, seed: int) -> None:
    lines = file.read_text("utf-8").splitlines(keepends=True)
    random.Random(seed).shuffle(lines)
    file.write_text("".join(lines), "utf-8")


@pytest.mark.parametrize("seed", SEEDS)
def test_report_page_and_bundle_of_shuffled_logs(seed: int, tmp_path: Path) -> None:
    """In the same folder, since a report names the folder it was made of."""
    run = make_run(tmp_path / "run", samples=270, judged=True)
    made = []
    for turn in range(2):
        out = tmp_path / str(turn)
        main(["report", str(run), "--dataset", "none", "--out", str(out / "r.json"), "--html", str(out / "p.html")])
        assert main(["submit", str(run), "--dataset", "none", "--model-name", "m", "--out", str(out / "b")]) == 0
        made.append({str(f.relative_to(out)): f.read_bytes() for f in out.rglob("*") if f.is_file()})
        for log in run.rglob("*_samples_*.jsonl"):
            shuffle_lines(log, seed)
    assert made[0] == made[1] and len(made[0]) > 10


@pytest.mark.parametrize("seed", SEEDS)
def test_judge_pass_over_shuffled_logs(seed: int, tmp_path: Path) -> None:
    written = []
    for shuffled in (False, True):
        run = make_judge_run(tmp_path / str(shuffled), 60)
        if shuffled:
            shuffle_lines(next(run.glob("acme*/*_samples_*.jsonl")), seed)
        with ChatServer(reading_judge) as server:
            assert main(["judge", str(run), "--judge-model", "m", "--judge-base-url", server.base_url]) == 0
        written.append({path.name: path.read_bytes() for path in (run / "judge" / "m").glob("2026*")})
    assert written[0] == written[1] and len(written[0]) == 2


@pytest.mark.parametrize("seed", SEEDS)
def test_scored_answers_in_any_order(seed: int, tmp_path: Path) -> None:
    rows = load_capability("math", "sample")
    answers = tmp_path / "answers.jsonl"
    outputs = zip(rows["id"], rows["answer"], strict=True)
    answers.write_text("".join(json.dumps({"id": name, "raw_output": text}) + "\n" for name, text in outputs))
    written = []
    for turn in range(2):
        out = tmp_path / f"{turn}.json"
        command = ["score", str(answers), "--capability", "math", "--data", "sample", "--allow-partial"]
        assert main([*command, "--out", str(out)]) == 0
        written.append(out.read_bytes())
        shuffle_lines(answers, seed)
    assert written[0] == written[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_statistics_of_a_shuffled_table(seed: int, tmp_path: Path) -> None:
    draw = random.Random(0)
    bench, written = tmp_path / "bench.jsonl", []
    rows = [
        {"id": i, "q": "q", "choices": ["a", "b", "c", "d"], "labels": draw.sample(range(4), 2),
         "generated_ans": ", ".join(draw.sample("ABCDE", draw.randint(1, 3)))}
        for i in range(600)
    ]  # fmt: skip
    bench.write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = ["--eval-type", "key3_q_choices_as", "--question", "q", "--choices", "choices", "--labels", "labels"]
    for workers in ("1", "4"):
        out = tmp_path / f"{workers}.jsonl"
        assert main(["unified", str(bench), *columns, "--out", str(out), "--workers", workers]) == 0
        lines = sorted(out.read_text("utf-8").splitlines(), key=lambda line: json.loads(line)["id"])
        written.append((lines, out.with_suffix(".statistics.json").read_bytes()))
        shuffle_lines(bench, seed)
    assert written[0] == written[1]
