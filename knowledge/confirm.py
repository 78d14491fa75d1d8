"""When a person should look before something is remembered."""

import re

from knowledge.entry import control_characters

_COMMANDS = (
    "bash|cargo|chmod|curl|docker|git|go|make|node|npm|npx|nox|perl|pip|pip3|pnpm|poetry|powershell"
    "|pytest|python|python3|rm|ruby|sh|ssh|sudo|tox|uv|uvx|wget|yarn|zsh"
)
_COMMAND = (
    r"`|\$\(|\s\|\s|&&|\|\||;\s*\w"
    rf"|(?m:^)\s*(?:[$>]\s*)?(?:\.{{0,2}}/\S|(?:{_COMMANDS})(?![\w-]))"
)
_ADDRESS = r"(?i)\b\w[\w+.-]*://|\bwww\.|\b(?:data|javascript|mailto):\S"


def needs_confirmation(key: str, content: str, scope: str) -> str | None:
    """Why remembering this should be asked first, in part of a sentence, or None.

    Asked: what every workspace will see, what may be run or fetched, what hides its text.
    """
    if scope == "global":
        return "it will be used in every workspace"
    if control_characters(content, allowed="\n\t"):
        return "it holds control characters"
    if re.search(_ADDRESS, content):
        return "it holds an address"
    if key.strip().endswith("_command") or re.search(_COMMAND, content):
        return "it holds a command"
    return None
