"""What servers say when they refuse: each of their wordings, and the class and length read from
it."""

import json
from pathlib import Path

import pytest

from harness.model.classify import classify

WORDINGS = json.loads((Path(__file__).parent / "wordings.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "refusal", WORDINGS, ids=[f"{each['server']}-{n}" for n, each in enumerate(WORDINGS)]
)
def test_a_refusal_is_known_by_its_words(refusal: dict[str, object]) -> None:
    body, status = refusal["body"], refusal["status"]
    assert isinstance(status, int)
    failed = classify(status, body if isinstance(body, str) else json.dumps(body))
    assert failed.error_class == refusal["error_class"]
    assert failed.context_length == refusal["context_length"]
