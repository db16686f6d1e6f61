"""The journal: what is in it survives, what is torn is passed over, and one process writes at a time."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc

import pytest

from datbench_tasks.errors import CommandError, UsageError
from datbench_tasks.judge.answers import Answer
from datbench_tasks.judge.journal import Journal

KEYS = [f"{number:064x}" for number in range(10)]


def test_answers_come_back_in_the_next_process(tmp_path):
    path = tmp_path / "deep" / "journal.jsonl"
    answers = [Answer(key, raw=f"answer: true \ud800 \u2028 {key}", prompt_tokens=3) for key in KEYS]
    with Journal(path) as journal:
        for answer in answers:
            journal.add(answer)
        assert [journal.get(key) for key in KEYS] == answers
    with Journal(path) as journal:
        assert len(journal) == len(KEYS) and KEYS[0] in journal
        assert [journal.get(key) for key in KEYS] == answers
        assert journal.get("f" * 64) is None


def test_an_answer_is_on_disk_before_the_next_is_asked_for(tmp_path):
    with Journal(tmp_path / "j.jsonl") as journal:
        journal.add(Answer(KEYS[0], raw="x"))
        assert json.loads((tmp_path / "j.jsonl").read_text())["raw"] == "x"


def test_an_empty_journal_leaves_no_trace_and_a_shared_folder_stays(tmp_path):
    with Journal(tmp_path / "new" / "j.jsonl"):
        pass
    assert list(tmp_path.iterdir()) == []
    with Journal(tmp_path / "two" / "levels" / "j.jsonl"):
        pass
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "kept").write_text("")
    with Journal(tmp_path / "j.jsonl"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_failures_are_recorded_but_are_no_answers(tmp_path):
    with Journal(tmp_path / "j.jsonl") as journal:
        journal.add(Answer(KEYS[0], failure="HTTP 500"))
        journal.add(Answer(KEYS[1], raw="true"))
        journal.add(Answer(KEYS[1], failure="timeout"))
    with Journal(tmp_path / "j.jsonl") as journal:
        assert KEYS[0] not in journal and journal.get(KEYS[0]) == Answer(KEYS[0], failure="HTTP 500")
        assert journal.get(KEYS[1]) == Answer(KEYS[1], raw="true")
        journal.add(Answer(KEYS[0], raw="false"))
        assert journal.get(KEYS[0]).raw == "false"


def test_the_latest_answer_counts(tmp_path):
    with Journal(tmp_path / "j.jsonl") as journal:
        journal.add(Answer(KEYS[0], raw="maybe"))
        journal.add(Answer(KEYS[0], raw="true"))
    with Journal(tmp_path / "j.jsonl") as journal:
        assert journal.get(KEYS[0]).raw == "true"


@pytest.mark.parametrize("cut", range(1, 40, 6))
def test_a_torn_last_line_costs_that_line_only(tmp_path, cut):
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        for key in KEYS[:3]:
            journal.add(Answer(key, raw="answer: true"))
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(path) as journal:
        whole = 3 if cut == 1 else 2
        assert len(journal) == whole
        assert journal.unreadable_lines == 3 - whole
        journal.add(Answer(KEYS[5], raw="after"))
        assert journal.get(KEYS[5]).raw == "after"
    with Journal(path) as journal:
        assert len(journal) == whole + 1 and journal.get(KEYS[5]).raw == "after"


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"[1]\n",
        b'{"key": 5}\n',
        b'{"key": "zz"}\n',
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b'{"raw": "x"}\n',
        b'{"key": "%s", "raw": null}\n' % KEYS[1].encode(),
        b'{"key": "%s", "failure": 5}\n' % KEYS[1].encode(),
        b'{"key": "%s", "prompt_tokens": "9"}\n' % KEYS[1].encode(),
        b"null\n",
    ],
)
def test_foreign_lines_are_passed_over(tmp_path, line):
    path = tmp_path / "j.jsonl"
    good = json.dumps(Answer(KEYS[0], raw="true").line()).encode() + b"\n"
    path.write_bytes(line + good)
    with Journal(path) as journal:
        assert len(journal) == 1 and journal.get(KEYS[0]).raw == "true" and journal.unreadable_lines == 1


def test_a_second_writer_is_told_what_to_do(tmp_path):
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        journal.add(Answer(KEYS[0], raw="true"))
        code = f"from datbench_tasks.judge.journal import Journal\nwith Journal({str(path)!r}): pass"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert other.returncode != 0
        assert "another process is writing this journal" in other.stderr
        with pytest.raises(UsageError, match="another --tag"), Journal(path):
            raise AssertionError("unreachable")
    with Journal(path) as journal:
        assert len(journal) == 1


def test_locks_that_the_host_has_changed_do_not_let_a_second_writer_in(tmp_path):
    from lmms_eval.evaluator import _enable_reentrant_filelocks  # slow to import

    _enable_reentrant_filelocks()  # as every evaluation does, for its whole process
    path = tmp_path / "j.jsonl"
    with Journal(path), pytest.raises(UsageError, match="another --tag"), Journal(path):
        raise AssertionError("unreachable")


def test_a_directory_in_the_way_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="cannot write the journal"), Journal(tmp_path / "file" / "j.jsonl"):
        raise AssertionError("unreachable")


def test_a_full_disk_is_a_clear_error_and_loses_nothing_earlier(tmp_path):
    path = tmp_path / "j.jsonl"
    code = (
        "import resource, signal\n"
        "from datbench_tasks.judge.journal import Journal\n"
        "from datbench_tasks.judge.answers import Answer\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        f"with Journal({str(path)!r}) as journal:\n"
        "    for number in range(100): journal.add(Answer(f'{number:064x}', raw='answer: true'))\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "CommandError" in child.stderr and "what it holds is safe" in child.stderr
    with Journal(path) as journal:
        assert len(journal) >= 15


def test_long_texts_are_not_held_in_memory(tmp_path):
    tracemalloc.start()
    try:
        with Journal(tmp_path / "j.jsonl") as journal:
            for number in range(200):
                journal.add(Answer(f"{number:064x}", raw="x" * 1_000_000))
            assert len(journal.get(f"{7:064x}").raw) == 1_000_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * 2**20, "a few texts, where all would be 200 MB"
