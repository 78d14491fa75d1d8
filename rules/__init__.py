"""A Datalog: facts and rules, kept up to date as facts come and go, able to say why.

    program = Program.parse("dirty: modified(?file) -> gate('check', ?file)")
    database = Database(program)
    database.assert_fact("modified", "auth.py")
    print(database.why("gate('check', 'auth.py')").text())

The language and the library are described in docs/rules.md.
"""

from rules.database import Database
from rules.engine.change import Change
from rules.engine.store import Snapshot
from rules.errors import Diagnostic, DoesNotHold, LimitError, RuleError
from rules.program import Program
from rules.statements import Aggregate, Atom, Declaration, Guard, Negation, Query, Rule
from rules.syntax.parser import parse_atom, parse_query
from rules.terms import Expression, Fact, Value, Variable

__all__ = [
    "Aggregate",
    "Atom",
    "Change",
    "Database",
    "Declaration",
    "Diagnostic",
    "DoesNotHold",
    "Expression",
    "Fact",
    "Guard",
    "LimitError",
    "Negation",
    "Program",
    "Query",
    "Rule",
    "RuleError",
    "Snapshot",
    "Value",
    "Variable",
    "kernel",
    "parse_atom",
    "parse_query",
]


def kernel() -> Program:
    """The rules shipped with the library, from `kernel.dl` beside this module."""
    return Program.load(__file__.rpartition("__init__")[0] + "kernel.dl", tier="kernel")
