"""Facts, kept together with all that the rules conclude from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from rules.errors import DoesNotHold
from rules.filters import FILTERS, PLANNED
from rules.lexer import is_name
from rules.program import Program, ground
from rules.relation import Relation
from rules.store import Store
from rules.terms import MAX_INTEGER_BITS, Fact, Row, Value, sorted_rows

TYPE_CHECKING = False  # the name type checkers know; `typing` itself is slow to load
if TYPE_CHECKING:
    from rules.change import Change
    from rules.provenance import Derivation, Proof


class Database:
    """Asserted facts and their consequences under a program.

    A call of `assert_fact` or `retract_fact` outside of a transaction is a batch of its own.
    A derived fact is one that a rule concludes from facts that hold; it may be asserted as
    well, and then it survives losing either reason. Not to be shared between threads.
    """

    def __init__(self, program: Program, max_derived: int = 5_000_000) -> None:
        """Raises LimitError when the program alone leads to more derived facts."""
        self.program = program
        self._store = Store(program, max_derived)
        self._arities = dict(program.arities)
        self._pending: dict[Fact, str | None] = {}
        self._open_transactions = 0
        self._announcing = False
        self._callbacks: list[Callable[[Change], None]] = []
        stated: dict[Fact, str] = {}
        for axiom in program.axioms:
            stated.setdefault(ground(axiom.head), f"{axiom.source}:{axiom.line}")
        self._store.rebuild(stated)

    # changes

    def assert_fact(self, predicate: str, *args: Value, origin: str = "") -> bool:
        """Assert a fact; False if it is asserted already, and then its origin stays.

        Raises TypeError for values other than str and int, ValueError for a name that cannot
        be a predicate or a wrong number of values, LimitError with nothing changed.
        """
        fact = Fact(predicate, _checked(args))
        self._refuse_in_callback()
        self._check_arity(fact)
        if self._is_asserted(fact):
            return False
        self._edit(fact, origin)
        return True

    def retract_fact(self, predicate: str, *args: Value) -> bool:
        """Take back an assertion; False if there is none. Rules may still conclude the fact."""
        fact = Fact(predicate, _checked(args))
        self._refuse_in_callback()
        if not self._is_asserted(fact):
            return False
        self._edit(fact, None)
        return True

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all changes inside one batch, or none when an exception passes through.

        Until the outermost transaction ends, questions are answered from the state before it.
        Its end raises LimitError as `assert_fact` does.
        """
        self._refuse_in_callback()
        saved = dict(self._pending), dict(self._arities)
        self._open_transactions += 1
        try:
            yield
        except BaseException:
            self._pending, self._arities = saved
            raise
        finally:
            self._open_transactions -= 1
        self._commit()

    def on_change(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Call back after each propagation that changed derived facts; returns how to stop.

        A callback may ask, and must not change, the database. What it raises reaches whoever
        made the change, which stays made.
        """
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    # questions

    def holds(self, predicate: str, *args: Value) -> bool:
        """Whether a fact is asserted or derived. Raises TypeError as `assert_fact` does."""
        return _checked(args) in self._rows(predicate)

    def query(self, question: str) -> list[Row]:
        """The values of all facts that match an atom such as `test_covers(T, "auth.py")`.

        Each answer holds all arguments of the fact; they are sorted, integers before strings.
        Raises RuleError when the text is not an atom.
        """
        from rules.questions import answers, read_question

        atom = read_question(question, self._arities)
        return answers(atom, self._rows(atom.predicate))

    def facts(self, predicate: str | None = None) -> list[Fact]:
        """Asserted facts, of one predicate or all, sorted."""
        return self._collect(predicate, lambda relation: relation.asserted)

    def derived(self, predicate: str | None = None) -> list[Fact]:
        """Derived facts, of one predicate or all, sorted."""
        return self._collect(predicate, lambda relation: relation.concluded)

    def derivation(self, fact: Fact | str) -> Derivation:
        """How a derived fact was first derived.

        Unless the fact is asserted too, every premise held before it did. Raises DoesNotHold,
        and RuleError for a text that is not a fact.
        """
        from rules.provenance import Derivation

        goal = self._goal(fact)
        relation = self._store.model.relations.get(goal.predicate)
        support = relation.rows.get(goal.args) if relation else None
        if support is None:
            raise DoesNotHold(f"{goal} is not derived by any rule")
        plan = self._store.engine.plan_of(support)
        return Derivation(plan.rule, goal, plan.body(support))

    def why(self, fact: Fact | str) -> Proof:
        """The proof of a fact from asserted facts; a fact both asserted and derived is a leaf.

        Raises DoesNotHold with a sentence, and RuleError for a text that is not a fact.
        """
        from rules.provenance import prove
        from rules.questions import absence

        goal = self._goal(fact)
        rows = self._rows(goal.predicate)
        if goal.args not in rows:
            raise DoesNotHold(absence(goal, rows, self._arities))
        return prove(goal, self._origin, self.derivation)

    # inside

    def _goal(self, fact: Fact | str) -> Fact:
        from rules.questions import read_fact

        return read_fact(fact, self._arities) if isinstance(fact, str) else fact

    def _rows(self, predicate: str) -> Collection[Row]:
        relation = self._store.model.relations.get(predicate)
        return relation.rows if relation else ()

    def _collect(
        self, predicate: str | None, rows: Callable[[Relation], Collection[Row]]
    ) -> list[Fact]:
        relations = self._store.model.relations
        names = sorted(relations) if predicate is None else [predicate]
        found = [(name, rows(relations[name])) for name in names if name in relations]
        return [Fact(name, row) for name, held in found for row in sorted_rows(list(held))]

    def _origin(self, fact: Fact) -> str | None:
        relation = self._store.model.relations.get(fact.predicate)
        return relation.asserted.get(fact.args) if relation else None

    def _is_asserted(self, fact: Fact) -> bool:
        """As it will be when the open batch is through."""
        if fact in self._pending:
            return self._pending[fact] is not None
        return self._origin(fact) is not None

    def _edit(self, fact: Fact, origin: str | None) -> None:
        """Note an edit that changes what is asserted; undo an earlier one of the same batch."""
        if (self._origin(fact) is None) == (origin is None):
            del self._pending[fact]
        else:
            self._pending[fact] = origin
        self._commit()

    def _commit(self) -> None:
        if self._open_transactions or not self._pending:
            return
        edits, self._pending = self._pending, {}
        before, concluded = self._store.apply(edits)
        if self._callbacks:
            from rules.change import change_between

            self._announce(change_between(before, self._store.model, concluded))

    def _announce(self, change: Change) -> None:
        if not change.added and not change.removed:
            return
        self._announcing = True
        try:
            for callback in tuple(self._callbacks):
                callback(change)
        finally:
            self._announcing = False

    def _refuse_in_callback(self) -> None:
        if self._announcing:
            raise RuntimeError("the database cannot be changed inside an on_change callback")

    def _check_arity(self, fact: Fact) -> None:
        """Learns the arity of a predicate from its first fact."""
        known = self._arities.get(fact.predicate)
        if known is None:
            if not is_name(fact.predicate) or fact.predicate in {*FILTERS, *PLANNED}:
                raise ValueError(f"{fact.predicate!r} cannot be the name of a predicate")
            self._arities[fact.predicate] = len(fact.args)
        elif known != len(fact.args):
            count = f"takes {known} arguments, not {len(fact.args)}"
            raise ValueError(f"{fact.predicate!r} {count}: {fact}")


def _checked(args: tuple[Value, ...]) -> Row:
    """The values, which must be plain str and int: bool and float equal integers in Python."""
    for value in args:
        if type(value) is int:
            if value.bit_length() > MAX_INTEGER_BITS:
                raise ValueError(f"an integer has at most {MAX_INTEGER_BITS} bits")
        elif type(value) is not str:
            raise TypeError(f"values are str or int, not {type(value).__name__}: {value!r}")
    return args
