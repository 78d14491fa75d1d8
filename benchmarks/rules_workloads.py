"""Facts and rules to measure rule engines on, the same ones every time; imports no engine."""

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

Row = tuple[str | int, ...]
Facts = dict[str, list[Row]]
Update = tuple[str, Row]
"""A fact to add or take away: predicate and arguments."""
Body = tuple[str, ...]


class CannotExpress(Exception):
    """The engine has no way to say these rules."""


@dataclass(frozen=True)
class Workload:
    """What an engine is given, what is counted, and which single facts come and go."""

    name: str
    rules: tuple[tuple[str, Body], ...]
    """Heads and bodies as text, with capitalised variables."""
    facts: Facts
    outputs: tuple[str, ...]
    """Derived predicates; the first is the one that questions ask for."""
    added: tuple[Update, ...] = ()
    """New facts, each put in and taken out again alone."""
    removed: tuple[Update, ...] = ()
    """Facts of `facts`, each taken out and put in again alone."""

    @property
    def text(self) -> str:
        """The rules in conventional notation, which clingo reads too."""
        return "\n".join(f"{head} :- {', '.join(body)}." for head, body in self.rules)


AFFECTED = (
    ("affected(F)", ("file_modified(F)",)),
    ("affected(G)", ("imports(G, F)", "affected(F)")),
    ("run_test(T)", ("affected(G)", "test_covers(T, G)")),
)
CLOSURE = (
    ("path(X, Y)", ("edge(X, Y)",)),
    ("path(X, Z)", ("path(X, Y)", "edge(Y, Z)")),
)
GENERATION = (
    ("sg(X, X)", ("person(X)",)),
    ("sg(X, Y)", ("parent(X, P)", "sg(P, Q)", "parent(Y, Q)")),
)
POINTS_TO = (
    ("vpt(V, O)", ("alloc(V, O)",)),
    ("vpt(V, O)", ("assign(V, W)", "vpt(W, O)")),
    ("vpt(V, O)", ("fetch(V, B, F)", "vpt(B, H)", "hpt(H, F, O)")),
    ("hpt(H, F, O)", ("store(B, F, V)", "vpt(B, H)", "vpt(V, O)")),
)
FEW = range(5, 25)
"""How many files a small change affects."""


@dataclass(frozen=True)
class Repository:
    """Files that import one another, and tests that cover them."""

    imports: list[Row]
    test_covers: list[Row]
    importers: dict[str, list[str]]
    covers: dict[str, list[str]]
    files: list[str]

    @property
    def hub(self) -> str:
        """The file most others import directly."""
        return max(self.files, key=lambda name: (len(self.importers.get(name, ())), name))

    def leaves(self, count: int, seed: int = 5) -> list[str]:
        """Files whose change affects few others, in a random order."""
        names = list(self.files)
        random.Random(seed).shuffle(names)
        found: list[str] = []
        for name in names:
            if len(found) < count and len(self.affected([name], max(FEW) + 1)[0]) in FEW:
                found.append(name)
        return found

    def affected(self, modified: list[str], most: int | None = None) -> tuple[set[str], set[str]]:
        """Breadth first by hand: the files which a change affects, and the tests to run."""
        importers, covers = self.importers, self.covers
        seen = set(modified)
        queue = deque(seen)
        while queue and (most is None or len(seen) < most):
            for name in importers.get(queue.popleft(), ()):
                if name not in seen:
                    seen.add(name)
                    queue.append(name)
        tests: set[str] = set()
        for name in seen:
            tests.update(covers.get(name, ()))
        return seen, tests


