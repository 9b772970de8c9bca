"""A committed state of an index as one tar file."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from neardup.errors import IndexFormatError, ReadError
from neardup.index.store import FILE, SEGMENTS, Contents, Database
from neardup.runs.arrays import RESTORE

_PART_BYTES = 1 << 20
_BLOCK = tarfile.BLOCKSIZE


class Snapshot:
    """A committed state of an index, whose files are open: they stay what they are."""

    def __init__(self, contents: Contents, files: Sequence[tuple[str, IO[bytes], int]]) -> None:
        self.generation = contents.manifest.generation
        self.n_documents, self._files = contents.manifest.n_documents, files
        # With what follows each name and each file, and the end.
        self.n_bytes = sum(_BLOCK + _padded(size) for _, _, size in files) + 2 * _BLOCK

    def parts(self) -> Generator[bytes]:
        """Yield the tar file, and close the files."""
        try:
            for name, file, size in self._files:
                info = tarfile.TarInfo(name)
                info.size, info.mode = size, 0o600
                yield info.tobuf(tarfile.GNU_FORMAT)
                left = size
                while left:
                    part = file.read(min(left, _PART_BYTES))
                    if not part:
                        message = f"the file has become shorter; {RESTORE}"
                        raise IndexFormatError(message, path=file.name)
                    left -= len(part)
                    yield part
                yield bytes(_padded(size) - size)
            yield bytes(2 * _BLOCK)
        finally:
            self.close()

    def close(self) -> None:
        """Close the files."""
        for _, file, _ in self._files:
            file.close()


def open_snapshot(folder: Path) -> Snapshot:
    """Open all files of the state of an index that is committed now.

    Raises
    ------
    ReadError, IndexFormatError
        If a file is missing, or shorter than it should be.
    """
    database = Database(folder)
    try:
        while True:
            contents, data = database.copy()
            try:
                files = _open_files(folder, contents)
            except (IndexFormatError, ReadError):
                # A writer may have removed files meanwhile.
                if not database.has_changed(contents):
                    raise
            else:
                # Last, so that a tar file that was cut off has no index.
                return Snapshot(contents, [*files, (FILE, io.BytesIO(data), len(data))])
    finally:
        database.close()


def _open_files(folder: Path, contents: Contents) -> list[tuple[str, IO[bytes], int]]:
    files: list[tuple[str, IO[bytes], int]] = []
    with ExitStack() as stack:
        for segment in contents.manifest.all_segments:
            for name, record in segment.files.items():
                place = f"{SEGMENTS}/{segment.name}/{name}"
                path = folder / place
                try:
                    file = stack.enter_context(path.open("rb"))
                except OSError as error:
                    raise ReadError(error.strerror or str(error), path=str(path)) from error
                if os.fstat(file.fileno()).st_size < record.size:
                    message = f"the file is shorter than it should be; {RESTORE}"
                    raise IndexFormatError(message, path=str(path))
                files.append((place, file, record.size))
        stack.pop_all()
    return files


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK
