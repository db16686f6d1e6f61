"""Terminals and file systems that know no UTF-8: commands do their work, and files hold the same bytes as elsewhere."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from support.chat_server import ChatServer
from support.commands import run_several
from support.judge_runs import make_judge_run, reading_judge

from datbench.jsonio import write_jsonl
from datbench_tasks.dataset_source import load_capability
from datbench_tasks.errors import DONE, INCOMPLETE

UTF8 = {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
LOCALES = {
    "ASCII": {**PLAIN, "PYTHONIOENCODING": "ascii"},
    "Latin-1 terminal": {**PLAIN, "PYTHONIOENCODING": "latin-1"},
}
# How Python tells of a file that is opened in the locale's encoding, whatever that is.
TOLD = {**UTF8, "PYTHONWARNDEFAULTENCODING": "1", "PYTHONWARNINGS": "always::EncodingWarning"}
NAME = "mod\u00e8le \u4e2d\u6587"
VOLATILE = ("journal.jsonl", "judge.json", ".lock")
"""Answers in the order in which they came, and how long they took."""


def make(folder: Path) -> Path:
    """A run whose samples and model have names beyond ASCII, with a table and stored answers beside it."""
    run = make_judge_run(folder, 10)
    for path in run.glob("acme*/*"):
        text = path.read_text("utf-8").replace("db_math_", "db_m\u00e4th_\u2603_").replace("acme/vlm-7b", NAME)
        path.write_text(text, "utf-8")
    row = {"q": f"{NAME}?", "choices": [NAME, "b"], "label": 0, "generated_ans": "A", NAME: "\u2603"}
    write_jsonl(run.parent / "bench.jsonl", [row])
    ids = load_capability("math", "sample")["id"]
    write_jsonl(run.parent / "answers.jsonl", [{"id": name, "raw_output": f"{NAME}\n{name}"} for name in ids])
    return run


def commands(run: Path, server: ChatServer, out: Path) -> list[list[object]]:
    columns = ["--eval-type", "key3_q_choices_a", "--question", "q", "--choices", "choices", "--label", "label"]
    bench, answers = run.parent / "bench.jsonl", run.parent / "answers.jsonl"
    return [
        ["judge", run, "--judge-model", "mod_le", "--judge-base-url", server.base_url],
        [
            "report",
            run,
            "--dataset",
            "none",
            "--html",
            out / "page.html",
            "--out",
            out / "r.json",
            "--plots",
            out / "p",
        ],
        ["report", run, "--dataset", "none", "--format", "markdown", "--out", out / "again.json"],
        ["agreement", run, "--tags", "mod_le", "mod_le", "--out", out / "agreement.json"],
        ["compare", run, run.parent / "." / run.name / "acme__vlm-7b", "--dataset", "none", "--force"],
        ["judge", "export", run, "--judge-model", "other", "--out", out / "batch"],
        ["submit", run, "--dataset", "none", "--capabilities", "math", "--model-name", "m", "--out", out / "bundle"],
        ["verify", out / "bundle", "--offline"],
        ["score", answers, "--capability", "math", "--data", "sample", "--out", out / "scored.json"],
        *(["unified", bench, *columns, "--out", out / f"table.{kind}", "--workers", 1] for kind in ("jsonl", "csv")),
        ["new-task", "--data", bench, *columns, "--name", "mine", "--out", out],
    ]


def work(run: Path, environment: dict[str, str]) -> tuple[dict[str, bytes], str]:
    """What the commands write, always into the same places, and what they say."""
    out = run.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(run / "judge", ignore_errors=True)
    with ChatServer(reading_judge) as server:
        done = run_several(commands(run, server, out), environment=environment)
    for number, (status, errors) in enumerate(done):
        assert status in (DONE, INCOMPLETE), (number, errors)
    written = {path: path.read_bytes() for folder in (out, run) for path in folder.rglob("*") if path.is_file()}
    kept = {str(path): content for path, content in written.items() if not path.name.endswith(VOLATILE)}
    return kept, "".join(errors for _, errors in done)


def test_every_command_writes_the_same_bytes_in_any_locale(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    expected, said = work(run, TOLD)
    assert re.findall(r"datbench\w*/.*EncodingWarning.*", said) == [], "opened in the encoding of the locale"
    assert len(expected) > 20
    for locale, environment in LOCALES.items():
        found, said = work(run, environment)
        assert found.keys() == expected.keys() and "Traceback" not in said
        assert [name for name in found if found[name] != expected[name]] == [], locale


def test_a_folder_whose_name_the_locale_cannot_read(tmp_path: Path) -> None:
    """It stands in the reports and the task that are made of it, as text where it is text."""
    run = make(tmp_path / NAME)
    (found, said), (expected, _) = work(run, LOCALES["ASCII"]), work(run, UTF8)
    assert found.keys() == expected.keys() and "Traceback" not in said
    named = ("r.json", "again.json", "page.html", "mine.yaml")
    assert [name for name in found if found[name] != expected[name] and not name.endswith(named)] == []
