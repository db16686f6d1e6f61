"""Judged results in Weights & Biases, through the host's own logger, offline."""

from __future__ import annotations

import argparse
import time

from support.synthetic_run import make_run

from datbench_tasks.reporting import push


def test_judged_results_are_logged_as_the_host_logs_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    directory = make_run(tmp_path / "run", samples=4, capabilities=["math", "chart"], judged=True)
    parser = argparse.ArgumentParser()
    push.add_arguments(parser)
    assert push.run(parser.parse_args([str(directory), "--wandb-args", "project=datbench,mode=offline"])) == 0
    (log,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    deadline = time.monotonic() + 60
    while b"datbench_chart/datbench_score" not in log.read_bytes():  # the service of wandb writes behind
        assert time.monotonic() < deadline, "nothing was logged"
    assert b"datbench_math/datbench_score" in log.read_bytes()
