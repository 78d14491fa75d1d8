"""Facts, kept together with all that the rules conclude from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property

from rules.analysis.governance import Governance
from rules.builtins import BUILTINS
from rules.database_view import DatabaseView
from rules.engine.state import Limits
from rules.engine.store import Batch, Store
from rules.engine.strata import hidden
from rules.errors import visible
from rules.program import Program, ground
from rules.terms import MAX_INTEGER_BITS, TIERS, Fact, Row, Value, is_name, sorted_rows

TYPE_CHECKING = False  # the name type checkers know; `typing` itself is slow to load
if TYPE_CHECKING:
    from rules.answers.absence import Absence
    from rules.answers.derivations import Derivation, Derivations
    from rules.answers.provenance import Proof
    from rules.answers.questions import Answers
    from rules.engine.change import Change
    from rules.engine.net import Net
    from rules.engine.relation import Relation
    from rules.engine.store import Snapshot
    from rules.statements import Query


class Database:
    """Asserted facts and their consequences under a program.

    A call of `assert_fact` or `retract_fact` outside of a transaction is a batch of its own.
    A derived fact is one that a rule concludes from facts that hold; it may be asserted as
    well, and then it survives losing either reason. Not to be shared between threads.
    """

    def __init__(
        self,
        program: Program,
        max_derived: int = 5_000_000,
        max_rounds: int = 100_000,
        max_work: int | None = None,
    ) -> None:
        """`max_derived` bounds the facts in predicates that rules conclude, `max_rounds` the
        depth of a recursion that makes new values, `max_work` the rows that joins look at in one
        update. Raises LimitError when the program alone goes beyond.
        """
        self.program = program
        self._arities = dict(program.arities)
        self._learned: list[str] = []
        self._pending: Batch = {}
        self._open_transactions = 0
        self._announcing = False
        self._callbacks: list[Callable[[Change], None]] = []
        self._store = Store(program.rules, Limits(max_derived, max_rounds, max_work))
        self._governance = Governance(program.rules, program.guards)
        self._types = _declared_types(program)
        stated: Batch = {}
        for axiom in program.axioms:
            stated.setdefault(ground(axiom.head), (f"{axiom.source}:{axiom.line}", axiom.tier))
        self._store.start(stated)

    # changes

    def assert_fact(
        self, predicate: str, *args: Value, origin: str = "", tier: str = "kernel"
    ) -> bool:
        """Assert a fact; False if it is asserted already, and then its origin stays.

        Raises TypeError for values other than str and int, ValueError for a name that cannot
        be a predicate, a wrong number of values, a value of another type than declared, or a
        fact that the tier may not assert; LimitError with nothing changed.
        """
        fact = Fact(predicate, _checked(args))
        self._begin()
        self._check(fact, tier)
        return self._edit(fact, (origin, tier))

    def retract_fact(self, predicate: str, *args: Value) -> bool:
        """Take back an assertion; False if there is none. Rules may still conclude the fact."""
        fact = Fact(predicate, _checked(args))
        self._begin()
        return self._edit(fact, None)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all changes inside one batch, or none when an exception passes through.

        Until the outermost transaction ends, questions are answered from the state before it.
        Its end raises LimitError as `assert_fact` does.
        """
        self._begin()
        pending, learned = dict(self._pending), len(self._learned)
        self._open_transactions += 1
        try:
            yield
        except BaseException:
            self._pending = pending
            self._unlearn(learned)
            raise
        finally:
            self._open_transactions -= 1
        self._commit()

    def snapshot(self) -> Snapshot:
        """The present state, to which `rollback` can go back for as long as it is held.

        Raises RuntimeError inside a transaction.
        """
        self._refuse_in_transaction()
        return self._store.snapshot()

    def rollback(self, snapshot: Snapshot) -> None:
        """Go back, in time proportional to what was changed since; the snapshot stays good.

        Raises ValueError for a snapshot later than one that was gone back to, RuntimeError
        inside a transaction.
        """
        self._begin()
        self._refuse_in_transaction()
        self._announce(self._store.rollback(snapshot))

    def on_change(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Call back after each update that changed what holds; returns how to stop.

        A callback may ask, and must not change, the database. What it raises reaches whoever
        made the change, which stays made.
        """
        self._callbacks.append(callback)

        def stop() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return stop

    # questions

    def holds(self, predicate: str, *args: Value) -> bool:
        """Whether a fact is asserted or derived. Raises TypeError as `assert_fact` does."""
        row, relation = _checked(args), self._store.relations.get(predicate)
        return relation is not None and row in relation.rows

    def query(self, question: str) -> list[Row]:
        """The values of all facts that match an atom such as `test_covers(T, "auth.py")`.

        Each answer holds all arguments of the fact; they are sorted, integers before strings.
        Raises RuleError when the text is not an atom.
        """
        from rules.answers.questions import answers_from, read_question

        return answers_from(read_question(question, self._arities), self.view)

    def solve(self, query: str | Query, most: int = 100_000) -> Answers:
        """The answers to a query such as `?- imports(A, B), not is_test(A).`

        Raises RuleError when the text is not a query, LimitError for more than `most` answers or
        when the search takes far too long for so many.
        """
        from rules.answers.questions import ask

        return ask(query, self.view, most)

    def facts(self, predicate: str | None = None) -> list[Fact]:
        """Asserted facts, of one predicate or all, sorted."""
        return self._collect(predicate, lambda relation: relation.asserted)

    def derived(self, predicate: str | None = None) -> list[Fact]:
        """Derived facts, of one predicate or all, sorted."""
        home = self._store.engine.strata.home
        names = home if predicate is None else home.keys() & {predicate}
        return [fact for name in sorted(names) for fact in self._collect(name, self._concluded)]

    def derivation(self, fact: Fact | str) -> Derivation:
        """A rule and premises by which a fact is derived.

        Raises DoesNotHold, and RuleError for a text that is not a fact.
        """
        return self._derivations.of(self._goal(fact))

    def why(self, fact: Fact | str) -> Proof:
        """A proof of smallest height from asserted facts; what is asserted is a leaf.

        Raises DoesNotHold with a sentence, and RuleError for a text that is not a fact.
        """
        from rules.answers.why import explain

        return explain(self._goal(fact), self._derivations)

    def why_not(self, fact: Fact | str) -> Absence:
        """For each rule that could conclude a fact that does not hold, where it fails.

        Raises ValueError if the fact holds, and RuleError for a text that is not a fact.
        """
        from rules.answers.absence import explain_absence

        return explain_absence(self._goal(fact), self._derivations)

    @cached_property
    def _derivations(self) -> Derivations:
        from rules.answers.derivations import Derivations

        return Derivations(self.view)

    @cached_property
    def view(self) -> DatabaseView:
        """What questions and proofs see."""
        return DatabaseView(self.program, self._arities, self._store)

    # inside

    def _goal(self, fact: Fact | str) -> Fact:
        from rules.answers.questions import read_fact

        return read_fact(fact, self._arities) if isinstance(fact, str) else fact

    def _collect(
        self, predicate: str | None, rows: Callable[[Relation], Iterable[Row]]
    ) -> list[Fact]:
        relations = self._store.relations
        names = sorted(relations) if predicate is None else [predicate]
        found = [(name, rows(relations[name])) for name in names if name in relations]
        return [
            Fact(name, row)
            for name, held in found
            if not hidden(name)
            for row in sorted_rows(list(held))
        ]

    def _concluded(self, relation: Relation) -> Iterator[Row]:
        name, concludes = relation.predicate, self._store.concludes
        for row in relation.rows:
            if row not in relation.asserted or concludes(name, row):
                yield row

    def _edit(self, fact: Fact, origin: tuple[str, str] | None) -> bool:
        """Note an edit, or undo an earlier one of the same batch; False if it changes nothing."""
        predicate, args = fact
        relation = self._store.relations.get(predicate)
        held = relation.asserted.get(args) if relation else None
        pending = self._pending
        coming = pending.get(fact, held)
        if (coming is None) == (origin is None):
            return False
        if held == origin:
            del pending[fact]
        else:
            pending[fact] = origin
        if not self._open_transactions:
            self._commit()
        return True

    def _commit(self) -> None:
        """Apply the batch, once no transaction is open."""
        if self._open_transactions:
            return
        batch, self._pending = self._pending, {}
        try:
            net = self._store.apply(batch) if batch else None
        except BaseException:
            self._unlearn(0)
            raise
        self._learned.clear()
        if net and self._callbacks:
            self._announce(net)

    def _announce(self, net: Net) -> None:
        from rules.engine.change import change_of

        change = change_of(net, self._store.engine.strata)
        if not change.added and not change.removed:
            return
        self._announcing = True
        try:
            for callback in tuple(self._callbacks):
                callback(change)
        finally:
            self._announcing = False

    def _begin(self) -> None:
        """Before a change: refuse it inside a callback."""
        if self._announcing:
            raise RuntimeError("the database cannot be changed inside an on_change callback")
        if self._pending and not self._open_transactions:
            self._pending = {}  # of a change that was broken off, by Ctrl-C for one
            self._unlearn(0)

    def _refuse_in_transaction(self) -> None:
        if self._open_transactions:
            raise RuntimeError("a snapshot is of a state between transactions")

    def _check(self, fact: Fact, tier: str) -> None:
        predicate, args = fact
        known = self._arities.get(predicate)
        if known is None and (not is_name(predicate) or predicate in BUILTINS):
            raise ValueError(f"{predicate!r} cannot be the name of a predicate")
        if known is not None and known != len(args):
            count = f"takes {known} arguments, not {len(args)}"
            raise ValueError(f"{predicate!r} {count}: {fact}")
        if tier != "kernel" or predicate in self._types:
            self._check_tier(fact, tier)
        if known is None:  # its first fact says how many arguments a predicate has
            self._arities[predicate] = len(args)
            self._learned.append(predicate)

    def _check_tier(self, fact: Fact, tier: str) -> None:
        if tier not in TIERS:
            raise ValueError(f"unknown tier {tier!r}; tiers are {', '.join(TIERS)}")
        refusal = self._governance.refusal(fact, tier)
        if refusal:
            raise ValueError(f"{fact} cannot be asserted: {visible(refusal)}")
        rank, types = self._types.get(fact.predicate, (0, ()))
        if types and rank <= TIERS.index(tier):
            _check_types(fact, types)

    def _unlearn(self, kept: int) -> None:
        """Forget the arities of predicates whose first facts did not come to hold."""
        for predicate in self._learned[kept:]:
            self._arities.pop(predicate, None)
        del self._learned[kept:]


def _checked(args: tuple[Value, ...]) -> Row:
    """The values, which must be plain str and int: bool and float equal integers in Python."""
    for value in args:
        if type(value) is int:
            if value.bit_length() > MAX_INTEGER_BITS:
                raise ValueError(f"an integer has at most {MAX_INTEGER_BITS} bits")
        elif type(value) is not str:
            raise TypeError(f"values are str or int, not {type(value).__name__}: {value!r}")
    return args


def _declared_types(program: Program) -> dict[str, tuple[int, tuple[str, ...]]]:
    """For each predicate the types of the strongest tier that gives any, with its rank."""
    found: dict[str, tuple[int, tuple[str, ...]]] = {}
    for each in program.declarations:
        rank = TIERS.index(each.tier)
        if any(each.types) and rank < found.get(each.predicate, (len(TIERS), ()))[0]:
            found[each.predicate] = rank, each.types
    return found


def _check_types(fact: Fact, types: tuple[str, ...]) -> None:
    for at, (value, kind) in enumerate(zip(fact.args, types, strict=True), 1):
        if kind and isinstance(value, int) != (kind == "int"):
            wanted = f"argument {at} is declared {kind}"
            raise ValueError(f"{fact} cannot be asserted: {wanted}, and this is {value!r}")
