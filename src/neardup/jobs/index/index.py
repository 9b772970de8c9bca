"""What users do with an index of either kind: open it, add to it, remove, compact, look at it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from neardup.files.inputs import check_effect
from neardup.files.resolve import resolve_inputs
from neardup.indexes.index import IndexHandle, OpenIndex
from neardup.options.choices import Data
from neardup.options.groups import DOCUMENTS, TextReadingOptions, WhereOptions, WorkerOptions
from neardup.options.option import argument, takes
from neardup.options.together import ReadArgument, RunArgument
from neardup.passages.documents import PassageReading
from neardup.reading.where import rows_where
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.stages import index_changes
from neardup.stages.hints import with_warning
from neardup.stages.index_changes import AdditionResult, CompactionResult, RemovalResult
from neardup.stages.options import columns_of
from neardup.stages.selection import as_list_of_ids

if TYPE_CHECKING:
    from neardup.reports.page import Report

H = TypeVar("H", bound=IndexHandle[Any, Any, Any])
R = TypeVar("R", bound=RemovalResult)


class _Adding(
    WhereOptions, TextReadingOptions, WorkerOptions, ReadArgument, RunArgument, kw_only=False
):
    data: Data = argument(
        f"{DOCUMENTS} Of several text columns the joined text is stored, and places count in it."
    )


class _Compacting(WorkerOptions, RunArgument):
    pass


# Ids that are read together to go through all.
_AT_ONCE = 1000


class AnyIndex(ABC, Generic[H, R]):
    """A folder in which something is found by similarity; the kinds say what, and how."""

    _workers: ClassVar[int | None] = None

    def __init__(self, folder: Path, handle: H) -> None:
        self.folder, self._handle = folder, handle

    @abstractmethod
    def _shared(self) -> AbstractContextManager[OpenIndex[Any, Any]]:
        """Give what readers see."""

    def _settle(self, runner: Runner) -> None:
        """Make durable what waits for a commit, before the index is changed."""

    def refresh(self) -> None:
        """See what others have changed since, if this object does not look for it (``manual``).

        Only new files are opened.

        Raises
        ------
        ReadError, IndexFormatError
            As ``open``; then this object still sees what it saw.
        """
        self._handle.refresh(Runner(self._workers))

    @abstractmethod
    def get(self, id: str | int) -> dict[str, Any] | None:  # noqa: A002 - the name of the column
        """Return the document of an id, None if there is none."""

    def __getitem__(self, id: str | int) -> dict[str, Any]:  # noqa: A002
        """Return the document of an id, as ``get`` does.

        Raises
        ------
        KeyError
            If there is none.
        """
        found = self.get(id)
        if found is None:
            raise KeyError(id)
        return found

    def __contains__(self, id: str | int) -> bool:  # noqa: A002
        """Return whether there is a document of this id."""
        return self.get(id) is not None

    def __iter__(self) -> Iterator[Any]:
        """Yield the ids in the order in which documents were added, as a mapping yields its keys.

        The index may change meanwhile: then a document may come twice, or not at all.
        """
        start = 0
        while True:
            with self._shared() as view:
                ids = view.ids_of(view.live(start, _AT_ONCE)).to_pylist()
            if not ids:
                return
            yield from ids
            start += len(ids)

    def __len__(self) -> int:
        """Count the documents."""
        with self._shared() as view:
            return view.n_documents

    def __repr__(self) -> str:
        """Return the class, the folder and the number of documents."""
        return f"{type(self).__name__}({str(self.folder)!r}: {counted(len(self), 'document')})"

    def info(self) -> dict[str, Any]:
        """Return what the index holds and how it was made; of what is committed.

        Every byte that has not been touched yet is read and checked.

        Raises
        ------
        IndexFormatError
            If anything is damaged.
        """
        return index_changes.describe(self._handle, Runner(self._workers))

    def report(self) -> Report:
        """Return a page of what came, went and stayed by addition, and of what the index holds.

        Of what is committed; ``neardup.report`` makes it of the index's folder.

        Raises
        ------
        ReadError, IndexFormatError
            If the index is gone, or its manifest or its history is damaged.
        """
        # By its public name: a job sees of another its door.
        page: Report = import_module("neardup").report(self.folder)
        return page

    @takes(_Adding)
    def add(self, given: _Adding) -> AdditionResult:
        """Add documents, all of them or none; what was inserted before is committed first.

        Returns
        -------
        ``n_documents``, ``n_tokens``, ``n_empty``, of passages ``n_short``, ``skipped`` rows, and
        ``hints``; all of these as ``summary``.

        Raises
        ------
        InvalidInputError
            For a bad row, or an id that is in use.
        IndexLockedError
            If another writer is at work for longer than ``timeout``.
        ReadError, WriteError
            If a file cannot be read or written; the index is as before then.
        """
        reading = given.part(TextReadingOptions)
        with Runner(given.workers, given.progress) as runner:
            sources = rows_where(resolve_inputs(given.data, reading), given.where)
            check_effect(reading, sources)
            self._settle(runner)
            how = PassageReading(columns_of(reading), reading.skip_bad)
            result = index_changes.add(self._handle, sources, how, runner)
        return with_warning(result)

    def remove(self, ids: Iterable[str | int], *, deny: bool = False) -> R:
        """Take documents out, all of them or none; what was inserted before is committed first.

        They are not found any more at once; the room they take is freed by ``compact``.

        Parameters
        ----------
        ids
            The documents.
        deny
            Of an index of documents: remember what they are known by, without their texts, and
            leave them out where they come again, and with them what had gone for them. A document
            with the same tokens is left out for certain; one that was changed by estimate, where
            that leaves next to no doubt.

        Returns
        -------
        ``n_removed`` and ``n_documents``, which are left; of an index of documents ``orphans``,
        too: documents that are not in the index because they went for one of these; and
        ``n_denied``. All of it as ``summary``.

        Raises
        ------
        InvalidInputError
            If one of them is not in the index.
        InvalidParameterError
            If ``ids`` is a single id, or nothing that has ids.
        """
        wanted, runner = as_list_of_ids(ids), Runner(self._workers)
        self._settle(runner)
        return cast(R, index_changes.remove(self._handle, wanted, runner, deny=deny))

    @takes(_Compacting)
    def compact(self, given: _Compacting) -> CompactionResult:
        """Write the index anew, without what was removed, in as few segments as possible.

        Answers stay the same.

        Returns
        -------
        ``n_segments``, ``n_documents`` and ``n_freed_bytes``, and all of these as ``summary``.
        """
        with Runner(given.workers, given.progress) as runner:
            self._settle(runner)
            return index_changes.compact(self._handle, runner)
