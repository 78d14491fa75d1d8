"""Rule engines behind one interface; each is imported only when it is asked for."""

import importlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from benchmarks.rules_sql import DuckDb, Sqlite
from benchmarks.rules_workloads import CannotExpress, Facts, Row, Update, Workload


class Engine(Protocol):
    """Keeps facts and what follows from them in its own form.

    The constructor imports the library (ImportError where it is not installed). `load` takes the
    facts from Python lists and evaluates; `update` evaluates again after a change of facts, as
    the engine does that best; `read` gives one relation as Python values.
    """

    def load(self, workload: Workload) -> None: ...

    def update(self, added: Sequence[Update], removed: Sequence[Update]) -> None: ...

    def read(self, predicate: str) -> list[Row]: ...

    def count(self, predicate: str) -> int: ...


class Ours:
    """The library in rules/, incremental."""

    def __init__(self) -> None:
        self._rules: Any = importlib.import_module("rules")
        self._database: Any = None

    def load(self, workload: Workload) -> None:
        self._database = self._rules.Database(self._rules.Program.parse(workload.text))
        with self._database.transaction():
            for predicate, rows in workload.facts.items():
                for row in rows:
                    self._database.assert_fact(predicate, *row)

    def update(self, added: Sequence[Update], removed: Sequence[Update]) -> None:
        with self._database.transaction():
            for predicate, row in removed:
                self._database.retract_fact(predicate, *row)
            for predicate, row in added:
                self._database.assert_fact(predicate, *row)

    def read(self, predicate: str) -> list[Row]:
        return [fact.args for fact in self._database.derived(predicate)]

    def count(self, predicate: str) -> int:
        return len(self._database.derived(predicate))


class Clingo:
    """Grounding alone answers rules without choices; facts go in as text, its fastest way.

    An update grounds again; the text of the facts is kept from before.
    """

    def __init__(self) -> None:
        self._clingo: Any = importlib.import_module("clingo")
        self._control: Any = None
        self._rules = ""
        self._lines: dict[str, None] = {}
        self._arities: dict[str, int] = {}

    def load(self, workload: Workload) -> None:
        self._arities = _arities(workload)
        self._rules = self._program(workload)
        self._lines = dict.fromkeys(_clingo_lines(workload.facts))
        self._ground("\n".join(self._lines))

    def _program(self, workload: Workload) -> str:
        return workload.text

    def update(self, added: Sequence[Update], removed: Sequence[Update]) -> None:
        for predicate, row in removed:
            self._lines.pop(_clingo_fact(predicate, row), None)
        for predicate, row in added:
            self._lines[_clingo_fact(predicate, row)] = None
        self._ground("\n".join(self._lines))

    def _ground(self, facts: str) -> None:
        self._control = self._clingo.Control(["--warn=none"])
        self._control.add("base", [], f"{self._rules}\n{facts}")
        self._control.ground([("base", [])])

    def _symbols(self, predicate: str) -> Iterable[Any]:
        atoms = self._control.symbolic_atoms.by_signature(predicate, self._arities[predicate])
        return (atom.symbol for atom in atoms)

    def read(self, predicate: str) -> list[Row]:
        text = self._clingo.SymbolType.String
        return [
            tuple(a.string if a.type == text else a.number for a in symbol.arguments)
            for symbol in self._symbols(predicate)
        ]

    def count(self, predicate: str) -> int:
        return sum(1 for _ in self._symbols(predicate))


class ClingoExternal(Clingo):
    """Grounds once for every file that might be modified; an update only solves."""

    def __init__(self) -> None:
        super().__init__()
        self._model: list[Any] = []

    def _program(self, workload: Workload) -> str:
        return (
            f"{workload.text}\n#external file_modified(F) : imports(F, _).\n"
            "#external file_modified(F) : imports(_, F)."
        )

    def load(self, workload: Workload) -> None:
        if workload.name != "affected":
            raise CannotExpress("external facts are written for the affected tests only")
        modified = [("file_modified", row) for row in workload.facts["file_modified"]]
        rest = {name: rows for name, rows in workload.facts.items() if name != "file_modified"}
        super().load(Workload(workload.name, workload.rules, rest, workload.outputs))
        self.update(modified, ())

    def update(self, added: Sequence[Update], removed: Sequence[Update]) -> None:
        for updates, value in ((removed, False), (added, True)):
            for predicate, row in updates:
                arguments = [self._clingo.String(str(value)) for value in row]
                atom = self._clingo.Function(predicate, arguments)
                self._control.assign_external(atom, value)
        with self._control.solve(yield_=True) as solving:
            self._model = solving.model().symbols(atoms=True)

    def _symbols(self, predicate: str) -> Iterable[Any]:
        return (symbol for symbol in self._model if symbol.name == predicate)


