"""Chinese word segmentation by jieba, with its cache in a private folder and its logger silent."""

from __future__ import annotations

import logging
import math
import os
import re
import threading
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

LONGEST_RUN = 5000
"""Most Chinese characters in a row that are segmented at once: jieba's time grows with the square."""

LONGEST_KEPT_BLOCK = 100
"""Most characters of a block whose words are kept: a prediction repeats most blocks of its reference."""

# jieba splits at these blocks first and segments each by itself, so that they can be kept apart.
_BLOCKS = re.compile(r"([\u4E00-\u9FD5a-zA-Z0-9+#&\._%\-]+)")
_CHINESE_RUN = re.compile(r"[\u4e00-\u9fd5]+")  # what jieba takes for Chinese
_one_at_a_time = threading.Lock()


def words(text: str) -> list[str]:
    """The words of a text by jieba's default dictionary and mode; blanks and signs are words too.

    Thread-safe. The first call takes one to two seconds.
    """
    found: list[str] = []
    for piece in _pieces(text):
        for block in _BLOCKS.split(piece):
            found += _block_words(block) if len(block) <= LONGEST_KEPT_BLOCK else _tokenizer().cut(block)
    return found


@lru_cache(maxsize=16384)
def _block_words(block: str) -> tuple[str, ...]:
    return tuple(_tokenizer().cut(block))


def is_cut(text: str) -> bool:
    """Whether a text has a run of Chinese characters that is segmented in pieces."""
    return len(text) > LONGEST_RUN and len(list(_pieces(text))) > 1


def _pieces(text: str) -> Iterator[str]:
    start = 0
    if len(text) > LONGEST_RUN:
        for run in _CHINESE_RUN.finditer(text):
            for cut in range(run.start() + LONGEST_RUN, run.end(), LONGEST_RUN):
                yield text[start:cut]
                start = cut
    yield text[start:]


def _tokenizer() -> Any:
    with _one_at_a_time:
        return _built_tokenizer()


@lru_cache(maxsize=1)
def _built_tokenizer() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its source and its use of pkg_resources warn
        import jieba

    class Tokenizer(jieba.Tokenizer):
        """jieba's own, with its two steps to the likeliest path taken in one: same words in half the time."""

        def get_DAG(self, sentence: str) -> None:
            self.check_initialized()

        def calc(self, sentence: str, DAG: None, route: dict[int, tuple[float, int]]) -> None:
            _likeliest_path(sentence, self.FREQ, self.total, route)

    jieba.setLogLevel(logging.CRITICAL + 1)
    tokenizer = Tokenizer()  # of our own: words added to the shared one would change scores
    tokenizer.tmp_dir = _cache_folder()
    tokenizer.initialize()
    return tokenizer


def _likeliest_path(
    sentence: str, frequencies: Mapping[str, int], total: int, route: dict[int, tuple[float, int]]
) -> None:
    """Fill ``route``: for each character the log likelihood from there on and the end of the likeliest word.

    Prefixes of words have the frequency 0. Of equally likely words the longest is taken. Source: jieba.
    """
    log_total = math.log(total)
    length = len(sentence)
    likelihoods = [0.0] * (length + 1)
    for start in range(length - 1, -1, -1):
        best, last = -math.inf, start
        end = start + 1
        frequency = frequencies.get(sentence[start])
        while frequency is not None:
            if frequency:
                likelihood = math.log(frequency) - log_total + likelihoods[end]
                if likelihood >= best:
                    best, last = likelihood, end - 1
            if end == length:
                break
            end += 1
            frequency = frequencies.get(sentence[start:end])
        if best == -math.inf:
            best = -log_total + likelihoods[start + 1]
        likelihoods[start] = best
        route[start] = (best, last)


def _cache_folder() -> str:
    """A folder that only this user can write to; without one a place where nothing can be kept."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(base).expanduser() / "datbench" / "jieba-0.42.1"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except (OSError, RuntimeError):  # RuntimeError: no home folder
        return os.devnull
    private = status.st_uid == os.getuid() and not status.st_mode & 0o077
    return str(folder) if private else os.devnull
