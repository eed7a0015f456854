"""A layered drawing of a directed acyclic graph: every arrow points down.

Nodes are given in an order in which each comes after those that it reads. A node's layer is one
below the lowest of these. An arrow that passes a layer gets a place there, as a node would; nodes
of a layer are ordered by the middle of their neighbours, and then moved towards it.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SWEEPS = 8  # down and up in turn; programs of a page settle in fewer
GAP = 14.0  # between neighbours in a layer
PASSING = 8.0  # the width of an arrow that passes a layer


@dataclass(frozen=True)
class Node:
    """A box of some width, and the numbers of the nodes that it reads."""

    width: float
    reads: Sequence[int] = ()
    last: bool = False  # whether it is in the lowest layer


@dataclass(frozen=True)
class Drawing:
    """The middle of each node, its layer, and the way of each arrow as points in layers."""

    middles: list[float]
    layers: list[int]
    ways: Mapping[tuple[int, int], list[tuple[float, int]]]
    width: float


@dataclass
class _Graph:
    """Nodes and passing arrows alike, with arrows between neighbouring layers only."""

    widths: list[float]
    layers: list[int]
    above: list[list[int]]
    below: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.below = [[] for _ in self.widths]

    def join(self, upper: int, lower: int) -> None:
        self.above[lower].append(upper)
        self.below[upper].append(lower)

    def add(self, layer: int) -> int:
        """A new place for an arrow that passes a layer."""
        self.widths.append(PASSING)
        self.layers.append(layer)
        self.above.append([])
        self.below.append([])
        return len(self.widths) - 1


def draw(nodes: Sequence[Node]) -> Drawing:
    """Where everything is."""
    layers = _layers(nodes)
    graph = _Graph([node.width for node in nodes], [*layers], [[] for _ in nodes])
    ways = {
        (source, target): _way(graph, source, target)
        for target, node in enumerate(nodes)
        for source in dict.fromkeys(node.reads)
    }
    middles = _placed(graph)
    points = {edge: [(middles[i], graph.layers[i]) for i in way] for edge, way in ways.items()}
    width = max((m + w / 2 for m, w in zip(middles, graph.widths, strict=True)), default=0)
    return Drawing(middles[: len(nodes)], layers, points, width)


def _layers(nodes: Sequence[Node]) -> list[int]:
    found: list[int] = []
    for node in nodes:
        found.append(max((found[source] + 1 for source in node.reads), default=0))
    lowest = max(found, default=0)
    return [lowest if node.last else layer for node, layer in zip(nodes, found, strict=True)]


def _way(graph: _Graph, source: int, target: int) -> list[int]:
    """The places through which an arrow goes, joined to each other."""
    between = range(graph.layers[source] + 1, graph.layers[target])
    way = [source, *map(graph.add, between), target]
    for upper, lower in itertools.pairwise(way):
        graph.join(upper, lower)
    return way


def _placed(graph: _Graph) -> list[float]:
    """The middle of everything, from 0 on."""
    rows: dict[int, list[int]] = {}
    for i, layer in enumerate(graph.layers):
        rows.setdefault(layer, []).append(i)
    middles = [0.0] * len(graph.widths)
    for row in rows.values():
        _spread(row, [0.0] * len(row), graph, middles)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        near = graph.above if down else graph.below
        for layer in sorted(rows, reverse=not down):
            rows[layer].sort(key=lambda i: _wanted(near[i], middles, middles[i]))
            wanted = [_wanted(near[i], middles, middles[i]) for i in rows[layer]]
            _spread(rows[layer], wanted, graph, middles)
    left = min((m - w / 2 for m, w in zip(middles, graph.widths, strict=True)), default=0)
    return [middle - left for middle in middles]


def _wanted(neighbours: Sequence[int], middles: Sequence[float], otherwise: float) -> float:
    return sum(middles[i] for i in neighbours) / len(neighbours) if neighbours else otherwise


def _spread(
    row: Sequence[int], wanted: Sequence[float], graph: _Graph, middles: list[float]
) -> None:
    """Put a layer where it wants to be, in its order, without overlaps."""
    edge = float("-inf")
    for i, want in zip(row, wanted, strict=True):
        middles[i] = max(want, edge + GAP + graph.widths[i] / 2)
        edge = middles[i] + graph.widths[i] / 2
    moved = sum(middles[i] - want for i, want in zip(row, wanted, strict=True)) / len(row)
    for i in row:
        middles[i] -= moved
