"""Directed graphs of names: what depends on itself, and shortest paths."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

Edges = Mapping[str, Iterable[str]]


def components(nodes: Iterable[str], edges: Edges) -> list[list[str]]:
    """Strongly connected components, each after every one that it depends on.

    `edges[p]` names what `p` depends on; what is not among the nodes is left out. The order
    follows from the order of nodes and edges. Tarjan's algorithm (1972), without recursion.
    """
    search = _Components(nodes, edges)
    for node in search.nodes:
        if node not in search.low:
            search.visit(node)
    return search.found


class _Components:
    def __init__(self, nodes: Iterable[str], edges: Edges) -> None:
        self.nodes = dict.fromkeys(nodes)
        self.low: dict[str, int] = {}
        """The earliest visit known to be reached; beyond all visits once the component is found."""
        self.found: list[list[str]] = []
        self._edges = edges
        self._open: list[str] = []

    def visit(self, root: str) -> None:
        low = self.low
        path = [self._enter(root)]
        while path:
            node, number, targets = path[-1]
            for target in targets:
                if target not in low:
                    path.append(self._enter(target))
                    break
                low[node] = min(low[node], low[target])
            else:
                path.pop()
                if low[node] == number:
                    self._close(node)
                elif path:
                    parent = path[-1][0]
                    low[parent] = min(low[parent], low[node])

    def _enter(self, node: str) -> tuple[str, int, Iterator[str]]:
        number = self.low[node] = len(self.low)
        self._open.append(node)
        return node, number, (t for t in self._edges.get(node, ()) if t in self.nodes)

    def _close(self, first: str) -> None:
        start = len(self._open) - 1
        while self._open[start] != first:
            start -= 1
        members = self._open[start:]
        del self._open[start:]
        self.low.update(dict.fromkeys(members, len(self.nodes)))
        self.found.append(members)


def shortest_path(start: str, goal: str, edges: Edges) -> list[str]:
    """The nodes from start to goal, both included; nothing if there is no path."""
    came_from = {start: start}
    waiting = deque([start])
    while waiting and goal not in came_from:
        node = waiting.popleft()
        for target in edges.get(node, ()):
            if target not in came_from:
                came_from[target] = node
                waiting.append(target)
    if goal not in came_from:
        return []
    path = [goal]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]
