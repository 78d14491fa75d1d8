"""Which files are near a change, by imports."""

from collections.abc import Iterable, Mapping

from rules import Database


def nearest_first(tests: set[str], database: Database) -> tuple[str, ...]:
    """By how many imports lie between them and what changed, then by name."""
    if not tests:
        return ()
    importers: dict[str, list[str]] = {}
    for fact in database.facts("imports"):
        importers.setdefault(str(fact.args[1]), []).append(str(fact.args[0]))
    changed = [*database.facts("file_modified"), *database.facts("file_deleted")]
    steps = _steps([str(fact.args[0]) for fact in changed], importers)
    return tuple(sorted(tests, key=lambda test: (steps.get(test, len(steps)), test)))


def _steps(starts: Iterable[str], importers: Mapping[str, list[str]]) -> dict[str, int]:
    """How many imports lie between the starts and each file that they reach."""
    steps = dict.fromkeys(starts, 0)
    waiting = list(steps)
    for path in waiting:  # it grows meanwhile
        for importer in importers.get(path, ()):
            if importer not in steps:
                steps[importer] = steps[path] + 1
                waiting.append(importer)
    return steps
