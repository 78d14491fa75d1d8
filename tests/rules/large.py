"""Random updates of relations that are large enough for plans, indexes and bulk deletion.

The oracle is too slow for these; a new database of the same facts stands in for it.
"""

from collections.abc import Callable
from random import Random
from traceback import format_exc

from rules import Database, Fact, Program
from rules.engine.change import Change
from tests.rules.checked import check_lookup, holding
from tests.rules.naive import derivable

CLOSURE = "p(X, Y) :- e(X, Y).\np(X, Z) :- p(X, Y), e(Y, Z)."
LABELS = "\n".join(
    f"to{name}(X, Y) :- l('{name}', X, Y), not l('{other}', X, _).\n"
    f"from{name}(Y) :- l('{name}', X, Y), l('{other}', Y, _), e(X, _).\n"
    f"step(X, Z) :- step(X, Y), l('{name}', Y, Z), not s(Y)."
    for name, other in ("ab", "bc", "cd", "da")
)
MANY = "\n".join(
    f"m(X, {n}) :- e(X, Y), e(Y, _), not l('a', X, {n}).\n"
    f"m(Y, {n}) :- m(X, {(n + 1) % 18}), e(X, Y), not l('b', Y, {n}).\n"
    f"k({n}, X) :- e(X, {n}), not e({n}, X)."
    for n in range(18)
)
PROGRAMS = {
    "closure": CLOSURE,
    "closure from the right": "p(X, Y) :- e(X, Y).\np(X, Z) :- e(X, Y), p(Y, Z).",
    "closure of itself": "p(X, Y) :- e(X, Y).\np(X, Z) :- p(X, Y), p(Y, Z).",
    "reach": "r(X) :- s(X).\nr(Y) :- r(X), e(X, Y).\nfar(X) :- e(X, _), not r(X).",
    "generation": "g(X, Y) :- e(P, X), e(P, Y).\ng(X, Y) :- e(P, X), g(P, Q), e(Q, Y).",
    "counts": f"{CLOSURE}\nn(X, N) :- e(X, _), N = count : {{ p(X, _) }}.\n"
    "most(X) :- n(X, N), N = max M : { n(_, M) }.",
    "between": f"{CLOSURE}\nq(X, Y) :- p(X, Y), not p(Y, X), not s(Y).\n"
    "w(X, N) :- s(X), N = sum Y : { q(X, Y), not e(X, Y) }.",
    "points to": "v(X, O) :- e(X, O), s(O).\nv(X, O) :- e(X, Y), v(Y, O).\n"
    "h(O, P) :- e(X, Y), v(X, O), v(Y, P).\nv(X, P) :- e(X, Y), v(Y, O), h(O, P).",
    "hubs": "two(X, Y) :- e(A, X), e(A, Y), s(A), X < Y.\nsome(A) :- s(A), not e(A, _).\n"
    "n(A, N) :- s(A), N = count : { e(A, X), not s(X) }.\nback(X) :- e(_, X), not e(X, _).",
    "chains": "n(X, N) :- s(X), N = sum Z : { e(X, Y), e(Y, Z), l(_, Z, _), not s(Z) }.\n"
    "n(X, N) :- e(X, _), N = count : { e(X, Y), l(_, Y, Z), e(Z, _) }.",
    "many rules for one fact": MANY,
    "labels": f"step(X, Y) :- e(X, Y).\n{LABELS}",
}


def pair(chance: Random, nodes: int) -> tuple[int, int]:
    return chance.randrange(nodes), chance.randrange(nodes)


def near_pair(chance: Random, nodes: int) -> tuple[int, int]:
    """An edge of a long thin graph, so that much hangs on it."""
    at = chance.randrange(nodes)
    return at, (at + chance.choice((1, 1, 1, 2, -1))) % nodes


def hub_pair(chance: Random, nodes: int) -> tuple[int, int]:
    """Most begin or end in one of two nodes."""
    ends = chance.choice((chance.randrange(2), chance.randrange(nodes))), chance.randrange(nodes)
    return ends if chance.random() < 0.7 else ends[::-1]


PAIRS = {"random graph": pair, "long graph": near_pair, "hubs": hub_pair}
NODES = {"random graph": 45, "long graph": 60, "hubs": 150}


