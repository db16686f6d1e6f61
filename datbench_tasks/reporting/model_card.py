"""What a bundle offers to other places: community evals of the hub, a model card's model-index, a README."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from datbench_tasks.reporting.completeness import is_commit
from datbench_tasks.reporting.report_tables import accuracy_table, rates_table
from datbench_tasks.reporting.tables import as_markdown, telling
from datbench_tasks.reporting.visible_text import visible

if TYPE_CHECKING:
    from datbench_tasks.reporting.bundle import Submission
    from datbench_tasks.reporting.report import Report


def eval_results(submission: Submission, report: Report) -> str:
    """``.eval_results/datbench.yaml``: one entry a capability, accuracy in per cent with two decimals."""
    notes = f"accuracy in per cent; capability names as task ids, not known to be registered; {report.signature_line}"
    entries = [
        {
            "dataset": {
                "id": submission.signature["dataset"],
                "task_id": group.name,
                **({"revision": _commit(submission, group.name)} if _commit(submission, group.name) else {}),
            },
            "value": _percent(group.accuracy),
            "date": _iso_date(submission.date),
            **({"source": {"url": submission.link}} if submission.link else {}),
            "notes": notes,
        }
        for group in report.capabilities
    ]
    return _yaml(entries)


def model_index(submission: Submission, report: Report) -> str:
    """The ``model-index`` block of a model card's front matter."""
    results = [
        {
            "task": {"type": "image-text-to-text", "name": "Visual question answering"},
            "dataset": {
                "name": f"DatBench {group.name}",
                "type": submission.signature["dataset"],
                "config": group.name,
                "split": submission.signature["split"],
                **({"revision": _commit(submission, group.name)} if _commit(submission, group.name) else {}),
            },
            "metrics": [{"type": "accuracy", "value": _percent(group.accuracy), "name": "accuracy (per cent)"}],
        }
        for group in report.capabilities
    ]
    return _yaml({"model-index": [{"name": submission.model_name, "results": results}]})


def readme(submission: Submission, report: Report) -> str:
    """A short README of the run."""
    name = visible(submission.model_name)
    tables = as_markdown(telling([accuracy_table(report), rates_table(report)]), report.notes)
    gold = (
        "The sample files hold the reference answers of the benchmark: keep them out of training data."
        if submission.gold
        else "Reference answers are left out, so `datbench-tasks verify` needs the dataset (no `--offline`)."
    )
    checked = "against the ids of the dataset"
    if report.count_only:
        everywhere = len(report.count_only) == len(report.capabilities)
        checked = "by count only" + ("" if everywhere else f" in {', '.join(report.count_only)}")
    return f"""# DatBench results of {name}

{submission.scope}; run of {submission.date}; completeness checked {checked}.{_link(submission)}

    {report.signature_line}

{tables}
## Files

* `report.json`, `report_<capability>.json`: the benchmark's own report format.
* `samples/<capability>.jsonl`: one sample a line, with raw output, the text that was scored, score details, and the
  judge's answer.
* `submission.json`: what was run, and how. `SHA256SUMS`: for `sha256sum -c`.
* `.eval_results/datbench.yaml`, `model-index.yaml`: for the model's repository on the Hugging Face Hub.

{gold}

## What can be checked

`datbench-tasks verify .` scores every raw output again, reads every judge answer again, computes every number again and
compares all files to the last digit. It proves that the numbers follow from the outputs. It does not prove that the
model wrote the outputs, nor that the judge wrote its answers. Token counts, image keys and journal keys are taken as
recorded; with `--offline`, questions, references and metadata are too.
"""


def _link(submission: Submission) -> str:
    return f" <{submission.link}>" if submission.link else ""


def _commit(submission: Submission, capability: str) -> str:
    """The dataset's commit, "" if the data did not come from the hub."""
    revision = submission.signature["revision"].get(capability)
    return str(revision) if is_commit(revision) else ""


def _percent(accuracy: float | None) -> float:
    return round(100 * (accuracy or 0.0), 2)


def _iso_date(date: str) -> str:
    """``YYYYMMDD_HHMMSS`` as an ISO date; the host's clock may be of any zone, so the day must do."""
    return f"{date[:4]}-{date[4:6]}-{date[6:8]}"


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1_000)
