"""Cases and updates played to a database, all at once or one fact at a time.

One at a time, facts may on their way come to a state from which everything follows without end,
such as `n(X + 1) :- n(X), not last(X)` before `last` is there. A bound refuses the edit which
leads to it; that edit is made later, when the others are.
"""

import random
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rules import Database, Fact, LimitError, Program
from tests.cases.neutral import Names, clauses, traces, uses

Model = set[Fact]

MOST_RETRACTIONS = 40
MOST_ROUNDS = 2_000
LOOKS = 2


@dataclass(frozen=True)
class Replay:
    """How facts are given to a database; `chance` decides on their order.

    Where more than `most` facts follow, they are given all at once in any case.
    """

    chance: random.Random
    one_by_one: bool
    most: int | None = None

    def filled(self, program: Program, facts: list[Fact]) -> Generator[str, None, Database]:
        """Yields how the database went wrong while it got its facts."""
        if self.one_by_one:
            bounds = {} if self.most is None else {"max_derived": self.most}
            try:
                database = Database(program, max_rounds=MOST_ROUNDS, **bounds)
                yield from self.feed(database, facts)
                return database
            except LimitError as error:
                if self.most is None or error.limit != "max_derived":
                    raise
        database = Database(program)
        with database.transaction():
            assert_all(database, facts)
        return database

    def feed(self, database: Database, facts: list[Fact]) -> Iterator[str]:
        """Assert the facts, which are new, one by one, and some of them twice."""
        order = self.chance.sample(facts, len(facts))
        looks = set(self.chance.sample(range(len(facts)), min(LOOKS, len(facts))))
        looks.discard(len(facts) - 1)  # how it ends is known
        waverers = spread(self.chance, len(facts))
        present: list[Fact] = []
        out: list[Fact] = []
        for at, fact in enumerate(order):
            (present if made(database.assert_fact, fact) else out).append(fact)
            if at in waverers and present:
                waver(self.chance, database, present, out)
            if out and (len(out) > 2 or (at in waverers and self.chance.random() < 0.5)):
                fact = out.pop(0)
                (present if made(database.assert_fact, fact) else out).append(fact)
            if at in looks:
                yield from unlike_scratch(database, f"after {at + 1} facts")
        with database.transaction():
            assert_all(database, out)

    def step(self, database: Database, retract: list[Fact], new: list[Fact]) -> None:
        """Retract, then assert; as one transaction, or each by itself."""
        if not self.one_by_one:
            with database.transaction():
                retract_all(database, retract)
                assert_all(database, new)
            return
        gone = self.chance.sample(retract, len(retract))
        come = self.chance.sample(new, len(new))
        gone = [fact for fact in gone if not made(database.retract_fact, fact)]
        come = [fact for fact in come if not made(database.assert_fact, fact)]
        with database.transaction():
            retract_all(database, gone)
            assert_all(database, come)


def spread(chance: random.Random, size: int) -> set[int]:
    """At which of so many assertions a fact is taken out."""
    return set(chance.sample(range(size), min(MOST_RETRACTIONS, size)))


def waver(chance: random.Random, database: Database, present: list[Fact], out: list[Fact]) -> None:
    """Take out one of the facts."""
    at = chance.randrange(len(present))
    if made(database.retract_fact, present[at]):
        present[at], present[-1] = present[-1], present[at]
        out.append(present.pop())


def made(edit: Callable[..., bool], fact: Fact) -> bool:
    """Whether a fact could be asserted, or retracted, alone."""
    try:
        edit(*spelled(fact))
    except LimitError:
        return False
    return True


def spelled(fact: Fact) -> tuple[Any, ...]:
    return (fact.predicate, *fact.args)


def assert_all(database: Database, facts: Iterable[Fact]) -> None:
    for fact in facts:
        database.assert_fact(*spelled(fact))


def retract_all(database: Database, facts: Iterable[Fact]) -> None:
    for fact in facts:
        database.retract_fact(*spelled(fact))


# what a case says


def program_of(case: dict[str, Any], names: Names) -> Program:
    """The rules of a case, which must be the same in both notations."""
    program = Program.parse(clauses(case["rules"], names), "case.dl")
    other = Program.parse(traces(case["rules"], names), "case.dl")
    if [r.as_trace() for r in program.statements] != [r.as_trace() for r in other.statements]:
        raise AssertionError("the two notations differ")
    return program


