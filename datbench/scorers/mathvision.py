r"""Scorer of mathvision: a prediction cut out of the output against the gold answer and the gold option.

All steps are the benchmark's, in its order, as plain replacements: ``\textbf{b}`` becomes ``bf{b}``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from datbench.scorers.base import Details, FieldError, Fields, Scorer, mean
from datbench.scorers.latex_value import Number, latex_value
from datbench.scorers.literals import is_giant
from datbench.scorers.row_checks import list_of, text_of

_LETTER_PLACES = tuple(
    (letter, (f" {letter}.", f" ({letter})."), (f"{letter}\n", f"({letter})\n", f"({letter}) {letter}\n"))
    for letter in "ABCDE"
)
_ANNOUNCEMENTS = tuple(
    the + phrase
    for phrase in ("he final answer is", "he answer is", "he correct answer is", "he answer should be")
    for the in "tT"
)
_BOX = r"\boxed{"
_DOUBLE_BOX = r"\\boxed{"

_FIRST_REPLACEMENTS = (
    (" ", ""), (r"\,", ""), ("\u221e", r"\infty"), (r"+\infty", r"\infty"), (r"\\", "\\"), ("\n", ""),
    (r"\text", ""), (r"\mbox", ""), ("bmatrix", "pmatrix"), (r"\left", ""), (r"\right", ""),
    (r"^{\circ}", ""), (r"^\circ", ""), ("{m}^3", ""), ("m^3", ""), ("{units}", ""), ("units", ""),
    ("{km}", ""), ("km", ""),
    (r"\!", ""), (r"\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac"), (r"\left", ""), (r"\right", ""),
    (r"^{\circ}", ""), (r"^\circ", ""), (r"\$", ""), ("$", ""), (r"\%", ""), ("{.", "{0."),
)  # fmt: skip
_UNWRAPPED_LETTERS = (
    *((f"({letter})", letter) for letter in "abcde"),
    *((f"{{{letter}}}", letter) for letter in "abcde"),
)
_WHOLE_FRACTION = re.compile(r"(0|-?[1-9][0-9]*)/(0|-?[1-9][0-9]*)")
_BRACKETS = (("(", ")"), ("[", "]"))


class _Target(NamedTuple):
    """A gold text, lower-cased, in the three forms in which it is compared."""

    text: str
    tuple_form: str
    rounded: Number | None


def _score(fields: Fields, output: str) -> Details:
    gold = _gold(fields)
    targets = (_target(gold), _target(_gold_option(fields, gold)))
    return {
        "score": float(_meets(_prediction(output), targets)),
        "pred_answer": output,
        "normalized_prediction": output.strip(),
        "normalized_target": gold,
    }


def _gold(fields: Fields) -> str:
    return str(fields.get("correct_choice_letter") or fields["answer"]).strip()


def _gold_option(fields: Fields, gold: str) -> str:
    """Text of the option that the gold letter points at; empty if there is none."""
    if len(gold) != 1 or gold < "A":
        return ""
    return next(iter(_options(fields)[ord(gold) - ord("A") :]), "")


def _options(fields: Fields) -> list[str]:
    """Option texts by ``options_struct``, else by ``options`` (a text is taken character by character).

    Raises:
        FieldError: the field that is used is no list, or an entry of ``options_struct`` has no text.
    """
    if structs := list_of(fields, "options_struct"):
        return [_struct_text(struct) for struct in structs]
    options = fields.get("options")
    entries = list(options) if isinstance(options, str) else list_of(fields, "options")
    return [str(entry).strip() or chr(ord("A") + place) for place, entry in enumerate(entries)]


def _struct_text(struct: Any) -> str:
    text = struct.get("text") if isinstance(struct, dict) else None
    if not isinstance(text, str):
        raise FieldError("options_struct", "each entry must be an object with a text under the key 'text'")
    return text


def _prediction(output: str) -> str:
    """The normalised prediction, in lower case."""
    return _tidied(_outside_in(_announced(output)))


def _announced(output: str) -> str:
    """What the output announces as its answer: a letter, a number after ``is``, the last box, or all of it."""
    text = output.strip()
    for letter, endings, beginnings in _LETTER_PLACES:
        if text.endswith(endings) or text.startswith(beginnings):
            text = letter
            break
    after_is = text.rpartition("is ")[2].rstrip(".")
    if _is_number(after_is):
        text = after_is
    if _BOX not in text:
        for announcement in _ANNOUNCEMENTS:
            _, found, after = text.rpartition(announcement)
            text = after.strip()
            if found:
                text = text.partition("\n")[0].partition(". ")[0]
    else:
        for box in (_DOUBLE_BOX, _BOX):
            if text.count(box) > 1:
                return box + text.rpartition(box)[2]
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _outside_in(text: str) -> str:
    """The inside of the box, less a stray closing brace, behind the last equals and approximation sign."""
    text = text.lower().replace("{}", "")
    _, box, boxed = text.partition(_BOX)
    if box and "}" in boxed:
        text = boxed.rpartition("}")[0]
    before, closing, _ = text.partition("}")
    if closing and "{" not in before:
        text = before
    return text.rpartition("=")[2].rpartition(r"\approx")[2]


def _tidied(text: str) -> str:
    """The text with LaTeX spellings made uniform, without units and wrapping."""
    for old, new in _FIRST_REPLACEMENTS:
        text = text.replace(old, new)
    if text.startswith("."):
        text = "0" + text
    if "sqrt" in text:
        text = _with_braced_fractions(_with_braced_roots(text))
    if text == "0.5":
        text = r"\frac{1}{2}"
    if fraction := _WHOLE_FRACTION.fullmatch(text):
        text = rf"\frac{{{fraction[1]}}}{{{fraction[2]}}}"
    for old, new in _UNWRAPPED_LETTERS:
        text = text.replace(old, new)
    return text.rstrip(".").lstrip(":").strip()


def _with_braced_roots(text: str) -> str:
    r"""``\sqrt3`` as ``\sqrt{3}``; only one character goes into the braces."""
    head, *parts = text.split(r"\sqrt")
    braced = [part if part[:1] in ("", "{") else f"{{{part[0]}}}{part[1:]}" for part in parts]
    return r"\sqrt".join([head, *braced])


def _with_braced_fractions(text: str) -> str:
    r"""``\frac12`` as ``\frac{1}{2}``; the text as it is if one fraction is too short for that."""
    head, *parts = text.split(r"\frac")
    braced = []
    for part in parts:
        if part.startswith("{"):
            braced.append(part)
        elif len(part) < 2:
            return text
        elif part[1] == "{":
            braced.append(f"{{{part[0]}}}{part[1:]}")
        else:
            braced.append(f"{{{part[0]}}}{{{part[1]}}}{part[2:]}")
    return r"\frac".join([head, *braced])


def _meets(prediction: str, targets: Sequence[_Target]) -> bool:
    """Whether the prediction equals one of the targets as text, as a tuple, or as a number to two decimals."""
    if not prediction:  # trimmed already, so from here on no blank target can be met
        return False
    if any(prediction == target.text for target in targets):
        return True
    tuple_form = _tuple_form(prediction)
    if any(tuple_form == target.tuple_form for target in targets):
        return True
    if all(target.rounded is None for target in targets):
        return False
    rounded = _rounded_value(tuple_form)
    return rounded is not None and any(rounded == target.rounded for target in targets)


@lru_cache(maxsize=4096)
def _target(gold: str) -> _Target:
    gold = gold.lower()
    tuple_form = _tuple_form(gold)
    return _Target(gold.strip(), tuple_form, _rounded_value(tuple_form))


def _tuple_form(text: str) -> str:
    """A bracketed list of at least two parts with each part as its rounded value; any other text as it is."""
    if (text[:1], text[-1:]) not in _BRACKETS or "," not in text:
        return text
    parts = []
    for part in text[1:-1].split(","):
        if "infty" in part or part in ("a", "-a"):
            parts.append(part)
            continue
        value = _rounded_value(part)
        if value is None or is_giant(value):
            return text
        parts.append(str(value))
    return f"{text[0]}{','.join(parts)}{text[-1]}"


def _rounded_value(text: str) -> Number | None:
    """The value to two decimals, as Python rounds."""
    value = latex_value(text)
    return None if value is None else round(value, 2)


def _metrics(details: Sequence[Details]) -> dict[str, Any]:
    return {"accuracy": round(mean([item.get("score") == 1.0 for item in details]), 6)}


def _check(fields: Fields) -> None:
    text_of(fields, "answer")
    _options(fields)


MATHVISION = Scorer(_score, _metrics, optional=("options_struct", "correct_choice_letter"), check=_check)
