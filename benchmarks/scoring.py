"""How fast the scorers are: samples per second through ``DatBenchEvaluator.compute_metrics``.

    python benchmarks/scoring.py [--json FILE] [--no-hostile]

Prints samples per second for each source dataset over its golden cases and for all of them mixed (each case
once), after a warm-up; the first evaluation of a fresh process apart (lazy imports, dictionaries); page-long OCR
answers; the slowest hostile output of each scorer; peak memory; and a pure-Python loop, so that figures of
different machines and days compare. See scoring.md for figures and for where the time goes.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.hostile import HOSTILE
from support.vectors import Case, dataset_names, one_case_a_rule, scorable_cases

from datbench import SOURCE_DATASETS, DatBenchEvaluator, VLMResponse

REFERENCE_LOOP = 0.24
"""Seconds of the calibration loop on the machine of the published figures."""

PUBLISHED = {
    "docvqa": 8_200, "ocr-vqa": 7_100, "infovqa": 20_200, "text-vqa": 3_300, "vqa-v2": 4_600, "mmbench": 13_200,
    "chartqapro": 23_000, "mathvision": 490, "ocrbench-v2": 1_800, "cc-ocr-kie": 800, "cc-ocr-doc_parsing": 920,
    "charxiv_descriptive": 50_000, "charxiv_reasoning": 50_000, "countbench": 50_000, "ai2d": 50_000,
    "realworldqa": 50_000, "mme-realworld-ocr": 50_000, "mme-realworld-ad": 50_000, "mme-realworld-mo": 50_000,
    "mme-realworld-dt": 50_000, "refcoco_testA": 14_000, "refcoco_testB": 14_000, "refcoco_plus_testA": 14_000,
    "refcoco_plus_testB": 14_000, "refcoco_m_val": 14_000, "refcocog_test": 14_000, "mixed": 2_700,
}  # fmt: skip
"""Samples per second of the published library on the same cases (the lower end where a range is known)."""

AIMS = {
    **PUBLISHED, "docvqa": 25_000, "ocr-vqa": 25_000, "text-vqa": 25_000, "vqa-v2": 25_000, "mathvision": 15_000,
    "ocrbench-v2": 8_000, "cc-ocr-kie": 4_000, "cc-ocr-doc_parsing": 4_000, "mixed": 15_000, "page, English": 300,
    "page, Chinese": 100,
}  # fmt: skip

MIN_SECONDS = 0.4
ROUNDS = 5
PAGES = 30
PAGE_CHARACTERS = 4_000
SCRIPTS = {
    "English": (" ", ",", "full-page OCR en"),
    "Chinese": ("", "，", "full-page OCR cn"),
}
"""Gap between words, comma, task type."""


def calibrate() -> float:
    """Seconds for ten million additions in a pure-Python loop, the best of three."""
    return min(_seconds(lambda: sum(i for i in range(10**7))) for _ in range(3))


def measured_cases(name: str) -> list[Case]:
    """The golden cases that the published library gets through."""
    cases = scorable_cases(name)
    return [case for case in cases if "raises" not in case and not case.get("hangs")]


def evaluation(cases: list[Case]) -> Callable[[], Any]:
    """A call that scores all cases anew; reading the rows is not part of it."""
    evaluator = DatBenchEvaluator([case["row"] for case in cases], "benchmark")
    responses = [VLMResponse(case["row"]["id"], case["output"]) for case in cases]
    return lambda: evaluator.compute_metrics(responses)


def samples_per_second(cases: list[Case]) -> float:
    """The best of several rounds, each long enough to measure, after a warm-up."""
    evaluate = evaluation(cases)
    repeats = max(1, round(MIN_SECONDS / ROUNDS / max(_seconds(evaluate), _seconds(evaluate), 1e-6)))

    def one_round() -> None:
        for _ in range(repeats):
            evaluate()

    return len(cases) * repeats / min(_seconds(one_round) for _ in range(ROUNDS))


def cold_start(name: str) -> float:
    """Seconds of the first evaluation of a dataset's cases in a fresh process, imports of scorers included."""
    command = [sys.executable, __file__, "--cold", name]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def pages(language: str, seed: int) -> list[Case]:
    """Page-long OCR answers in which every twentieth word is misread, with a comma after every eighth."""
    gap, comma, kind = SCRIPTS[language]
    rng = random.Random(seed)
    words, weights = vocabulary(language)

    def text(page: list[str]) -> str:
        marked = [word + comma if i % 8 == 7 else word for i, word in enumerate(page)]
        return gap.join(marked)[:PAGE_CHARACTERS]

    cases = []
    for i in range(PAGES):
        page = rng.choices(words, weights, k=PAGE_CHARACTERS)
        read = [rng.choice(words) if rng.random() < 0.05 else word for word in page]
        row = {"id": f"page-{i}", "question": "Read the page.", "answer": text(page)}
        row |= {"metadata": json.dumps({"type": kind}), "source_info": {"dataset": "ocrbench-v2"}}
        cases.append({"row": row, "output": text(read)})
    return cases


