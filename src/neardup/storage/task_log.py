"""The log of a work folder: which tasks are done, what files they made, and what came out.

A line a task, added when its files are on the disk: the CRC-32 of all lines up to this one, in hex,
and a JSON object. The first line goes on from the checksum of what the folder is for, so that no
line can be lost, changed, moved, or taken from another run without being noticed. A line that a
killed run has written in part is none.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from neardup.storage.checksums import FileRecord
from neardup.storage.files import store_file, write_all


@dataclass(frozen=True)
class TaskRecord:
    """A task that is done: its files by name, and its result, which is JSON."""

    name: str
    files: Mapping[str, FileRecord] = field(default_factory=dict)
    result: Any = None
    is_discarded: bool = False


class TaskLog:
    """The log of a work folder, which one process changes at a time.

    Parameters
    ----------
    path
        File, which need not be there yet.
    purpose
        What the folder is for, as a string; the lines of another purpose count as damaged.
    """

    def __init__(self, path: Path, purpose: str) -> None:
        self.path = path
        self._start = zlib.crc32(purpose.encode())
        self._checksum, self._size = self._start, 0

    def load(self) -> tuple[dict[str, TaskRecord], bool]:
        """Return the tasks in the order in which they were done, and whether a line is damaged.

        Nothing that comes after a damaged line is returned.
        """
        self._checksum, self._size = self._start, 0
        records: dict[str, TaskRecord] = {}
        try:
            lines = self.path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return records, False
        for line in lines:
            if not line.endswith(b"\n"):
                # A killed run was just adding it.
                return records, line is not lines[-1]
            body = line[9:-1]
            checksum = zlib.crc32(body, self._checksum)
            try:
                if line[:9] != b"%08x " % checksum:
                    return records, True
                record = _decode(body)
            except (ValueError, KeyError, TypeError, AttributeError):
                return records, True
            records[record.name] = record
            self._checksum, self._size = checksum, self._size + len(line)
        return records, False

    @property
    def mark(self) -> tuple[int, int]:
        """Where the log ends, for ``cut_back``."""
        return self._checksum, self._size

    def append(self, record: TaskRecord) -> None:
        """Add a task, or a change of one; it is on the disk when this returns.

        Raises
        ------
        OSError
            If it cannot be written; a part of it may be there, which ``cut_back`` removes.
        """
        body = _encode(record)
        checksum = zlib.crc32(body, self._checksum)
        line = b"%08x %s\n" % (checksum, body)
        with self.path.open("r+b", buffering=0) as file:
            # What is behind the last whole line is damaged, or was not finished.
            file.truncate(self._size)
            file.seek(self._size)
            write_all(file.fileno(), line)
            os.fsync(file.fileno())
        self._checksum, self._size = checksum, self._size + len(line)

    def cut_back(self, mark: tuple[int, int]) -> None:
        """Remove what was added since a mark; as long as that fails, the next line does it."""
        self._checksum, self._size = mark
        with contextlib.suppress(OSError):
            os.truncate(self.path, self._size)

    def store(self, records: Iterable[TaskRecord]) -> None:
        """Replace all lines in one step.

        Raises
        ------
        WriteError
            If they cannot be written; then the earlier ones stay.
        """
        checksum, lines = self._start, []
        for record in records:
            body = _encode(record)
            checksum = zlib.crc32(body, checksum)
            lines.append(b"%08x %s\n" % (checksum, body))
        store_file(self.path, *lines)
        self._checksum, self._size = checksum, sum(map(len, lines))


def as_json(result: Any) -> Any:
    """Return a result as it is read back from the log: a tuple, for one, as a list.

    Raises
    ------
    TypeError, ValueError
        If it is no JSON.
    """
    return json.loads(json.dumps(result, allow_nan=False))


def _encode(record: TaskRecord) -> bytes:
    return json.dumps(asdict(record), allow_nan=False).encode()


def _decode(body: bytes) -> TaskRecord:
    content = json.loads(body)
    files = {name: FileRecord(**file) for name, file in content.pop("files").items()}
    return TaskRecord(files=files, **content)
