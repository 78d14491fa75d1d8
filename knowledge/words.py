"""Text to words as a search sees them: identifiers split, case folded, endings cut.

`change_password`, `ChangePassword` and "Passwords changed" share the words `chang` and
`password`. Scripts written without spaces (CJK) are cut into pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterator

_RUN = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-zà-öø-ÿ0-9])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])")
# compiled where it is met, by the cache of `re`: most texts have none
_CJK = "([\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f]+)"
_UNDOUBLE = frozenset("bdfgmnprt")

# articles, pronouns, prepositions and auxiliaries; then what every request to an agent says
_STOP_TEXT = """
a about after again all also am an and any are as at be because been before being both but by can
could current did do does doing done each either else every few first for from get gets getting go
goes going got had has have having he her here him his how i if in into is it its just last let like
may me might more most much must my need needs next no nor not now of off on once one only or other
our out over own per same should so some such than that the their them then there these they this
those to too under until up us very via want was we were what when where whether which while who
whom whose why will with within without would you your

add adding adds allow change changes changed changing code create creates creating edit ensure
explain file files find fix fixes fixing function functions give help implement improve keep make
makes making method methods modify move new please put py refactor remove rename replace rewrite set
show update updates updating use used uses using variable variables way work works write writes
writing
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())


def split_identifier(text: str) -> Iterator[str]:
    """The runs of letters and digits in `text`, cut where the case changes, as written.

    `HTTPServer_v2` gives HTTP, Server, v2.
    """
    for run in _RUN.findall(text):
        yield from run.split() if run.islower() else _CAMEL.sub(" ", run).split()


def stem(word: str) -> str:
    """`word` (lower case) without its English plural, -ing, -ed, -ion or silent e.

    Not a word of the language but a name for a family: cache, cached and caching give `cach`.
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    word = _without_participle(_without_plural(word))
    if len(word) > 6 and word.endswith(("tion", "sion")):
        word = word[:-3]
    if len(word) > 3 and word[-1] == "e":
        return word[:-1]
    if len(word) > 3 and word[-1] == "y":
        return word[:-1] + "i"
    return word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word[-1] == "s" and word[-2] not in "sui":
        return word[:-1]
    return word


def _without_participle(word: str) -> str:
    if word.endswith("ing"):
        base = word[:-3]
    elif word.endswith("ed") and not word.endswith("eed"):
        base = word[:-2]
    else:
        return word
    if len(base) < 3 or not any(vowel in base for vowel in "aeiouy"):
        return word
    doubled = base[-1] == base[-2] and base[-1] in _UNDOUBLE
    return base[:-1] if doubled else base


def words(text: str) -> list[tuple[str, str]]:
    """Every word of `text` in order as (stem, as written in lower case)."""
    found: list[tuple[str, str]] = []
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    for part in split_identifier(text):
        lower = part.casefold()
        if lower.isascii():
            found.append((stem(lower), lower))
        else:
            found.extend(_scripts(lower))
    return found


def query_words(text: str) -> dict[str, str]:
    """The words of a request which can tell one thing from another, stem to written form.

    Stop words, single ASCII letters and numbers below 100 are left out.
    """
    return {
        stemmed: written
        for stemmed, written in words(text)
        if written not in STOP_WORDS and not _says_nothing(written)
    }


def _says_nothing(written: str) -> bool:
    return (len(written) == 1 and written.isascii()) or (written.isdigit() and len(written) < 3)


def _scripts(word: str) -> Iterator[tuple[str, str]]:
    for piece in re.split(_CJK, word):
        if not piece:
            continue
        if re.match(_CJK, piece):
            pairs = [piece[i : i + 2] for i in range(len(piece) - 1)] or [piece]
            yield from ((pair, pair) for pair in pairs)
        else:
            yield stem(piece), piece
