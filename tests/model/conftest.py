"""What the tests of requests share."""

import pytest
from raw_server import RawServer
from test_client import GOOD, Question


@pytest.fixture(scope="session")
def warm() -> None:
    """The first request of a process imports the SDK, which takes as long as some deadlines."""
    with RawServer(GOOD) as server:
        Question().ask(server.url)
