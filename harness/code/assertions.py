"""What asserts in a test, and what keeps it from doing so."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MARKS = frozenset(("skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure"))
_CALLS = frozenset(("skip", "xfail", "skipTest", "SkipTest"))
_OWNERS = frozenset(("pytest", "mark", "unittest", "self"))
_EXITS = frozenset((("sys", "exit"), ("os", "_exit"), ("pytest", "exit")))
_CHECKING = ("assert", "check", "expect", "verify", "validate")
_PYTEST_CHECKS = frozenset(("raises", "warns", "deprecated_call", "fail"))
_CATCH_ALL = frozenset(("AssertionError", "Exception", "BaseException"))
_SWALLOWING_CONTEXTS = frozenset(("raises", "suppress", "assertRaises"))


@dataclass(frozen=True)
class Reach:
    """Assertions that run and count (`live`), and those that cannot fail the test (`dead`)."""

    live: int = 0
    dead: int = 0

    def __add__(self, other: "Reach") -> "Reach":
        return Reach(self.live + other.live, self.dead + other.dead)


def asserts(node: ast.AST) -> bool:
    """Whether a statement asserts, itself or somewhere within."""
    return any(_is_assertion(inner) for inner in ast.walk(node))


def disabling_marks(expressions: Iterable[ast.expr]) -> Counter[str]:
    """The marks in decorators which skip a test or expect it to fail, by name."""
    inner = (each for expression in expressions for each in ast.walk(expression))
    return Counter(last_name(each) for each in inner if _is_named(each, _MARKS))


def disabling_calls(body: Iterable[ast.stmt]) -> Counter[str]:
    """The calls in a body which skip a test or expect it to fail, by name."""
    inner = [each for statement in body for each in ast.walk(statement)]
    called = [each.func for each in inner if isinstance(each, ast.Call)]
    raised = [each.exc for each in inner if isinstance(each, ast.Raise) and each.exc is not None]
    return Counter(last_name(each) for each in called + raised if _is_named(each, _CALLS))


def last_name(node: ast.AST) -> str:
    """`skip` of `pytest.mark.skip` and of `skip`; "" of anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def reach(body: Iterable[ast.stmt]) -> Reach:
    """Which assertions of a test can fail it."""
    found, _ = _block(body, dead=False)
    return found


def _block(body: Iterable[ast.stmt], dead: bool) -> tuple[Reach, bool]:
    """What is reached in a block, and whether it is always left before its end."""
    total, left = Reach(), False
    for node in body:
        found, leaves = _statement(node, dead or left)
        total += found
        left = left or leaves
    return total, left


def _statement(node: ast.stmt, dead: bool) -> tuple[Reach, bool]:
    total, left = _own(node, dead), _leaves(node)
    for block, block_dead, always in _inner(node, dead):
        found, leaves = _block(block, block_dead)
        total += found
        left = left or (always and leaves)
    return total, left


def _own(node: ast.stmt, dead: bool) -> Reach:
    """The assertions of a statement outside the blocks it holds."""
    heads = [
        child
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
    ]
    count = sum(_is_assertion(inner) for child in heads for inner in ast.walk(child))
    count += isinstance(node, ast.Assert)
    return Reach(0, count) if dead else Reach(count, 0)


def _inner(node: ast.stmt, dead: bool) -> Iterator[tuple[list[ast.stmt], bool, bool]]:
    """The blocks of a statement: whether nothing in them counts, whether they always run."""
    if isinstance(node, ast.If | ast.While):
        truth = _constant(node.test)
        yield node.body, dead or truth is False, truth is True
        yield node.orelse, dead or (truth is True and isinstance(node, ast.If)), False
    elif isinstance(node, ast.Try | ast.TryStar):
        yield node.body, dead or any(map(_swallows, node.handlers)), False
        for handler in node.handlers:
            yield handler.body, dead, False
        yield node.orelse, dead, False
        yield node.finalbody, dead, True
    elif isinstance(node, ast.With | ast.AsyncWith):
        yield node.body, dead or any(map(_expects_any_failure, node.items)), True
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield case.body, dead, False
    elif isinstance(node, ast.For | ast.AsyncFor):
        yield node.body, dead, False
        yield node.orelse, dead, False
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.body, dead, False


def _leaves(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return | ast.Raise):
        return True
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    function = node.value.func
    if isinstance(function, ast.Attribute):
        return (last_name(function.value), function.attr) in _EXITS or _is_named(function, _CALLS)
    return _is_named(function, _CALLS)


def _is_named(node: ast.AST, names: frozenset[str]) -> bool:
    """Whether a node is one of the names, plain or of pytest or unittest."""
    if isinstance(node, ast.Attribute):
        return node.attr in names and last_name(node.value) in _OWNERS
    return isinstance(node, ast.Name) and node.id in names


def _is_assertion(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    return name in _PYTEST_CHECKS or name.lstrip("_").startswith(_CHECKING)


def _constant(test: ast.expr) -> bool | None:
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _constant(test.operand)
        return None if inner is None else not inner
    return None


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes a failed assertion and does not pass it on."""
    if handler.type is not None and not _catches_failures(handler.type):
        return False
    return not any(isinstance(inner, ast.Raise) or _is_assertion(inner) for inner in _walk(handler))


def _walk(handler: ast.ExceptHandler) -> Iterator[ast.AST]:
    for statement in handler.body:
        yield from ast.walk(statement)


def _expects_any_failure(item: ast.withitem) -> bool:
    call = item.context_expr
    if not isinstance(call, ast.Call) or last_name(call.func) not in _SWALLOWING_CONTEXTS:
        return False
    return any(map(_catches_failures, call.args))


def _catches_failures(expression: ast.expr) -> bool:
    if isinstance(expression, ast.Tuple):
        return any(map(_catches_failures, expression.elts))
    return last_name(expression) in _CATCH_ALL
