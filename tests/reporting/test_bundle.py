"""Bundles: what is refused, what is written, and that verify sees every edit."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
import yaml
from datasets import Dataset
from huggingface_hub.repocard_data import model_index_to_eval_results
from support.synthetic_run import make_record, make_run, rows

from datbench import CAPABILITIES, DatBenchReport
from datbench_tasks.cli import main
from datbench_tasks.records import failed_record
from datbench_tasks.reporting import load_report
from datbench_tasks.reporting.bundle import SUMS, sums
from datbench_tasks.sample_logs import RECORD


def submit(directory: Path, out: Path, *more: str) -> int:
    return main(["submit", str(directory), "--out", str(out), "--model-name", "acme/vlm", "--dataset", "none", *more])


@pytest.fixture(scope="module")
def run_directory(tmp_path_factory) -> Path:
    return make_run(tmp_path_factory.mktemp("run"), samples=108, judged=True, reasoning=True, seed=4)


@pytest.fixture(scope="module")
def bundle(run_directory, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("bundles") / "whole"
    assert submit(run_directory, out, "--link", "https://example.org/vlm") == 0
    return out


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """The dataset of the run, in the hub's layout."""
    folder = tmp_path_factory.mktemp("data")
    for name in CAPABILITIES:
        file = folder / "DatBench" / name / "test-00000-of-00001.parquet"
        file.parent.mkdir(parents=True)
        Dataset.from_list(list(rows(name, 12))).to_parquet(file)
    return folder


def copy_of(bundle: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundle, tmp_path / "copy"))


def seal(bundle: Path) -> None:
    (bundle / SUMS).write_text(sums(bundle))


def test_a_bundle_holds_the_numbers_of_the_report(bundle, run_directory):
    report = load_report(run_directory, dataset="none")
    whole = DatBenchReport.load(bundle / "report.json")
    assert whole.summary == report.summary
    assert len(whole.results) == 108
    readme = (bundle / "README.md").read_text()
    assert report.signature_hash in readme
    assert "journal keys are taken as\nrecorded" in readme
    content = json.loads((bundle / "report.json").read_text())
    assert content["figures"]["math"]["interval"] == list(report.capabilities[5].interval)
    for group in report.capabilities:
        part = DatBenchReport.load(bundle / f"report_{group.name}.json")
        assert part.summary["overall_accuracy"] == group.accuracy
        assert [result.metadata["capability"] for result in part.results] == [group.name] * 12


def test_no_local_path_is_published(tmp_path):
    run = make_run(tmp_path / "run", samples=9, judged=True, model="/home/me/step-1/vlm")
    assert submit(run, tmp_path / "bundle") == 0
    texts = [path.read_text() for path in (tmp_path / "bundle").rglob("*") if path.is_file()]
    assert any("vlm#" in text for text in texts)
    assert not any(str(run) in text or "/home/me" in text for text in texts)
    assert main(["verify", str(tmp_path / "bundle"), "--offline"]) == 0


def test_the_hub_reads_what_is_written_for_it(bundle):
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml, parse_eval_result_entries

    content = yaml.safe_load((bundle / ".eval_results" / "datbench.yaml").read_text())
    entries = parse_eval_result_entries(content)
    assert eval_result_entries_to_yaml(entries) == content
    report = DatBenchReport.load(bundle / "report.json")
    expected = {name: round(100 * value, 2) for name, value in report.summary["capability_accuracy"].items()}
    assert {entry.task_id: entry.value for entry in entries} == expected
    assert isinstance(entries[0], EvalResultEntry)
    assert entries[0].source_url == "https://example.org/vlm"
    index = yaml.safe_load((bundle / "model-index.yaml").read_text())["model-index"]
    name, results = model_index_to_eval_results(index)
    assert name == "acme/vlm"
    assert {result.dataset_config: result.metric_value for result in results} == expected


def test_without_a_link_no_source_is_claimed(run_directory, tmp_path):
    assert submit(run_directory, tmp_path / "b", "--capabilities", "math") == 0
    (entry,) = yaml.safe_load((tmp_path / "b" / ".eval_results" / "datbench.yaml").read_text())
    assert "source" not in entry


def test_writing_twice_gives_equal_bytes(bundle, run_directory, tmp_path):
    assert submit(run_directory, tmp_path / "again", "--link", "https://example.org/vlm") == 0
    assert sums(tmp_path / "again") == sums(bundle)


