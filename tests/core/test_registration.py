"""The hook into the host's task index, on a stand-in of its module."""

import subprocess
import sys

import pytest

HOST = """
class TaskManager:
    def __init__(self, include_path=None, **rest):
        self.seen = self.initialize_tasks(include_path=include_path, **rest)
    def initialize_tasks(self, include_path=None, include_defaults=True):
        return include_path, include_defaults
"""


@pytest.fixture
def host(tmp_path):
    package = tmp_path / "lmms_eval" / "tasks"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text(HOST)

    def python(code):
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done

    return python


REGISTER = "from datbench_tasks.registration import register_tasks; "
SHOW = "print(TaskManager({0}).seen)"


@pytest.mark.parametrize(
    "code",
    [
        REGISTER + "register_tasks(); from lmms_eval.tasks import TaskManager; ",
        REGISTER + "register_tasks(); register_tasks(); from lmms_eval.tasks import TaskManager; ",
        REGISTER + "from lmms_eval.tasks import TaskManager; register_tasks(); register_tasks(); ",
    ],
    ids=["before", "twice", "after"],
)
@pytest.mark.parametrize(
    ("given", "first"), [("", []), ("'mine'", ["mine"]), ("['a', 'b'], include_defaults=False", ["a", "b"])]
)
def test_our_folder_comes_last_and_once(host, code, given, first):
    done = host(code + f"include_path, defaults = TaskManager({given}).seen; print(include_path, defaults)")
    folder = host("from datbench_tasks.task_folders import lmms_eval_folders as f; print(f()[0])").stdout.strip()
    assert done.stdout.strip() == f"{[*first, folder]} {'False' not in given}"


def test_nothing_of_the_host_is_imported_by_registering(host):
    done = host(REGISTER + "register_tasks(); import sys; print([m for m in sys.modules if m.startswith('lmms_eval')])")
    assert done.stdout.strip() == "[]"


def test_a_fault_of_ours_warns_and_leaves_the_host_alone(host):
    code = (
        "import datbench_tasks.task_folders as t\n"
        "def broken(): raise RuntimeError('no folder')\n"
        "t.lmms_eval_folders = broken\n"
        "from datbench_tasks.registration import register_tasks\n"
        "register_tasks()\n"
        "from lmms_eval.tasks import TaskManager\n"
        "print(TaskManager('mine').seen)"
    )
    done = host(code)
    assert done.stdout.strip() == "('mine', True)"
    assert "no folder" in done.stderr
