"""`serve-model` with a real file, as a process of its own."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Agent

pytestmark = pytest.mark.realmodel


@pytest.fixture
def served(smollm2_file: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(REPOSITORY / "mini_coding_agent.py")]
    process = subprocess.Popen(
        [*command, "serve-model", str(smollm2_file), "--context-length", "1024"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def told(process: subprocess.Popen[str]) -> dict[str, str]:
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(5)]
    return {line[:10].strip(): line[10:].strip() for line in lines}


def is_open(address: str) -> bool:
    port = int(re.search(r":(\d+)", address.removeprefix("http:"))[1])
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_end(
    served: subprocess.Popen[str], agent: Agent, number: int
) -> None:
    lines = told(served)
    address, key = lines["base URL"], lines["key"]
    assert lines["use it"].startswith(f"MCA_API_KEY={key} mini-coding-agent --host http://127")
    # it may start with the model's own protocol, whatever that makes of the request
    run = agent.run_plain(
        *("--host", address, "--max-steps", "1", "--max-new-tokens", "16"),
        *("--cwd", str(agent.workspace), "Say hello"),
        env={"MCA_API_KEY": key},
    )
    assert run.code in (0, 3, 4)
    assert key not in run.out + run.err
    served.send_signal(number)
    out, err = served.communicate(timeout=30)
    assert (served.returncode, out, err) == (0, "", "")
    assert not is_open(address)


def test_the_wrong_key_is_refused_in_one_line(served: subprocess.Popen[str], agent: Agent) -> None:
    address = told(served)["base URL"]
    run = agent.run_plain("--host", address, "hello", env={"MCA_API_KEY": "guessed"})
    assert run.code == 4
    assert "MCA_API_KEY" in run.err


def test_it_ends_with_the_process_however_that_ends(served: subprocess.Popen[str]) -> None:
    address = told(served)["base URL"]
    assert is_open(address)
    os.kill(served.pid, signal.SIGKILL)
    served.wait(timeout=30)
    assert not is_open(address)


END_AT_ONCE = """
import sys
from pathlib import Path
from harness.model.gguf import read_model_file
from harness.model.local import LocalServer

for _ in range(3):
    with LocalServer(read_model_file(Path(sys.argv[1])), 256):
        pass
"""


def test_a_server_may_end_as_soon_as_it_began(smollm2_file: Path) -> None:
    """As with a Ctrl-C that came while the model was loaded."""
    command = [sys.executable, "-c", END_AT_ONCE, str(smollm2_file)]
    ended = subprocess.run(command, cwd=REPOSITORY, timeout=60, check=False)
    assert ended.returncode == 0
