"""Which files a text is about: by the words of their names, docstrings, paths and text.

The measure is the one the entries are chosen by (`knowledge.ranking`). A file or path that the
text names comes first, then what defines a name in it. A test that matches speaks for what it
covers, so that a word which only the test uses finds the source.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.code.records import FileRecord, Symbol
from knowledge.ranking import Document, Match, Ranking
from knowledge.words import query_words, words

_PATH_WEIGHT = 3.0
_COMPOUND = 0.5
_SHORTEST_PART = 4
_DEFINES = 0.5
_NAMED_SHARE = 1.0
_IMPORTED_SHARE = 0.75
_TEST = 0.9
_SHARE_OF_BEST = 0.25
_MOST_SYMBOLS = 6
_TOKEN = re.compile(r"[\w.\-/\\]*\w")
_CODE_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class CodeMatch:
    """A file that matters, with its definitions that match best. `score` is 0 to 1, and above
    1 for a file that is named."""

    path: str
    score: float
    reason: str
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True)
class _Found:
    score: float
    reason: str


class Search:
    """Searches one state of a workspace."""

    def __init__(
        self,
        records: Mapping[str, FileRecord],
        covered: Mapping[str, Mapping[str, str]],
        path_terms: Mapping[str, frozenset[str]],
    ) -> None:
        """`covered` maps a test to its sources and where that is known from; `path_terms` holds
        the words of each path."""
        self._records = records
        self._covered = covered
        self._path_terms = path_terms
        self._paths = sorted(records)

    def find(self, query: str, limit: int) -> list[CodeMatch]:
        """The best files, none without a reason."""
        asked = query_words(query)
        found = self._matching(asked)
        self._add_defining(query, found)
        self._spread(found)
        self._add_named(query, found)
        if not found:
            return []
        least = _SHARE_OF_BEST * min(max(each.score for each in found.values()), 1.0)
        best = sorted(found.items(), key=lambda item: (-item[1].score, item[0]))
        return [
            CodeMatch(path, each.score, each.reason, self._symbols(path, asked))
            for path, each in best[:limit]
            if each.score >= least
        ]

    def _matching(self, asked: Mapping[str, str]) -> dict[str, _Found]:
        if not asked:
            return {}
        meant = self._meant(asked)
        documents = [self._document(path, meant) for path in self._paths]
        matches = Ranking(asked, documents).coverage()
        return {self._paths[m.index]: _Found(m.score, _reason(m, asked)) for m in matches}

    def _meant(self, asked: Mapping[str, str]) -> dict[str, tuple[str, float]]:
        """For each word asked for, the word to look up and its weight: a word which occurs
        nowhere stands for the longest one it begins with (lockout for lock)."""
        return {term: self._known_part(term) for term in asked}

    def _known_part(self, term: str) -> tuple[str, float]:
        if not self._occurs(term):
            for end in range(len(term) - 2, _SHORTEST_PART - 1, -1):
                if self._occurs(term[:end]):
                    return term[:end], _COMPOUND
        return term, 1.0

    def _occurs(self, term: str) -> bool:
        return any(
            term in self._records[path].words or term in self._path_terms[path]
            for path in self._paths
        )

    def _document(self, path: str, meant: Mapping[str, tuple[str, float]]) -> Document:
        record, own = self._records[path], self._path_terms[path]
        terms: dict[str, float] = {}
        for term, (looked_up, factor) in meant.items():
            weight = record.words.get(looked_up, 0.0) + _PATH_WEIGHT * (looked_up in own)
            if weight:
                terms[term] = weight * factor
        return Document(terms, record.length + _PATH_WEIGHT * len(own))

    def _add_defining(self, query: str, found: dict[str, _Found]) -> None:
        names = [name for name in _CODE_NAME.findall(query) if _looks_like_code(name)]
        for name in dict.fromkeys(names):
            for path in self._paths:
                if self._records[path].defines(name):
                    score = found[path].score if path in found else 0.0
                    found[path] = _Found(min(score + _DEFINES, 1.0), f"defines {name!r}")

    def _spread(self, found: dict[str, _Found]) -> None:
        """Let each test speak for its sources, then stand back a little behind them."""
        spoken: dict[str, tuple[float, str]] = {}
        for test in sorted(found.keys() & self._covered.keys()):
            sources = self._covered[test]
            for source, origin in sources.items():
                share = _NAMED_SHARE if origin == "name" else _IMPORTED_SHARE / len(sources)
                score = found[test].score * share
                if score > spoken.get(source, (0.0, ""))[0]:
                    spoken[source] = (score, test)
        reasons = {test: found[test].reason for _, test in spoken.values()}
        for test in reasons:
            found[test] = _Found(found[test].score * _TEST, reasons[test])
        for source, (score, test) in spoken.items():
            own = found.get(source)
            if own is None:
                found[source] = _Found(score, f"covered by {test}, which {reasons[test]}")
            elif own.score < score:
                found[source] = _Found(score, f"{own.reason}; covered by {test}")

    def _add_named(self, query: str, found: dict[str, _Found]) -> None:
        for token in dict.fromkeys(_TOKEN.findall(query)):
            spelled = token.replace("\\", "/").removeprefix("./")
            if "." not in spelled and "/" not in spelled:
                continue
            for path in self._named(spelled):
                score = found[path].score if path in found else 0.0
                found[path] = _Found(1.0 + min(score, 1.0), f"named as {token!r}")

    def _named(self, spelled: str) -> list[str]:
        """The paths that `spelled` means: itself, else those that end so, else the longest that
        lies below a root somebody made up."""
        if spelled in self._records:
            return [spelled]
        below = [path for path in self._paths if path.endswith("/" + spelled)]
        made_up = [path for path in self._paths if spelled.endswith("/" + path)]
        return below or sorted(made_up, key=len)[-1:]

    def _symbols(self, path: str, asked: Mapping[str, str]) -> tuple[Symbol, ...]:
        """The definitions which share most words with the request."""
        scored = []
        for symbol in self._records[path].symbols(path):
            own = {term for term, _ in words(f"{symbol.name} {symbol.doc}")}
            rest = {term for term, _ in words(symbol.signature)} - own
            score = 2 * len(own & asked.keys()) + len(rest & asked.keys())
            if score:
                scored.append((-score, symbol.start_line, symbol))
        scored.sort(key=lambda item: item[:2])
        return tuple(symbol for _, _, symbol in scored[:_MOST_SYMBOLS])


def path_terms(path: str) -> frozenset[str]:
    """The words of a path, without its ending."""
    return frozenset(query_words(path.rpartition(".")[0]))


def _reason(match: Match, asked: Mapping[str, str]) -> str:
    shown: Sequence[str] = [repr(asked[term]) for term in match.terms[:4]]
    return f"matches {', '.join(shown)}"


def _looks_like_code(name: str) -> bool:
    return "_" in name.strip("_") or (name[1:] != name[1:].lower() and not name.isupper())