@pytest.mark.parametrize("against", ["bundle", "dataset"])
def test_a_bundle_passes(bundle, data, capsys, against):
    assert main(["verify", str(bundle), *(["--offline"] if against == "bundle" else ["--data", str(data)])]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"pass: 108 samples of {', '.join(CAPABILITIES)}, against the ")
    assert "taken as recorded: outputs, token counts" in printed
    assert ("questions, references and metadata" in printed) is (against == "bundle")


def test_every_digit_counts(bundle, tmp_path, capsys):
    """One digit of any file changed, the sums left as they were."""
    for name in sorted(path.relative_to(bundle) for path in bundle.rglob("*") if path.is_file()):
        copy = copy_of(bundle, tmp_path)
        text = (copy / name).read_text()
        place = next(n for n in range(len(text) // 2, len(text)) if text[n].isdigit())
        (copy / name).write_text(f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}")
        assert main(["verify", str(copy), "--offline"]) == 5, name
        assert str(name) in capsys.readouterr().err or name.name == SUMS
        shutil.rmtree(copy)


def edit_line(bundle: Path, capability: str, change) -> None:
    path = bundle / "samples" / f"{capability}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def set_score(lines):
    lines[0]["score"] = 0.5


def set_details(lines):
    lines[0]["score_details"]["score"] = 0.5


def set_output(lines):
    lines[0]["output"] = "something better"


def set_verdict(lines):
    judged = next(line for line in lines if "judge" in line and line["judge"]["verdict"] == "incorrect")
    judged["judge"]["verdict"] = "correct"


def set_tokens(lines):
    lines[0]["output_tokens"] += 1


def repeat_sample(lines):
    lines.append(lines[0])


def drop_sample(lines):
    del lines[0]


def set_flags(lines):
    lines[0]["flags"].append("request_failed")


RESEALED = [
    (set_score, "db_math_000000: score is 0.5, computed "),
    (set_details, "db_math_000000: score_details is "),
    (set_output, "db_math_000000: output is 'something better', computed "),
    (set_verdict, "judge is "),
    (set_tokens, "report.json: "),
    (set_flags, "db_math_000000: flags is ['request_failed'], computed []"),
    (repeat_sample, "db_math_000000: stands in the file twice"),
    (drop_sample, "report.json: "),
]


@pytest.mark.parametrize(("change", "message"), RESEALED)
def test_edits_are_seen_although_the_sums_were_written_anew(bundle, tmp_path, capsys, change, message):
    copy = copy_of(bundle, tmp_path)
    edit_line(copy, "math", change)
    seal(copy)
    assert main(["verify", str(copy), "--offline"]) == 5
    assert message in capsys.readouterr().err


def test_against_the_dataset_references_cannot_be_edited(bundle, data, tmp_path, capsys):
    copy = copy_of(bundle, tmp_path)
    edit_line(copy, "math", lambda lines: lines[0].update(answer="8"))
    edit_line(copy, "document", lambda lines: lines.pop())
    seal(copy)
    assert main(["verify", str(copy), "--data", str(data)]) == 5
    printed = capsys.readouterr().err
    assert "db_math_000000: answer is '8', computed '7'" in printed
    assert "db_document_000011: in the dataset, not in the bundle" in printed


def test_a_number_edited_in_a_report_is_named(bundle, tmp_path, capsys):
    copy = copy_of(bundle, tmp_path)
    path = copy / "report_math.json"
    accuracy = json.loads(path.read_text())["summary"]["overall_accuracy"]
    path.write_text(path.read_text().replace(f'"overall_accuracy": {accuracy}', '"overall_accuracy": 0.99', 1))
    seal(copy)
    assert main(["verify", str(copy), "--offline"]) == 5
    printed = capsys.readouterr().err
    assert (
        f'report_math.json: line 3 is \'"overall_accuracy": 0.99,\', computed \'"overall_accuracy": {accuracy}'
        in printed
    )


def test_notes_are_about_the_capabilities_in_the_bundle(run_directory, tmp_path):
    assert submit(run_directory, tmp_path / "b", "--capabilities", "math") == 0
    notes = json.loads((tmp_path / "b" / "report.json").read_text())["notes"]
    whole = load_report(run_directory, dataset="none")
    assert any("rotated samples" in note for note in whole.notes)
    rotated = sum(outcome.circular for outcome in whole.outcomes if outcome.capability == "math")
    assert f"circular: {rotated:,} rotated samples" in "\n".join(notes)


@pytest.mark.parametrize("name", ["SHA256SUMS", "submission.json", "samples/math.jsonl", "extra"])
def test_what_has_no_end_is_not_read(bundle, tmp_path, capsys, name):
    copy = copy_of(bundle, tmp_path)
    (copy / name).unlink(missing_ok=True)
    (copy / name).symlink_to("/dev/zero")
    assert main(["verify", str(copy), "--offline"]) == 5
    assert f"{copy / name}: neither a file nor a folder" in capsys.readouterr().err


def test_links_to_files_are_read_as_the_hub_caches_them(bundle, tmp_path):
    copy = copy_of(bundle, tmp_path)
    blob = (copy / "report.json").rename(tmp_path / "blob")
    (copy / "report.json").symlink_to(blob)
    assert main(["verify", str(copy), "--offline"]) == 0


def test_a_bundle_may_not_bring_its_own_dataset(bundle, tmp_path, capsys):
    copy = copy_of(bundle, tmp_path)
    content = json.loads((copy / "submission.json").read_text())
    content["signature"]["dataset"] = "acme/my-own-answers"
    (copy / "submission.json").write_text(json.dumps(content))
    assert main(["verify", str(copy)]) == 5
    assert "names the dataset acme/my-own-answers, which is none of DatologyAI/DatBench" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["dataset", "revision", "samples", "variant"])
def test_a_signature_that_lacks_a_part_is_named(bundle, tmp_path, capsys, key):
    copy = copy_of(bundle, tmp_path)
    content = json.loads((copy / "submission.json").read_text())
    del content["signature"][key]
    (copy / "submission.json").write_text(json.dumps(content))
    assert main(["verify", str(copy), "--offline"]) == 5
    assert f"submission.json: the signature has no {key}" in capsys.readouterr().err


def test_stray_files_and_missing_files_are_named(bundle, tmp_path, capsys):
    copy = copy_of(bundle, tmp_path)
    (copy / "extra.txt").write_text("x")
    (copy / "report_math.json").unlink()
    assert main(["verify", str(copy), "--offline"]) == 5
    printed = capsys.readouterr().err
    assert f"extra.txt: not in {SUMS}" in printed
    assert "report_math.json: missing" in printed


def test_a_bundle_of_another_scorer_version_is_refused_by_name(bundle, tmp_path, capsys):
    copy = copy_of(bundle, tmp_path)
    content = json.loads((copy / "submission.json").read_text())
    content["signature"]["scorer_version"] = "0"
    (copy / "submission.json").write_text(json.dumps(content))
    assert main(["verify", str(copy), "--offline"]) == 5
    assert "scored with scorer version 0" in capsys.readouterr().err


def test_the_signature_must_follow_from_the_runs(bundle, tmp_path, capsys):
    copy = copy_of(bundle, tmp_path)
    content = json.loads((copy / "submission.json").read_text())
    content["runs"]["math"]["revision_resolved"] = "f" * 40
    (copy / "submission.json").write_text(json.dumps(content, indent=2) + "\n")
    seal(copy)
    assert main(["verify", str(copy), "--offline"]) == 5
    assert "data:DatologyAI/DatBench@mixed#" in capsys.readouterr().err


def test_what_is_no_bundle_is_named(tmp_path, capsys):
    assert main(["verify", str(tmp_path), "--offline"]) == 5
    assert "submission.json: no such file; name a directory that datbench-tasks submit wrote" in capsys.readouterr().err


def test_a_bundle_of_another_schema_is_refused_by_name(bundle, tmp_path, capsys):
    copy = copy_of(bundle, tmp_path)
    (copy / "submission.json").write_text('{"schema": 9}')
    assert main(["verify", str(copy), "--offline"]) == 5
    assert "schema 9; this version reads schema 1" in capsys.readouterr().err


def test_without_gold_no_reference_is_left_and_only_the_dataset_verifies(run_directory, data, tmp_path, capsys):
    out = tmp_path / "b"
    assert submit(run_directory, out, "--without-gold", "--capabilities", "document") == 0
    for line in (out / "samples" / "document.jsonl").read_text().splitlines():
        sample = json.loads(line)
        shown = {key: sample[key] for key in sample if key not in ("output", "raw_output")}
        assert "Marchbanks" not in json.dumps(shown)
        assert not {"answer", "all_answers", "scorer_input", "judge_prompt"} & sample.keys()
    report = DatBenchReport.load(out / "report_document.json")
    assert {result.ground_truth for result in report.results} == {None}
    assert main(["verify", str(out), "--offline"]) == 2
    assert "can only be verified against the dataset" in capsys.readouterr().err
    assert main(["verify", str(out), "--data", str(data)]) == 0


def test_the_date_is_that_of_what_is_in_the_bundle(tmp_path):
    make_run(tmp_path / "run", samples=3, capabilities=["counting"])
    make_run(tmp_path / "run", samples=3, capabilities=["scene"], date="20260301_120000")
    assert submit(tmp_path / "run", tmp_path / "b", "--capabilities", "counting") == 0
    assert json.loads((tmp_path / "b" / "submission.json").read_text())["date"] == "20260115_120000"


def test_gold_is_warned_of(run_directory, tmp_path, capsys):
    assert submit(run_directory, tmp_path / "b", "--capabilities", "math") == 0
    printed = capsys.readouterr().err
    assert "publishes reference answers; --without-gold" in printed
    assert "(partial: math)" in printed
    assert "partial: math" in (tmp_path / "b" / "README.md").read_text()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "math: 3 samples without a verdict"),
        ({"capabilities": ["counting"]}, "chart: not in the run"),
        ({"variant": "blind", "judged": True}, "blind tasks are not results of the benchmark"),
        ({"limit": 9, "judged": True}, "math, scene, spatial, table: run with limit=9. Run what is missing"),
    ],
)
def test_runs_that_are_not_complete_are_refused(tmp_path, capsys, settings, message):
    run = make_run(tmp_path / "run", samples=81, **settings)
    assert submit(run, tmp_path / "b") == 3
    assert message in capsys.readouterr().err
    assert not (tmp_path / "b").exists()


