"""A model and the engine that keeps it complete."""

from collections.abc import Mapping

from rules.engine import Engine
from rules.program import Program
from rules.propagation import Conclusion, Propagation
from rules.relation import Model
from rules.terms import Fact

Edits = Mapping[Fact, str | None]
"""Facts to assert, with their origin, and facts to retract, with None."""


class Store:
    """Asserted facts and all that the rules conclude from them, after each edit."""

    def __init__(self, program: Program, max_derived: int) -> None:
        self.engine = Engine(program.rules)
        self.model = Model()
        self.max_derived = max_derived

    def apply(self, edits: Edits) -> tuple[Model, list[Conclusion]]:
        """Make all edits and propagate once: the model before, and what was concluded.

        That model has been replaced, or is this one when facts were only added. Each edit must
        change what is asserted. Raises LimitError with nothing changed.
        """
        retracted = [fact for fact, origin in edits.items() if origin is None]
        if any(fact.predicate in self.engine.readers for fact in retracted):
            return self.rebuild(edits)
        concluded = self._extend(edits)
        for predicate, row in retracted:  # which no rule reads
            self.model.relation(predicate).retract(row)
        return self.model, concluded

    def rebuild(self, edits: Edits) -> tuple[Model, list[Conclusion]]:
        """As `apply`, and conclude everything anew, in a model which then replaces this one."""
        before, after = self.model, self.model.asserted_alone()
        for (predicate, row), origin in edits.items():
            if origin is None:
                after.relation(predicate).retract(row)
            else:
                after.relation(predicate).assert_row(row, origin)
        propagation = Propagation(self.engine, after, self.max_derived)
        propagation.run_from_scratch()
        self.model = after
        return before, propagation.concluded

    def _extend(self, edits: Edits) -> list[Conclusion]:
        propagation = Propagation(self.engine, self.model, self.max_derived)
        try:
            for (predicate, row), origin in edits.items():
                if origin is not None:
                    propagation.add(predicate, row, origin)
            propagation.run()
        except BaseException:
            propagation.undo()
            raise
        return propagation.concluded
