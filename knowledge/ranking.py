"""BM25 as a share of the best score a query could have (its coverage, 0 to 1).

The usual term weight (Robertson and Zaragoza 2009) is divided by the query's maximum: every
query term found, with full saturation. A term which no document holds counts there with the
highest idf, so that a request about something else scores low even when one word of it matches.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

K1 = 0.9
B = 0.75
# A store of one entry has no idf to speak of: it is judged among documents about other things.
BACKGROUND_DOCUMENTS = 50
BACKGROUND_LENGTH = 20.0
# A long request explains itself: beyond its rarest words the others count half.
_FULL_TERMS = 4
_REST = 0.5
_UNSEEN_PAIR = 0.15


@dataclass(frozen=True)
class Document:
    """Term to weighted frequency, and their sum."""

    terms: Mapping[str, float]
    length: float


@dataclass(frozen=True)
class Match:
    """`index` into the documents; `terms` found there, the one which says most first."""

    index: int
    score: float
    terms: tuple[str, ...]


class Ranking:
    """The idf of a query's terms over some documents, and the scores it gives."""

    def __init__(self, terms: Collection[str], documents: Sequence[Document]) -> None:
        self._documents = documents
        total = len(documents) + BACKGROUND_DOCUMENTS
        length = sum(document.length for document in documents)
        self._average = (length + BACKGROUND_DOCUMENTS * BACKGROUND_LENGTH) / total
        self.frequency = {
            term: sum(term in document.terms for document in documents) for term in terms
        }
        self._idf = {term: idf(count, total) for term, count in self.frequency.items()}
        best = sorted(map(self._worth, self._idf), reverse=True)
        self._maximum = sum(best[:_FULL_TERMS]) + _REST * sum(best[_FULL_TERMS:])

    def coverage(self) -> list[Match]:
        """The documents which hold a term, best first; equal scores in their given order."""
        matches = [
            match
            for index, document in enumerate(self._documents)
            if (match := self._match(index, document)) is not None
        ]
        return sorted(matches, key=lambda match: -match.score)

    def share(self, found: Iterable[str], of: Iterable[str]) -> float:
        """How much of what the terms `of` say lies in those `found`, 0 to 1, by idf.

        Terms that are not in the query count with the highest idf.
        """
        unseen = idf(0, len(self._documents) + BACKGROUND_DOCUMENTS)
        whole = sum(self._idf.get(term, unseen) for term in of)
        return sum(self._idf[term] for term in found) / whole if whole else 0.0

    def _worth(self, term: str) -> float:
        # most pairs of a Chinese or Japanese request straddle two words
        straddles = len(term) == 2 and not term.isascii() and not self.frequency[term]
        return self._idf[term] * (_UNSEEN_PAIR if straddles else 1)

    def _match(self, index: int, document: Document) -> Match | None:
        gains = {
            term: self._gain(term, frequency, document.length)
            for term in self._idf
            if (frequency := document.terms.get(term, 0.0))
        }
        if not gains:
            return None
        score = min(sum(gains.values()) / self._maximum, 1.0)
        return Match(index, score, tuple(sorted(gains, key=lambda term: -gains[term])))

    def _gain(self, term: str, frequency: float, length: float) -> float:
        norm = K1 * (1 - B + B * length / self._average)
        return self._idf[term] * frequency / (frequency + norm)


def idf(frequency: int, total: int) -> float:
    """Inverse document frequency of a term in `frequency` of `total` documents; positive."""
    return log(1 + (total - frequency + 0.5) / (frequency + 0.5))
