"""How much rules may cost, and which tiers of a program keep within that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.journal import on_a_line
from rules import Database, LimitError, Program
from rules.terms import TIERS


@dataclass(frozen=True)
class Bounds:
    """What the rules may cost while any of them is not the kernel's: facts they conclude, rounds
    of one recursion, and rows looked at in one update (`work`, some seconds of them); of those,
    `for_each` more where there are many facts."""

    derived: int = 200_000
    rounds: int = 10_000
    work: int = 2_000_000
    for_each: int = 20

    def open(self, program: Program) -> Database:
        """An empty database, without bounds for the kernel alone. Raises LimitError."""
        if not lower_tiers(program):
            return Database(program)
        return Database(
            program,
            max_derived=self.derived,
            max_rounds=self.rounds,
            max_work=self.work,
        )

    def told(self, tier: str, error: LimitError) -> str:
        """What was exceeded, and by which rule; one of another tier met the bound by chance."""
        much = {
            "max_derived": f"more than {self.derived:,} facts follow",
            "max_rounds": f"a recursion goes on for more than {self.rounds:,} rounds",
            "max_work": f"more than {self.work:,} rows are looked at in one update",
        }.get(error.limit, "they go too far")
        rule = error.rule
        where = ""
        if rule is not None and rule.tier == tier:
            where = f", rule {rule.name!r} at {rule.source}:{rule.line}"
        return on_a_line(f"{much} ({error.limit}{where})")


@dataclass(frozen=True)
class Fitting:
    """The rules in force with what follows from them, and the tiers that went too far, each with
    the reason."""

    program: Program
    database: Database
    dropped: Mapping[str, str] = field(default_factory=dict)


def fit(
    program: Program,
    fill: Callable[[Program], Database],
    told: Callable[[str, LimitError], str],
    error: LimitError | None = None,
) -> Fitting:
    """As many tiers as keep within the bounds of `fill`, which is known to raise `error` for the
    whole program if that is given.

    A tier falls only where it goes too far together with the stronger tiers that stay. Whichever
    rule happens to meet a bound: what is weaker cannot take away what is stronger. Raises
    LimitError when the kernel alone goes too far.
    """
    if error is None:
        try:
            return Fitting(program, fill(program))
        except LimitError as met:
            error = met
    lower = lower_tiers(program)
    if not lower:
        raise error
    kept: list[str] = []
    dropped: dict[str, str] = {}
    database: Database | None = None
    for tier in lower:
        try:
            if [*kept, tier] == lower:
                raise error
            database = fill(only(program, [*kept, tier]))
        except LimitError as met:
            dropped[tier] = told(tier, met)
        else:
            kept.append(tier)
    rest = only(program, kept)
    return Fitting(rest, database or fill(rest), dropped)


def lower_tiers(program: Program) -> list[str]:
    """The tiers below the kernel that rules or facts of the program have, strongest first."""
    present = {statement.tier for statement in program.statements}
    return [tier for tier in TIERS[1:] if tier in present]


def only(program: Program, kept: Sequence[str]) -> Program:
    """The kernel and the tiers that are kept."""
    return without(program, [tier for tier in lower_tiers(program) if tier not in kept])


def without(program: Program, tiers: Iterable[str]) -> Program:
    for tier in tiers:
        program = program.without_tier(tier)
    return program
