"""Page similarity of OCRBench v2: the mean of BLEU, METEOR, F measure and edit similarity."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, repeat
from typing import Any

from datbench.scorers.anls import similarity
from datbench.scorers.segmentation import words

UNPAIRED_TOKENS_VOID_METEOR = True
"""The benchmark's METEOR fails without WordNet, and so counts 0, once a token is left for synonyms."""

LONGEST_STEMMED_WORD = 1000
"""Longer words are their own stems: they are no words, and the stemmer is slow on them."""

MAX_ORDER = 4

_CHINESE = re.compile("[\u4e00-\u9fa5]")

Tokens = tuple[str, ...]


def page_similarity(prediction: str, answers: Sequence[str]) -> float:
    """Likeness of a transcription to the first answer, in [0, 1]; 0.0 without answers.

    Source: the full-page OCR metric of OCRBench v2.
    """
    if not answers:
        return 0.0
    prediction, gold = prediction.strip(), answers[0].strip()
    chinese = any(map(_CHINESE.search, (prediction, gold)))
    hypothesis, reference = _tokens(prediction, chinese), _gold_tokens(gold, chinese)
    parts = (
        bleu(hypothesis, reference),
        meteor(hypothesis, reference),
        f_measure(hypothesis, reference),
        similarity(prediction, gold),
    )
    return min(1.0, max(0.0, sum(parts) / len(parts)))


def _tokens(text: str, chinese: bool) -> Tokens:
    return tuple(words(text) if chinese else text.split())


_gold_tokens = lru_cache(maxsize=256)(_tokens)


def _counts(tokens: Tokens) -> list[Counter[Any]]:
    """How often each run of 1, 2, 3 and 4 tokens occurs."""
    return [
        Counter(zip(*(tokens[start:] for start in range(order)), strict=False)) for order in range(1, MAX_ORDER + 1)
    ]


_gold_counts = lru_cache(maxsize=256)(_counts)


def bleu(hypothesis: Tokens, reference: Tokens) -> float:
    """Sentence BLEU of up to four tokens in a row, unsmoothed, against one reference."""
    logarithms = []
    for order, (found, expected) in enumerate(zip(_counts(hypothesis), _gold_counts(reference), strict=True), 1):
        matched = sum(map(min, found.values(), map(expected.get, found, repeat(0))))
        if not matched and order == 1:
            return 0.0
        total = max(1, len(hypothesis) - order + 1)
        logarithms.append(math.log(matched / total if matched else sys.float_info.min) / MAX_ORDER)
    brevity = 1.0 if len(hypothesis) > len(reference) else math.exp(1 - len(reference) / len(hypothesis))
    return brevity * math.exp(math.fsum(logarithms))


def f_measure(hypothesis: Tokens, reference: Tokens) -> float:
    """F1 of the two sets of tokens; case counts."""
    found, expected = set(hypothesis), set(reference)
    common = len(found & expected)
    return 2 * common / (len(found) + len(expected)) if common else 0.0


def meteor(hypothesis: Tokens, reference: Tokens) -> float:
    """METEOR (alpha 0.9, beta 3, gamma 0.5) by equal tokens and equal stems, in lower case, without synonyms."""
    found = [token.lower() for token in hypothesis]
    expected = [token.lower() for token in reference]
    if UNPAIRED_TOKENS_VOID_METEOR and not _can_pair_all(found, expected):
        return 0.0
    pairs = _pairs(found, expected)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(found), len(pairs) / len(expected)
    f_mean = precision * recall / (0.9 * precision + 0.1 * recall)
    pairs.sort()
    chunks = 1 + sum((i + 1, j + 1) != following for (i, j), following in pairwise(pairs))
    return (1 - 0.5 * (chunks / len(pairs)) ** 3) * f_mean


def _can_pair_all(found: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether every found token has a partner of its own, equal or of the same stem."""
    if len(found) > len(expected):
        return False
    left, free = Counter(found), Counter(expected)
    missing = left - free
    if not missing:
        return True
    stems = Counter(map(_stem, (free - left).elements()))
    return all(stems[stem] >= count for stem, count in Counter(map(_stem, missing.elements())).items())


def _pairs(found: Sequence[str], expected: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of partners: from the last found token to the first, each takes the latest free equal one."""
    left = list(range(len(found)))
    free = list(range(len(expected)))
    pairs: list[tuple[int, int]] = []
    for form in (str, _stem):
        if not left:
            break
        places: dict[str, list[int]] = {}
        for j in free:
            places.setdefault(form(expected[j]), []).append(j)
        unpaired = []
        for i in reversed(left):
            latest = places.get(form(found[i]))
            if latest:
                pairs.append((i, latest.pop()))
            else:
                unpaired.append(i)
        left = unpaired[::-1]
        free = sorted(j for rest in places.values() for j in rest)
    return pairs


def _stem(word: str) -> str:
    # Every rule of the stemmer is about an ending in plain lower-case letters.
    return _porter(word) if "a" <= word[-1:] <= "z" and len(word) <= LONGEST_STEMMED_WORD else word


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@lru_cache(maxsize=8192)
def _porter(word: str) -> str:
    stem: str = _stemmer().stem(word)
    return stem
