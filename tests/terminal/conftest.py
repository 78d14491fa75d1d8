import pytest


@pytest.fixture(autouse=True)
def no_wishes_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner's own wishes about its terminal are none of the tested program's."""
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
