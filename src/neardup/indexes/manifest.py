"""The manifest: one small file that says what belongs to an index.

Its first line is ``neardup-index FORMAT SHA256`` with the SHA-256 of all that follows, which is
JSON. Every format of an index, also a later one, keeps this line and a field ``format`` in the
JSON, so that neardup can distinguish an index of another format from a damaged one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from neardup.errors import IndexFormatError, InvalidParameterError, ReadError
from neardup.options.choices import IndexKind
from neardup.runs.arrays import RESTORE
from neardup.runs.disk import FileRecord, store_file
from neardup.runs.scratch import recover, recover_above
from neardup.version import __version__


def free_name(manifest: Manifest, number: int) -> str:
    """Name a segment by the generation that it comes with and its number."""
    return f"g{manifest.generation + 1:06d}-{number:04d}"


FORMAT = 1
MANIFEST = "manifest.json"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
FILE_NAME = re.compile(NAME.pattern + r"\.(npy|arrow)")
_FIRST_LINE = re.compile(rb"neardup-index ([1-9][0-9]{0,8}) ([0-9a-f]{64})\n")
MAGIC = b"neardup-index "
_LARGEST = 2**63 - 1

Entry = tuple[int, int, int, int]
"""Number, times and size of a file."""


@dataclass(frozen=True)
class RemovedRecord:
    """The file ``removed/NAME.npy`` with the numbers of ``n_documents`` documents."""

    name: str
    n_documents: int
    file: FileRecord


@dataclass(frozen=True)
class SegmentRecord:
    """A segment: its folder's ``name``, its counts, its ``files``, and what it has lost."""

    name: str
    n_documents: int
    n_tokens: int
    files: Mapping[str, FileRecord]
    removed: RemovedRecord | None = None


def segment_bytes(records: Iterable[SegmentRecord]) -> int:
    """Count the bytes of all files of some segments."""
    return sum(file.size for record in records for file in record.files.values())


@dataclass(frozen=True)
class TailRecord:
    """The file ``tail/NAME.log``, with its counts, as far as it belongs to the index.

    It grows at its end; what it has beyond the size that is named here is no part of it.
    """

    name: str
    n_documents: int
    n_gone: int
    n_tokens: int
    file: FileRecord


@dataclass(frozen=True)
class Manifest:
    """What belongs to an index.

    Parameters
    ----------
    scheme
        How the index was made, as JSON; this package hands it back as it is.
    generation
        Grows by one with each change.
    segments
        In the order in which they were added.
    files
        Files in ``extra/``.
    tail
        Documents behind those of the segments, which wait for one.
    denied
        A segment of what is known of documents that must not come back. It is none of ``segments``.
    created_with
        Version of neardup that made the index.
    """

    scheme: Mapping[str, Any]  # JSON, which only its owner knows the types of
    generation: int = 0
    segments: tuple[SegmentRecord, ...] = ()
    files: Mapping[str, FileRecord] = field(default_factory=dict)
    tail: TailRecord | None = None
    denied: SegmentRecord | None = None
    created_with: str = __version__
    format: int = FORMAT

    @property
    def all_segments(self) -> tuple[SegmentRecord, ...]:
        """All segments that it names, that of denied documents last."""
        return self.segments if self.denied is None else (*self.segments, self.denied)

    @property
    def n_documents(self) -> int:
        """Count the documents that can be found."""
        n_lost = sum(each.removed.n_documents for each in self.segments if each.removed)
        n_waiting = self.tail.n_documents if self.tail else 0
        return sum(each.n_documents for each in self.segments) - n_lost + n_waiting

    @property
    def n_bytes(self) -> int:
        """Count the bytes of what it names, but for the numbers of removed documents."""
        files = [*self.files.values(), *([self.tail.file] if self.tail else [])]
        return segment_bytes(self.all_segments) + sum(file.size for file in files)


def load_manifest(folder: Path) -> Manifest:
    """Read the manifest of an index and check every byte and every field of it."""
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            # A foreign file of this name may be large.
            data = file.read(len(MAGIC))
            if data == MAGIC:
                data += file.read()
    except (FileNotFoundError, NotADirectoryError):
        if recover(folder):
            return load_manifest(folder)
        raise no_index(folder) from None
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from error
    try:
        return _decoded(data)
    except ValueError as error:
        raise IndexFormatError(str(error), path=str(path)) from None


