"""A Datalog: facts and rules, kept up to date as facts come and go, able to say why.

    program = Program.parse("dirty: modified(?file) -> gate('check', ?file)")
    database = Database(program)
    database.assert_fact("modified", "auth.py")
    print(database.why("gate('check', 'auth.py')").text())

The language and the library are described in docs/rules.md.
"""

from rules.database import Database
from rules.errors import Diagnostic, DoesNotHold, LimitError, RuleError
from rules.parser import parse_atom
from rules.program import Program
from rules.terms import Atom, Fact, Rule, Value, Variable

__all__ = [
    "Atom",
    "Database",
    "Diagnostic",
    "DoesNotHold",
    "Fact",
    "LimitError",
    "Program",
    "Rule",
    "RuleError",
    "Value",
    "Variable",
    "kernel",
    "parse_atom",
]


def kernel() -> Program:
    """The rules shipped with the library, from `kernel.dl` beside this module."""
    return Program.load(__file__.rpartition("__init__")[0] + "kernel.dl", tier="kernel")
