"""Names of rules that are made of their place: no two files of a program give the same ones."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from os.path import basename

from rules.source import Source
from rules.statements import Rule


def told_apart(statements: Iterable[Rule]) -> tuple[Rule, ...]:
    """The statements; where files share a base name, with as much of the path in the names made
    of the place as tells those files apart."""
    statements = tuple(statements)
    # a file has one source, and there may be very many statements
    sources: set[Source] = {each.span.source for each in statements if each.span is not None}
    by_base: dict[str, set[str]] = {}
    for source in sources:
        by_base.setdefault(basename(source.name), set()).add(source.name)
    if len(by_base) == len(sources):
        return statements
    files: dict[str, str] = {}
    for paths in by_base.values():
        if len(paths) > 1:
            files.update(_endings(paths))
    return tuple(_named(each, files) for each in statements) if files else statements


def _endings(paths: Collection[str]) -> dict[str, str]:
    """For each path its end, all of them with the fewest parts that make them different."""
    parts = {path: path.split("/") for path in paths}
    most = max(map(len, parts.values()))
    for count in range(2, most):
        ends = {path: "/".join(split[-count:]) for path, split in parts.items()}
        if len(set(ends.values())) == len(paths):
            return ends
    return {path: path for path in paths}


def _named(rule: Rule, files: dict[str, str]) -> Rule:
    file = files.get(rule.source, "")
    if not file or rule.label or rule.file == file:
        return rule
    return replace(rule, file=file)
