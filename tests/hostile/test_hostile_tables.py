"""Tables, stored answers and the task maker: hostile cells, names and encodings are read or refused, never obeyed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.hang_guard import no_longer_than
from support.hostile_corpus import ALL_TEXTS, IDS, TEXTS, VALUES, nested, nothing_written_outside

from datbench.unified.tables import read_records, write_records
from datbench_tasks.cli import main
from datbench_tasks.errors import DONE, INCOMPLETE, UNREADABLE, USAGE

FINE = {DONE, INCOMPLETE, UNREADABLE, USAGE}
SECONDS = 120
CHOICES = ["--eval-type", "key3_q_choices_a", "--question", "q", "--choices", "choices", "--label", "label"]
SETS = ["--eval-type", "key3_q_choices_as", "--question", "q", "--choices", "choices", "--labels", "label"]
ROW = {"id": "1", "q": "q", "choices": ["a", "b"], "label": 0, "generated_ans": "A"}


@pytest.mark.parametrize("columns", [CHOICES, SETS], ids=["single", "set"])
@pytest.mark.parametrize("strict", [[], ["--strict"]], ids=["plain", "strict"])
@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet", ".json"])
def test_every_text_and_id_in_every_column(
    ending: str, strict: list[str], columns: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = []
    for number, text in enumerate(ALL_TEXTS):
        for column in ("q", "choices", "label", "generated_ans"):
            rows.append({**ROW, "id": IDS[number % len(IDS)], "choices": json.dumps(ROW["choices"]), column: text})
            rows[-1]["label"] = str(rows[-1]["label"])
    bench, out = tmp_path / "bench.jsonl", tmp_path / "out" / f"scored{ending}"
    write_records(bench, rows)
    with no_longer_than(SECONDS), nothing_written_outside(tmp_path, out.parent):
        assert main(["unified", str(bench), *columns, *strict, "--out", str(out), "--workers", "1"]) == DONE
    assert len(list(read_records(out))) == len(rows)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("column", ["q", "choices", "label", "generated_ans", "id"])
@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_any_value_in_a_column(column: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faults = []
    for name, value in VALUES.items():
        bench, out = tmp_path / "bench.jsonl", tmp_path / f"scored{ending}"
        bench.write_text(json.dumps({**ROW, column: "@@"}).replace('"@@"', value) + "\n" + json.dumps(ROW) + "\n")
        with no_longer_than(SECONDS):
            status = main(["unified", str(bench), *CHOICES, "--out", str(out), "--workers", "1"])
        if status not in FINE:
            faults.append((name, capsys.readouterr().err[-200:]))
    assert faults == []


TABLES: dict[str, bytes] = {
    "deep.jsonl": nested(100_000).encode(),
    "deep.json": nested(100_000).encode(),
    "open.json": b"[" * 1_000_000,
    "utf16.jsonl": json.dumps(ROW).encode("utf-16"),
    "latin.csv": b"q,choices,label,generated_ans\nl\xe9,a,0,A\n",
    "nul.csv": b"q,choices,label,generated_ans\n\0,a,0,A\n",
    "quote.csv": b'q,choices,label,generated_ans\n"open,a,0,A\n' + b"x" * 300_000,
    "wide.csv": b"q,choices,label,generated_ans\n" + b"a," * 100_000 + b"\n",
    "equal.csv": b"q,q,choices,label,generated_ans\na,b,c,0,A\n",
    "empty.csv": b"",
    "empty.json": b"",
    "nan.json": b"NaN",
    "text.parquet": b"PAR1 this is none PAR1",
    "empty.parquet": b"",
    "name.pickle": b"cos\nsystem\n(S'touch pwned'\ntR.",
    "name.pkl": b"cos\nsystem\n(S'touch pwned'\ntR.",
    "name.yaml": b"!!python/object/apply:os.system ['touch pwned']",
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("command", ["unified", "new-task"])
def test_tables_that_are_none(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bench = tmp_path / name
    bench.write_bytes(TABLES[name])
    words = {
        "unified": ["unified", str(bench), *CHOICES, "--out", "scored.jsonl", "--workers", "1"],
        "new-task": ["new-task", "--data", str(bench), *CHOICES, "--name", "mine"],
    }[command]
    with no_longer_than(SECONDS):
        status = main(words)
    errors = capsys.readouterr().err
    assert status in (UNREADABLE, USAGE, DONE) and "Traceback" not in errors
    assert status == DONE or name in errors
    assert not (tmp_path / "pwned").exists()


def test_encodings_that_are_read(tmp_path: Path) -> None:
    text = json.dumps(ROW) + "\n"
    written = set()
    for name, content in {"mark": "\ufeff" + text, "carriage": text.replace("\n", "\r\n"), "plain": text}.items():
        bench, out = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.out.jsonl"
        bench.write_bytes(content.encode())
        assert main(["unified", str(bench), *CHOICES, "--out", str(out), "--workers", "1"]) == DONE
        written.add(out.read_bytes())
    assert len(written) == 1


@pytest.mark.parametrize("sample_id", IDS)
def test_ids_and_answers_of_stored_responses(sample_id: str, tmp_path: Path) -> None:
    answers, out = tmp_path / "answers.jsonl", tmp_path / "out" / "report.json"
    answers.write_text(json.dumps({"id": sample_id, "raw_output": sample_id}) + "\n")
    with nothing_written_outside(tmp_path, out):
        command = ["score", str(answers), "--capability", "math", "--data", "sample", "--out", str(out)]
        assert main(command) in (INCOMPLETE, UNREADABLE)


@pytest.mark.parametrize("name", VALUES)
def test_any_value_in_a_stored_response(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = tmp_path / "answers.jsonl"
    for field in ("id", "raw_output", "parsed_answer"):
        line = {"id": "db_math_000000", "raw_output": "1", field: "@@"}
        answers.write_text(json.dumps(line).replace('"@@"', VALUES[name]) + "\n")
        status = main(["score", str(answers), "--capability", "math", "--data", "sample"])
        assert status in (INCOMPLETE, UNREADABLE), (field, capsys.readouterr().err)


NAMES = [
    *IDS,
    "../mine",
    "a/../../b",
    "mine\ntask: other",
    "mine: {x: 1}",
    "!!python/name:os.system",
    "datbench_x",
    "*",
]
FOLDERS = [
    "plain",
    "a b",
    "x: y",
    "# not",
    "a\nb: c",
    "{a: 1}",
    "'q'",
    '"q"',
    "!!str",
    "\u2028x",
    "é\u0085é",
    "$name",
    "%s",
]


def new_task(bench: Path, out: Path) -> list[str]:
    return ["new-task", "--data", str(bench), *CHOICES, "--name", "mine", "--out", str(out)]


@pytest.mark.parametrize("name", NAMES)
def test_a_task_name_makes_one_folder_or_none(name: str, tmp_path: Path) -> None:
    bench, out = tmp_path / "bench.jsonl", tmp_path / "tasks"
    bench.write_text(json.dumps(ROW) + "\n")
    with nothing_written_outside(tmp_path, out):
        status = main(["new-task", "--data", str(bench), *CHOICES, f"--name={name}", "--out", str(out)])
    made = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    assert (status, made) in [(USAGE, []), (DONE, [name])]


@pytest.mark.parametrize("host", ["lmms-eval", "lm-eval"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_no_folder_name_changes_the_yaml(folder: str, host: str, tmp_path: Path) -> None:
    bench = tmp_path / "bench.jsonl"
    bench.write_text(json.dumps(ROW) + "\n")
    for name in (folder, "expected"):
        assert main([*new_task(bench, tmp_path / name), "--host", host, "--generated"]) == DONE
    assert task_file(tmp_path / folder) == task_file(tmp_path / "expected")


class _Loader(yaml.SafeLoader):
    """Reads a task file as data: functions by their names."""


_Loader.add_constructor("!function", lambda loader, node: f"function {node.value}")


def task_file(folder: Path) -> Any:
    """The content of the task file, with FOLDER where the name of its folder stands."""
    content = yaml.load((folder / "mine" / "mine.yaml").read_text("utf-8"), _Loader)
    return json.loads(json.dumps(content).replace(json.dumps(str(folder))[1:-1], "FOLDER"))


@pytest.mark.parametrize("kind", TEXTS)
def test_hostile_cells_stay_data_in_a_task(kind: str, tmp_path: Path) -> None:
    bench = tmp_path / "bench.jsonl"
    write_records(bench, [{**ROW, "q": text, "choices": [text, "b"], "id": text} for text in TEXTS[kind]])
    with nothing_written_outside(tmp_path, tmp_path / "mine"):
        assert main([*new_task(bench, tmp_path), "--id", "id"]) == DONE
    rows = list(read_records(tmp_path / "mine" / "mine.parquet"))
    assert [json.loads(row["cells"])["question"] for row in rows] == TEXTS[kind]
    assert task_file(tmp_path)["task"] == "mine"


@pytest.mark.parametrize("image", ["/dev/zero", "missing.png", ".", "\0", "x" * 5_000, 5, [], "../../../../../etc"])
def test_images_that_are_no_files(image: Any, tmp_path: Path) -> None:
    bench = tmp_path / "bench.jsonl"
    bench.write_text(json.dumps({**ROW, "image": image}) + "\n")
    with no_longer_than(SECONDS):
        assert main([*new_task(bench, tmp_path), "--image", "image"]) == UNREADABLE
