"""Components and shortest paths, against their definitions."""

from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from rules.analysis.graph import components, shortest_path

NODES = "abcdefg"
GRAPHS = st.dictionaries(st.sampled_from(NODES), st.lists(st.sampled_from(NODES), max_size=4))


def reachable(edges):
    """All pairs with a path of at least one edge, by squaring until nothing is new."""
    pairs = {(start, end) for start, ends in edges.items() for end in ends}
    while True:
        longer = {(a, d) for (a, b), (c, d) in product(pairs, pairs) if b == c}
        if longer <= pairs:
            return pairs
        pairs |= longer


@given(st.permutations(NODES), GRAPHS)
def test_components_are_what_reaches_each_other_in_order_of_dependence(nodes, edges):
    found = components(nodes, edges)
    assert sorted(node for group in found for node in group) == sorted(NODES)
    pairs = reachable(edges)
    place = {node: at for at, group in enumerate(found) for node in group}
    for a, b in product(NODES, NODES):
        together = a == b or ((a, b) in pairs and (b, a) in pairs)
        assert (place[a] == place[b]) == together
        if (a, b) in pairs:
            assert place[b] <= place[a]
    assert components(nodes, edges) == found


@given(GRAPHS, st.sampled_from(NODES), st.sampled_from(NODES))
def test_a_path_follows_edges_and_none_is_shorter(edges, start, goal):
    path = shortest_path(start, goal, edges)
    if start != goal and (start, goal) not in reachable(edges):
        assert path == []
        return
    near, steps = {start}, 0
    while goal not in near:
        near, steps = near | {end for node in near for end in edges.get(node, ())}, steps + 1
    assert len(path) == steps + 1
    assert (path[0], path[-1]) == (start, goal)
    assert all(b in edges[a] for a, b in pairwise(path))


def test_a_very_long_chain_is_no_problem():
    names = [f"n{number}" for number in range(100_000)]
    edges = {name: [following] for name, following in pairwise(names)}
    assert components(names, edges) == [[name] for name in reversed(names)]
    circle = {**edges, names[-1]: [names[0]]}
    assert components(names, circle) == [names]
    assert len(shortest_path(names[0], names[-1], edges)) == 100_000


def test_what_is_not_a_node_is_left_out():
    assert components(["a", "b"], {"a": ["base", "b"], "b": ["base"]}) == [["b"], ["a"]]
    assert components([], {"a": ["b"]}) == []
