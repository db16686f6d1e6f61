"""What a sample would score if its answer had stood where the benchmark's rules look for it.

The benchmark's extraction loses answers to their form: nested braces, bold labels, fences, tags over several
lines. This number says how much; it never replaces the official score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from datbench.extraction import last, last_line

_BOX_OR_BRACE = re.compile(r"\\boxed\s?\{|[{}]")
_WRAPPER_OR_MARK = re.compile(r"(\\(?:text|mathrm|textbf|mathbf)\s?\{|[{}]|\\?\$|\*\*|__)")
_LABEL = re.compile(r"(?<![^\W_])answer(?: is)?[ \t*_]*[:：]", re.IGNORECASE)
_TAG = re.compile(r"<\s*(/?)\s*answer\s*>", re.IGNORECASE)
_FENCE = re.compile(r"`{3,}")
_LANGUAGE_WORD = re.compile(r"[\w+#.-]*[ \t\r]*")


def score_if_reformatted(score: Callable[[str], float], output: str, official: float) -> float:
    """The best score over readings of an output in which its answer stands alone.

    Args:
        score: from a text, taken as the whole output, to its score in [0, 1].
        output: the model's output.
        official: the score of the output as it is.

    Returns:
        A score in [0, 1], never below ``official``. ``score`` is called for at most five texts.
    """
    best = official
    for candidate in candidates(output):
        if best >= 1.0:
            break
        best = max(best, score(candidate))
    return best


def candidates(output: str) -> Iterator[str]:
    """At most five readings of an output, none blank, repeated or equal to the output; in linear time."""
    seen = {"", output}
    for find in (_boxed, _labelled, _tagged, _fenced, _final_line):
        text = find(output).strip()
        if text not in seen:
            seen.add(text)
            yield text


def _boxed(output: str) -> str:
    """Content of the last box whose braces balance, unwrapped."""
    opened: list[int] = []  # where the content of each open box begins; 0 for other braces
    start = end = 0
    for match in _BOX_OR_BRACE.finditer(output):
        if match[0] != "}":
            opened.append(0 if match[0] == "{" else match.end())
        elif opened and (content := opened.pop()) > start:
            start, end = content, match.start()
    return _unwrapped(output[start:end])


def _unwrapped(text: str) -> str:
    """Without text commands, dollar signs and bold marks; an escaped dollar sign is a dollar sign."""
    kept = []
    is_wrapper: list[bool] = []
    for part in _WRAPPER_OR_MARK.split(text):
        if part[-1:] == "{":
            is_wrapper.append(part != "{")
            kept.append(part if part == "{" else "")
        elif part == "}":
            kept.append("" if is_wrapper and is_wrapper.pop() else part)
        else:
            kept.append({"$": "", "**": "", "__": "", "\\$": "$"}.get(part, part))
    return "".join(kept)


def _labelled(output: str) -> str:
    """The text after the last answer label on its line, without markdown marks."""
    for line in reversed(output.splitlines()):
        if "answer" in line.lower():
            plain = _without_marks(line)
            if label := last(_LABEL.finditer(plain)):
                return plain[label.end() :].strip(" \t*_")
    return ""


def _tagged(output: str) -> str:
    """Content of the last closed ``<answer>`` element, over several lines."""
    opening, content = None, ""
    for tag in _TAG.finditer(output):
        if not tag[1]:
            opening = tag
        elif opening is not None:
            content, opening = output[opening.end() : tag.start()], None
    return content


def _fenced(output: str) -> str:
    """Content of the last closed code fence, without its language word."""
    fences = list(_FENCE.finditer(output))
    if len(fences) < 2:
        return ""
    opening, closing = fences[len(fences) // 2 * 2 - 2 : len(fences) // 2 * 2]
    content = output[opening.end() : closing.start()]
    first_line, _, rest = content.partition("\n")
    return rest if rest and _LANGUAGE_WORD.fullmatch(first_line) else content


def _final_line(output: str) -> str:
    """The last line that is not blank, without bold marks and full stop."""
    return _without_marks(last_line(output)).strip().removesuffix(".")


def _without_marks(line: str) -> str:
    return line.replace("**", "").replace("__", "").replace("`", "")
