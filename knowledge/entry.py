"""One remembered entry, and how it looks in the file."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from knowledge.errors import KnowledgeError
from knowledge.terms import Terms, terms_of

Scope = Literal["workspace", "global"]
Item = dict[str, Any]
"""An entry as the file holds it, with every field we do not know."""

MAX_KEY_LENGTH = 200
_KNOWN = frozenset(("key", "content", "scope", "tags", "source_project", "created_at"))


@dataclass(frozen=True)
class Entry:
    """`scope` is the tier: the file the entry came from, whatever its own field says.

    `created_at` is ISO 8601 or empty; `extra` holds the fields this library does not know.
    """

    key: str
    content: str
    scope: Scope
    tags: tuple[str, ...] = ()
    source_project: str = ""
    created_at: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @cached_property
    def terms(self) -> Terms:
        """What a search sees of it, worked out once."""
        return terms_of(self.key, self.tags, self.content)


def from_item(item: Item, scope: Scope) -> Entry:
    """The entry of an item in which `item_problem` found nothing."""
    return Entry(
        key=item["key"].strip(),
        content=item["content"],
        scope=scope,
        tags=_tags(item.get("tags")),
        source_project=_text(item.get("source_project")),
        created_at=_text(item.get("created_at")),
        extra={name: value for name, value in item.items() if name not in _KNOWN},
    )


def item_problem(item: object) -> str | None:
    """Why a value in the file cannot be an entry, or None. Reads after "item 3 "."""
    if not isinstance(item, dict):
        return f"is {_kind(item)}, not an object"
    for name in ("key", "content"):
        value = item.get(name)
        if name not in item:
            return f"has no {name!r}"
        if not isinstance(value, str):
            return f"has {_kind(value)} under {name!r}, not a text"
    return key_problem(item["key"]) or content_problem(item["content"])


def key_problem(key: str) -> str | None:
    """Why a text cannot be a key, or None."""
    key = key.strip()
    if not key:
        return "has an empty key"
    if len(key) > MAX_KEY_LENGTH:
        return f"has a key of {len(key)} characters, more than {MAX_KEY_LENGTH}"
    if control_characters(key):
        return f"has a key with control characters ({key!a})"
    return None


def content_problem(content: str) -> str | None:
    """Why a text cannot be a content, or None."""
    return None if content.strip() else "has an empty content"


def check(key: str, content: str) -> None:
    """Raise KnowledgeError unless both can be remembered."""
    problem = key_problem(key) or content_problem(content)
    if problem is not None:
        raise KnowledgeError(f"the entry {problem}; nothing was remembered")


def control_characters(text: str, allowed: str = "") -> bool:
    """Whether `text` holds characters which steer a terminal or hide text."""
    if text.isascii() and text.isprintable():
        return False
    return any(
        unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")
        for character in text
        if character not in allowed
    )


def _tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return tuple(tag for tag in value if isinstance(tag, str))
    return ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
