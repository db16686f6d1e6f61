"""Chinese word segmentation: jieba's words, by its dictionary and its hidden Markov model, in linear time.

jieba's own loops are slow, and quadratic where unknown characters follow each other for long. Those here take the
same steps with the same numbers, so that every word is the same.
"""

from __future__ import annotations

import logging
import math
import os
import re
import threading
import warnings
from functools import lru_cache
from itertools import pairwise
from operator import add
from pathlib import Path
from typing import NamedTuple

LONGEST_KEPT_BLOCK = 100
"""Most characters of a block whose words are kept: a prediction repeats most blocks of its reference."""

# jieba segments each block by itself; any other character is a word.
_BLOCK_OR_SIGN = re.compile(r"[\u4e00-\u9fd5a-zA-Z0-9+#&._%\-]+|\r\n|.", re.DOTALL)
# Parts of a text without dictionary words: Chinese, which the Markov model divides, and what stays whole.
_UNJOINED_PART = re.compile(r"[\u4e00-\u9fd5]+|[a-zA-Z0-9]+(?:\.[0-9]+)?%?|[+#&._%\-]+")
_FIRST_CHINESE = "\u4e00"

_STATES = "BMES"
"""Where a character stands: at the beginning, in the middle, at the end of a word, or as a word by itself."""
_B, _M, _E, _S = range(4)
_MOVES = ("BM", "BE", "MM", "ME", "EB", "ES", "SB", "SS")

_one_at_a_time = threading.Lock()


class _Model(NamedTuple):
    """jieba's dictionary, and its Markov model for characters that the dictionary does not join. Log likelihoods.

    Attributes:
        words: of each word; 0.0 for a text with which longer words begin.
        unknown: of a character that is no word.
        starts: of the four states of a first character.
        moves: of the eight possible moves between states, as in _MOVES.
        emissions: of a character in the four states.
        never: the same for a character that the Markov model does not know.
    """

    words: dict[str, float]
    unknown: float
    starts: tuple[float, ...]
    moves: tuple[float, ...]
    emissions: dict[str, tuple[float, ...]]
    never: tuple[float, ...]


def words(text: str) -> list[str]:
    """The words of a text by jieba's default dictionary and mode; blanks and signs are words too.

    Thread-safe, linear time. The first call takes one to two seconds.
    """
    found: list[str] = []
    for block in _BLOCK_OR_SIGN.findall(text):
        if len(block) == 1 or block == "\r\n":
            found.append(block)
        elif len(block) <= LONGEST_KEPT_BLOCK:
            found += _kept_block_words(block)
        else:
            found += _block_words(block)
    return found


def _block_words(block: str) -> list[str]:
    model = _model()
    ends = _likeliest_ends(block, model)
    found: list[str] = []
    start = unjoined = 0
    while start < len(block):
        end = ends[start]
        if end - start > 1:
            if unjoined < start:
                found += _unjoined_words(block[unjoined:start], model)
            found.append(block[start:end])
            unjoined = end
        start = end
    return found + _unjoined_words(block[unjoined:], model)


_kept_block_words = lru_cache(maxsize=16384)(_block_words)


def _likeliest_ends(block: str, model: _Model) -> list[int]:
    """For each character the end of the word that it begins on the likeliest path to the end of the block.

    Of equally likely words the longest is taken: jieba's rule.
    """
    likelihood_of = model.words.get
    length = len(block)
    best_from = [0.0] * (length + 1)
    ends = [0] * length
    for start in range(length - 1, -1, -1):
        best_end = end = start + 1
        likelihood = likelihood_of(block[start])
        best = likelihood + best_from[end] if likelihood else -math.inf
        while likelihood is not None and end < length:
            end += 1
            likelihood = likelihood_of(block[start:end])
            if likelihood and (path := likelihood + best_from[end]) >= best:
                best, best_end = path, end
        best_from[start] = best if best > -math.inf else model.unknown + best_from[start + 1]
        ends[start] = best_end
    return ends


def _unjoined_words(text: str, model: _Model) -> list[str]:
    """Words in a text whose characters the dictionary joins neither to each other nor to their neighbours."""
    if len(text) < 2 or model.words.get(text):
        return list(text)
    found: list[str] = []
    for part in _UNJOINED_PART.findall(text):
        found += _hidden_words(part, model) if part >= _FIRST_CHINESE else [part]
    return found


def _hidden_words(run: str, model: _Model) -> list[str]:
    """Words of a run of Chinese characters by the likeliest states of the Markov model (Viterbi's algorithm).

    Of two equally likely states before a character, S goes before E and M before B: jieba's rule.
    """
    b_to_m, b_to_e, m_to_m, m_to_e, e_to_b, e_to_s, s_to_b, s_to_s = model.moves
    emissions, never = model.emissions.get, model.never
    b, m, e, s = map(add, model.starts, emissions(run[0], never))
    before: list[tuple[int, int, int, int]] = []  # for each further character the state before each of its states
    for character in run[1:]:
        at_b, at_m, at_e, at_s = emissions(character, never)
        e_b, s_b = e + e_to_b + at_b, s + s_to_b + at_b
        b_m, m_m = b + b_to_m + at_m, m + m_to_m + at_m
        b_e, m_e = b + b_to_e + at_e, m + m_to_e + at_e
        e_s, s_s = e + e_to_s + at_s, s + s_to_s + at_s
        b, before_b = (s_b, _S) if s_b >= e_b else (e_b, _E)
        m, before_m = (m_m, _M) if m_m >= b_m else (b_m, _B)
        e, before_e = (m_e, _M) if m_e >= b_e else (b_e, _B)
        s, before_s = (s_s, _S) if s_s >= e_s else (e_s, _E)
        before.append((before_b, before_m, before_e, before_s))
    state = _S if s >= e else _E
    cuts = [len(run)]
    for place in range(len(before), 0, -1):
        if state in (_B, _S):
            cuts.append(place)
        state = before[place - 1][state]
    cuts.append(0)
    return [run[start:end] for start, end in pairwise(reversed(cuts))]


def _model() -> _Model:
    with _one_at_a_time:
        return _built_model()


@lru_cache(maxsize=1)
def _built_model() -> _Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its source and its use of pkg_resources warn
        import jieba
        from jieba.finalseg import MIN_FLOAT, emit_P, start_P, trans_P

    jieba.setLogLevel(logging.CRITICAL + 1)
    dictionary = jieba.Tokenizer()  # of our own: words added to the shared one would change scores
    dictionary.tmp_dir = _cache_folder()
    dictionary.initialize()
    log_total = math.log(dictionary.total)
    entries = dictionary.FREQ
    likelihoods = {count: math.log(count) - log_total if count else 0.0 for count in set(entries.values())}
    for word, count in entries.items():  # in place: there are half a million
        entries[word] = likelihoods[count]
    characters = set().union(*emit_P.values())
    return _Model(
        words=entries,
        unknown=-log_total,
        starts=tuple(start_P[state] for state in _STATES),
        moves=tuple(trans_P[move[0]][move[1]] for move in _MOVES),
        emissions={char: tuple(emit_P[state].get(char, MIN_FLOAT) for state in _STATES) for char in characters},
        never=(MIN_FLOAT,) * 4,
    )


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
