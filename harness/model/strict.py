"""JSON as the standard has it: no NaN, no infinity, no nesting beyond what we can walk."""

import json
from typing import Any


def strict_value(text: str) -> Any:
    """The decoded value. Raises ValueError, and nothing else."""
    try:
        return decoder().decode(text.strip())
    except RecursionError:
        raise ValueError("nested too deeply") from None


def is_object(text: str) -> bool:
    """Whether `text` is a JSON object as it stands."""
    try:
        return isinstance(strict_value(text), dict)
    except ValueError:
        return False


def decoder() -> json.JSONDecoder:
    """A strict decoder. Its `raw_decode` may also raise RecursionError."""
    return json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits} is too large")
    return number


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")