def repository(files: int, seed: int = 3) -> Repository:
    """About four facts a file: 3 or 4 imports of earlier files, a test for every third.

    A quarter of the files import nothing, the others 4 or 5. Half of the imports go to files
    near by, half to a file that is already imported, in proportion to how often: a few end up
    below nearly everything, as in real code. No file stands alone.
    """
    chance = random.Random(seed)
    names = [f"src/pkg{n // 20:04}/module{n:06}.py" for n in range(files)]
    popular, imports = [0], []
    for number in range(1, files):
        wanted = 0 if chance.random() < 0.23 else min(number, chance.choice((4, 4, 5)))
        targets: set[int] = set()
        while len(targets) < wanted:
            near = chance.random() < 0.5
            low = max(0, number - 40) if near else 0
            targets.add(chance.randrange(low, number) if near else chance.choice(popular))
        popular += sorted(targets)
        imports += [(names[number], names[target]) for target in sorted(targets)]
    used = {name for pair in imports for name in pair}
    imports += [(names[n - 1], name) for n, name in enumerate(names) if name not in used]
    tests = [f"tests/test_{n:06}.py" for n in range(files // 3)]
    covers = [
        (test, names[subject])
        for test in tests
        for subject in sorted(chance.sample(range(files), chance.choice((1, 2, 2))))
    ]
    chance.shuffle(imports)
    return Repository(list(imports), list(covers), _reversed(imports), _reversed(covers), names)


def _reversed(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for first, second in pairs:
        table.setdefault(second, []).append(first)
    return table


def affected(repo: Repository, change: str, updates: int = 20) -> Workload:
    """Which files and tests a change affects, reached from the change.

    `few`: one file modified that few others import, more such files come and go.
    `hub`: the most imported file modified, which then comes and goes.
    """
    names = [repo.hub] if change == "hub" else repo.leaves(updates + 1)
    modified: list[Row] = [(name,) for name in names]
    facts: Facts = {
        "imports": repo.imports,
        "test_covers": repo.test_covers,
        "file_modified": modified[:1],
    }
    added = tuple(("file_modified", row) for row in modified[1:])
    removed = (("file_modified", modified[0]),) * updates if change == "hub" else ()
    return Workload("affected", AFFECTED, facts, ("affected", "run_test"), added, removed)


def chain(updates: int = 5, length: int = 700) -> Workload:
    """A path of `length` edges: as many rounds, and every edge is below many pairs."""
    edges: list[Row] = [(n, n + 1) for n in range(length)]
    return _closure("chain", edges, length + 1, updates)


def random_graph(updates: int = 5) -> Workload:
    """1,000 nodes and 1,500 edges: one large knot and much around it."""
    return _closure("random", _edges(1000, 1500, 11), 1000, updates)


def dense_graph(updates: int = 5) -> Workload:
    """400 nodes and 2,400 edges: nearly every pair, in many ways."""
    return _closure("dense", _edges(400, 2400, 12), 400, updates)


def _edges(nodes: int, count: int, seed: int) -> list[Row]:
    chance = random.Random(seed)
    found: dict[Row, None] = {}
    while len(found) < count:
        found[chance.randrange(nodes), chance.randrange(nodes)] = None
    return list(found)


def _closure(name: str, edges: list[Row], nodes: int, updates: int) -> Workload:
    return _with_updates(
        Workload(name, CLOSURE, {"edge": edges}, ("path",)),
        "edge",
        lambda chance: (chance.randrange(nodes), chance.randrange(nodes)),
        updates,
    )


def same_generation(updates: int = 5, levels: int = 9) -> Workload:
    """Who is as far below the root as whom, in a binary tree of that many levels."""
    people = 2**levels - 1
    facts: Facts = {
        "person": [(n,) for n in range(1, people + 1)],
        "parent": [(n, n // 2) for n in range(2, people + 1)],
    }
    return _with_updates(
        Workload("same generation", GENERATION, facts, ("sg",)),
        "parent",
        lambda chance: (chance.randrange(people // 2, people + 1), chance.randrange(1, people)),
        updates,
    )


def points_to(updates: int = 5, variables: int = 300) -> Workload:
    """Andersen's analysis: what each variable and each field of an object may point to."""
    chance = random.Random(21)
    objects, fields = variables // 3, 4

    def variable() -> int:
        return chance.randrange(variables)

    def rows(count: int, make: Callable[[], Row]) -> list[Row]:
        return list(dict.fromkeys(make() for _ in range(count)))

    facts: Facts = {
        "alloc": rows(objects, lambda: (variable(), chance.randrange(objects))),
        "assign": rows(variables * 5 // 4, lambda: (variable(), variable())),
        "fetch": rows(variables // 4, lambda: (variable(), variable(), chance.randrange(fields))),
        "store": rows(variables // 4, lambda: (variable(), chance.randrange(fields), variable())),
    }
    return _with_updates(
        Workload("points-to", POINTS_TO, facts, ("vpt", "hpt")),
        "assign",
        lambda chance: (chance.randrange(variables), chance.randrange(variables)),
        updates,
    )


def _with_updates(
    base: Workload, predicate: str, make: Callable[[random.Random], Row], count: int
) -> Workload:
    chance = random.Random(31)
    rows = base.facts[predicate]
    known, new = set(rows), dict[Row, None]()
    while len(new) < count:
        row = make(chance)
        if row not in known:
            new[row] = None
    added = tuple((predicate, row) for row in new)
    removed = tuple((predicate, row) for row in chance.sample(rows, min(count, len(rows))))
    return Workload(base.name, base.rules, base.facts, base.outputs, added, removed)


RECURSIVE: dict[str, Callable[[int], Workload]] = {
    "chain": chain,
    "random": random_graph,
    "dense": dense_graph,
    "same generation": same_generation,
    "points-to": points_to,
}
