"""Edit distance of ordered trees (Zhang and Shasha 1989), with any costs."""

# ruff: noqa: PLR1730 - comparing is three times as fast as calling min

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from datbench.scorers.faults import OutputFault

Node = TypeVar("Node")
Other = TypeVar("Other")

MAX_NODE_PAIRS = 1_000_000
"""Largest product of two trees' node counts that is computed."""

MAX_STEPS = 50_000_000
"""Largest number of forest pairs that is computed: reached below MAX_NODE_PAIRS by deep, bushy trees only."""


@dataclass(frozen=True)
class Tree(Generic[Node]):
    """An ordered tree, its nodes in postorder.

    Attributes:
        nodes: the nodes, the root last.
        leftmost: for each node the index of the leftmost leaf below it (its own for a leaf).
        keyroots: ascending indices of the root and of every node with a left sibling.
    """

    nodes: list[Node]
    leftmost: list[int]
    keyroots: list[int]

    def __len__(self) -> int:
        return len(self.nodes)

    def with_nodes(self, nodes: list[Other]) -> Tree[Other]:
        """A tree of the same shape with other nodes in postorder."""
        return Tree(nodes, self.leftmost, self.keyroots)


class Costs(NamedTuple):
    """What each step costs, by the postorder indices of two trees.

    Attributes:
        delete: for each node of the first tree.
        insert: for each node of the second.
        change: ``change[i][j]``, to make node i of the first into node j of the second.
    """

    delete: Sequence[float]
    insert: Sequence[float]
    change: Sequence[Sequence[float]]


def tree_of(root: Node, children: Callable[[Node], Iterable[Node]]) -> Tree[Node]:
    """The tree below ``root``; ``children`` gives a node's children in order. Not recursive, linear time."""
    nodes: list[Node] = []
    parents: list[int] = []
    pending = [(root, -1)]
    while pending:  # visits each node before its children, these from right to left: postorder reversed
        node, parent = pending.pop()
        index = len(nodes)
        pending.extend([(child, index) for child in children(node)])
        nodes.append(node)
        parents.append(parent)
    sizes = [1] * len(nodes)
    for index in range(len(nodes) - 1, 0, -1):
        sizes[parents[index]] += sizes[index]
    nodes.reverse()
    sizes.reverse()
    leftmost = [index - size + 1 for index, size in enumerate(sizes)]
    keyroots = sorted({leaf: index for index, leaf in enumerate(leftmost)}.values())
    return Tree(nodes, leftmost, keyroots)


def check_size(first: Tree[Node], second: Tree[Node]) -> None:
    """Raise OutputFault where the distance of two trees is too much work to compute."""
    pairs = len(first) * len(second)
    if pairs > MAX_NODE_PAIRS or _steps(first) * _steps(second) > MAX_STEPS:
        raise OutputFault(f"trees of {len(first)} and {len(second)} nodes are too large to compare")


def _steps(tree: Tree[Node]) -> int:
    return sum(keyroot - tree.leftmost[keyroot] + 1 for keyroot in tree.keyroots)


def tree_distance(first: Tree[Node], second: Tree[Node], costs: Costs) -> float:
    """Least cost of turning one tree into the other by deleting, inserting and changing nodes.

    Raises:
        OutputFault: the trees are too large (see `check_size`).
    """
    check_size(first, second)
    distances = [[0.0] * len(second) for _ in first.nodes]
    for keyroot in first.keyroots:
        for other in second.keyroots:
            if first.leftmost[keyroot] == keyroot and second.leftmost[other] == other:
                two_steps = costs.delete[keyroot] + costs.insert[other]
                distances[keyroot][other] = min(two_steps, costs.change[keyroot][other])
            else:
                _fill(distances, first, second, (keyroot, other), costs)
    return distances[-1][-1]


def _fill(
    distances: list[list[float]], first: Tree[Node], second: Tree[Node], keyroots: tuple[int, int], costs: Costs
) -> None:
    """Set the distances of all subtrees on the left edges of two keyroots, by way of their forests."""
    leftmost, start = first.leftmost, first.leftmost[keyroots[0]]
    other_start = second.leftmost[keyroots[1]]
    columns = range(other_start, keyroots[1] + 1)
    # For each column: its forest index before its subtree, 0 where the forest so far is that subtree.
    before = [second.leftmost[column] - other_start for column in columns]
    insert = costs.insert
    row = [0.0]
    for column in columns:
        row.append(row[-1] + insert[column])
    forests = [row]
    for node in range(start, keyroots[0] + 1):
        above, cost, changes, subtree = row, costs.delete[node], costs.change[node], distances[node]
        value = above[0] + cost
        row = [value]
        edge = leftmost[node] == start
        without = forests[leftmost[node] - start]
        for index, column in enumerate(columns):
            value += insert[column]
            deleted = above[index + 1] + cost
            if deleted < value:
                value = deleted
            if edge and not before[index]:
                changed = above[index] + changes[column]
                if changed < value:
                    value = changed
                subtree[column] = value
            else:
                matched = without[before[index]] + subtree[column]
                if matched < value:
                    value = matched
            row.append(value)
        forests.append(row)
