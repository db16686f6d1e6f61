"""Samples and reports whose every text is an attack on the page that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from datbench_tasks.reporting.completeness import Problem
from datbench_tasks.reporting.figures import DatasetFigures
from datbench_tasks.reporting.report import Report
from datbench_tasks.sample_logs import Sample

RUN = "window.pwned=(window.pwned||0)+1"

PAYLOADS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<!--<script>{RUN}//",
    f"-->]]></title></style></textarea><script>{RUN}</script>",
    f'<img src="https://evil.example/x.png" onerror="{RUN}">',
    f"<svg onload='{RUN}'><animate onbegin='{RUN}' attributeName=x dur=1s /></svg>",
    f"<svg><foreignObject><iframe srcdoc='<script>parent.{RUN}</script>'></iframe></foreignObject></svg>",
    f'"><details open ontoggle="{RUN}">',
    f"' autofocus onfocus='{RUN}' x='",
    f"<a href='javascript:{RUN}'>javascript:{RUN}</a>",
    "<link rel=stylesheet href=//evil.example/a.css><meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<style>* { display: none } body { background: url(https://evil.example/c) }</style>",
    "}</style> @import url(https://evil.example/d); * { display: none !important }",
    "<base href='https://evil.example/'><form action='https://evil.example/'><button>go</button></form>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}>",
    f"{{{{script}}}} {{{{report}}}} {{{{parts}}}} ${{{RUN}}} {{{{constructor.constructor('{RUN}')()}}}} <%= {RUN} %>",
    f"`);{RUN};//",
    f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
    f"\u2028{RUN}\u2029{RUN}\r\n{RUN}",
    "\u202egnitteg\u202c \u2066isolated\u2069 \u200f\u061c mirrored (a) \u202b\u2067 never closed",
    "lone \ud800 surrogates \udfff and a pair 😀 \ud83d",
    "null \x00 escape \x1b[31m bell \x07 delete \x7f byte order mark \ufeff",
    "__proto__",
    "constructor",
    "all",
    "=all",
    "../../../../etc/passwd",
    "file:///etc/passwd",
    "C:\\Windows\\..\\x:y|z?*",
    "\u0316\u0317\u0318" * 300,
    "(" * 3_000,
]


def hostile_samples() -> Iterator[Sample]:
    """For each payload a direct, a judged and a pending sample, with the payload in every field."""
    for number, payload in enumerate(PAYLOADS):
        for kind in ("direct", "judged", "pending"):
            yield Sample({}, _record(f"{payload}#{number}-{kind}", payload, kind))


def hostile_report(report: Report) -> Report:
    """A report with payloads wherever it holds text."""
    everything = " ".join(PAYLOADS)
    datasets = tuple(DatasetFigures(payload, 3, {payload: 0.5, "text": payload}) for payload in PAYLOADS)
    return replace(
        report,
        model=everything,
        directories=(everything,),
        signature={**report.signature, "model": everything, "host": everything},
        capabilities=tuple(replace(figures, datasets=datasets) for figures in report.capabilities),
        problems=tuple(Problem("pending", payload, 1, (payload,), payload) for payload in PAYLOADS),
        notes=tuple(PAYLOADS),
    )


def _record(sample_id: str, payload: str, kind: str) -> dict[str, Any]:
    nested = {payload: [payload, {payload: payload}], "score": 0.5}
    record: dict[str, Any] = {
        "schema": 1,
        "id": sample_id,
        "capability": payload,
        "dataset": payload,
        "source_info": {"dataset": payload, "original_idx": payload},
        "is_circular": True,
        "eval_metrics": {"discrimination": 0.5, "is_frontier": True},
        "eval_mode": "direct" if kind == "direct" else "judge",
        "pending": kind == "pending",
        "question": payload,
        "answer": payload,
        "all_answers": [payload, payload + " "],
        "judge_prompt": payload,
        "scorer_input": {payload: payload},
        "output": payload,
        "raw_output": payload * 3,
        "flags": ["truncated", "lost_to_formatting", payload],
        "run": {},
    }
    if kind != "pending":
        record |= {
            "score": 0.5,
            "is_correct": True,
            "score_details": nested | {"pred_answer": payload, "judge_verdict": "correct"},
            "score_if_reformatted": 1.0,
        }
    if kind == "judged":
        record["judge"] = {"tag": payload, "model": payload, "verdict": payload, "raw": payload, "reason": payload}
    return record
