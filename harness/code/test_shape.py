"""What an edit did to the tests of a file: expectations changed, tests gone, tests switched off.

Read from the syntax alone. No change: comments, formatting, docstrings, other names for local
variables, new tests, new values of a parametrized test, new assertions, and whatever comes after
the last assertion. A change: anything else in a test, and in the fixtures and helpers of its file
(an existing one that differs, a name that now comes from elsewhere).

Switched off is a test which gained a mark or call that skips it or expects it to fail, which has
assertions that cannot fail it any more (after a return, under `if False`, in a `try` or `raises`
that catches them), or which has none left.
"""

import ast
import warnings
from collections import Counter
from dataclasses import dataclass

from harness.code.anatomy import FileAnatomy, TestAnatomy, read
from harness.code.statements import only_asserts_more

HELPERS = "fixtures"
"""Stands among the changed expectations for the parts of a file that are not tests."""


@dataclass(frozen=True)
class ShapeChange:
    """Names of tests (`test_x`, `TestClass.test_x`), sorted, each in one of the three."""

    expectation_changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    switched_off: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.expectation_changed or self.removed or self.switched_off)


def compare(before: bytes, after: bytes) -> ShapeChange:
    """What lies between two versions of a test file; nothing when one of them does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are not our business
            old, new = read(ast.parse(before)), read(ast.parse(after))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ShapeChange()
    kept = old.tests.keys() & new.tests.keys()
    off = {name for name in kept if _went_off(old.tests[name], new.tests[name])}
    off |= {name for name in kept if new.is_disabled(name) and not old.is_disabled(name)}
    changed = {name for name in kept if _changed(old.tests[name], new.tests[name])}
    if _helpers_changed(old, new):
        changed.add(HELPERS)
    return ShapeChange(
        expectation_changed=tuple(sorted(changed - off)),
        removed=tuple(sorted(old.tests.keys() - kept - _renamed(old, new))),
        switched_off=tuple(sorted(off)),
    )


def _went_off(old: TestAnatomy, new: TestAnatomy) -> bool:
    if new.disabling - old.disabling or new.reach.dead > old.reach.dead:
        return True
    return old.reach.live > 0 and new.reach.live == 0 and not new.delegates


def _changed(old: TestAnatomy, new: TestAnatomy) -> bool:
    if old.parameters - new.parameters or old.marks - new.marks or new.changing - old.changing:
        return True
    if any(old.cases[names] - new.cases.get(names, Counter()) for names in old.cases):
        return True
    if new.cases.keys() - old.cases.keys():
        return True
    return not (
        only_asserts_more(old.statements, new.statements)
        or only_asserts_more(old.renamed, new.renamed)
    )


def _helpers_changed(old: FileAnatomy, new: FileAnatomy) -> bool:
    for name, helper in old.helpers.items():
        gone_class = name.endswith("()") and name not in new.helpers
        if new.helpers.get(name) != helper and not gone_class:
            return True
    for name, origin in old.imports.items():
        if name in new.imports and new.imports[name] != origin:
            return True
        if name in new.helpers and name not in old.helpers:
            return True
    return False


def _renamed(old: FileAnatomy, new: FileAnatomy) -> set[str]:
    """Tests that are there under another name."""
    fresh = [test for name, test in new.tests.items() if name not in old.tests]
    return {
        name
        for name, test in old.tests.items()
        if name not in new.tests and any(test == other for other in fresh)
    }