def entry_of_manifest(folder: Path) -> Entry | None:
    """Return what tells one manifest from the next, without reading it; None if there is none.

    A manifest is replaced by a new file, which is no earlier; no two in a row have the same number.
    """
    try:
        # Not folder / MANIFEST, which takes longer than the look itself.
        found = os.stat(f"{folder}{os.sep}{MANIFEST}")  # noqa: PTH116
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def kind_of_manifest(manifest: Manifest) -> IndexKind:
    """Return what kind of index a manifest is of; those that say nothing are of passages."""
    return "documents" if manifest.scheme.get("kind") == "documents" else "passages"


def kind_of(folder: Path) -> IndexKind:
    """Return what kind of index lies in a folder.

    Raises
    ------
    ReadError, IndexFormatError
        If there is none, or its manifest is damaged or of another format.
    """
    return kind_of_manifest(load_manifest(folder))


def check_kind(folder: Path, manifest: Manifest, kind: IndexKind) -> None:
    """Make sure that an index is of a kind."""
    found = kind_of_manifest(manifest)
    if found != kind:
        message = f"this is an index of {found}, not of {kind}; neardup.open_index opens either"
        raise IndexFormatError(message, path=str(folder))


def no_index(folder: Path) -> ReadError:
    """Give the error for a folder that holds no index."""
    if folder.is_file():
        message = "no index: this is a file; the folder of an index comes first, then files"
        return ReadError(message, path=str(folder))
    found = "the folder has no manifest.json" if folder.is_dir() else "there is no such folder"
    message = f"no index: {found}; make one with: neardup index build {folder} INPUT"
    return ReadError(message, path=str(folder))