def facts_of(relations: dict[str, list[list[Any]]], names: Names) -> list[Fact]:
    found = (fact_of(name, row, names) for name, rows in relations.items() for row in rows)
    return list(dict.fromkeys(found))


def fact_of(predicate: str, row: list[Any], names: Names) -> Fact:
    return Fact(names.written(predicate, len(row)), tuple(row))


def expected_rows(
    relations: dict[str, list[list[Any]]], names: Names
) -> Iterator[tuple[str, int, set[tuple[Any, ...]]]]:
    """Our name of each relation, its number of arguments and its rows."""
    for predicate, rows in relations.items():
        for name, arity in names.all_written(predicate):
            yield name, arity, {tuple(row) for row in rows if len(row) == arity}


# comparing


def holding(database: Database) -> Model:
    """Everything that holds."""
    return {*database.facts(), *database.derived()}


def from_scratch(database: Database) -> Database:
    """A new database of the same facts."""
    other = Database(database.program)
    with other.transaction():
        retract_all(other, set(other.facts()) - set(database.facts()))
        assert_all(other, database.facts())
    return other


def unlike_scratch(database: Database, when: str) -> Iterator[str]:
    other = holding(from_scratch(database))
    yield from difference(f"{when}, against a new database", other, holding(database))


def difference(what: str, expected: set[Any], found: set[Any]) -> Iterator[str]:
    for word, rows in (("missing", expected - found), ("too many", found - expected)):
        if rows:
            first = min(map(str, rows))
            yield f"{what}: {len(rows)} {word}, such as {first}"


def unlike_expected(
    database: Database, relations: dict[str, list[list[Any]]], names: Names, when: str = ""
) -> Iterator[str]:
    for name, arity, rows in expected_rows(relations, names):
        question = f"{name}({', '.join(f'?x{at}' for at in range(arity))})"
        yield from difference(f"{when}{name}", rows, set(database.query(question)))


def check_case(case: dict[str, Any], replay: Replay) -> Iterator[str]:
    """What is wrong when the facts of a case have been given to a database."""
    names = Names(uses(case))
    program = program_of(case, names)
    database = yield from replay.filled(program, facts_of(case["facts"], names))
    yield from unlike_expected(database, case["expected"], names)
    if "full_model_by_clingo" in case:
        whole = set(facts_of(case["full_model_by_clingo"], names))
        yield from difference("the whole model", whole, holding(database))


def check_update(case: dict[str, Any], replay: Replay) -> Iterator[str]:
    """What is wrong after each step of an update."""
    names = Names(uses(case))
    program = program_of(case, names)
    database = yield from replay.filled(program, facts_of(case["facts"], names))
    heads = {rule.head.predicate for rule in program.rules}
    for number, step in enumerate(case["steps"], 1):
        yield from check_step(database, heads, step, names, replay, f"step {number}")


def check_step(
    database: Database,
    heads: set[str],
    step: dict[str, Any],
    names: Names,
    replay: Replay,
    when: str,
) -> Iterator[str]:
    before = holding(database)
    net = Net()
    stop = database.on_change(net.follow)
    retracted, new = ([fact_of(*edit, names) for edit in step[k]] for k in ("retract", "assert"))
    replay.step(database, retracted, new)
    stop()
    after = holding(database)
    yield from unlike_expected(database, step["expected"], names, f"{when}, ")
    yield from unlike_scratch(database, when)
    for word, told, found in (
        ("added", net.added, after - before),
        ("removed", net.removed, before - after),
    ):
        concluded = {fact for fact in found if fact.predicate in heads}
        yield from difference(f"{when}, on_change, {word}", concluded, told)


class Net:
    """What all changes together have added and removed."""

    def __init__(self) -> None:
        self.added: set[Fact] = set()
        self.removed: set[Fact] = set()

    def follow(self, change: Any) -> None:
        added, removed = set(change.added), set(change.removed)
        self.added, self.removed = (
            (self.added - removed) | (added - self.removed),
            (self.removed - added) | (removed - self.added),
        )
