"""Where rows come from: local copies, the hub, its cache without network; and what is said when they are missing."""

import pytest
from datasets import DatasetDict
from support.fake_hub import COMMIT, FakeHub
from support.host import hub_layout, read_records, read_results, run, sample_rows

from datbench_tasks.dataset_source import load_capability

MATH_IDS = {row["id"] for row in sample_rows() if "math" in row["id"]}


def evaluate(folder, task="datbench_math", **environment):
    return run(
        "lmms-eval", "--model", "dummy", "--tasks", task, "--batch_size", 1, "--log_samples", "--output_path", "out",
        cwd=folder, **environment,
    )  # fmt: skip


@pytest.fixture(params=["parquet", "save_to_disk"])
def local_data(request, tmp_path):
    data = tmp_path / "my data"
    if request.param == "parquet":
        hub_layout(data / "DatBench")
    else:
        DatasetDict(test=load_capability("math", "sample")).save_to_disk(data / "DatBench" / "math")
    return data


def test_local_data_is_read_with_no_network(local_data, tmp_path):
    done = evaluate(tmp_path, DATBENCH_DATA=str(local_data), HF_ENDPOINT="http://127.0.0.1:9")
    assert (tmp_path / "out").is_dir(), done.stdout + done.stderr
    records = read_records(tmp_path / "out", "datbench_math")
    assert {record["id"] for record in records} == MATH_IDS
    run_fields = records[0]["run"]
    assert (run_fields["dataset"], run_fields["revision"]) == ("DatologyAI/DatBench", None)
    assert run_fields["revision_resolved"].startswith("content:")


def test_local_data_that_lacks_a_capability_never_turns_to_the_hub(tmp_path):
    (tmp_path / "data").mkdir()
    done = evaluate(tmp_path, DATBENCH_DATA=str(tmp_path / "data"))
    assert str(tmp_path / "data" / "DatBench" / "math") in done.stdout + done.stderr
    assert not list(tmp_path.rglob("*_results.json"))


def test_the_hubs_commit_is_recorded_and_its_cache_serves_without_network(tmp_path):
    home = {"HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    repository = hub_layout(tmp_path / "repository")
    with FakeHub({"DatologyAI/DatBench": repository}) as hub:
        online = tmp_path / "online"
        online.mkdir()
        done = evaluate(online, HF_ENDPOINT=hub.endpoint, HF_HUB_OFFLINE="0", **home)
        assert (online / "out").is_dir(), done.stdout + done.stderr
        endpoint = hub.endpoint
    records = read_records(online / "out", "datbench_math")
    assert (records[0]["run"]["revision"], records[0]["run"]["revision_resolved"]) == ("main", COMMIT)
    offline = tmp_path / "offline"
    offline.mkdir()
    done = evaluate(offline, HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="1", **home)
    assert (offline / "out").is_dir(), done.stdout + done.stderr
    again = read_records(offline / "out", "datbench_math")
    assert [record["score"] for record in again if "score" in record] == [r["score"] for r in records if "score" in r]
    assert again[0]["run"]["revision_resolved"] == COMMIT


def test_a_wrong_revision_is_named(tmp_path):
    with FakeHub({"DatologyAI/DatBench": hub_layout(tmp_path / "repository")}) as hub:
        done = evaluate(
            tmp_path, HF_ENDPOINT=hub.endpoint, HF_HUB_OFFLINE="0", HF_HOME=str(tmp_path / "home"),
            DATBENCH_REVISION="nonesuch",
        )  # fmt: skip
        doctor = run(
            "datbench-tasks", "doctor", cwd=tmp_path, HF_ENDPOINT=hub.endpoint, HF_HUB_OFFLINE="0",
            DATBENCH_REVISION="nonesuch",
        )  # fmt: skip
    assert "nonesuch" in done.stdout + done.stderr
    assert not list(tmp_path.rglob("*_results.json"))
    assert doctor.returncode == 4 and "nonesuch" in doctor.stdout


def test_malformed_rows_are_named_before_inference(tmp_path):
    rows = load_capability("math", "sample").remove_columns(["eval_mode"])
    folder = tmp_path / "data" / "DatBench" / "math"
    folder.mkdir(parents=True)
    rows.add_column("eval_mode", ["sometimes"] * len(rows)).to_parquet(folder / "test-0.parquet")
    done = evaluate(tmp_path, DATBENCH_DATA=str(tmp_path / "data"))
    said = done.stdout + done.stderr
    assert "row 0 (id 'db_math_000001'), field 'eval_mode'" in said
    assert "Running generate_until" not in said


def test_include_path_finds_tasks_where_the_plugin_does_not_run(tmp_path):
    path = run("datbench-tasks", "path", cwd=tmp_path).stdout.strip()
    done = run("lmms-eval", "tasks", "list", "--include-path", path, cwd=tmp_path)
    assert "datbench_math" in done.stdout + done.stderr


def test_a_blind_run_sends_grey_images_of_the_same_size(tmp_path):
    import base64
    import io

    from PIL import Image
    from support.chat_server import ChatServer, Reply

    hub_layout(tmp_path / "data" / "DatBench")
    with ChatServer(Reply("7")) as server:
        done = run(
            "lmms-eval", "--model", "openai", "--tasks", "datbench_blind_math", "--batch_size", 1, "--log_samples",
            "--output_path", "out", "--model_args", f"model_version=scripted,base_url={server.base_url}",
            cwd=tmp_path, DATBENCH_DATA=str(tmp_path / "data"),
        )  # fmt: skip
    assert (tmp_path / "out").is_dir(), done.stdout + done.stderr
    sent = [
        Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) for call in server.calls for url in call.images
    ]
    assert len(sent) == len(MATH_IDS)
    assert all(image.convert("RGB").getcolors() == [(image.width * image.height, (128, 128, 128))] for image in sent)
    sizes = sorted(image.size for image in load_capability("math", "sample")["image"])
    assert sorted(image.size for image in sent) == sizes
    assert read_results(tmp_path / "out")["results"]["datbench_blind_math"]
