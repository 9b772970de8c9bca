"""Operations on both kinds of index: open, add, remove, compact."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

from neardup.documents.values import Id, checked_id, ids_of_values
from neardup.engine.opening import open_runner
from neardup.files.inputs import passed_over, resolve_inputs
from neardup.files.rows import ColumnNames, Source
from neardup.index.handle import IndexHandle
from neardup.index.index import Addition, CompactionResult, OpenIndex, RemovalResult
from neardup.options.choices import Data, TokenizerChoice
from neardup.options.groups import (
    OpenOptions,
    ReadingOptions,
    ReadOptions,
    RunOptions,
    WhereOptions,
)
from neardup.options.kinds import Whole
from neardup.options.option import merge
from neardup.passages.documents import PassageReading
from neardup.reading.sign import describe_filtered, rows_where
from neardup.results import SkippedRow, describe_ids, describe_skipped
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.stages.options import columns_of, hints_of_letters, hints_of_short, with_warning
from neardup.stages.selection import as_list_of_ids

if TYPE_CHECKING:
    from neardup.documents.index import DeniedDocument

H = TypeVar("H", bound=IndexHandle[Any])
R = TypeVar("R", bound=RemovalResult)


@dataclass(frozen=True, repr=False)
class AdditionResult:
    """Counts of documents added to an index.

    ``n_empty`` documents without tokens are never found; nor are ``n_short`` ones, with fewer than
    the ``min_tokens`` of an index of passages (None for other kinds). ``skipped`` rows (file, row,
    reason) were left out; ``passed_over`` counts unread files of folders by ending; ``filtered`` is
    the condition ``where`` and the number of rows that did not meet it, if given. ``hints`` name
    options that do not suit the first documents. ``denied`` lists documents left out because they
    have the tokens of removed and denied documents.
    """

    n_documents: int
    n_tokens: int
    n_empty: int
    n_short: int | None = None
    skipped: list[SkippedRow] = field(default_factory=list)
    passed_over: dict[str, int] = field(default_factory=dict)
    filtered: dict[str, Any] | None = None
    seconds: float = 0.0
    _columns: ColumnNames = field(default_factory=ColumnNames)
    hints: list[dict[str, Any]] = field(default_factory=list)
    denied: list[DeniedDocument] = field(default_factory=list)

    @property
    def summary(self) -> dict[str, Any]:
        """Counts, skipped rows, omitted files and seconds, as plain values."""
        short = {} if self.n_short is None else {"short_documents": self.n_short}
        return {
            "documents": self.n_documents,
            "tokens": self.n_tokens,
            "empty_documents": self.n_empty,
            **short,
            **describe_ids(self._columns),
            **describe_skipped(self.skipped),
            **(self.filtered or {}),
            **({"denied": [each._asdict() for each in self.denied]} if self.denied else {}),
            "passed_over": self.passed_over,
            "hints": self.hints,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        return (
            f"AdditionResult({counted(self.n_documents, 'document')}: "
            f"{counted(self.n_tokens, 'token')})"
        )


class _AddOptions(WhereOptions, ReadingOptions):
    """Options of an addition."""


# Ids that are read together to go through all.
_AT_ONCE = 1000


class Index(Generic[H, R]):
    """A folder for similarity search of documents or passages."""

    _opened: ClassVar[type[IndexHandle[Any]]]
    _workers: ClassVar[int | None] = None

    def __init__(self, handle: H) -> None:
        self.folder, self._handle = handle.folder, handle

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        tokenizer: TokenizerChoice | None = None,
        timeout: float = 5.0,
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
        handle = cls._opened(Path(folder), tokenizer, timeout=given.timeout)
        handle.view(Runner(cls._workers))
        return cls(cast("H", handle))

    def _view(self) -> OpenIndex[Any, Any]:
        view: OpenIndex[Any, Any] = self._handle.view(Runner(self._workers))
        return view

    def _settle(self, runner: Runner) -> int:
        """Commit and count the insertions before a change."""
        return 0

    def get(self, id: Id) -> dict[str, Any] | None:  # noqa: A002 - the name of the column
        """Return the document of an id, None if not found.

        It has its ``id``, its ``text`` and the user's columns.
        """
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
        """Return the contents and options of the committed index.

        Every byte that has not been read yet is read and checked.

        Raises
        ------
        IndexFormatError
            If anything is damaged.
        """
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
        options = merge(_AddOptions, locals())
        reading = options.part(ReadingOptions)
        with open_runner(run, "index-add") as runner:
            sources = rows_where(resolve_inputs(data, reading), options.where)
            self._settle(runner)
            result = add(self._handle, sources, reading, runner)
        return with_warning(result)

    def remove(self, ids: Iterable[str | int], *, deny: bool = False) -> R:
        """Remove all given documents, or none on an error.

        Earlier insertions are committed first. ``compact`` frees the space of removed documents.

        Parameters
        ----------
        ids
            The documents.
        deny
            In an index of documents: later additions leave out documents with the same tokens as
            these documents, or as documents left out for them. Their texts are not kept.

        Returns
        -------
        ``n_removed`` and ``n_documents``, which remain; for an index of documents also ``orphans``,
        documents left out for a removed one, and ``n_denied``. All of these as ``summary``.

        Raises
        ------
        InvalidInputError
            If one of them is not in the index.
        InvalidParameterError
            If ``ids`` is a single id, or nothing that has ids.
        """
        wanted, runner = as_list_of_ids(ids), Runner(self._workers)
        self._settle(runner)
        return cast("R", self._handle.remove(wanted, runner, deny=deny))

    def compact(self, *, run: RunOptions | None = None) -> CompactionResult:
        """Rewrite the index without removed documents, in few segments.

        Results of searches stay the same.

        Returns
        -------
        ``n_segments``, ``n_documents`` and ``n_freed_bytes``, and all of these as ``summary``.
        """
        with open_runner(run, "index-compact") as runner:
            self._settle(runner)
            return self._handle.compact(runner)


# What is done to an index of either kind through its handle, as the command line does it.


def add(
    handle: IndexHandle[Any],
    sources: Sequence[Source],
    reading: ReadingOptions,
    runner: Runner,
) -> AdditionResult:
    """Add documents, all of them or none."""
    start, how = time.perf_counter(), PassageReading(columns_of(reading), reading.skip_bad)
    with runner.stage("read") as note:
        added: Addition = handle.add(sources, how, runner)
        note(documents=added.n_documents, tokens=added.n_tokens)
    return AdditionResult(
        added.n_documents,
        added.n_tokens,
        added.n_empty,
        added.n_short if handle.kind == "passages" else None,
        added.skipped,
        passed_over(sources),
        describe_filtered(sources),
        time.perf_counter() - start,
        added.columns,
        _hints(handle.kind, added, sources) if added.was_empty else [],
        added.denied,
    )


def _hints(kind: str, added: Addition, sources: Sequence[Source]) -> list[dict[str, str]]:
    shingles = added.scheme.shingles
    if kind == "documents":
        return hints_of_short(added.n_documents, added.n_short, shingles)
    return hints_of_letters(shingles, sources, added.columns)
