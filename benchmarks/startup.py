"""How long it takes to show help, and to the first byte of the first model request.

The first request is timed from the start of the process to the arrival of its first byte at a
real loopback server. Two columns leave `import openai` out: in one its time is that of a fresh
interpreter, as anybody would measure it alone; in the other, stricter one it is what was left of
it inside the same process, where we had already imported parts of the standard library.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.workspaces import make

ROOT = Path(__file__).resolve().parent.parent
ENTRY = str(ROOT / "mini_coding_agent.py")
TIMED = str(ROOT / "benchmarks" / "timed_entry.py")
REQUESTS = ("example_cold", "example_warm", "large_cold", "large_warm")
Clock = Callable[[], float]


class FirstByte:
    """A server that notes when the first byte of a chat request comes, and answers shortly."""

    def __init__(self) -> None:
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(16)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self.at: float | None = None
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            peer, _ = self._listener.accept()
            threading.Thread(target=self._answer, args=(peer,), daemon=True).start()

    def _answer(self, peer: socket.socket) -> None:
        with peer:
            first = peer.recv(1)
            now = time.perf_counter()
            data = first
            while b"\r\n\r\n" not in data:
                more = peer.recv(65536)
                if not more:
                    return
                data += more
            if data.startswith(b"POST"):
                self.at = self.at or now
            peer.sendall(_answer_to(data))


def _answer_to(request: bytes) -> bytes:
    if request.startswith(b"GET"):
        body = json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}).encode()
        kind = b"application/json"
    else:
        chunk = {"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]}
        body = b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n"
        kind = b"text/event-stream"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\nContent-Length: "
    return head + str(len(body)).encode() + b"\r\nConnection: close\r\n\r\n" + body


def whole(command: list[str]) -> float:
    """Seconds of one process, from start to end."""
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def fresh_openai() -> float:
    """Seconds of `import openai` in an interpreter that has imported nothing else."""
    code = "import time; t = time.perf_counter(); import openai; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return float(done.stdout)


def first_request(workspace: Path, home: Path, own: list[float] | None = None) -> float:
    """Seconds from the start of the process to the first byte of its first chat request.

    `own` gets the same without the seconds of `import openai`.
    """
    server = FirstByte()
    noted = home.parent / f"openai-{home.name}"
    command = [sys.executable, TIMED, str(noted), str(ROOT), "--host", server.url, "--model", "m"]
    command += ["--cwd", str(workspace), "raise the limit of the ledger"]
    environment = {**os.environ, "HOME": str(home)}
    # bytecode is there after the first run, as it is after an installation
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    subprocess.run(command, env=environment, capture_output=True, check=True)
    if server.at is None:
        raise SystemExit("no request arrived")
    seconds = server.at - started
    if own is not None:
        own.append(seconds - float(noted.read_text()))
    return seconds


def interleaved(measures: dict[str, Clock], runs: int) -> dict[str, float]:
    """The median of each, taken in turn so that a drifting machine is fair to all."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for number in range(runs + 1):
        for name, measure in measures.items():
            seconds = measure()
            if number:
                taken[name].append(seconds)
    return {name: statistics.median(values) for name, values in taken.items()}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks startup")
    parser.add_argument(
        "--files", type=int, default=2000, help="Python files of the large workspace"
    )
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    try:
        return _report(_measure(folder, options.files, options.runs), options.files)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(folder: Path, files: int, runs: int) -> dict[str, float]:
    small, large = folder / "small", folder / "large"
    shutil.copytree(ROOT / "example_workspace", small)
    large.mkdir()
    make(large, files)
    warm = folder / "home-warm"
    own: dict[str, list[float]] = {name: [] for name in REQUESTS}

    def request(name: str, workspace: Path, home: Path | None = None) -> float:
        return first_request(workspace, home or Path(tempfile.mkdtemp(dir=folder)), own[name])

    first_request(small, warm)
    first_request(large, warm)
    python = sys.executable
    figures = interleaved(
        {
            "pass": lambda: whole([python, "-c", "pass"]),
            "help": lambda: whole([python, ENTRY, "--help"]),
            "openai": fresh_openai,
            "example_cold": lambda: request("example_cold", small),
            "example_warm": lambda: request("example_warm", small, warm),
            "large_warm": lambda: request("large_warm", large, warm),
        },
        runs,
    )
    figures["large_cold"] = statistics.median(
        request("large_cold", large) for _ in range(min(3, runs))
    )
    return figures | {f"{name}_own": statistics.median(own[name]) for name in REQUESTS}


def _report(figures: dict[str, float], files: int) -> int:
    base = figures["pass"]
    out = sys.stdout.write
    out(f"{'':<42}{'seconds':>8}{'x pass':>8}{'less openai':>13}{'strictly':>10}  (x pass)\n")
    rows = {
        "pass": "python -c pass",
        "help": "mini-coding-agent --help",
        "openai": "import openai (fresh interpreter)",
        "example_cold": "first request, example_workspace, cold",
        "example_warm": "first request, example_workspace, warm",
        "large_cold": f"first request, {files} files, cold",
        "large_warm": f"first request, {files} files, warm",
    }
    result: dict[str, float | int] = {"files": files}
    for name, label in rows.items():
        seconds = figures[name]
        line = f"{label:<42}{seconds:>8.3f}{seconds / base:>8.1f}"
        result |= {f"{name}_s": round(seconds, 4), f"{name}_ratio": round(seconds / base, 2)}
        if name in REQUESTS:
            less, strict = seconds - figures["openai"], figures[f"{name}_own"]
            line += f"{less / base:>13.1f}{strict / base:>10.1f}"
            result[f"{name}_without_openai_ratio"] = round(less / base, 2)
            result[f"{name}_without_openai_strict_ratio"] = round(strict / base, 2)
        out(line + "\n")
    out(json.dumps(result) + "\n")
    return 0
