"""A run whose ids and texts are attacks, through every command that reads or writes one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.chat_server import Call, ChatServer, Reply
from support.hang_guard import no_longer_than
from support.hostile_corpus import ALL_TEXTS, IDS, nothing_written_outside
from support.judge_runs import DATE, MODEL
from support.synthetic_run import CHOICES, make_record, results_file, run_fields

from datbench.jsonio import write_json, write_jsonl
from datbench_tasks.cli import main
from datbench_tasks.errors import DONE, INCOMPLETE, UNREADABLE, USAGE

FINE = {DONE, USAGE, INCOMPLETE, UNREADABLE}
COUNT = max(len(IDS), len(ALL_TEXTS))
SECONDS = 240


def make_hostile_run(directory: Path) -> Path:
    """A text in every field of each sample; every second sample waits for a judge."""
    folder = directory / MODEL.replace("/", "__")
    write_jsonl(folder / f"{DATE}_samples_datbench_math.jsonl", map(line_of, range(COUNT)))
    write_json(folder / f"{DATE}_results.json", results_file({"datbench_math": COUNT}, MODEL, DATE))
    return directory


def line_of(number: int) -> dict:
    text, judged = ALL_TEXTS[number % len(ALL_TEXTS)], number % 2 == 0
    sample_id = IDS[number] if number < len(IDS) else f"{text}#{number}"
    row = {
        "id": sample_id, "question": text or "?", "answer": text, "all_answers": [text, "B"],
        "eval_mode": "judge" if judged else "direct", "judge_prompt": text, "is_circular": True,
        "source_info": {"dataset": text if judged else "mmbench", "original_idx": text, "image_id": text},
        "metadata": json.dumps(CHOICES),
    }  # fmt: skip
    record = make_record({**row, "id": "db_math_0"}, text, run_fields(MODEL), number)
    record["id"] = sample_id
    return {"doc_id": number, "target": text, "filtered_resps": text, "datbench_record": record}


def judged_records(run: Path) -> list[dict]:
    """Lines end at line feeds only; texts hold other ends of lines."""
    lines = (run / "judge" / "one" / f"{DATE}_samples_datbench_math.jsonl").read_text("utf-8").rstrip("\n").split("\n")
    return [json.loads(line)["datbench_record"] for line in lines]


def script(call: Call) -> Reply:
    return Reply(ALL_TEXTS[call.number % len(ALL_TEXTS)])


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run, judged twice by judges whose answers are attacks as well."""
    root = tmp_path_factory.mktemp("hostile")
    run = make_hostile_run(root / "run")
    with ChatServer(script) as server, no_longer_than(SECONDS), nothing_written_outside(root, run / "judge"):
        for name in ("one", "two"):
            options = ["--judge-base-url", server.base_url, "--judge-model", name, "--concurrency", "4"]
            assert main(["judge", str(run), *options]) == INCOMPLETE
    return run


def test_every_sample_has_a_verdict_or_a_reason(judged: Path) -> None:
    records = judged_records(judged)
    assert len({record["id"] for record in records}) == len(records) == COUNT
    for record in records:
        if record["eval_mode"] == "judge":
            assert record["judge"]["verdict"] in ("correct", "incorrect", "unparsed")
            assert ("reason" in record["judge"]) is (record["judge"]["verdict"] == "unparsed")


REPORT = ["report", "RUN", "--judge", "one", "--dataset", "none", "--out", "OUT/r.json"]
COMMANDS = {
    "report": [*REPORT, "--html", "OUT/page.html"],
    **{form: [*REPORT, "--format", form] for form in ("text", "markdown", "latex", "csv")},
    "plots": [*REPORT, "--plots", "OUT/plots"],
    "compare": ["compare", "RUN", "RUN", "--judge", "one", "--dataset", "none", "--force", "--format", "json"],
    "agreement": ["agreement", "RUN", "--out", "OUT/agreement.json"],
    "submit": ["submit", "RUN", "--judge", "one", "--dataset", "none", "--capabilities", "math", "--model-name",
               "../../pwned", "--out", "OUT/bundle"],
    "export": ["judge", "export", "RUN", "--judge-model", "three", "--out", "OUT/batch"],
    "tag": ["judge", "export", "RUN", "--judge-model", "three", "--tag", "../../pwned", "--out", "OUT/batch"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_over_it(name: str, judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, out = judged.parent, tmp_path / "out"
    words = [word.replace("RUN", str(judged)).replace("OUT", str(out)) for word in COMMANDS[name]]
    with (
        nothing_written_outside(root, judged / "judge", out),
        nothing_written_outside(tmp_path, judged / "judge", out),
        no_longer_than(SECONDS),
    ):
        assert main(words) in FINE, capsys.readouterr().err
    assert all(out in path.resolve().parents for path in out.rglob("*"))


def test_a_bundle_of_it_is_verified(judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tmp_path / "bundle"
    words = [word.replace("RUN", str(judged)).replace("OUT/bundle", str(bundle)) for word in COMMANDS["submit"]]
    assert main(words) == DONE, capsys.readouterr().err
    assert main(["verify", str(bundle), "--offline"]) == DONE, capsys.readouterr().err


def test_no_markup_of_a_sample_reaches_the_page(judged: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    main([word.replace("RUN", str(judged)).replace("OUT", str(tmp_path)) for word in COMMANDS["report"]])
    content = page.read_text("utf-8")
    opened = content.lower().count("<script")
    assert opened == content.lower().count("</script>") and "window.pwned=1</script>" not in content
    assert "<img" not in content and "<!--<" not in content and "</title></style>" not in content
    assert "window.pwned" in content


def test_batch_results_of_any_text_are_read(judged: Path, tmp_path: Path) -> None:
    keys = [record["judge"]["journal_key"] for record in judged_records(judged) if "judge" in record]
    command = ["judge", "import", str(judged), str(tmp_path / "results.jsonl"), "--tag", "one", "--allow-missing"]
    lines = []
    for content in (*ALL_TEXTS, None, 5, [], {}, {"body": None}, {"status_code": 200, "body": {"choices": [[]]}}):
        message = {"choices": [{"message": {"content": content}}]}
        for response in (content, {"status_code": 200, "body": message}, {"status_code": 200, "body": content}):
            lines.append({"custom_id": keys[len(lines) % len(keys)], "response": response, "error": content})
    write_jsonl(tmp_path / "results.jsonl", lines)
    assert main(command) == DONE
    for line in (
        "[" * 100_000,
        "true",
        '{"custom_id": 5}',
        '{"custom_id": "zz"}',
        f'{{"custom_id": "{"0" * 64}"}}',
        "\0",
    ):
        (tmp_path / "results.jsonl").write_text(line, "utf-8")
        assert main(command) == UNREADABLE
