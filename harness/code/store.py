"""The cache of records between programs: one SQLite file, keyed by content hash.

It may be lost at any time: what is damaged, of another version or cannot be opened is done
without, and what can be written again is.
"""

import binascii
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.code.records import FileRecord

if TYPE_CHECKING:
    import sqlite3
    from sqlite3 import Connection

FILE_NAME = "index.sqlite"
SCHEMA = 1
"""Raised whenever a record of the same content would come out differently."""

_TABLE = """
CREATE TABLE IF NOT EXISTS record (
  hash TEXT PRIMARY KEY, symbols TEXT, imports TEXT, words TEXT, identifiers TEXT, check_sum INT
)"""
_SELECT = "SELECT hash, symbols, imports, words, identifiers, check_sum FROM record WHERE hash = ?"
_INSERT = "INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?, ?, ?)"
_SPARE_ROWS = 5000


class RecordCache:
    """Records on disk; holds none and keeps none while the file cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._connection: Connection | None = None
        self._opened = False
        self._notices: list[str] = []

    def take_notices(self) -> list[str]:
        """What there is to say about the file, once."""
        notices, self._notices = self._notices, []
        return notices

    def load(self, hashes: Iterable[str]) -> dict[str, FileRecord]:
        """The records known of these contents."""
        import sqlite3

        found: dict[str, FileRecord] = {}
        try:
            database = self._open()
            if database is None:
                return found
            for digest in hashes:
                row = database.execute(_SELECT, (digest,)).fetchone()
                if row is not None and row[-1] == _check_sum(row[:-1]):
                    found[digest] = FileRecord(*row[:-1])
        except sqlite3.Error as error:
            self._failed(error)
        return found

    def save(self, records: Iterable[FileRecord], live: Collection[str]) -> None:
        """Add records; when far more are kept than the `live` hashes, the others go."""
        import sqlite3

        rows = [(*row, _check_sum(row)) for row in map(_row, records)]
        try:
            database = self._open()
            if database is not None:
                with database:
                    database.executemany(_INSERT, rows)
                    _prune(database, live)
        except sqlite3.Error as error:
            self._failed(error)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> "Connection | None":
        """The database, opened at the first use; None once it cannot be used."""
        if not self._opened:
            self._opened = True
            self._connection = self._connect()
        return self._connection

    def _failed(self, error: "sqlite3.Error") -> None:
        import sqlite3

        missing = str(error).startswith("no such ")
        if isinstance(error, sqlite3.OperationalError) and not missing:
            self.close()  # read-only, full, or taken by another program
            self._say(f"cannot be used ({error}); the index is kept in memory")
        else:
            self._start_over(f"could not be read ({error})")

    def _connect(self) -> "Connection":
        import sqlite3

        connection = sqlite3.connect(self._path, timeout=1.0, check_same_thread=False)
        try:
            # it can be made again, so a power cut may cost it
            connection.execute("PRAGMA synchronous = OFF")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, SCHEMA):
                raise sqlite3.DatabaseError(f"version {version} instead of {SCHEMA}")
            if version == 0:
                connection.execute(_TABLE)
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _start_over(self, why: str) -> None:
        """Put an empty file in the place of this one."""
        import sqlite3

        self.close()
        try:
            for suffix in ("", "-journal", "-wal", "-shm"):
                self._path.with_name(FILE_NAME + suffix).unlink(missing_ok=True)
            self._connection = self._connect()
        except (OSError, sqlite3.Error):
            self._say(f"{why} and cannot be replaced; the index is kept in memory")
        else:
            self._say(f"{why} and is built again")

    def _say(self, what: str) -> None:
        self._notices.append(f"the code index {str(self._path)!r} {what}")


def _prune(database: "Connection", live: Collection[str]) -> None:
    (count,) = database.execute("SELECT count(*) FROM record").fetchone()
    if count <= 2 * len(live) + _SPARE_ROWS:
        return
    kept = set(live)
    known = database.execute("SELECT hash FROM record").fetchall()
    stale = [(digest,) for (digest,) in known if digest not in kept]
    database.executemany("DELETE FROM record WHERE hash = ?", stale)


def _row(record: FileRecord) -> tuple[str, ...]:
    return (
        record.hash,
        record.symbols_text,
        record.imports_text,
        record.words_text,
        record.identifiers,
    )


def _check_sum(row: tuple[Any, ...]) -> int:
    # SQLite notices a broken page, not a changed byte within a text
    with suppress(TypeError):
        return binascii.crc32("\0".join(row).encode("utf-8", "surrogatepass"))
    return -1
