"""Operations on both kinds of index: open, add, remove, compact."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

from neardup.documents.records import Id, checked_id, ids_of_values
from neardup.engine.opening import open_runner
from neardup.files.inputs import passed_over, resolve_inputs
from neardup.files.rows import Source
from neardup.index.handle import IndexHandle
from neardup.index.open_index import Addition, CompactionResult, OpenIndex, RemovalResult
from neardup.options.choices import Data, TokenizerChoice
from neardup.options.groups import (
    OpenOptions,
    ReadingOptions,
    ReadOptions,
    RunOptions,
    WhereOptions,
)
from neardup.options.kinds import Whole, as_folder
from neardup.options.option import merge
from neardup.passages.document_blocks import DocumentReading
from neardup.reading.sign import describe_filtered, rows_where
from neardup.results import SkippedRow, describe_ids, describe_skipped
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.stages.options import columns_of, hints_of_letters, hints_of_short, with_warning
from neardup.stages.selection import as_list_of_ids

if TYPE_CHECKING:
    from neardup.documents.document_handle import DeniedDocument

H = TypeVar("H", bound=IndexHandle[Any])


@dataclass(frozen=True)
class AdditionResult:
    """Counts of documents added to an index.

    ``n_empty`` documents without tokens are never found; nor are ``n_short`` ones, with fewer than
    the ``min_tokens`` of an index of passages (None for other kinds). ``skipped`` rows (file, row,
    reason) were left out, and ``denied`` documents, because they have the tokens of removed and
    denied documents. ``summary`` has all counts as plain values, and names options that do not suit
    the first documents as ``hints``.
    """

    n_documents: int
    n_tokens: int
    n_empty: int
    n_short: int | None
    skipped: list[SkippedRow] = field(repr=False)
    denied: list[DeniedDocument] = field(repr=False)
    summary: dict[str, Any] = field(repr=False)


class _AdditionOptions(WhereOptions, ReadingOptions):
    """Options of an addition."""


# Ids that are read together to go through all.
_AT_ONCE = 1000


class Index(Generic[H]):
    """A folder for similarity search of documents or passages."""

    _opened: ClassVar[type[IndexHandle[Any]]]
    _workers: ClassVar[int | None] = None

    def __init__(self, handle: H) -> None:
        if not isinstance(handle, self._opened):
            message = "call {0}.open(folder), or {0}.create(folder) for a new index"
            raise TypeError(message.format(type(self).__name__))
        self.folder, self._handle = handle.folder, handle

    @classmethod
    def open(
        cls, folder: str | Path, *, tokenizer: TokenizerChoice | None = None, timeout: float = 5.0
    ) -> Self:
        """Open an index.

        Files of documents are checked when they are read first, files of passages at once.

        Parameters
        ----------
        folder
            Folder of the index.
        tokenizer
            The ``tokenizer.json`` file or the function of the index, if it has one.
        timeout
            Seconds to wait for another writer; 0 does not wait.

        Raises
        ------
        ReadError, IndexFormatError
            If there is none; if it is damaged, of another version, or of the other kind.
        """
        given = OpenOptions(tokenizer=tokenizer, timeout=timeout)
        handle = cls._opened(as_folder(folder), tokenizer, timeout=given.timeout)
        handle.view(Runner(cls._workers))
        return cls(cast("H", handle))

    def _view(self) -> OpenIndex[Any, Any]:
        view: OpenIndex[Any, Any] = self._handle.view(Runner(self._workers))
        return view

    def _settle(self, runner: Runner) -> int:
        """Commit and count the insertions before a change."""
        return 0

    def get(self, id: Id) -> dict[str, Any] | None:  # noqa: A002 - the name of the column
        """Return a document's id, text and kept columns, or None."""
        view = self._view()
        document = view.documents_of_ids(ids_of_values([checked_id(id)]))
        return next(view.read_each(document)) if document[0] >= 0 else None

    def documents(
        self, start: int = 0, limit: int = 50, *, most_characters: int | None = None
    ) -> list[dict[str, Any]]:
        """Return some documents as ``get`` does, in insertion order.

        ``start`` counts the present documents from 0. The list ends, after at least one document,
        where texts would have more than ``most_characters``.
        """
        least = Whole(0)
        start, limit = least.checked("start", start), least.checked("limit", limit)
        found: list[dict[str, Any]] = []
        n_characters, view = 0, self._view()
        for document in view.read_each(view.live(start, limit)):
            n_characters += len(document["text"])
            if found and most_characters is not None and n_characters > most_characters:
                break
            found.append(document)
        return found

    def __getitem__(self, id: Id) -> dict[str, Any]:  # noqa: A002
        """Return the document of an id, or raise ``KeyError``."""
        found = self.get(id)
        if found is None:
            raise KeyError(id)
        return found

    def __contains__(self, id: Id) -> bool:  # noqa: A002
        """Return whether there is a document of this id."""
        return self._view().has_id(str(checked_id(id)))

    def __iter__(self) -> Iterator[Any]:
        """Yield the ids of documents in the order of insertion.

        The index may change meanwhile: then a document may come twice, or not at all.
        """
        start = 0
        while True:
            view = self._view()
            ids = view.ids_of(view.live(start, _AT_ONCE)).to_pylist()
            if not ids:
                return
            yield from ids
            start += len(ids)

    def __len__(self) -> int:
        """Count the documents of the index."""
        return self._view().n_documents

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r}: {counted(len(self), 'document')})"

    def info(self) -> dict[str, Any]:
        """Verify every byte of the committed index, and describe it."""
        return self._handle.describe(Runner(self._workers))

    def add(
        self, data: Data, *, read: ReadOptions | None = None, run: RunOptions | None = None
    ) -> AdditionResult:
        """Add all documents or none, after committing earlier insertions.

        Parameters
        ----------
        data
            Documents, in any form that ``deduplicate`` takes. Several text columns are stored as
            the joined text, in which places count.
        read, run
            Input, and threads.

        Raises
        ------
        InvalidInputError
            For a bad row, or an id that is in use.
        IndexLockedError
            If another writer is at work for longer than ``timeout``.
        """
        options = merge(_AdditionOptions, locals())
        reading = options.part(ReadingOptions)
        with open_runner(run) as runner:
            sources = rows_where(resolve_inputs(data, reading), options.where)
            self._settle(runner)
            result = add(self._handle, sources, reading, runner)
        return with_warning(result)

    def remove(self, ids: Iterable[str | int], *, deny: bool = False) -> RemovalResult:
        """Remove all given documents, or none on an error.

        Earlier insertions are committed first. ``compact`` frees the space of removed documents.

        Parameters
        ----------
        ids
            The documents.
        deny
            In an index of documents: later additions leave out documents with the same tokens as
            these documents, or as documents left out for them. Their texts are not kept.

        Raises
        ------
        InvalidInputError
            If one of them is not in the index.
        """
        wanted, runner = as_list_of_ids(ids), Runner(self._workers)
        self._settle(runner)
        return self._handle.remove(wanted, runner, deny=deny)

    def compact(self, *, run: RunOptions | None = None) -> CompactionResult:
        """Rewrite the index without removed documents, in few segments."""
        with open_runner(run) as runner:
            self._settle(runner)
            return self._handle.compact(runner)


