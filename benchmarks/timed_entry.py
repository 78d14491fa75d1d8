"""Runs the program and writes to the file named first how long its `import openai` took.

Everything that the import brings along counts to it, and nothing that was there before.
"""

import builtins
import sys
import time

target = sys.argv.pop(1)
entry = sys.argv.pop(1)
plain_import = builtins.__import__


def timed_import(name, *more, **named):  # type: ignore[no-untyped-def]
    if name != "openai":
        return plain_import(name, *more, **named)
    builtins.__import__ = plain_import
    started = time.perf_counter()
    module = plain_import(name, *more, **named)
    with open(target, "w") as file:
        file.write(str(time.perf_counter() - started))
    return module


builtins.__import__ = timed_import
sys.path.insert(0, entry)
from mini_coding_agent import main  # noqa: E402

sys.exit(main())
