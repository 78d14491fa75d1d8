"""A library of remembered entries: two JSON files, and a choice of what matters for a text.

Knows nothing of agents. `Store` keeps the entries, `select` picks those a request needs,
`needs_confirmation` says when a person should look before something is remembered.
"""

from knowledge.confirm import needs_confirmation
from knowledge.entry import Entry, Scope
from knowledge.errors import KnowledgeError
from knowledge.retrieval import Selected, select
from knowledge.store import Store

__all__ = [
    "Entry",
    "KnowledgeError",
    "Scope",
    "Selected",
    "Store",
    "needs_confirmation",
    "select",
]
