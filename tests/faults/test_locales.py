"""Terminals and file systems that know no UTF-8: commands do their work, and files hold the same bytes as elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.chat_server import ChatServer
from support.commands import run_command
from support.judge_runs import make_judge_run, reading_judge

ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
UTF8 = {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
NAME = "mod\u00e8le \u4e2d\u6587"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run in a folder with such a name, with samples and a model of such names."""
    made = make_judge_run(tmp_path / NAME, 10)
    for path in made.glob("acme*/*"):
        text = path.read_text("utf-8").replace("db_math_", "db_m\u00e4th_\u2603_").replace("acme/vlm-7b", NAME)
        path.write_text(text, "utf-8")
    return made


def commands(run: Path, server: ChatServer, out: Path) -> dict[str, list[object]]:
    return {
        "judge": ["judge", run, "--judge-model", "mod_le", "--judge-base-url", server.base_url, "--allow-missing"],
        "report": ["report", run, "--dataset", "none", "--html", out / "page.html", "--out", out / "report.json"],
        "agreement": ["agreement", run, "--tags", "mod_le", "mod_le"],
        "markdown": ["report", run, "--dataset", "none", "--format", "markdown", "--out", out / "again.json"],
        "export": ["judge", "export", run, "--judge-model", "other", "--out", out / "batch"],
    }


def files(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.endswith(("judge.json", ".lock"))}


def test_every_command_prints_and_writes_in_an_ascii_locale(run: Path, tmp_path: Path) -> None:
    written = {}
    with ChatServer(reading_judge) as server:
        for locale, environment in (("ascii", ASCII), ("utf-8", UTF8)):
            out = tmp_path / locale
            for name, command in commands(run, server, out).items():
                done = run_command(*command, environment=environment, encoding="utf-8", errors="replace")
                assert done.returncode in (0, 3), (locale, name, done.stderr)
                assert "fault of our own" not in done.stderr and "Traceback" not in done.stderr
            written[locale] = files(out) | {
                name: content for name, content in files(run).items() if "journal" not in name
            }
    names = {json.loads(line)["datbench_record"]["id"] for line in _judged_lines(run)}
    assert len(names) == 10 and all("\u2603" in name for name in names)
    assert set(written["ascii"]) == set(written["utf-8"])
    same = [name for name in written["ascii"] if name.endswith((".jsonl", "results.json"))]
    assert same and all(written["ascii"][name] == written["utf-8"][name] for name in same)


def _judged_lines(run: Path) -> list[str]:
    (log,) = run.glob("judge/mod_le/*_samples_*.jsonl")
    return log.read_text("utf-8").splitlines()
