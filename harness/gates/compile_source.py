"""Whether Python source compiles, as this interpreter sees it.

Stands alone: `python -I -S compile_source.py FILE...` prints a JSON list with what `problem`
returns for each file, so that a workspace's own interpreter (3.8 or later) can be asked.
"""

from __future__ import annotations

import re
import sys


def problem(data: bytes, name: str) -> tuple[int, int, str, str] | None:
    """What keeps the bytes `data` from compiling, or None. Never raises, never warns.

    Finds what the compiler finds: `return` outside a function as well as a missing bracket. A
    byte order mark or a coding cookie is read as Python reads it.
    """
    nul = data.find(b"\0")
    if nul >= 0:
        return _line_of(data, nul), 0, "a NUL byte, which source may not hold", ""
    undecodable = _undecodable(data)
    if undecodable is not None:
        return undecodable
    try:
        _compile(data, name)
    except SyntaxError as error:
        line = error.lineno or 0
        return line, error.offset or 0, error.msg, _source_line(data, line)
    except (RecursionError, MemoryError):
        return 0, 0, "nested too deeply for Python to compile", ""
    except (ValueError, OverflowError) as error:
        return 0, 0, str(error), ""
    return None


def _compile(data: bytes, name: str) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(data, name, "exec", dont_inherit=True)


def _undecodable(data: bytes) -> tuple[int, int, str, str] | None:
    try:
        data.decode(_encoding(data))
    except UnicodeDecodeError as error:
        byte = data[error.start]
        message = f"byte 0x{byte:02x} cannot be read as {error.encoding}"
        return _line_of(data, error.start), 0, message, ""
    except LookupError:
        return None
    return None


def _encoding(data: bytes) -> str:
    import io
    import tokenize

    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:
        return "utf-8"


def _line_of(data: bytes, at: int) -> int:
    return len(re.findall(rb"\r\n|\r|\n", data[:at])) + 1


def _source_line(data: bytes, line: int) -> str:
    try:
        text = data.decode(_encoding(data), "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    lines = re.split(r"\r\n|\r|\n", text)
    return lines[line - 1] if 0 < line <= len(lines) else ""


def _main(names: list[str]) -> None:
    import json

    found = []
    for name in names:
        with open(name, "rb") as file:
            found.append(problem(file.read(), name))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
