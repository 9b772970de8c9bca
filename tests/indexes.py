"""The files of an index, for tests: what they hold, and whether one is there that should not be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from neardup.index.store import FILE, Database


def tree(folder: Path) -> dict[str, bytes]:
    """Give all files of a folder but the log and the lock of a database, and of that its rows."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith((f"{FILE}-", "write.lock")):
            is_database = path.name == FILE
            found[str(path.relative_to(folder))] = (
                rows_of(path.parent) if is_database else path.read_bytes()
            )
    return found


def rows_of(folder: Path) -> bytes:
    """Give what the database of an index holds."""
    database = Database(folder)
    try:
        return repr(replace(database.read(), file=())).encode()
    finally:
        database.close()


def check_names(folder: Path) -> None:
    """Make sure that an index has the files of its segments, and no others."""
    manifest = read_state(folder)
    expected = {FILE}
    for record in manifest.all_segments:
        expected.add(f"segments/{record.name}")
    assert tree(folder).keys() == expected


def read_state(folder: Path):
    """Give the manifest of an index."""
    database = Database(folder)
    try:
        return database.read().manifest
    finally:
        database.close()