# What is done to an index of either kind through its handle, as the command line does it.


def add(
    handle: IndexHandle[Any], sources: Sequence[Source], reading: ReadingOptions, runner: Runner
) -> AdditionResult:
    """Add documents, all of them or none."""
    start, how = time.perf_counter(), DocumentReading(columns_of(reading), reading.skip_bad)
    with runner.stage("read") as note:
        added: Addition = handle.add(sources, how, runner)
        note(documents=added.n_documents, tokens=added.n_tokens)
    of_passages = handle.kind == "passages"
    hints: list[dict[str, str]] = []
    if added.was_empty and of_passages:
        hints = hints_of_letters(added.scheme.shingles, sources, added.columns)
    elif added.was_empty:
        hints = hints_of_short(added.n_documents, added.n_short, added.scheme.shingles)
    denied = {"denied": [each._asdict() for each in added.denied]}
    summary = {
        "documents": added.n_documents,
        "tokens": added.n_tokens,
        "empty_documents": added.n_empty,
        **({"short_documents": added.n_short} if of_passages else {}),
        **describe_ids(added.columns),
        **describe_skipped(added.skipped),
        **describe_filtered(sources),
        **(denied if added.denied else {}),
        "passed_over": passed_over(sources),
        "hints": hints,
        "seconds": round(time.perf_counter() - start, 3),
    }
    n_short = added.n_short if of_passages else None
    counts = added.n_documents, added.n_tokens, added.n_empty, n_short
    return AdditionResult(*counts, added.skipped, added.denied, summary)