def vocabulary(language: str) -> tuple[list[str], list[float]]:
    """Words and how often each occurs: for Chinese the frequent ones of jieba's dictionary."""
    if language == "Chinese":
        import jieba

        with jieba.get_module_res("dict.txt") as file:
            entries = [line.decode("utf-8").split(" ") for line in file]
        frequent = [(word, float(count)) for word, count, _ in entries if int(count) >= 300]
        return [word for word, _ in frequent], [count for _, count in frequent]
    rng = random.Random(0)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(3_000)]
    return words, [1 / rank for rank in range(1, len(words) + 1)]


def pages_per_second(language: str) -> float:
    """As ``samples_per_second``, but no page is scored twice: some work on a text is kept."""
    rounds = [evaluation(pages(language, seed)) for seed in range(ROUNDS + 1)]
    return PAGES / min(_seconds(evaluate) for evaluate in rounds[1:])


def slowest_hostile(name: str) -> tuple[float, str]:
    """Seconds and name of the hostile output that takes longest, over all rules of a dataset's scorer."""
    return max(
        (_seconds(evaluation([case | {"output": output}])), label)
        for case in one_case_a_rule(name)
        for label, output in HOSTILE.items()
    )


def peak_memory() -> int:
    """Peak resident memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run(hostile: bool) -> dict[str, Any]:
    """All figures, as plain data."""
    names = [name for name in dataset_names() if name in SOURCE_DATASETS and measured_cases(name)]
    memory_before = peak_memory()
    speed = {name: samples_per_second(measured_cases(name)) for name in names}
    speed["mixed"] = samples_per_second([case for name in names for case in measured_cases(name)])
    memory = peak_memory()
    for language in SCRIPTS:
        speed[f"page, {language}"] = pages_per_second(language)
    return {
        "loop_seconds": calibrate(),
        "samples_per_second": speed,
        "cold_seconds": {name: cold_start(name) for name in names},
        "peak_mib": {"before scoring": memory_before, "all cases": memory, "pages": peak_memory()},
        "slowest_hostile": {name: slowest_hostile(name) for name in names} if hostile else {},
    }


def print_tables(figures: dict[str, Any]) -> None:
    """The figures as aligned text; "scaled" is what the machine of the published figures would show."""
    factor = figures["loop_seconds"] / REFERENCE_LOOP
    print(f"loop of ten million additions: {figures['loop_seconds']:.2f} s (published figures: {REFERENCE_LOOP} s)")
    print("peak memory (MiB):", ", ".join(f"{key} {value}" for key, value in figures["peak_mib"].items()), "\n")
    print(_line("samples per second", "measured", "scaled", "aim", "published", "first run"))
    for name, rate in figures["samples_per_second"].items():
        numbers = (rate, rate * factor, AIMS.get(name), PUBLISHED.get(name))
        cold = figures["cold_seconds"].get(name)
        cells = ("" if number is None else f"{number:,.0f}" for number in numbers)
        print(_line(name, *cells, "" if cold is None else f"{cold:.3f} s"))
    if figures["slowest_hostile"]:
        print()
        print(_line("slowest hostile output", "seconds"))
    for name, (seconds, label) in figures["slowest_hostile"].items():
        print(_line(name, f"{seconds:.3f}"), "", label)


def _line(name: str, *cells: str) -> str:
    return name.ljust(24) + "".join(cell.rjust(11) for cell in cells)


def _seconds(call: Callable[[], Any]) -> float:
    """Processor seconds of a call: scoring runs on one core, and other work on the machine shall not count."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    """Parse the command line, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument("--no-hostile", action="store_true", help="leave out the hostile outputs (some minutes)")
    parser.add_argument("--cold", metavar="DATASET", help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.cold:
        print(_seconds(evaluation(measured_cases(args.cold))))
        return
    figures = run(hostile=not args.no_hostile)
    print_tables(figures)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
