"""A committed state of an index as one tar file, and an index made of such a file."""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, BinaryIO

from neardup.errors import IndexFormatError, InvalidInputError, ReadError
from neardup.indexes.folder import EXTRA, REMOVED, TAIL, mapped_files, read_current
from neardup.indexes.history import HISTORY
from neardup.indexes.manifest import FILE_NAME, MANIFEST, NAME, Manifest, encode
from neardup.indexes.segments import SEGMENTS
from neardup.runs.arrays import RESTORE
from neardup.runs.disk import make_folder, sync_folder, translated

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


def unpack_snapshot(tar: BinaryIO, folder: Path) -> None:
    """Write the files of a snapshot into a new folder; whoever opens the index checks them.

    Raises
    ------
    InvalidInputError
        If it is no snapshot, or has something else in it.
    """
    written: set[str] = set()
    while head := tar.read(_BLOCK).rstrip(b"\0"):
        member = _member_of(head, written)
        _write(tar, member.size, folder / member.name)
        tar.read(_padded(member.size) - member.size)
    if MANIFEST not in written:
        raise _no_snapshot(f"it has no {MANIFEST}")
    for path in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        sync_folder(path)


class SnapshotHeads:
    """Looks at what files a snapshot has while its bytes come, so that it is refused early.

    ``unpack_snapshot`` refuses the same, and what is cut off.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._head, self._left = bytearray(), 0
        self._is_over = False

    def feed(self, part: bytes) -> None:
        """Take the next bytes.

        Raises
        ------
        InvalidInputError
            If it is no snapshot, or has something else in it.
        """
        at = 0
        while at < len(part) and not self._is_over:
            n_bytes = min(self._left or _BLOCK - len(self._head), len(part) - at)
            if self._left:
                self._left -= n_bytes
            else:
                self._head += part[at : at + n_bytes]
            at += n_bytes
            if len(self._head) == _BLOCK:
                head = bytes(self._head).rstrip(b"\0")
                self._head.clear()
                self._is_over = not head
                self._left = _padded(_member_of(head, self._names).size) if head else 0


def _member_of(head: bytes, names: set[str]) -> tarfile.TarInfo:
    """Read the head of a file of a snapshot, and note its name beside those before it."""
    try:
        # By itself: tarfile takes names and lists of any size into memory, and makes large files
        # of nothing.
        member = tarfile.TarInfo.frombuf(head.ljust(_BLOCK, b"\0"), "utf-8", "surrogateescape")
    except tarfile.TarError as error:
        raise _no_snapshot(str(error)) from None
    is_plain = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and member.size >= 0
    if not is_plain or not _PLACE.fullmatch(member.name):
        message = f"a snapshot has no {member.name[:100]!r}; nothing was restored"
        raise InvalidInputError(message)
    if member.name in names:
        message = f"a snapshot has one {member.name!r}; nothing was restored"
        raise InvalidInputError(message)
    names.add(member.name)
    return member


def _no_snapshot(reason: str) -> InvalidInputError:
    return InvalidInputError(f"this is no snapshot of an index, or not all of it: {reason}")


def _write(tar: BinaryIO, size: int, path: Path) -> None:
    """Write the next bytes of a tar file to a new file."""
    with translated(path):
        for above in reversed(path.parents):
            if not above.exists():
                make_folder(above)
        with path.open("xb") as file:
            left = size
            while left:
                part = tar.read(min(left, _PART_BYTES))
                if not part:
                    raise _no_snapshot(f"{path.name} is cut off")
                left -= file.write(part)
            file.flush()
            os.fsync(file.fileno())