class Graph:
    """A database of edges under one of the programs, and its facts."""

    def __init__(self, name: str, kind: str, chance: Random) -> None:
        self.chance, self.nodes = chance, NODES[kind]
        self.pair: Callable[[Random, int], tuple[int, int]] = PAIRS[kind]
        metered = {"max_work": 10**9} if chance.random() < 0.3 else {}
        self.database = Database(Program.parse(PROGRAMS[name]), **metered)
        self.former: list[Fact] = []
        self.held: list[Fact] = []
        self.told: list[Change] = []
        self.concluded = sorted(derivable(self.database.program))
        self.seen: set[Fact] = self.holding()
        self.database.on_change(self.told.append)
        with self.database.transaction():
            for _ in range(2 * self.nodes):
                self.put(self.new_fact())

    def new_fact(self) -> Fact:
        """Now and then one that was there before."""
        if self.former and self.chance.random() < 0.3:
            return self.chance.choice(self.former)
        ends = self.pair(self.chance, self.nodes)
        kind = self.chance.random()
        if kind < 0.03:
            name = self.chance.choice(self.concluded)
            return Fact(name, (*ends, 0)[: self.database.view.arities[name]])
        if kind < 0.1:
            return Fact("s", (self.chance.choice((0, 1, ends[0])),))
        return Fact("e", ends) if kind < 0.85 else Fact("l", (self.chance.choice("abcd"), *ends))

    def put(self, fact: Fact) -> None:
        if self.database.assert_fact(fact.predicate, *fact.args):
            self.held.append(fact)

    def drop(self, fact: Fact) -> None:
        assert self.database.retract_fact(fact.predicate, *fact.args)
        self.held.remove(fact)
        self.former.append(fact)

    def update(self) -> None:
        """One fact more, one fewer, or several of both at once; now and then half of all go."""
        kind = self.chance.random()
        if kind < 0.06:
            with self.database.transaction():
                for fact in self.chance.sample(self.held, len(self.held) // 2):
                    self.drop(fact)
                for _ in range(30):
                    self.put(self.new_fact())
            return
        size = 1 if kind < 0.8 else self.chance.randint(2, 25)
        gone = self.chance.sample(self.held, min(len(self.held), size))
        with self.database.transaction():
            for fact in gone if kind < 0.5 or kind >= 0.8 else ():
                self.drop(fact)
            for _ in range(size if kind >= 0.5 else 0):
                self.put(self.new_fact())

    def excursion(self) -> None:
        """Two updates, the way back, and a part of the same again."""
        saved, before = self.database.snapshot(), list(self.held)
        node, one, two = self.chance.sample(range(self.nodes), 3)
        with self.database.transaction():
            for ends in ((node, one), (node, two), (one, two)):
                self.put(Fact("e", ends))
                self.put(Fact("l", ("a", *ends)))
            self.put(Fact("s", (node,)))
        self.update()
        self.database.rollback(saved)
        self.held = before
        self.put(Fact("s", (node,)))

    def run(self, updates: int) -> None:
        """So many updates; in the end all facts go."""
        self.check()
        for number in range(updates):
            if number % 5 == 3:
                self.excursion()
            self.update()
            if number % 3 == 2:
                self.check()
        with self.database.transaction():
            for fact in list(self.held):
                self.drop(fact)
        assert holding(self.database) == holding(Database(self.database.program))

    def check(self) -> None:
        other = Database(self.database.program)
        with other.transaction():
            for fact in self.held:
                other.assert_fact(fact.predicate, *fact.args)
        assert holding(self.database) == holding(other)
        for name, arity in other.view.arities.items():
            rows = list(other.view.rows(name))
            check_lookup(self.database, name, arity, rows, self.chance)
        self.check_changes()

    def holding(self) -> set[Fact]:
        """All of the predicates that rules conclude."""
        rows = self.database.view.rows
        return {Fact(name, row) for name in self.concluded for row in rows(name)}

    def check_changes(self) -> None:
        """What was told since the last time makes what held then what holds now."""
        for change in self.told:
            assert self.seen.isdisjoint(change.added), "told that something came which held"
            assert self.seen.issuperset(change.removed), "told that something went which did not"
            self.seen.difference_update(change.removed)
            self.seen.update(change.added)
        self.told.clear()
        assert self.seen == self.holding(), "something was not told"


def attempt(seed: int, updates: int) -> str | None:
    """What went wrong with one of the programs and random updates; None if nothing did."""
    chance = Random(seed)
    name, kind = chance.choice(sorted(PROGRAMS)), chance.choice(sorted(PAIRS))
    try:
        Graph(name, kind, chance).run(updates)
    except Exception:
        return f"seed {seed}: {name}, {kind}\n{format_exc(limit=-2)}"
    return None
