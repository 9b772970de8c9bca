"""A committed state of an index as one tar file, and an index made of such a file."""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from neardup.errors import IndexFormatError, ReadError
from neardup.indexes.folder import EXTRA, REMOVED, TAIL, mapped_files, read_current
from neardup.indexes.history import HISTORY
from neardup.indexes.manifest import FILE_NAME, MANIFEST, NAME, Manifest, encode
from neardup.indexes.segments import SEGMENTS
from neardup.runs.arrays import RESTORE

_PART_BYTES = 1 << 20
_BLOCK = tarfile.BLOCKSIZE
_PLACE = re.compile(
    rf"{re.escape(MANIFEST)}|{re.escape(HISTORY)}|{SEGMENTS}/{NAME.pattern}/{FILE_NAME.pattern}"
    rf"|({REMOVED}|{EXTRA})/{NAME.pattern}\.npy|{TAIL}/{NAME.pattern}\.log"
)


class Snapshot:
    """A committed state of an index, whose files are open: they stay what they are.

    Whoever changes the index meanwhile writes other files, or behind the end of these.
    """

    def __init__(self, manifest: Manifest, files: Sequence[tuple[str, IO[bytes], int]]) -> None:
        self.generation, self.n_documents = manifest.generation, manifest.n_documents
        self._manifest, self._files = encode(manifest), files
        # With what follows each name and each file, and the end.
        sizes = [len(self._manifest), *(size for _, _, size in files)]
        self.n_bytes = sum(_BLOCK + _padded(size) for size in sizes) + 2 * _BLOCK

    def parts(self) -> Generator[bytes]:
        """Yield the tar file, and close the files."""
        try:
            for name, file, size in self._files:
                yield _head(name, size)
                left = size
                while left:
                    part = file.read(min(left, _PART_BYTES))
                    if not part:
                        message = f"the file has become shorter; {RESTORE}"
                        raise IndexFormatError(message, path=file.name)
                    left -= len(part)
                    yield part
                yield bytes(_padded(size) - size)
            # Last, so that what was cut off on its way is no index.
            size = len(self._manifest)
            yield _head(MANIFEST, size)
            yield self._manifest + bytes(_padded(size) - size)
            yield bytes(2 * _BLOCK)
        finally:
            self.close()

    def close(self) -> None:
        """Close the files."""
        for _, file, _ in self._files:
            file.close()


def open_snapshot(folder: Path) -> Snapshot:
    """Open all files of the state of an index that is committed now; needs no lock.

    Raises
    ------
    ReadError, IndexFormatError
        If a file is missing, or shorter than it should be.
    """
    return read_current(folder, lambda manifest: _open_files(folder, manifest))


def _open_files(folder: Path, manifest: Manifest) -> Snapshot:
    with ExitStack() as stack:
        files = []
        named = [*mapped_files(manifest)]
        if manifest.tail is not None:
            named.append((f"{TAIL}/{manifest.tail.name}.log", manifest.tail.file))
        for name, record in named:
            path = folder / name
            try:
                file = stack.enter_context(path.open("rb"))
            except OSError as error:
                raise ReadError(error.strerror or str(error), path=str(path)) from error
            if os.fstat(file.fileno()).st_size < record.size:
                message = f"the file is shorter than it should be; {RESTORE}"
                raise IndexFormatError(message, path=str(path))
            files.append((name, file, record.size))
        with suppress(FileNotFoundError):
            # Lines of later changes do not count.
            file = stack.enter_context((folder / HISTORY).open("rb"))
            files.append((HISTORY, file, os.fstat(file.fileno()).st_size))
        stack.pop_all()
    return Snapshot(manifest, files)


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _head(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info.tobuf(tarfile.GNU_FORMAT)
