"""What a request asks for, by its words. Generous: what may be a change is one.

This decides only what a model is offered where its steps are held to a schema, and when prose is
not enough of a reply; see docs/protocols.md. The words are English, as the tools' descriptions
are; a request in another language may ask for anything, though it never certainly does.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_PATH = re.compile(r"[\w./\\-]*\w\.(?:[A-Za-z]\w{1,7}\b|[A-Za-z]\b(?!\.))")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ASKING = _set(
    "what what's where where's which who who's whose why when how is are was were does do did has "
    "have should explain describe tell summarize summarise"
)
"""First words of questions."""
LOOKING = ASKING | _set(
    "can could would show list find search read look count print locate review analyze analyse "
    "compare check explore name give understand hello hi hey thanks thank"
)
"""First words of requests that want to know something, unless a word of change follows."""
CHANGING = _set(
    "add adapt adjust append apply bump change clean convert correct create decrease define delete "
    "deprecate disable drop edit enable ensure extend extract fix generate implement improve "
    "increase insert introduce lower make merge migrate modify move optimize optimise prevent "
    "refactor remove rename reorder repair replace revert rewrite scaffold simplify solve swap "
    "tweak undo unify update upgrade wrap write"
)
"""Verbs that stand in no mere question. Nouns such as `test` and `limit` are not among them."""
CREATING = _set(
    "add build create document generate implement introduce make new scaffold write extract split "
    "move rename copy port migrate convert rewrite overwrite save store provide setup script "
    "initialize initialise bootstrap"
)
RUNNING = _set(
    "run execute start launch build compile install test tests pytest lint format git commit push "
    "pull branch diff shell command script benchmark deploy"
)
REMEMBERING = _set(
    "remember remembered forget note convention conventions memorize memorise keep memory"
)
DOING = CHANGING | _set(
    "set use put let allow raise lower require handle support turn switch reduce rework port reset "
    "lock limit test yes ok okay go proceed continue"
)
"""First words of requests that something is done about; verbs of change may stand anywhere."""
_NOUNS = _set("test lock limit support port yes ok okay go turn switch reset")
ADVISING = _set(
    "plan plans propose suggest suggestion suggestions recommend draft outline sketch advise "
    "advice idea ideas example examples option options brainstorm snippet regex message discuss "
    "describe explain show tell understand translate review summary overview don't without "
    "poem haiku story joke"
)
"""Words of requests that want a text, or no change: then prose is what was asked for."""
_TALKING = _set(
    "hi hello hey hiya greetings thanks thank you very much a lot thx cheers great nice good job "
    "cool bye goodbye morning afternoon evening there hallo hola bonjour salut ciao hej moin danke "
    "merci gracias"
)
_GREETINGS = _set("你好 您好 谢谢 こんにちは ありがとう 안녕하세요 привет спасибо")
_MOST_TALK = 6
_ENGLISH = _set(
    "what what's where where's which when why how does did the it this that there should have you "
    "your and with"
)
"""Common words that tell English from what else may end in a question mark."""
_ENGLISH_ONLY = _set(
    "the of and that this with should must what which how does why where from your"
)
_FOREIGN = _set(
    "der das dem ein eine einen einer und ist nicht von zu bitte mir auf ich kannst soll "
    "la les une et dans pour avec vous peux los las una por para puedes uma "
    "il gli di che puoi het een niet kun je och ett att"
)
"""Common words of other languages that are no words, names or commands in English requests."""
_ENGLISH_VERBS = (
    CHANGING | LOOKING | _set("run execute start remember forget note use set put keep")
)
_SPELLED_ALIKE = _set("was do has is have find hey")
"""First words of English requests that begin others, too."""
_LAST_LATIN = 0x24F
_BY_KIND: Mapping[str, frozenset[str]] = MappingProxyType(
    {"create": CREATING, "run": RUNNING, "memory": REMEMBERING}
)

_POLITE = re.compile(r"\W*(?:please\W+)?(?:can|could|would|will) you\b|\W*please\b", re.IGNORECASE)
_WISH = re.compile(
    r"\W*(?:(?:can|could|shall|should) we\b|(?:how|what) about\b|what if\b|"
    r"why (?:not|don't)\b|is it possible\b|"
    r"(?:can|could|should)\b.*\b(?:be|become|have|happen)\b)",
    re.IGNORECASE,
)
_ABOUT_YOU = re.compile(
    r"\W*(?:(?:hi|hello|hey)\W+)?(?:who|what|how) (?:are|can) you(?: do)?\W*", re.IGNORECASE
)
_QUESTION = re.compile(r"[?\uff1f\u061f]\s*\Z")
_SENTENCE = re.compile(r"[.?!;]\s")
_ANNOUNCING = re.compile(
    r"\b(?:i will|i'll|let me|let's|i am going to|i'm going to|i need to|we need to|first,)"
    r"(?! (?:not|never|know|be|explain|show|describe|clarify|summari[sz]e|assume|note|stop)\b)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


def asked_for(request: str) -> frozenset[str]:
    """Of `change`, `create`, `run` and `memory` those that a request may ask for; `talk` alone
    for a greeting or thanks."""
    words = _words(request)
    if _is_talk(request, words):
        return frozenset({"talk"})
    if _is_foreign(request, words):
        return frozenset({"change", *_BY_KIND})
    kinds = {kind for kind, known in _BY_KIND.items() if known & set(words)}
    if _may_want_change(request, words):
        kinds.add("change")
    return frozenset(kinds)


def named_paths(request: str) -> tuple[str, ...]:
    """What in a request looks like the path of a file."""
    return tuple(dict.fromkeys(found.replace("\\", "/") for found in _PATH.findall(request)))


def call_was_due(request: str, text: str) -> bool:
    """Whether a reply of this text alone, before any call, is one that should have been a call:
    a change is certainly asked for, and it says what will be done, or shows the code, and asks
    nothing. Who asked for a text, and got it, must not be troubled."""
    if not _wants_change(request) or _QUESTION.search(text):
        return False
    return bool(_FENCE.search(text)) or announces(text)


def announces(text: str) -> bool:
    """Whether a text says what its writer is about to do."""
    return bool(_ANNOUNCING.search(text.replace("\u2019", "'")))


def _may_want_change(request: str, words: list[str]) -> bool:
    if not words:
        return bool(request.strip())
    polite, asks = _POLITE.match(request), bool(_QUESTION.search(request))
    if polite:
        words = _words(request[polite.end() :]) or words
    elif asks and (_WISH.match(request) or not _ENGLISH & set(words)):
        return True
    looks = (asks and not polite) or words[0] in LOOKING
    return not looks or bool(_stems(words) & CHANGING) or _says_more(request, words)


def _says_more(request: str, words: list[str]) -> bool:
    """Whether a second wish follows the first, or a sentence that says how it is to be."""
    second = {word for before, word in pairwise(words) if before in ("and", "then", "please")}
    later = "" if _QUESTION.search(request) else " ".join(_SENTENCE.split(request)[1:])
    return bool(second & (DOING - _NOUNS) or set(_words(later)) & {"should", "must", "needs"})


def _wants_change(request: str) -> bool:
    """The same without the doubt."""
    polite = _POLITE.match(request)
    words = _words(request[polite.end() :] if polite else request)
    if not words or words[0] in LOOKING or set(words) & ADVISING:
        return False
    if _QUESTION.search(request) and not polite:
        return False
    return words[0] in DOING or bool(set(words) & (CHANGING | {"should", "must"}))


def _is_foreign(request: str, words: list[str]) -> bool:
    """Whether a request is in another language, as far as that shows."""
    if set(words) & _ENGLISH_ONLY:
        return False
    letters = [character for character in request if character.isalpha()]
    if any(ord(character) > _LAST_LATIN for character in letters):
        return True
    begins = words[0] if words else ""
    if begins in _ENGLISH_VERBS - _SPELLED_ALIKE:
        return False
    return not all(map(str.isascii, letters)) or bool(set(words) & _FOREIGN)


def _is_talk(request: str, words: list[str]) -> bool:
    said = request.strip().rstrip("!.\u3002\uff01").lower()
    if said in _GREETINGS or _ABOUT_YOU.fullmatch(request):
        return True
    # what is left of the words may be a request in another script
    only = not any(character.isalnum() for character in _WORD.sub("", said))
    return only and 0 < len(words) <= _MOST_TALK and set(words) <= _TALKING


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("\u2019", "'"))


def _stems(words: Iterable[str]) -> set[str]:
    """Words, and what is left of them without the ending of a verb."""
    found: set[str] = set()
    for word in words:
        found.add(word)
        for ending in ("s", "es", "ing", "ed"):
            if word.endswith(ending):
                found |= {word.removesuffix(ending), word.removesuffix(ending) + "e"}
    return found
