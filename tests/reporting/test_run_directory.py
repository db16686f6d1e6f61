"""Run directories: dates, models, copies, duplicates, and lines that cannot be read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.synthetic_run import JUDGE_TAG, make_run

from datbench.jsonio import write_json, write_jsonl
from datbench_tasks.errors import InputError
from datbench_tasks.run_directory import open_run
from datbench_tasks.run_samples import choose_judge, iter_judged, iter_samples, judge_folder
from datbench_tasks.sample_logs import COPIES_FOLDER, RECORD, Sample

DATE = "20260115_120000"


def math_run(tmp_path: Path, **settings: object) -> Path:
    return make_run(tmp_path / "run", samples=9, capabilities=["math"], **settings)


def log_of(directory: Path, task: str = "datbench_math") -> Path:
    return next(directory.glob(f"*/*_samples_{task}.jsonl"))


def lines_of(log: Path) -> list[dict]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def samples_of(directory: Path) -> list[Sample]:
    (task_run,) = open_run(directory).tasks
    return list(iter_samples(task_run))


def write_copy(directory: Path, records: list[dict], date: str = "20260115_121000", model: str = "acme/vlm-7b") -> None:
    header = {"schema": 1, "task": "datbench_math", "run": {}, "arguments": {"model_args": f"model={model},x=1"}}
    write_jsonl(directory / COPIES_FOLDER / f"datbench_math_{date}_77.jsonl", [header, *records])


def test_a_run_is_read_in_doc_id_order_whatever_the_order_of_lines(tmp_path):
    directory = math_run(tmp_path)
    log = log_of(directory)
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[::2] + lines[1::2]))
    samples = samples_of(directory)
    assert [sample.line["doc_id"] for sample in samples] == list(range(9))
    assert RECORD not in samples[0].line
    assert samples[0].record["id"] == "db_math_000000"


def test_model_task_and_capability_are_found(tmp_path):
    run = open_run(make_run(tmp_path, samples=2, capabilities=["math", "chart"], variant="blind"))
    assert run.model == "acme/vlm-7b"
    assert [(task.task, task.capability, task.variant, task.date) for task in run.tasks] == [
        ("datbench_blind_chart", "chart", "blind", DATE),
        ("datbench_blind_math", "math", "blind", DATE),
    ]


def test_the_model_folder_itself_can_be_named(tmp_path):
    directory = math_run(tmp_path)
    assert open_run(directory / "acme__vlm-7b").tasks[0].samples == log_of(directory)


def test_the_newest_date_is_read_unless_another_is_named(tmp_path):
    directory = math_run(tmp_path)
    math_run(tmp_path, date="20260220_080000")
    assert open_run(directory).tasks[0].date == "20260220_080000"
    assert open_run(directory, date=DATE).tasks[0].date == DATE
    with pytest.raises(InputError, match=f"there is {DATE}, 20260220_080000"):
        open_run(directory, date="20250101_000000")


def test_tasks_of_other_dates_belong_together_only_with_equal_settings(tmp_path):
    directory = make_run(tmp_path, samples=2, capabilities=["math"])
    make_run(tmp_path, samples=2, capabilities=["chart"], date="20260220_080000")
    assert len(open_run(directory).tasks) == 2
    results = next(directory.glob("*/20260220_080000_results.json"))
    content = json.loads(results.read_text())
    content["config"]["gen_kwargs"] = "temperature=1"
    write_json(results, content)
    with pytest.raises(InputError, match="differ in model or generation settings"):
        open_run(directory)


def test_several_models_need_a_choice(tmp_path):
    directory = math_run(tmp_path)
    math_run(tmp_path, model="acme/vlm-13b")
    with pytest.raises(InputError, match=r"acme/vlm-13b, acme/vlm-7b; pick one with --run-model"):
        open_run(directory)
    assert open_run(directory, model="acme/vlm-7b").model == "acme/vlm-7b"
    assert open_run(directory, model="acme__vlm-13b").model == "acme/vlm-13b"
    with pytest.raises(InputError, match="no model 'nobody'"):
        open_run(directory, model="nobody")


def test_identical_duplicates_are_merged_and_counted(tmp_path):
    directory = math_run(tmp_path)
    log = log_of(directory)
    first = log.read_text().splitlines(keepends=True)[0]
    log.write_text(log.read_text() + first)
    samples = samples_of(directory)
    assert [sample.lines for sample in samples] == [2] + [1] * 8


def test_differing_duplicates_are_an_error_that_names_them(tmp_path):
    directory = math_run(tmp_path)
    log = log_of(directory)
    line = lines_of(log)[4]
    line[RECORD]["output"] = "something else"
    log.write_text(log.read_text() + json.dumps(line) + "\n")
    with pytest.raises(InputError, match=r"samples_datbench_math.jsonl: .*twice.*db_math_000004"):
        samples_of(directory)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-200], "line 9: not readable as JSON (cut off)"),
        (lambda text: text + '{"doc_id": 9, "datbench_record": {"schema": 1, "id": "x"', "line 10: not readable"),
        (lambda text: text + "not JSON\n", "line 10: not readable as JSON"),
        (lambda text: text + "[1]\n", "line 10: must be a JSON object"),
        (lambda text: text + '{"doc_id": 9, "bypass": 1}\n', "line 10: logged with --predict_only"),
        (lambda text: text + '{"doc_id": 9, "score": 1}\n', "line 10: no datbench_record"),
        (lambda text: text.replace('"schema": 1', '"schema": 7'), "record schema 7"),
    ],
)
def test_lines_that_cannot_be_read_are_named(tmp_path, damage, message):
    directory = math_run(tmp_path)
    log = log_of(directory)
    log.write_text(damage(log.read_text()))
    with pytest.raises(InputError) as fault:
        samples_of(directory)
    assert str(log) in str(fault.value)
    assert message in str(fault.value)


def test_an_answer_that_imitates_the_host_is_no_id(tmp_path):
    directory = math_run(tmp_path)
    log = log_of(directory)
    lines = lines_of(log)
    lines[0]["filtered_resps"] = '"datbench_record": {"schema": 1, "id": "stolen", '
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert samples_of(directory)[0].record["id"] == "db_math_000000"


def test_lone_surrogates_are_read(tmp_path):
    directory = math_run(tmp_path)
    log = log_of(directory)
    lines = lines_of(log)
    lines[0][RECORD]["output"] = "\ud835"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert samples_of(directory)[0].record["output"] == "\ud835"


def test_our_copy_fills_in_what_the_log_lost(tmp_path):
    directory = math_run(tmp_path)
    log = log_of(directory)
    lines = lines_of(log)
    write_copy(directory, [line[RECORD] for line in lines])
    log.write_text("".join(json.dumps(line) + "\n" for line in lines[:3]))
    samples = samples_of(directory)
    assert [sample.record for sample in samples] == [line[RECORD] for line in lines]
    assert samples[8].line == {}


def test_our_copy_stands_in_for_samples_that_were_not_logged(tmp_path):
    directory = math_run(tmp_path)
    log = log_of(directory)
    write_copy(directory, [line[RECORD] for line in lines_of(log)])
    log.unlink()
    assert len(samples_of(directory)) == 9


def test_a_copy_of_another_run_fills_in_nothing(tmp_path):
    directory = math_run(tmp_path)
    log = log_of(directory)
    lines = lines_of(log)
    write_copy(directory, [{**line[RECORD], "output": "other"} for line in lines])
    log.write_text("".join(json.dumps(line) + "\n" for line in lines[:3]))
    assert len(samples_of(directory)) == 3


def test_copies_go_to_the_model_and_the_run_that_they_were_written_by(tmp_path):
    directory = math_run(tmp_path)
    math_run(tmp_path, date="20260220_080000")
    write_copy(directory, [], date="20260115_121000")
    write_copy(directory, [], date="20260220_080500")
    write_copy(directory, [], date="20260220_090000", model="acme/vlm-13b")
    (task_run,) = open_run(directory / "acme__vlm-7b", date=DATE).tasks
    assert [path.name for path in task_run.copies] == ["datbench_math_20260115_121000_77.jsonl"]
    (task_run,) = open_run(directory / "acme__vlm-7b").tasks
    assert [path.name for path in task_run.copies] == ["datbench_math_20260220_080500_77.jsonl"]


def test_a_task_without_samples_says_what_to_do(tmp_path):
    directory = math_run(tmp_path)
    log_of(directory).unlink()
    with pytest.raises(InputError, match="--log_samples"):
        samples_of(directory)


def test_directories_that_are_no_runs(tmp_path):
    with pytest.raises(InputError, match="no such directory"):
        open_run(tmp_path / "nowhere")
    with pytest.raises(InputError, match="run lmms-eval with --log_samples"):
        open_run(tmp_path)


def test_verdicts_replace_pending_records(tmp_path):
    run = open_run(math_run(tmp_path, judged=True))
    (task_run,) = run.tasks
    assert choose_judge(run, None) == JUDGE_TAG
    pending = [sample.record["pending"] for sample in iter_samples(task_run)]
    judged = [sample.record["pending"] for sample in iter_judged(task_run, judge_folder(run, JUDGE_TAG))]
    assert any(pending)
    assert not any(judged)


def test_a_verdict_on_another_output_is_refused(tmp_path):
    directory = math_run(tmp_path, judged=True)
    log = log_of(directory)
    log.write_text(log.read_text().replace('"output": "130"', '"output": "131"'))
    run = open_run(directory)
    with pytest.raises(InputError, match="belongs to another output; run the judge pass again"):
        list(iter_judged(run.tasks[0], judge_folder(run, JUDGE_TAG)))


def test_judge_passes_are_chosen_by_name(tmp_path):
    directory = math_run(tmp_path, judged=True)
    shutil.copytree(directory / "judge" / JUDGE_TAG, directory / "judge" / "other")
    (directory / "judge" / "interrupted").mkdir()
    (directory / "judge" / "interrupted" / "journal.jsonl").touch()
    run = open_run(directory)
    with pytest.raises(InputError, match=f"several judge passes \\({JUDGE_TAG}, other\\); pick one with --judge"):
        choose_judge(run, None)
    with pytest.raises(InputError, match="no judge pass 'third'"):
        choose_judge(run, "third")


def test_judge_passes_of_other_dates_are_not_the_run_s(tmp_path):
    directory = math_run(tmp_path, judged=True)
    math_run(tmp_path, date="20260220_080000")
    assert choose_judge(open_run(directory, date=DATE), None) == JUDGE_TAG
    assert choose_judge(open_run(directory), None) is None


def test_a_judge_folder_reads_like_a_run(tmp_path):
    directory = math_run(tmp_path, judged=True)
    judged = samples_of(directory / "judge" / JUDGE_TAG)
    assert len(judged) == 9
    assert not any(sample.record["pending"] for sample in judged)
