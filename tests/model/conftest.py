"""What the tests of requests share."""

import pytest
from raw_server import RawServer
from test_client import GOOD, Asked


@pytest.fixture(scope="session")
def warm() -> None:
    """The first request of a process imports the SDK, which takes as long as some deadlines."""
    with RawServer(GOOD) as server:
        Asked().ask(server.url)
