"""Asking a server whether it shows its model the tools: for nothing where it tells, else with two
requests of one token each."""

from harness.model.protocols.evidence import Ask, prompt_grows_with_tools, template_shows_tools
from harness.model.protocols.speaking import Served

_SECONDS = 2.0


def probe(served: Served, ask: Ask) -> bool | None:
    """None when there is no telling."""
    if served.kind == "llama.cpp":
        told = template_shows_tools(_properties(served))
        if told is not None:
            return told
    return prompt_grows_with_tools(ask)


def _properties(served: Served) -> object:
    """llama.cpp's `GET /props`, or None."""
    from harness.model.failures import RequestFailed
    from harness.model.probe import exchange

    root = served.base_url.rpartition("/v")[0]
    if not root.startswith("http://"):
        return None
    headers = {"Authorization": f"Bearer {served.api_key}"} if served.api_key else {}
    try:
        answer = exchange(f"{root}/props", headers, _SECONDS)
    except RequestFailed:
        return None
    return answer.json() if answer.status == 200 else None
