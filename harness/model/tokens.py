"""How many tokens a text may be, without the model's tokenizer."""

import json
from typing import Any

BYTES_PER_TOKEN = 3.5
"""Of code and English under the usual byte-pair encodings; a little low, so that budgets hold."""


def estimate_tokens(value: Any) -> int:
    """An estimate for a text, or for any JSON value as it is sent."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return round(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)
