"""Similarity of HTML tables by tree edit distance (TEDS): structure alone, or with the cells' contents."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from datbench.scorers.anls import similarity
from datbench.scorers.tree_distance import Costs, Tree, check_size, tree_distance, tree_of

GOLDS_KEPT = 256
"""How many reference tables are kept parsed."""

N = TypeVar("N", bound=Hashable)


def structure_teds(prediction: str, gold: str) -> float:
    """1 - tree edit distance / nodes of the gold, at least 0.0; element names only, every cost 1.

    Text and attributes play no part. HTML that cannot be parsed counts as a lone ``table``.

    Raises:
        OutputFault: the tables are too large.

    Source: TEDS on structure alone, as DatBench applies it to CC-OCR.
    """
    predicted, expected = _tag_tree(prediction), _gold_tag_tree(gold)
    if len(predicted) >= 2 * len(expected):
        return 0.0  # as many deletions as the gold has nodes, at least
    return max(0.0, 1 - _distance(predicted, expected, lambda tag, other: tag != other) / len(expected))


def _tag_tree(html: str) -> Tree[Hashable]:
    import lxml.html

    try:
        tree = tree_of(lxml.html.fromstring(html), list)
    except Exception:  # the parser has many ways to say no
        return tree_of("table", lambda _: ())
    # The tag of a comment or processing instruction is a function: one kind of node for each.
    return tree.with_nodes([element.tag for element in tree.nodes])


_gold_tag_tree = lru_cache(maxsize=GOLDS_KEPT)(_tag_tree)


class _Part(NamedTuple):
    """An element of a table; only a ``td`` has spans, and tokens: characters and tags, a text if all are characters."""

    tag: str
    colspan: int = 1
    rowspan: int = 1
    tokens: str | tuple[str, ...] = ""


class _Table(NamedTuple):
    tree: Tree[_Part]
    elements: int
    """Elements below the table, those inside of cells too, which the tree leaves out."""


def cell_teds(prediction: str, gold: str) -> float:
    """1 - tree edit distance / the larger number of elements below the two tables, in [0, 1].

    Changing a cell into another costs the share of its tokens that differ. Documents without a table as a
    child of the body, and whatever cannot be parsed, score 0.0.

    Raises:
        OutputFault: the tables are too large.

    Source: TEDS of OCRBench v2.
    """
    predicted, expected = _table(_document(prediction)), _gold_table(_document(gold))
    if predicted is None or expected is None:
        return 0.0
    elements = max(predicted.elements, expected.elements)
    if not elements:
        return 0.0
    return min(1.0, max(0.0, 1 - _distance(predicted.tree, expected.tree, _change_cost) / elements))


def _document(html: str) -> str:
    """The HTML with what is missing of its table, body and html tags put around it; case-sensitive."""
    if "<table" not in html:
        html = "<table>" + html
    if "</table>" not in html:
        html += "</table>"
    if "<body>" not in html:
        html = f"<body>{html}</body>"
    if "<html>" not in html:
        html = f"<html>{html}</html>"
    return html


@lru_cache(maxsize=1)
def _parser() -> Any:
    import lxml.html

    return lxml.html.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")


def _table(html: str) -> _Table | None:
    import lxml.html

    try:
        table = lxml.html.fromstring(html, parser=_parser()).find("body/table")
        if table is None:
            return None
        tree = tree_of(table, lambda element: () if element.tag == "td" else element.iterchildren("*"))
        elements = sum(1 for _ in table.iterdescendants("*"))
        return _Table(tree.with_nodes([_part(element) for element in tree.nodes]), elements)
    except Exception:  # the benchmark's rule: no table, no error
        return None


_gold_table = lru_cache(maxsize=GOLDS_KEPT)(_table)


def _part(element: Any) -> _Part:
    if element.tag != "td":
        return _Part(element.tag)
    tokens: list[str] = []
    _add_tokens(element, tokens)
    text = "".join(tokens)
    return _Part(
        "td",
        int(element.get("colspan", "1")),
        int(element.get("rowspan", "1")),
        text if len(text) == len(tokens) else tuple(tokens),
    )


def _add_tokens(element: Any, tokens: list[str]) -> None:
    """What is inside of an element: its characters, and those and the tags of its children."""
    tokens += element.text or ""
    for child in element.iterchildren("*"):
        tokens.append(f"<{child.tag}>")
        _add_tokens(child, tokens)
        if child.tag != "unk":
            tokens.append(f"</{child.tag}>")
        if child.tag != "td":  # the text behind a cell within a cell is lost: the benchmark's rule
            tokens += child.tail or ""


def _change_cost(part: _Part, other: _Part) -> float:
    if part[:3] != other[:3]:
        return 1.0
    first, second = part.tokens, other.tokens
    if first == second:
        return 0.0
    if type(first) is not type(second):
        first, second = tuple(first), tuple(second)
    return 1 - similarity(first, second)


def _distance(first: Tree[N], second: Tree[N], change_cost: Callable[[N, N], float]) -> float:
    """Tree edit distance with unit costs of deletion and insertion."""
    if first.nodes == second.nodes and first.leftmost == second.leftmost:
        return 0.0
    check_size(first, second)
    change = _cost_matrix(first.nodes, second.nodes, change_cost)
    return tree_distance(first, second, Costs([1] * len(first), [1] * len(second), change))


def _cost_matrix(first: Sequence[N], second: Sequence[N], change_cost: Callable[[N, N], float]) -> list[list[float]]:
    """The cost for each pair of nodes, worked out once for each pair of different nodes."""
    rows: dict[N, list[float]] = {}
    for node in dict.fromkeys(first):
        costs = {other: change_cost(node, other) for other in dict.fromkeys(second)}
        rows[node] = [costs[other] for other in second]
    return [rows[node] for node in first]