class PyDatalog:
    """Answers questions top down; an update asks again."""

    def __init__(self) -> None:
        self._library: Any = importlib.import_module("pyDatalog.pyDatalog")
        self._outputs: dict[str, str] = {}
        self._answers: dict[str, list[Row]] = {}

    def load(self, workload: Workload) -> None:
        self._library.clear()
        rules = (f"{head} <= {' & '.join(body)}" for head, body in workload.rules)
        self._library.load("\n".join(rules))
        arities = _arities(workload)
        for name in workload.outputs:
            self._outputs[name] = f"{name}({', '.join(f'A{n}' for n in range(arities[name]))})"
        self.update([(name, row) for name, rows in workload.facts.items() for row in rows], ())

    def update(self, added: Sequence[Update], removed: Sequence[Update]) -> None:
        for predicate, row in removed:
            self._library.retract_fact(predicate, *row)
        for predicate, row in added:
            self._library.assert_fact(predicate, *row)
        for name, question in self._outputs.items():
            answer = self._library.ask(question)
            self._answers[name] = [tuple(row) for row in answer.answers] if answer else []

    def read(self, predicate: str) -> list[Row]:
        return self._answers[predicate]

    def count(self, predicate: str) -> int:
        return len(self._answers[predicate])


class ByHand:
    """Breadth-first search in Python, written for one question: a bound, not an engine."""

    def __init__(self) -> None:
        self._next: dict[Any, dict[Any, None]] = {}
        self._tests: dict[Any, list[Any]] = {}
        self._modified: dict[Any, None] = {}
        self._closure = False
        self._found: dict[str, Any] = {}

    def load(self, workload: Workload) -> None:
        if workload.name not in ("affected", "chain", "random", "dense"):
            raise CannotExpress("written for reachability only")
        self._closure = workload.name != "affected"
        for predicate, rows in workload.facts.items():
            for row in rows:
                self._put(predicate, row)
        self._search()

    def update(self, added: Sequence[Update], removed: Sequence[Update]) -> None:
        for predicate, row in removed:
            if predicate == "edge":
                del self._next[row[0]][row[1]]
            else:
                del self._modified[row[0]]
        for predicate, row in added:
            self._put(predicate, row)
        self._search()

    def _put(self, predicate: str, row: Row) -> None:
        if predicate == "edge":
            self._next.setdefault(row[0], {})[row[1]] = None
        elif predicate == "imports":
            self._next.setdefault(row[1], {})[row[0]] = None
        elif predicate == "test_covers":
            self._tests.setdefault(row[1], []).append(row[0])
        else:
            self._modified[row[0]] = None

    def _search(self) -> None:
        if self._closure:
            self._found = {node: self._reached(self._next[node]) for node in self._next}
            return
        files = self._reached(self._modified)
        tests = set[Any]()
        for name in files:
            tests.update(self._tests.get(name, ()))
        self._found = {"affected": files, "run_test": tests}

    def _reached(self, starts: Iterable[Any]) -> set[Any]:
        following = self._next
        seen = set(starts)
        queue = deque(seen)
        while queue:
            for other in following.get(queue.popleft(), ()):
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
        return seen

    def read(self, predicate: str) -> list[Row]:
        if self._closure:
            return [(a, b) for a, reached in self._found.items() for b in reached]
        return [(name,) for name in self._found[predicate]]

    def count(self, predicate: str) -> int:
        found = self._found
        return sum(map(len, found.values())) if self._closure else len(found[predicate])


ENGINES: dict[str, Callable[[], Engine]] = {
    "rules": Ours,
    "clingo": Clingo,
    "clingo external": ClingoExternal,
    "duckdb": lambda: DuckDb(),
    "sqlite": lambda: Sqlite(),
    "pyDatalog": PyDatalog,
    "by hand": ByHand,
}


def _arities(workload: Workload) -> dict[str, int]:
    heads = (head.partition("(") for head, _ in workload.rules)
    return {name: arguments.count(",") + 1 for name, _, arguments in heads}


def _clingo_lines(facts: Facts) -> Iterable[str]:
    return (_clingo_fact(predicate, row) for predicate, rows in facts.items() for row in rows)


def _clingo_fact(predicate: str, row: Row) -> str:
    """No name of ours has a quotation mark or a backslash in it."""
    terms = (f'"{value}"' if isinstance(value, str) else str(value) for value in row)
    return f"{predicate}({','.join(terms)})."
