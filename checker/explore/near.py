"""The states near a state, as a small graph in layers by distance."""

from __future__ import annotations

from attrs import define, field, frozen

from antecede.checker.explore.judgement import violated_by
from antecede.checker.explore.tree import MOST_STEPS, Numbers, Tree
from antecede.checker.model import State
from antecede.checker.render.prose import Wording
from antecede.checker.semantics.transition import enabled
from antecede.checker.support.errors import ProtocolError

FAR = 2
"""The greatest number of steps from the current state."""

MOST_NODES = 60
"""The greatest number of states in the graph."""

WIDTH, LAYER, MARGIN = 640.0, 80.0, 16.0
"""The width of the picture, the distance of two layers, and the space around the graph."""


@define(eq=False)
class Node:
    """A state of the graph.

    Attributes:
        numbers: a shortest path to it through the current state.
        depth: the number of steps from the current state.
        text: the last step of that path, in words.
        x, y: its place in the picture.
    """

    numbers: Numbers
    depth: int
    text: str
    x: float = WIDTH / 2
    y: float = MARGIN


@frozen(eq=False)
class Edge:
    """A transition between two states of the graph."""

    start: Node
    end: Node
    violates: bool


@define(eq=False)
class Graph:
    """The states within FAR steps of a state, up to MOST_NODES.

    Attributes:
        complete: whether it has all of them. Steps that fail lead to no state.
    """

    nodes: dict[State, Node] = field(factory=dict)
    edges: list[Edge] = field(factory=list)
    complete: bool = True

    @property
    def height(self) -> float:
        """The height of the picture."""
        return 2 * MARGIN + LAYER * max(node.depth for node in self.nodes.values())


def near(tree: Tree, numbers: Numbers) -> Graph:
    """Return the graph around the end of a path."""
    graph = Graph()
    graph.nodes[tree.path(numbers).last] = Node(numbers, 0, "the current state")
    for depth in range(min(FAR, MOST_STEPS - len(numbers))):
        for node in [each for each in graph.nodes.values() if each.depth == depth]:
            _expand(graph, tree, node)
    _place(graph)
    return graph


def _expand(graph: Graph, tree: Tree, node: Node) -> None:
    """Add the successors of a state."""
    path = tree.path(node.numbers)
    for number in range(len(enabled(path.system, path.last))):
        numbers = (*node.numbers, number)
        try:
            after = tree.path(numbers)
            violates = bool(violated_by(after))
        except ProtocolError:
            continue
        if after.last not in graph.nodes:
            if len(graph.nodes) == MOST_NODES:
                graph.complete = False
                continue
            text = Wording.of(after).step(after.steps[-1])
            graph.nodes[after.last] = Node(numbers, node.depth + 1, text)
        graph.edges.append(Edge(node, graph.nodes[after.last], violates))


def _place(graph: Graph) -> None:
    """Place the states in layers, each state near the mean of the states that lead to it."""
    for depth in range(1, FAR + 1):
        layer = [node for node in graph.nodes.values() if node.depth == depth]
        before = {
            node: [e.start.x for e in graph.edges if e.end is node and e.start.depth < depth]
            for node in layer
        }
        layer.sort(key=lambda node: (sum(before[node]) / len(before[node]), node.numbers))
        for place, node in enumerate(layer):
            node.x = MARGIN + (place + 0.5) * (WIDTH - 2 * MARGIN) / len(layer)
            node.y = MARGIN + LAYER * depth
