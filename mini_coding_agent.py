"""The entry point: `mini-coding-agent` and `python mini_coding_agent.py`."""

import os
import sys


def main() -> int:
    """Run the command line; returns the exit code.

    An installed copy keeps its packages in a folder of its own, `_mini_coding_agent`, because
    names such as `rules` and `harness` must not become importable for every other program.
    """
    try:
        return _run()
    except KeyboardInterrupt:
        return 130  # before the command line was ready to say so


def _run() -> int:
    here = os.path.dirname(os.path.realpath(__file__))
    packaged = here + os.sep + "_mini_coding_agent"
    home = packaged if os.path.isdir(packaged) else here
    if home not in sys.path[:1]:
        sys.path.insert(0, home)
    from harness.cli import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
