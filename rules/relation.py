"""The facts that hold, by predicate, with hash indexes made on first use."""

from collections import defaultdict
from collections.abc import Mapping
from operator import itemgetter

from rules.terms import Row, Value

Support = tuple[Value, ...]
"""How a rule came to a fact: the number of its plan, then the values the plan had at hand."""

Key = Value | Row
"""The value of one column, or a tuple of the values of several."""

Index = defaultdict[Key, list[Row]]


class Relation:
    """The rows of one predicate, in the order in which they began to hold.

    `rows` maps each to its support, or to None when no rule concludes it; `asserted` maps each
    asserted row to its origin. A row may be both.
    """

    __slots__ = ("_indexes", "asserted", "predicate", "rows")

    def __init__(self, predicate: str, asserted: Mapping[Row, str] | None = None) -> None:
        self.predicate = predicate
        self.asserted: dict[Row, str] = dict(asserted or {})
        self.rows: dict[Row, Support | None] = dict.fromkeys(self.asserted)
        self._indexes: dict[tuple[int, ...], Index] = {}

    def index(self, columns: tuple[int, ...]) -> Index:
        """Rows by their values in these columns (at least one); not to be changed."""
        found = self._indexes.get(columns)
        if found is None:
            found = self._indexes[columns] = defaultdict(list)
            key = itemgetter(*columns)
            for row in self.rows:
                found[key(row)].append(row)
        return found

    def add(self, row: Row, support: Support | None) -> None:
        """Let a row hold that did not."""
        self.rows[row] = support
        for columns, index in self._indexes.items():
            index[itemgetter(*columns)(row)].append(row)

    def take_back(self, row: Row) -> None:
        """Undo the latest `add` that is not undone yet, which was of this row."""
        del self.rows[row]
        for columns, index in self._indexes.items():
            index[itemgetter(*columns)(row)].pop()

    def assert_row(self, row: Row, origin: str) -> bool:
        """Give a row an origin; True if it did not hold before."""
        self.asserted[row] = origin
        if row in self.rows:
            return False
        self.add(row, None)
        return True

    def retract(self, row: Row) -> None:
        """Take away an assertion, in a relation that has no index yet."""
        del self.asserted[row]
        if self.rows[row] is None:
            del self.rows[row]

    @property
    def concluded(self) -> list[Row]:
        """Rows that some rule concludes from facts that hold."""
        return [row for row, support in self.rows.items() if support is not None]


class Model:
    """A relation for each predicate, made when it is first asked for.

    `derived` counts the rows that have a support.
    """

    def __init__(self) -> None:
        self.relations: dict[str, Relation] = {}
        self.derived = 0

    def relation(self, predicate: str) -> Relation:
        found = self.relations.get(predicate)
        if found is None:
            found = self.relations[predicate] = Relation(predicate)
        return found

    def concludes(self, predicate: str, row: Row) -> bool:
        """Whether a rule concludes the row."""
        relation = self.relations.get(predicate)
        return relation is not None and relation.rows.get(row) is not None

    def asserted_alone(self) -> "Model":
        """A new model of what is asserted, in the same order."""
        model = Model()
        for predicate, relation in self.relations.items():
            model.relations[predicate] = Relation(predicate, relation.asserted)
        return model
