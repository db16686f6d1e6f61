"""What text-vqa and vqa-v2 take from the VQA challenge: the form answers are compared in, and agreement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

ARTICLES = frozenset({"a", "an", "the"})

# fmt: off
NUMBER_WORDS: dict[str, str] = {
    "none": "0", "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4",
    "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
}

# The benchmark's table. "somebody'd" goes against the pattern there too.
CONTRACTIONS: dict[str, str] = {
    "aint": "ain't", "arent": "aren't", "cant": "can't", "couldve": "could've", "couldnt": "couldn't",
    "couldn'tve": "couldn't've", "couldnt've": "couldn't've", "didnt": "didn't", "doesnt": "doesn't",
    "dont": "don't", "hadnt": "hadn't", "hadnt've": "hadn't've", "hadn'tve": "hadn't've", "hasnt": "hasn't",
    "havent": "haven't", "hed": "he'd", "hed've": "he'd've", "he'dve": "he'd've", "hes": "he's",
    "howd": "how'd", "howll": "how'll", "hows": "how's", "isnt": "isn't", "itd": "it'd",
    "itd've": "it'd've", "it'dve": "it'd've", "itll": "it'll", "maam": "ma'am", "mightnt": "mightn't",
    "mightnt've": "mightn't've", "mightn'tve": "mightn't've", "mightve": "might've", "mustnt": "mustn't",
    "mustve": "must've", "neednt": "needn't", "notve": "not've", "oclock": "o'clock", "oughtnt": "oughtn't",
    "ow's'at": "'ow's'at", "'ows'at": "'ow's'at", "'ow'sat": "'ow's'at", "shant": "shan't",
    "shed've": "she'd've", "she'dve": "she'd've", "shouldve": "should've", "shouldnt": "shouldn't",
    "shouldnt've": "shouldn't've", "shouldn'tve": "shouldn't've", "somebody'd": "somebodyd",
    "somebodyd've": "somebody'd've", "somebody'dve": "somebody'd've", "somebodyll": "somebody'll",
    "somebodys": "somebody's", "someoned": "someone'd", "someoned've": "someone'd've",
    "someone'dve": "someone'd've", "someonell": "someone'll", "someones": "someone's",
    "somethingd": "something'd", "somethingd've": "something'd've", "something'dve": "something'd've",
    "somethingll": "something'll", "thats": "that's", "thered": "there'd", "thered've": "there'd've",
    "there'dve": "there'd've", "therere": "there're", "theres": "there's", "theyd": "they'd",
    "theyd've": "they'd've", "they'dve": "they'd've", "theyll": "they'll", "theyre": "they're",
    "theyve": "they've", "twas": "'twas", "wasnt": "wasn't", "wed've": "we'd've", "we'dve": "we'd've",
    "weve": "we've", "werent": "weren't", "whatll": "what'll", "whatre": "what're", "whats": "what's",
    "whatve": "what've", "whens": "when's", "whered": "where'd", "wheres": "where's", "whereve": "where've",
    "whod": "who'd", "whod've": "who'd've", "who'dve": "who'd've", "wholl": "who'll", "whos": "who's",
    "whove": "who've", "whyll": "why'll", "whyre": "why're", "whys": "why's", "wont": "won't",
    "wouldve": "would've", "wouldnt": "wouldn't", "wouldnt've": "wouldn't've", "wouldn'tve": "wouldn't've",
    "yall": "y'all", "yall'll": "y'all'll", "y'allll": "y'all'll", "yall'd've": "y'all'd've",
    "y'alld've": "y'all'd've", "y'all'dve": "y'all'd've", "youd": "you'd", "youd've": "you'd've",
    "you'dve": "you'd've", "youll": "you'll", "youre": "you're", "youve": "you've",
}
# fmt: on

_WORDS = NUMBER_WORDS | CONTRACTIONS
_MARKS = re.compile(r"""[;/\[\]"{}()=+\\_\-><@`,?!]""")
_DIGIT_COMMA_DIGIT = re.compile(r"\d,\d")
_PERIOD_BEFORE_NO_DIGIT = re.compile(r"\.(?!\d)")
_MAX_PERIODS = 32  # the benchmark passes a regex flag (32) where the number of replacements belongs
_LINE_FEED_AND_TAB = str.maketrans("\n\t", "  ")


def normalise_annotation(text: str) -> str:
    """The text in the form in which the VQA challenge compares answers; may be empty. Linear time.

    Source: the normalisation of the VQA challenge, as DatBench applies it to vqa-v2 (and, after a first
    step of its own, to text-vqa).
    """
    text = text.lower().strip().translate(_LINE_FEED_AND_TAB).strip()
    text = _remove_marks(text)
    if "." in text:
        text = _PERIOD_BEFORE_NO_DIGIT.sub("", text, count=_MAX_PERIODS)
    return " ".join([_WORDS.get(word, word) for word in text.split() if word not in ARTICLES])


normalise_gold = lru_cache(maxsize=4096)(normalise_annotation)
"""`normalise_annotation` for row data, which comes back: ten annotators, several models."""


def agreement(prediction: str, annotations: Sequence[str]) -> float:
    """Mean, over the annotators, of the share of three *others* who gave the prediction, at most 1.0 each.

    All texts normalised. 0.0 without annotators, and always 0.0 for a single one: the benchmark's rule.
    """
    total = len(annotations)
    given = annotations.count(prediction)
    if not given:
        return 0.0
    return (given * min(1.0, (given - 1) / 3) + (total - given) * min(1.0, given / 3)) / total


def _remove_marks(text: str) -> str:
    """Delete each mark that stands beside a blank anywhere in ``text``; turn the others into blanks.

    The tests look at ``text`` as it came. One number with a comma makes all marks be deleted.
    """
    marks = set(_MARKS.findall(text))
    if not marks:
        return text
    delete_all = _DIGIT_COMMA_DIGIT.search(text) is not None
    return text.translate(
        {ord(mark): "" if delete_all or f"{mark} " in text or f" {mark}" in text else " " for mark in marks}
    )