def store_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest of an index in one step; the caller holds the write lock.

    When it returns, the new manifest is on the disk. When it raises, the old one is in place; only
    if the very last step fails, that of writing the folder's names to the disk, the new one is.
    """
    try:
        data = encode(manifest)
        is_same = _decoded(data) == manifest
    except (TypeError, ValueError) as error:
        message = f"this manifest cannot be stored: {error}"
        raise InvalidParameterError(message) from None
    if not is_same:
        message = "this manifest would be read back as another one; use plain JSON values"
        raise InvalidParameterError(message)
    store_file(folder / MANIFEST, data, output=folder)


def encode(manifest: Manifest) -> bytes:
    """Spell a manifest, always in the same way."""
    # Not indented, and without dataclasses.asdict: both are slow, and a commit waits for this.
    content = {
        **vars(manifest),
        "segments": [_spelt_segment(segment) for segment in manifest.segments],
        "files": _spelt_files(manifest.files),
        "tail": _with_spelt_file(manifest.tail),
        "denied": None if manifest.denied is None else _spelt_segment(manifest.denied),
    }
    body = json.dumps(content, sort_keys=True, allow_nan=False).encode() + b"\n"
    return MAGIC + f"{manifest.format} {hashlib.sha256(body).hexdigest()}\n".encode() + body


def _spelt_segment(segment: SegmentRecord) -> dict[str, Any]:
    lost = _with_spelt_file(segment.removed)
    return vars(segment) | {"files": _spelt_files(segment.files), "removed": lost}


def _with_spelt_file(record: RemovedRecord | TailRecord | None) -> dict[str, Any] | None:
    return None if record is None else vars(record) | {"file": vars(record.file)}


def _spelt_files(files: Mapping[str, FileRecord]) -> dict[str, Any]:
    return {name: vars(record) for name, record in files.items()}


def decode(data: bytes) -> Manifest:
    """Read what ``encode`` wrote; ValueError says what is wrong and what to do."""
    if not data.startswith(MAGIC):
        message = f"this is no manifest of a neardup index, or a damaged one; {RESTORE}"
        raise ValueError(message)
    first = _FIRST_LINE.match(data)
    body = data[first.end() :] if first else b""
    if first is None or hashlib.sha256(body).hexdigest().encode() != first[2]:
        message = f"the manifest is damaged or cut off; {RESTORE}"
        raise ValueError(message)
    try:
        content = json.loads(body, parse_constant=_reject)
        if not isinstance(content, dict) or content.get("format") != int(first[1]):
            message = "the format"
            raise ValueError(message)
        if content["format"] != FORMAT:
            message = (
                f"the index has format {content['format']}, this neardup ({__version__}) reads "
                f"{FORMAT}; use another neardup, or build the index again"
            )
            raise _OtherFormatError(message)
        return _manifest(content)
    except _OtherFormatError:
        raise
    except (ValueError, RecursionError) as error:
        message = f"the manifest has wrong values ({error}); {RESTORE}"
        raise ValueError(message) from None


# A writer reads what it has just written, and a reader that looks for news what it knows already.
_decoded = lru_cache(2)(decode)


class _OtherFormatError(ValueError):
    """The message is complete."""


def _reject(constant: str) -> None:
    message = f"{constant} is no JSON"
    raise ValueError(message)


def _manifest(content: Any) -> Manifest:
    _check_fields(content, Manifest)
    segments = tuple(map(_segment, _typed(content["segments"], list, "segments")))
    denied = None if content["denied"] is None else _segment(content["denied"])
    manifest = Manifest(
        scheme=_typed(content["scheme"], dict, "scheme"),
        generation=_count(content["generation"], "generation"),
        segments=segments,
        files=_files(content["files"]),
        tail=_tail(content["tail"]),
        denied=denied,
        created_with=_typed(content["created_with"], str, "created_with"),
        format=_count(content["format"], "format"),
    )
    names = {segment.name for segment in manifest.all_segments}
    if len(names) < len(manifest.all_segments):
        message = "two segments have one name"
        raise ValueError(message)
    return manifest


def _segment(content: Any) -> SegmentRecord:
    _check_fields(content, SegmentRecord)
    n_documents = _count(content["n_documents"], "n_documents")
    removed = content["removed"]
    if removed is not None:
        _check_fields(removed, RemovedRecord)
        n_removed = _count(removed["n_documents"], "n_documents")
        if not 0 < n_removed <= n_documents:
            message = f"{n_removed} of {n_documents} documents removed"
            raise ValueError(message)
        removed = RemovedRecord(_name(removed["name"], NAME), n_removed, _file(removed["file"]))
    return SegmentRecord(
        _name(content["name"], NAME),
        n_documents,
        _count(content["n_tokens"], "n_tokens"),
        _files(content["files"]),
        removed,
    )


def _tail(content: Any) -> TailRecord | None:
    if content is None:
        return None
    _check_fields(content, TailRecord)
    return TailRecord(
        _name(content["name"], NAME),
        _count(content["n_documents"], "n_documents"),
        _count(content["n_gone"], "n_gone"),
        _count(content["n_tokens"], "n_tokens"),
        _file(content["file"]),
    )


def _files(content: Any) -> dict[str, FileRecord]:
    files = _typed(content, dict, "files")
    return {_name(name, FILE_NAME): _file(record) for name, record in files.items()}


def _file(content: Any) -> FileRecord:
    _check_fields(content, FileRecord)
    checksum = _typed(content["checksum"], str, "checksum")
    if not re.fullmatch("[0-9a-f]{8}", checksum):
        message = f"checksum {checksum!r}"
        raise ValueError(message)
    return FileRecord(_count(content["size"], "size"), checksum)


def _check_fields(content: Any, kind: Any) -> None:
    if not isinstance(content, dict) or content.keys() != kind.__dataclass_fields__.keys():
        message = f"the fields of a {kind.__name__}"
        raise ValueError(message)


def _name(content: Any, pattern: re.Pattern[str]) -> str:
    if not isinstance(content, str) or not pattern.fullmatch(content):
        message = f"the name {content!r}"
        raise ValueError(message)
    return content


def _count(content: Any, name: str) -> int:
    # True is an int in Python.
    if type(content) is not int or not 0 <= content <= _LARGEST:
        message = f"{name} {content!r}"
        raise ValueError(message)
    return content


def _typed(content: Any, kind: type, name: str) -> Any:
    if not isinstance(content, kind):
        message = f"{name} {content!r}"
        raise ValueError(message)
    return content


def index_named(data: Any) -> Path | None:
    """Return the folder of an index, if that is what a path names; of whichever kind."""
    if not isinstance(data, (str, os.PathLike)):
        return None
    recover_above(os.fsdecode(data))
    # A URL or a pattern is a string too; os.path says no to whatever cannot be a path.
    is_index = os.path.exists(os.path.join(data, MANIFEST))  # noqa: PTH110, PTH118
    return Path(data) if is_index else None
