"""The database of results: its tables, its format, and the checksums of its rows."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from edgecil.errors import DataError
from edgecil.io.files import other_kind

FORMAT = 4
OLDEST = 3  # formats of earlier versions are read, never continued
DATABASE = "results.sqlite"

# Columns of each table; `checksum` is one more, over all of these.
TABLES = {
    "identity": ("name", "value"),
    "sequences": ("protocol", "label", "tasks"),
    "nodes": (*("method", "seed", "prefix", "whole_run", "result", "error", "trace"), "worker"),
    "configs": ("config",),
}
SCHEMA = """
CREATE TABLE IF NOT EXISTS identity (
    name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sequences (
    protocol TEXT NOT NULL, label TEXT NOT NULL, tasks TEXT NOT NULL, checksum TEXT NOT NULL,
    PRIMARY KEY (protocol, label));
CREATE TABLE IF NOT EXISTS nodes (
    method TEXT NOT NULL, seed INTEGER NOT NULL, prefix TEXT NOT NULL,
    whole_run INTEGER NOT NULL, result TEXT, error TEXT, trace TEXT, worker TEXT,
    checksum TEXT NOT NULL, PRIMARY KEY (method, seed, prefix));
CREATE TABLE IF NOT EXISTS configs (config TEXT PRIMARY KEY, checksum TEXT NOT NULL);
"""


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Return a connection that creates no files.

    Without a write-ahead log no process uses the database; with a log and without its index, a
    killed process left the log.
    """
    log, index = (path.with_name(path.name + suffix).exists() for suffix in ("-wal", "-shm"))
    if log and not index:
        raise sqlite3.OperationalError("the index of the write-ahead log is missing")
    mode = "mode=ro" if log else "immutable=1"
    database = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)
    try:
        database.execute("SELECT 1 FROM sqlite_master").fetchone()
    except (sqlite3.Error, UnicodeDecodeError):
        database.close()
        raise
    return database


def checksum_of(values: Iterable[Any]) -> str:
    """Return a checksum of the values of a row."""
    text = "\0".join("" if value is None else str(value) for value in values)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def cause_of(error: sqlite3.Error, directory: Path) -> str:
    """Return why a database cannot be used, in words that name the cause."""
    text = str(error)
    if "readonly" in text or "unable to open" in text:
        return f"{text}; this user may not write to {directory}"
    if "locked" in text or "busy" in text:
        return f"{text}; another process is writing to it"
    return text


def check_database(path: Path) -> None:
    """Raise an error if a folder, a pipe or a device has the name of the database."""
    if (kind := other_kind(path)) is not None:
        raise DataError(
            f"Cannot use {path}: it is {kind}, not a database; move it away and restore the file "
            "from a copy."
        )


def check_format(directory: Path, number: int) -> None:
    """Raise an error if this version does not read a format."""
    if not OLDEST <= number <= FORMAT:
        raise DataError(
            f"{directory} was written by another version of edgecil (results of format {number}, "
            f"this version reads {OLDEST} to {FORMAT}); use that version, or train again in "
            "another directory."
        )


def check_pages(database: sqlite3.Connection, check: str) -> None:
    """Check that pages are consistent; `quick_check` reads tables, `integrity_check` all."""
    (answer,) = database.execute(f"PRAGMA {check}(1)").fetchone()
    if answer != "ok":
        line = str(answer).split("\n")[-1]
        raise sqlite3.DatabaseError(f"database disk image is malformed ({line})")


def check_tables(database: sqlite3.Connection) -> None:
    """Raise an error unless the tables are ours, and tables: a view may have rows without end."""
    kinds = dict(database.execute("SELECT name, type FROM sqlite_master"))
    strange = [name for name in TABLES if kinds.get(name) != "table"]
    strange += [name for name, kind in kinds.items() if kind in ("view", "trigger")]
    if strange:
        raise sqlite3.DatabaseError(f"it has no plain table of results named {strange[0]!r}")
