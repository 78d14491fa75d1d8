"""What a search sees of an entry."""

from collections.abc import Mapping
from dataclasses import dataclass

from knowledge.ranking import Document
from knowledge.words import words

_WEIGHTS = {"key": 2.0, "tags": 1.5, "content": 1.0}
_READ_CHARACTERS = 20_000
# stems of the words in a key which name the kind of entry, not its subject
_KIND_TEXT = """
convention default format guidelin handl management not polici practic project requirement rul
standard styl typ usag
"""
_KINDS = frozenset(_KIND_TEXT.split())


@dataclass(frozen=True)
class Terms:
    """`fields`: the terms of key, tags and content; `subject`: those of the key which name what
    it is about; `document`: all of them, weighted by where they are."""

    fields: Mapping[str, frozenset[str]]
    subject: frozenset[str]
    document: Document

    def place(self, term: str) -> str:
        """The weightiest field which holds a term of the entry."""
        return next(name for name, terms in self.fields.items() if term in terms)


def terms_of(key: str, tags: tuple[str, ...], content: str) -> Terms:
    """The terms of an entry; of a very long content its beginning."""
    texts = {"key": key, "tags": " ".join(tags), "content": content[:_READ_CHARACTERS]}
    counted: dict[str, float] = {}
    fields: dict[str, frozenset[str]] = {}
    for name, text in texts.items():
        terms = [term for term, _ in words(text)]
        fields[name] = frozenset(terms)
        for term in terms:
            counted[term] = counted.get(term, 0.0) + _WEIGHTS[name]
    subject = fields["key"] - _KINDS or fields["key"]
    return Terms(fields, subject, Document(counted, sum(counted.values())))
