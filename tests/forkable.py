"""Started by tests/forked.py: imports the SDK once, then becomes the program, as often as asked.

Each request on the socket names arguments, environment and folder, and brings three streams and a
pipe, on which come the process id and, at its end, the exit code.
"""

import gc
import json
import os
import runpy
import signal
import socket
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PROGRAM = str(REPOSITORY / "mini_coding_agent.py")
MOST = 1 << 20


def main() -> None:
    """Serve until the tests are over; returns in each process that is to be the program."""
    import openai  # noqa: F401

    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        while True:
            data, streams, _, _ = socket.recv_fds(asked, MOST, 4)
            if not data:
                sys.exit()
            if os.fork() == 0:
                # nobody waits for a watcher, but it does
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                break
            for stream in streams:
                os.close(stream)
    if watched(streams[3]):
        os.close(streams[3])
        become(json.loads(data), streams[:3])
    else:
        os._exit(0)


def watched(told: int) -> bool:
    """Fork once more: True in the child, and in its parent False after the child has ended."""
    child = os.fork()
    if child == 0:
        return True
    for stream in range(3):
        os.close(stream)
    os.closerange(3, told)
    os.write(told, f"{child}\n".encode())
    _, status = os.waitpid(child, 0)
    os.write(told, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return False


def become(request: dict, streams: list[int]) -> None:
    """What exec would have done."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv[:] = [PROGRAM, *request["flags"]]
    sys.path[0] = str(REPOSITORY)


if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    main()
    runpy.run_path(PROGRAM, run_name="__main__")