def test_duplicated_samples_are_refused(tmp_path, capsys):
    run = make_run(tmp_path / "run", samples=9, judged=True)
    log = next(run.glob("*/*_datbench_scene.jsonl"))
    log.write_text(log.read_text() * 2)
    assert submit(run, tmp_path / "b") == 3
    assert "scene: 1 sample logged more than once, identically (db_scene_000000). " in capsys.readouterr().err


def test_samples_that_a_scorer_failed_on_are_counted_and_refused(tmp_path, capsys):
    run = make_run(tmp_path / "run", samples=9, judged=True)
    log = next(run.glob("*/*_datbench_scene.jsonl"))
    row = next(rows("scene", 1))
    line = json.loads(log.read_text())
    log.write_text(json.dumps({**line, RECORD: failed_record(row, "x", KeyError("bbox"))}) + "\n")
    (scene,) = (group for group in load_report(run, dataset="none").capabilities if group.name == "scene")
    assert (scene.accuracy, scene.scorer_errors) == (0.0, 1)
    assert submit(run, tmp_path / "b") == 3
    assert "scene: 1 samples that a scorer failed on" in capsys.readouterr().err


def test_a_directory_in_use_is_left_alone(run_directory, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert submit(run_directory, tmp_path) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_sums_are_those_of_sha256sum(bundle):
    listed = dict(line.split("  ")[::-1] for line in (bundle / SUMS).read_text().splitlines())
    assert listed["README.md"] == hashlib.sha256((bundle / "README.md").read_bytes()).hexdigest()


def test_lone_surrogates_survive_submitting_and_verifying(tmp_path):
    run = make_run(tmp_path / "run", samples=9, judged=True)
    log = next(run.glob("*/*_datbench_document.jsonl"))
    row = next(rows("document", 1))
    line = json.loads(log.read_text())
    record = make_record(row, "the \ud835 sign", line[RECORD]["run"], 0)
    log.write_text(json.dumps({**line, RECORD: record}) + "\n")
    assert submit(run, tmp_path / "b") == 0
    assert main(["verify", str(tmp_path / "b"), "--offline"]) == 0
    assert main(["report", str(run), "--dataset", "none", "--allow-incomplete"]) == 0
    assert "\\ud835" in (run / "datbench_report.json").read_text()
