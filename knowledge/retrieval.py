"""Which entries a text needs: few, each with the reason it was picked, or none.

BM25 coverage over key, tags and content. An entry whose key is wholly named in the text counts
as well, however long the text is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge.entry import Entry
from knowledge.ranking import Match, Ranking
from knowledge.terms import Terms
from knowledge.words import query_words

THRESHOLD = 0.28
SHARE_OF_BEST = 0.7
NAMED_KEY_SCORE = 0.4

_ENTRY_TOKENS = 400
_SMALLEST_CUT = 40


@dataclass(frozen=True)
class Selected:
    """An entry to show, its content cut where it was too long; `score` is 0 to 1."""

    entry: Entry
    score: float
    reason: str


def select(
    entries: Sequence[Entry], query: str, limit: int = 5, token_budget: int = 600
) -> list[Selected]:
    """The entries that matter for `query`, best first; none when none reaches the threshold."""
    asked = query_words(query)
    if not asked or not entries:
        return []
    ranking = Ranking(asked, [entry.terms.document for entry in entries])
    matches = [
        _with_key(match, entries[match.index].terms, ranking) for match in ranking.coverage()
    ]
    matches.sort(key=lambda match: -match.score)
    picked = [
        Selected(entry := entries[match.index], match.score, _reason(match, entry.terms, asked))
        for match in matches
        if match.score >= max(THRESHOLD, SHARE_OF_BEST * matches[0].score)
    ]
    return _within(picked[:limit], token_budget)


def estimate_tokens(text: str) -> int:
    """Tokens of a text, roughly: a quarter of its UTF-8 bytes."""
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def _with_key(match: Match, terms: Terms, ranking: Ranking) -> Match:
    named = [term for term in match.terms if term in terms.subject]
    if not named:
        return match
    # cubed: half a key says little
    score = NAMED_KEY_SCORE * ranking.share(named, terms.subject) ** 3
    return replace(match, score=max(match.score, score))


def _reason(match: Match, terms: Terms, asked: Mapping[str, str]) -> str:
    parts = []
    for name in terms.fields:
        shown = [repr(asked[term]) for term in match.terms if terms.place(term) == name]
        if shown:
            parts.append(f"{', '.join(shown)} in {name}")
    return f"matched {' and '.join(parts)}, {match.score:.2f}"


def _within(picked: Iterable[Selected], budget: int) -> list[Selected]:
    """As many as the budget of tokens holds, in their order, long ones cut."""
    kept: list[Selected] = []
    for selected in picked:
        entry = selected.entry
        around = estimate_tokens(entry.key)
        room = min(budget - around, _ENTRY_TOKENS)
        cost = estimate_tokens(entry.content)
        if cost > room:
            if room < _SMALLEST_CUT:
                continue
            selected, cost = _cut(selected, room), room
        kept.append(selected)
        budget -= around + cost
    return kept


def _cut(selected: Selected, room: int) -> Selected:
    content = selected.entry.content
    whole = len(content)
    note = f" [... cut: {whole} characters in all]"
    head = content.encode("utf-8", "surrogatepass")[: 4 * room - len(note) - 4]
    text = head.decode("utf-8", "ignore")
    return replace(
        selected,
        entry=replace(selected.entry, content=text + note),
        reason=f"{selected.reason}; cut to {len(text)} of {whole} characters",
    )
