"""Entries that outlive a session, in two tiers: the workspace's file and the user's."""

import time
from pathlib import Path

from knowledge.entry import Entry, Item, Scope, check
from knowledge.errors import KnowledgeError
from knowledge.tier import Tier


class Store:
    """Both tiers. `load` before `entries`; writing keeps both in step."""

    def __init__(self, workspace_file: Path, global_file: Path) -> None:
        """`workspace_file` is `<workspace>/<folder>/knowledge/entries.json`: three folders up is
        the workspace, which the file may not leave through links. Neither needs to exist."""
        root = workspace_file.parent.parent.parent
        self._tiers = (
            Tier(workspace_file, "workspace", root),
            Tier(global_file, "global"),
        )

    def load(self) -> list[str]:
        """Read what changed on disk. Returns sentences about what could not be used."""
        return [message for tier in self._tiers for message in tier.load()]

    def all(self) -> list[Entry]:
        """Every entry of both tiers, the workspace's first."""
        return [entry for tier in self._tiers for entry in tier.entries]

    def entries(self) -> list[Entry]:
        """The entries in force: of each key the workspace's, and the last one in its file."""
        chosen: dict[str, Entry] = {}
        for tier in self._tiers:
            own = {entry.key: entry for entry in tier.entries}
            chosen |= {key: entry for key, entry in own.items() if key not in chosen}
        return list(chosen.values())

    def remember(self, key: str, content: str, scope: str, source_project: str = "") -> bool:
        """Write an entry into the tier `scope`. Returns whether one of that key was replaced.

        Raises KnowledgeError with a sentence; the file is then as it was.
        """
        check(key, content)
        tier = self._tier(scope)
        return tier.update(_Remember(key.strip(), content, tier.scope, source_project))

    def forget(self, key: str, scope: str) -> bool:
        """Take the entries of that key out of the tier `scope`. Returns whether there were any.

        Raises KnowledgeError with a sentence; the file is then as it was.
        """
        tier = self._tier(scope)
        if not tier.path.exists():
            return False
        return tier.update(lambda items: _drop(items, key.strip()) is not None)

    def _tier(self, scope: str) -> Tier:
        for tier in self._tiers:
            if tier.scope == scope:
                return tier
        raise KnowledgeError(f"there is no scope {scope!r}; it is 'workspace' or 'global'")


class _Remember:
    """The change which puts one entry into a file, in the place of its older self."""

    def __init__(self, key: str, content: str, scope: Scope, source_project: str) -> None:
        self._new: Item = {
            "key": key,
            "content": content,
            "scope": scope,
            "source_project": source_project,
        }

    def __call__(self, items: list[Item]) -> bool:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        old = _drop(items, self._new["key"])
        if old is None:
            items.append({**self._new, "tags": [], "created_at": now})
            return False
        place, item = old
        project = self._new["source_project"] or item.get("source_project", "")
        new = {**item, **self._new, "source_project": project, "updated_at": now}
        items.insert(place, new)
        return True


def _drop(items: list[Item], key: str) -> tuple[int, Item] | None:
    """Remove every item of that key. Returns the last one and where the first was."""
    places = [place for place, item in enumerate(items) if item["key"].strip() == key]
    if not places:
        return None
    last = items[places[-1]]
    for place in reversed(places):
        del items[place]
    return places[0], last
