"""The history of an index: a line for each change of its segments, with its time and numbers.

``history.log`` is no part of what the manifest names, so that two indexes that hold the same have
the same other files, and no look-up depends on it. Each line is a CRC-32 and JSON. It is on the
disk before the manifest of its change, by whose generation it is known: lines of generations that
have not come to be do not count, and the next writer cuts them off. What an older neardup has
changed has no line.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from neardup.errors import IndexFormatError, ReadError
from neardup.indexes.manifest import Manifest, SegmentRecord, store_manifest
from neardup.runs.disk import FileRecord, translated, write_all

HISTORY = "history.log"

# So much of the end is read first: mostly a writer that was killed has left one line, if any.
_WINDOW = 4096


@dataclass(frozen=True)
class Change:
    """What a change did: ``add``, ``insert``, ``remove``, ``compact`` or ``merge``.

    ``added`` documents came with it and stay; ``inserted`` ones came one by one since the change
    before. ``gone`` went for others, ``left_out`` were denied, and ``removed`` taken out.
    """

    kind: str
    added: int = 0
    inserted: int = 0
    gone: int = 0
    left_out: int = 0
    removed: int = 0


@dataclass(frozen=True)
class Entry(Change):
    """A change, when it was made (UTC), and what the index held then."""

    generation: int = 0
    at: str = ""
    documents: int = 0
    denied: int = 0
    segments: int = 0
    bytes: int = 0


def store_next(
    folder: Path,
    manifest: Manifest,
    records: Sequence[SegmentRecord],
    files: Mapping[str, FileRecord],
    change: Change | None = None,
) -> None:
    """Store the manifest that follows another one, and before it what the change did.

    Those that only put documents behind a tail are not told one by one.
    """
    generation = manifest.generation + 1
    after = replace(manifest, generation=generation, segments=tuple(records), files=files)
    if change is not None:
        note_change(folder, after, change)
    store_manifest(folder, after)


def note_change(folder: Path, after: Manifest, change: Change) -> None:
    """Write a line of a change, whose manifest is to be stored next."""
    import msgspec

    entry = Entry(
        **vars(change),
        generation=after.generation,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        documents=after.n_documents,
        denied=0 if after.denied is None else after.denied.n_documents,
        segments=len(after.segments),
        bytes=after.n_bytes,
    )
    body = msgspec.json.encode(entry)
    path = folder / HISTORY
    # Its name is on the disk with that of the manifest.
    with translated(path), path.open("ab", buffering=0) as file:
        write_all(file.fileno(), b"%08x %s\n" % (zlib.crc32(body), body))
        os.fsync(file.fileno())


def read_history(folder: Path, manifest: Manifest) -> list[Entry]:
    """Return the changes that led to a manifest, the first one first, as far as they were noted.

    Raises
    ------
    IndexFormatError
        If a line is damaged.
    """
    path = folder / HISTORY
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from error
    entries: list[Entry] = []
    for number, line in enumerate(lines, 1):
        entry = _decoded(line)
        if entry is None and line.endswith(b"\n"):
            message = f"line {number} is damaged; take the file away, nothing else depends on it"
            raise IndexFormatError(message, path=str(path))
        # The last one may be cut off, or of a change that has not come to be.
        if entry is not None and entry.generation <= manifest.generation:
            # What is told again from here on had not come to be.
            while entries and entries[-1].generation >= entry.generation:
                entries.pop()
            entries.append(entry)
    return entries


def trim_history(folder: Path, generation: int) -> None:
    """Cut off what is left of changes beyond a generation; the caller holds the write lock."""
    path, window = folder / HISTORY, _WINDOW
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            while True:
                first = file.seek(max(0, size - window))
                data = file.read()
                # Where the window does not begin the file, its first piece may be part of a line.
                start = data.find(b"\n") + 1 if first else 0
                end = start + _length_of_kept(data[start:], generation)
                if end > start or not first:
                    break
                window *= 2
    except FileNotFoundError:
        return
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from error
    end += first
    if end == size:
        return
    with translated(path):
        if end:
            os.truncate(path, end)
        else:
            path.unlink()


def _length_of_kept(data: bytes, generation: int) -> int:
    """Return how many bytes of some lines stay: up to the last one that counts, or is damaged."""
    end = len(data)
    while end:
        start = data.rfind(b"\n", 0, end - 1) + 1
        entry = _decoded(data[start:end])
        is_damaged = entry is None and data[:end].endswith(b"\n")
        if is_damaged or (entry is not None and entry.generation <= generation):
            break
        end = start
    return end


def _decoded(line: bytes) -> Entry | None:
    """Return what a line says; None if it is not whole."""
    import msgspec

    checksum, _, body = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(body):
        return None
    # A later neardup may say more, which is passed over.
    return msgspec.json.decode(body, type=Entry)
