"""A folder of indexes that are all served: they are made there, restored and dropped."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

from neardup.errors import InvalidParameterError, NeardupError
from neardup.indexes.manifest import MANIFEST
from neardup.indexes.snapshot import unpack_snapshot
from neardup.jobs.index.documents import DocumentIndex
from neardup.jobs.index.passages import PassageIndex
from neardup.runs.disk import sync_folder, translated
from neardup.service.messages import Kind
from neardup.service.problems import Problem
from neardup.service.served import Served
from neardup.text.tokenizers import KNOWN_NAMES, named_tokenizer

# Folders that begin with a point are not there for anybody.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Below, a name is no slip of another.
_LEAST_LIKENESS = 0.75
_KINDS: Mapping[Kind, Any] = {"documents": DocumentIndex, "passages": PassageIndex}


class Root:
    """A folder of indexes.

    Parameters
    ----------
    folder
        Each folder in it that holds an index is served under its name.
    open_index
        Opens one as it is served.
    """

    def __init__(self, folder: Path, open_index: Callable[[str, Path], Served]) -> None:
        self.folder, self._open = folder, open_index

    def names(self) -> list[str]:
        """Return the names of the indexes that are there now."""
        with translated(self.folder):
            found = sorted(os.listdir(self.folder))  # noqa: PTH208
        return [
            name for name in found
            if _NAME.fullmatch(name) and (self.folder / name / MANIFEST).is_file()
        ]  # fmt: skip

    def has(self, served: Served) -> bool:
        """Return whether an index lies here."""
        return Path(served.index.folder).parent == self.folder

    def check_own(self, served: Served) -> None:
        """Make sure that an index lies here, and not where the command line said."""
        if not self.has(served):
            message = f"index {served.name!r} does not lie in the folder of --root; delete it there"
            raise Problem(403, message)

    def open(self, name: str) -> Served:
        """Open an index that is there."""
        return self._open(name, self.folder / name)

    def create(self, name: str, kind: Kind, options: Mapping[str, Any]) -> Served:
        """Make an empty index, as ``create`` of its class does."""
        tokenizer = options.get("tokenizer")
        # Any other is the name of a file.
        if tokenizer is not None and (
            not isinstance(tokenizer, str) or named_tokenizer(tokenizer) is None
        ):
            message = (
                f"tokenizer must be one of {KNOWN_NAMES}, as a request names no files, got "
                f"{tokenizer!r}"
            )
            raise InvalidParameterError(message, "tokenizer")
        make = _KINDS[kind].create
        _check_known(options, sorted(make.takes.known.keys() - {"folder", *make.takes.groups}))
        with self._new(name) as folder:
            try:
                make(folder, **options)
            except TypeError as error:
                raise InvalidParameterError(str(error)) from None
        return self.open(name)

    def restore(self, name: str, tar: BinaryIO) -> Served:
        """Make an index of a snapshot; every byte of it is checked before it is there."""
        with self._new(name) as folder:
            folder.mkdir()
            unpack_snapshot(tar, folder)
            try:
                self._open(name, folder).index.info()
            except NeardupError as error:
                detail = str(error).replace(str(folder), name)
                raise Problem(
                    422, f"the snapshot is damaged: {detail}", "InvalidInputError"
                ) from None
        return self.open(name)

    def drop(self, served: Served) -> None:
        """Delete an index that is not served any more, all at once for others."""
        folder = Path(served.index.folder)
        with translated(folder):
            gone = Path(tempfile.mkdtemp(prefix=".dropped-", dir=self.folder))
            folder.rename(gone / folder.name)
            sync_folder(self.folder)
        shutil.rmtree(gone, ignore_errors=True)

    def check_new(self, name: str, n_bytes: int = 0) -> None:
        """Make sure that an index of a name may be made, and that there is room for so much."""
        if not _NAME.fullmatch(name):
            message = (
                "the name of an index has up to 100 letters, digits, '.', '_' and '-', and begins "
                f"with a letter or a digit, got {name[:100]!r}"
            )
            raise InvalidParameterError(message)
        if os.path.lexists(self.folder / name):
            message = f"index {name!r} is there already; drop it, or choose another name"
            raise InvalidParameterError(message)
        with translated(self.folder):
            n_free = shutil.disk_usage(self.folder).free
        if n_bytes > n_free:
            message = (
                f"this needs {n_bytes:,} bytes of the disk, of which {n_free:,} are free; make room"
            )
            raise Problem(507, message)

    @contextmanager
    def _new(self, name: str) -> Iterator[Path]:
        """Give a folder that gets a name when all is in it."""
        self.check_new(name)
        target = self.folder / name
        with (
            translated(target),
            tempfile.TemporaryDirectory(prefix=".new-", dir=self.folder) as new,
        ):
            yield Path(new) / name
            # Another may have come meanwhile.
            self.check_new(name)
            (Path(new) / name).rename(target)
            sync_folder(self.folder)


def _check_known(options: Iterable[str], known: Sequence[str]) -> None:
    """Make sure that an index can be made with options of such names."""
    for name in options:
        if name not in known:
            close = get_close_matches(name, known, 1, _LEAST_LIKENESS)
            advice = f"did you mean {close[0]!r}? " if close else ""
            message = f"there is no option {name!r}; {advice}options are {', '.join(known)}"
            raise InvalidParameterError(message)
