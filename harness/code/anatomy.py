"""A test file taken apart: its tests, and all else that they rest on."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from harness.code.assertions import (
    Reach,
    asserts,
    disabling_calls,
    disabling_marks,
    last_name,
    reach,
)
from harness.code.statements import Function, Statement, dump, flattened, renamed

_NEUTRAL_MARKS = frozenset(("parametrize", "usefixtures"))
Cases = dict[str, Counter[str]]


@dataclass(frozen=True)
class TestAnatomy:
    """One test. `parameters`, `marks` and `cases` (the values of each parametrization by its
    names) are multisets of syntax; `changing` are decorators that may change what it does;
    `disabling` counts what switches it off by name; `delegates` says that it calls a function of
    its file which asserts."""

    statements: tuple[Statement, ...]
    renamed: tuple[Statement, ...] = field(compare=False)
    parameters: Counter[str]
    marks: Counter[str]
    cases: Cases
    changing: Counter[str]
    disabling: Counter[str]
    reach: Reach
    delegates: bool


@dataclass(frozen=True)
class FileAnatomy:
    """`helpers` maps what is not a test to its meaning; `imports` a bound name to its origin;
    `disabled` are dotted scopes switched off as a whole, "" for the file."""

    tests: dict[str, TestAnatomy] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    disabled: set[str] = field(default_factory=set)

    def is_disabled(self, test: str) -> bool:
        return any(
            not scope or test == scope or test.startswith(f"{scope}.") for scope in self.disabled
        )


def read(tree: ast.Module) -> FileAnatomy:
    """Take a parsed file apart."""
    file = FileAnatomy()
    asserting = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, Function) and not _is_test(node) and asserts(node)
    }
    _Reader(file, asserting).block(tree.body, "", ())
    return file


class _Reader:
    def __init__(self, file: FileAnatomy, asserting: set[str]) -> None:
        self._file = file
        self._asserting = asserting

    def block(self, body: Iterable[ast.stmt], scope: str, marks: tuple[ast.expr, ...]) -> None:
        """Read statements of the module or of a class; `marks` are the decorators around."""
        for node in body:
            if isinstance(node, Function):
                self._function(node, scope, marks)
            elif isinstance(node, ast.ClassDef):
                self._class(node, scope, marks)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._file.imports.update(_imported(node))
            elif isinstance(node, ast.If | ast.Try):
                self._branches(node, scope, marks)
            else:
                self._other(node, scope)

    def _function(self, node: Function, scope: str, marks: tuple[ast.expr, ...]) -> None:
        name = _within(scope, node.name)
        if _is_test(node):
            # of two with one name the last runs
            self._file.tests[name] = _test(node, marks, self._asserting)
        else:
            self._file.helpers[name] = _meaning(node)

    def _class(self, node: ast.ClassDef, scope: str, marks: tuple[ast.expr, ...]) -> None:
        name = _within(scope, node.name)
        if not _is_collected(node):
            self._file.helpers[name] = dump(_without_texts(node))
            return
        self._file.helpers[f"{name}()"] = " ".join(map(dump, (*node.bases, *node.keywords)))
        self.block(node.body, name, (*marks, *node.decorator_list))

    def _branches(self, node: ast.If | ast.Try, scope: str, marks: tuple[ast.expr, ...]) -> None:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Constant):
            self.block(node.body if node.test.value else node.orelse, scope, marks)
            return
        bodies = [node.body, node.orelse]
        if isinstance(node, ast.Try):
            bodies += [handler.body for handler in node.handlers] + [node.finalbody]
        for body in bodies:
            self.block(body, scope, marks)

    def _other(self, node: ast.stmt, scope: str) -> None:
        disabled = _disabled(node, scope)
        if disabled is not None:
            self._file.disabled.add(disabled)
            return
        for target in _targets(node):
            self._file.tests.pop(_within(scope, target), None)
            self._file.helpers[_within(scope, target)] = dump(node)
        if not _targets(node) and not _is_empty(node):
            self._file.helpers[f"{scope}: {dump(node)}"] = ""


def _test(node: Function, marks: tuple[ast.expr, ...], asserting: set[str]) -> TestAnatomy:
    decorators = (*marks, *node.decorator_list)
    cases: Cases = {}
    plain = [each for each in decorators if not _add_cases(each, cases)]
    statements = flattened(node)
    disabling = disabling_marks(decorators) + disabling_calls(node.body)
    disabling["no cases"] = sum(not values for values in cases.values())
    return TestAnatomy(
        statements=statements,
        renamed=renamed(statements, node),
        parameters=Counter(arg.arg for arg in _arguments(node.args)),
        marks=Counter(dump(each) for each in plain if not disabling_marks([each])),
        cases=cases,
        changing=Counter(dump(each) for each in plain if _may_change(each)),
        disabling=+disabling,
        reach=reach(node.body),
        delegates=any(
            isinstance(inner, ast.Call) and last_name(inner.func) in asserting
            for inner in ast.walk(node)
        ),
    )


def _add_cases(decorator: ast.expr, cases: Cases) -> bool:
    """Note the values of a parametrization written out as a list. False for other decorators."""
    if not isinstance(decorator, ast.Call) or last_name(decorator.func) != "parametrize":
        return False
    if len(decorator.args) != 2 or not isinstance(decorator.args[1], ast.List | ast.Tuple):
        return False
    values = cases.setdefault(dump(decorator.args[0]), Counter())
    values.update(dump(element) for element in decorator.args[1].elts)
    return True


def _may_change(decorator: ast.expr) -> bool:
    """Whether a decorator may change what a test does; a mark alone does not."""
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    is_mark = isinstance(call, ast.Attribute) and last_name(call.value) == "mark"
    return not is_mark or last_name(call) in _NEUTRAL_MARKS


def _disabled(node: ast.stmt, scope: str) -> str | None:
    """The scope that a statement outside of tests switches off, if it does."""
    if isinstance(node, ast.Expr | ast.Raise):
        return scope if disabling_calls([node]) else None
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return None
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if last_name(target) == "pytestmark" and disabling_marks([node.value]):
            return scope
        false = isinstance(node.value, ast.Constant) and not node.value.value
        if last_name(target) == "__test__" and false:
            owner = last_name(target.value) if isinstance(target, ast.Attribute) else ""
            return _within(scope, owner) if owner else scope
    return None


def _is_test(node: Function) -> bool:
    decorators = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
    return node.name.startswith("test") and "fixture" not in map(last_name, decorators)


def _is_collected(node: ast.ClassDef) -> bool:
    """Whether pytest takes tests from a class."""
    if any("Test" in last_name(base) for base in node.bases):
        return True
    made = any(isinstance(each, Function) and each.name == "__init__" for each in node.body)
    return node.name.startswith("Test") and not made


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    module = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        yield alias.asname or alias.name, f"{module}:{alias.name}"


def _targets(node: ast.stmt) -> list[str]:
    """The plain names which a statement binds or deletes."""
    if isinstance(node, ast.Assign | ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    else:
        return []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _meaning(node: Function) -> str:
    statements = renamed(flattened(node), node)
    decorators = " ".join(map(dump, node.decorator_list))
    return f"{decorators} {dump(node.args)} " + " ".join(each.text for each in statements)


def _without_texts(node: ast.ClassDef) -> ast.ClassDef:
    for inner in ast.walk(node):
        if isinstance(inner, ast.ClassDef | Function):
            inner.body = [each for each in inner.body if not _is_empty(each)]
    return node


def _is_empty(node: ast.stmt) -> bool:
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or isinstance(node, ast.Pass)


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _within(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name
