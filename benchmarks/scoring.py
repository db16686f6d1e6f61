"""How fast the scorers are, in processor seconds through ``DatBenchEvaluator.compute_metrics``, reading apart.

The golden cases of each source dataset, and all of them mixed, after a warm-up; the first evaluation of a fresh
process (lazy imports, dictionaries); page-long OCR answers; the slowest hostile outputs; peak memory. scoring.md tells
where the time goes.
"""

from __future__ import annotations

import json
import random
import resource
import warnings
from collections.abc import Callable
from typing import Any

from support.hostile import HOSTILE, SIZE
from support.vectors import Case, dataset_names, one_case_a_rule, scorable_cases

from benchmarks.measure import CPU, MEMORY, Row, Sizes, cpu_seconds, in_child, loop_seconds
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
    "docvqa": 25_000, "ocr-vqa": 25_000, "text-vqa": 25_000, "vqa-v2": 25_000, "mathvision": 15_000,
    "ocrbench-v2": 8_000, "cc-ocr-kie": 4_000, "cc-ocr-doc_parsing": 4_000, "mixed": 15_000,
}  # fmt: skip
"""Samples per second aimed at where that is more than the published library reaches, on its machine."""

PAGE_AIMS = {"English": 300, "Chinese": 100}

ROUNDS = 5
PAGES = 30
PAGE_CHARACTERS = 4_000
SHOWN = 5
SCRIPTS = {
    "English": (" ", ",", "full-page OCR en"),
    "Chinese": ("", "，", "full-page OCR cn"),
}
"""Gap between words, comma, task type."""


def run(sizes: Sizes) -> list[Row]:
    """All rows; ``CPU s`` of one pass over the items."""
    warnings.simplefilter("ignore")
    speed = loop_seconds() / REFERENCE_LOOP
    before = peak_memory()
    names = [name for name in dataset_names() if name in SOURCE_DATASETS and measured_cases(name)]
    rows = [dataset_row(name, measured_cases(name), sizes.seconds, speed) for name in names]
    everything = [case for name in names for case in measured_cases(name)]
    for times in sizes.steps(sizes.repeats):
        rows.append(dataset_row("mixed", repeated(everything, times), sizes.seconds, speed))
        memory = peak_memory()
        rows.append(Row("score mixed, memory", len(everything) * times, memory, MEMORY, "before scoring", before))
    rows += [page_row(language, speed) for language in SCRIPTS]
    cold = [cold_row(name, len(measured_cases(name))) for name in names[: None if sizes.hostile else 2]]
    hostile = [hostile_row(name) for name in names] if sizes.hostile else []
    return rows + slowest(cold) + slowest(hostile)


def measured_cases(name: str) -> list[Case]:
    """The golden cases that the published library gets through."""
    return [case for case in scorable_cases(name) if "raises" not in case and not case.get("hangs")]


def repeated(cases: list[Case], times: int) -> list[Case]:
    """The cases so many times over, each with an id of its own."""
    return [
        case | {"row": case["row"] | {"id": f"{case['row']['id']} {copy}"}} for copy in range(times) for case in cases
    ]


def evaluation(cases: list[Case]) -> Callable[[], Any]:
    """A call that scores all cases anew; reading the rows is not part of it."""
    evaluator = DatBenchEvaluator([case["row"] for case in cases], "benchmark")
    responses = [VLMResponse(case["row"]["id"], case["output"]) for case in cases]
    return lambda: evaluator.compute_metrics(responses)


def best_seconds(call: Callable[[], Any], least: float) -> float:
    """Seconds of one call: the best of several rounds that take ``least`` together, after a warm-up."""
    repeats = max(1, round(least / ROUNDS / max(cpu_seconds(call), cpu_seconds(call), 1e-6)))

    def one_round() -> None:
        for _ in range(repeats):
            call()

    return min(cpu_seconds(one_round) for _ in range(ROUNDS)) / repeats


def dataset_row(name: str, cases: list[Case], least: float, speed: float) -> Row:
    """One source dataset against the published library, or against reading the cases where that has no figure."""
    seconds = best_seconds(evaluation(cases), least)
    if name in PUBLISHED:
        bound, bound_seconds = "published library, scaled by the loop", len(cases) / PUBLISHED[name] * speed
    else:
        texts = [json.dumps(case) for case in cases]
        bound, bound_seconds = "reading the cases as JSON", best_seconds(lambda: [*map(json.loads, texts)], least)
    return Row(f"score {name}", len(cases), seconds, CPU, bound, bound_seconds, aim_note(AIMS.get(name), speed))


def aim_note(aim: int | None, speed: float) -> str:
    """An aim in samples per second, as it is on this machine."""
    return f"aim {aim:,}/s where the loop takes {REFERENCE_LOOP} s, {aim / speed:,.0f}/s here" if aim else ""


def page_row(language: str, speed: float) -> Row:
    """Page-long answers; no page is scored twice, since some work on a text is kept."""
    rounds = [pages(language, seed) for seed in range(ROUNDS + 1)]
    seconds = min([cpu_seconds(evaluation(cases)) for cases in rounds][1:])
    bound, alone = PAGE_BOUNDS[language]
    texts = [(case["row"]["answer"], case["output"]) for case in rounds[-1]]
    bound_seconds = cpu_seconds(lambda: [alone(*pair) for pair in texts])
    return Row(
        f"score pages, {language}", PAGES, seconds, CPU, bound, bound_seconds, aim_note(PAGE_AIMS[language], speed)
    )


def _edit_distance(answer: str, output: str) -> None:
    from rapidfuzz.distance import Levenshtein

    Levenshtein.distance(answer, output)


def _segmentation(*texts: str) -> None:
    import jieba

    for text in texts:
        jieba.lcut(text)


PAGE_BOUNDS = {
    "English": ("the edit distance by characters alone", _edit_distance),
    "Chinese": ("jieba's own segmentation alone", _segmentation),
}
"""What no scorer of such pages can do without (rapidfuzz), or what it would otherwise call (jieba)."""


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


def cold_row(name: str, cases: int) -> Row:
    """The first evaluation in a fresh process, imports of scorers included, against the second."""
    (first, second), _ = in_child(first_and_second, name)
    return Row(f"first evaluation, {name}", cases, first, CPU, "the second in that process", second)


def first_and_second(name: str) -> tuple[float, float]:
    """Seconds of the first two evaluations of a dataset's cases."""
    warnings.simplefilter("ignore")
    evaluate = evaluation(measured_cases(name))
    return cpu_seconds(evaluate), cpu_seconds(evaluate)


def hostile_row(name: str) -> Row:
    """The hostile output that takes longest, over all rules of a dataset's scorer."""
    seconds, label = max(
        (cpu_seconds(evaluation([case | {"output": output}])), label)
        for case in one_case_a_rule(name)
        for label, output in HOSTILE.items()
    )
    return Row(f"hostile output, {name}", 1, seconds, CPU, "aim", 1.0, f"{SIZE:,} characters: {label}")


def slowest(rows: list[Row]) -> list[Row]:
    """The few rows that take longest, first."""
    return sorted(rows, key=lambda row: -row.value)[:SHOWN]


def peak_memory() -> float:
    """Peak resident memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
