"""Built-in conditions as text, with what is constant in them worked out beforehand."""

from functools import partial

from rules.builtins import BUILTINS
from rules.engine.code_context import Context
from rules.engine.code_text import CodeText
from rules.terms import Term

_COMPARED = {"=": "==", "!=": "!="}
_PATTERNS = ("glob", "matches")
_METHODS = {"starts_with": "startswith", "ends_with": "endswith"}


def condition(
    code: CodeText,
    name: str,
    terms: tuple[Term, Term],
    values: tuple[str, str],
    context: Context,
) -> str:
    """An expression that is true where the condition holds; `values` is the terms' code."""
    left, right = values
    first, second = terms
    if name in _COMPARED:
        return f"{left} {_COMPARED[name]} {right}"
    if name in _PATTERNS:
        return _fits(code, name, first, values, context)
    if isinstance(second, str) and name in _METHODS:
        return _of_text(left, f"{left}.{_METHODS[name]}({right})")
    if isinstance(second, str) and name == "contains":
        return _of_text(left, f"{right} in {left}")
    if isinstance(first, str) and name == "path_in":
        return _of_text(right, _below(code, first, right))
    return f"{code.name('f', BUILTINS[name])}({left}, {right})"


def _of_text(value: str, test: str) -> str:
    return f"({value}.__class__ is str and {test})"


def _below(code: CodeText, folder: str, path: str) -> str:
    if folder in {"", "."}:
        return "True"
    stem = folder.rstrip("/")
    whole, start = code.name("c", stem), code.name("c", stem + "/")
    return f"({path} == {whole} or {path}.startswith({start}))"


def _fits(
    code: CodeText, name: str, pattern: Term, values: tuple[str, str], context: Context
) -> str:
    left, right = values
    if not isinstance(pattern, str):
        if context.meter is None:
            return f"{code.name('f', BUILTINS[name])}({left}, {right})"
        return f"{code.name('f', partial(context.fits, name))}({left}, {right})"
    from rules.patterns import expression, path_pattern, within  # most rules have no pattern

    test = (expression if name == "matches" else path_pattern)(pattern)
    if context.meter is not None:
        test = within(name, pattern, context.spend)
    return _of_text(right, f"{code.name('f', test)}({right})")
