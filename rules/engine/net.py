"""What an update changed in the end."""

from collections.abc import Collection, Iterable

from rules.terms import Row


class Net:
    """By predicate, the rows that came and the rows that went; no row is in both."""

    def __init__(self) -> None:
        self.added: dict[str, Collection[Row]] = {}
        self.removed: dict[str, Collection[Row]] = {}


def undone(nets: Iterable[Net]) -> Net:
    """The change that leads back over several updates, the latest of which comes first."""
    came: dict[str, dict[Row, None]] = {}
    went: dict[str, dict[Row, None]] = {}
    for net in nets:
        _toggle(net.added, came, went)
        _toggle(net.removed, went, came)
    result = Net()
    result.added = {name: rows for name, rows in came.items() if rows}
    result.removed = {name: rows for name, rows in went.items() if rows}
    return result


def _toggle(
    changes: dict[str, Collection[Row]],
    against: dict[str, dict[Row, None]],
    into: dict[str, dict[Row, None]],
) -> None:
    """What one update added, going back takes away, unless a later one had taken it already."""
    for name, rows in changes.items():
        before, after = against.setdefault(name, {}), into.setdefault(name, {})
        for row in rows:
            if row in before:
                del before[row]
            else:
                after[row] = None
