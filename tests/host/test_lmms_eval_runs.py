"""The tasks inside the real lmms-eval: command line, Python, several ranks, and the numbers that all of them give."""

import json
import math

import pytest
from support.chat_server import ChatServer
from support.host import GROUP, answer_by_gold, read_records, read_results, run, sample_rows

from datbench import CAPABILITIES

TASKS = [f"{GROUP}_{capability}" for capability in CAPABILITIES]
VOLATILE = ("run",)


def stable(records):
    """Records by id, without what may differ between two runs of the same answers."""
    return {record["id"]: {key: value for key, value in record.items() if key not in VOLATILE} for record in records}


@pytest.fixture(scope="module")
def server():
    with ChatServer(answer_by_gold) as running:
        yield running


@pytest.fixture(scope="module")
def cli_run(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs with blanks")
    done = run(
        "lmms-eval", "--model", "openai", "--tasks", GROUP, "--batch_size", 1, "--log_samples", "--output_path", "out",
        "--model_args", f"model_version=scripted,base_url={server.base_url},num_concurrent=8,api_key=sk-marked",
        cwd=folder,
    )  # fmt: skip
    assert (folder / "out").is_dir(), done.stdout + done.stderr
    return folder / "out", done


def test_every_row_has_one_record_that_needs_no_dataset(cli_run):
    out, _ = cli_run
    records = {record["id"]: record for task in TASKS for record in read_records(out, task)}
    rows = {row["id"]: row for row in sample_rows()}
    assert set(records) == set(rows)
    for sample_id, record in records.items():
        row = rows[sample_id]
        assert record["schema"] == 1
        assert record["capability"] in record["run"]["task"]
        assert record["dataset"] == row["source_info"]["dataset"]
        assert (
            record["question"] == f"{row['prompt_format']['prefix']}{row['question']}{row['prompt_format']['suffix']}"
        )
        assert record["pending"] == (row["eval_mode"] == "judge") == ("score" not in record)
        assert "<think>" not in record["output"]
        assert record["run"]["max_new_tokens"] == 4096
        assert record["run"]["host"].startswith("lmms-eval 0.7")
    thought = [record for record in records.values() if "raw_output" in record]
    assert thought and all(record["raw_output"].startswith("<think>hm</think>") for record in thought)


def test_a_record_is_enough_to_score_again(cli_run):
    from datbench_tasks.records import score_record

    out, _ = cli_run
    direct = [record for task in TASKS for record in read_records(out, task) if record["eval_mode"] == "direct"]
    assert sum(record["score"] for record in direct) > len(direct) / 2
    for record in direct:
        assert score_record(record) == record["score_details"], record["id"]


def test_the_hosts_table_has_mean_macro_and_pooled(cli_run):
    out, done = cli_run
    results = read_results(out)
    means, sizes = {}, {}
    for task in TASKS:
        records = read_records(out, task)
        graded = [record["score"] for record in records if "score" in record]
        means[task], sizes[task] = math.fsum(graded) / len(graded), len(records)
        assert results["results"][task]["datbench_score,none"] == pytest.approx(means[task])
        assert results["results"][task]["datbench_record,none"] == pytest.approx(len(graded) / len(records))
    group = results["results"][GROUP]
    assert group["datbench_score,none"] == pytest.approx(sum(means.values()) / 9)
    pooled = sum(means[task] * sizes[task] for task in TASKS) / sum(sizes.values())
    assert group["datbench_pooled,none"] == pytest.approx(pooled)
    assert "datbench_score" in done.stdout


def test_our_copy_holds_the_same_records_and_no_secret(cli_run):
    out, _ = cli_run
    copies = sorted((out / "datbench_records").glob("*.jsonl"))
    assert len(copies) == 9
    for copy in copies:
        header, *records = map(json.loads, copy.read_text("utf-8").splitlines())
        assert [record["doc_id"] for record in records] == list(range(len(records)))
        assert stable(records) == stable(read_records(out, header["task"]))
        assert header["arguments"]["model_args"].startswith("model_version=scripted,")
        assert "sk-marked" not in copy.read_text("utf-8")


@pytest.mark.parametrize("workers", [1, 4])
def test_python_gives_the_same_records_as_the_command_line(cli_run, server, workers, tmp_path):
    out, _ = cli_run
    program = tmp_path / "ask.py"
    program.write_text(
        "import json, sys\n"
        "from lmms_eval.evaluator import simple_evaluate\n"
        f"done = simple_evaluate(model='openai', tasks=['{GROUP}'], batch_size=1, log_samples=True,\n"
        f"    model_args='model_version=scripted,base_url={server.base_url},num_concurrent=8',\n"
        f"    process_docs_parallel={workers})\n"
        "samples = {task: [s['datbench_record'] for s in lines] for task, lines in done['samples'].items()}\n"
        "json.dump({'samples': samples, 'group': done['results']['datbench_sample']}, open('done.json', 'w'))\n"
    )
    done = run("python", program, cwd=tmp_path)
    assert (tmp_path / "done.json").is_file(), done.stdout + done.stderr
    found = json.loads((tmp_path / "done.json").read_text())
    for task in TASKS:
        assert stable(found["samples"][task]) == stable(read_records(out, task))
    assert found["group"]["datbench_score,none"] == read_results(out)["results"][GROUP]["datbench_score,none"]


def test_two_ranks_give_the_same_records(cli_run, server, tmp_path):
    out, _ = cli_run
    answers = tmp_path / "answers.jsonl"
    lines = [
        {"id": record["id"], "raw_output": record.get("raw_output", record["output"])}
        for task in TASKS
        for record in read_records(out, task)
    ]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run(
        "torchrun", "--nproc_per_node", 2, "--master_port", 29517, "-m", "lmms_eval", "--model", "datbench_replay",
        "--model_args", f"responses={answers}", "--tasks", GROUP, "--batch_size", 1, "--log_samples",
        "--output_path", "out", cwd=tmp_path,
    )  # fmt: skip
    assert (tmp_path / "out").is_dir(), done.stdout + done.stderr
    for task in TASKS:
        assert stable(read_records(tmp_path / "out", task)) == stable(read_records(out, task))
    for name in ("datbench_score,none", "datbench_pooled,none"):
        two, one = (read_results(folder)["results"][GROUP][name] for folder in (tmp_path / "out", out))
        assert two == one


def test_tasks_are_listed(tmp_path):
    done = run("lmms-eval", "--tasks", "list", cwd=tmp_path)
    listed = done.stdout + done.stderr
    for task in ("datbench", "datbench_math", "datbench_full_chart", "datbench_blind", "datbench_sample_table"):
        assert f" {task}\n" in listed
