"""The index of documents as users see it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from neardup.documents.index import DocumentHandle
from neardup.files.input_options import check_effect
from neardup.files.resolve import resolve_inputs
from neardup.indexes.index import create_index
from neardup.jobs import index_changes as jobs
from neardup.jobs.documents.one_at_a_time import OneAtATime
from neardup.jobs.documents.result import DocumentSearchResult
from neardup.jobs.documents.scheme import make_document_scheme
from neardup.jobs.documents.search import search_documents
from neardup.jobs.index_results import AdditionResult, CompactionResult, DocumentRemovalResult
from neardup.jobs.passages.search import as_documents
from neardup.options.choices import (
    Data,
    Number,
)
from neardup.options.documents import (
    CommitOptions,
    DocumentSchemeOptions,
    DocumentSearchOptions,
    MostOptions,
)
from neardup.options.groups import DOCUMENTS, RunOptions, TextReadingOptions
from neardup.options.option import argument, option, takes
from neardup.passages.documents import ReadOptions
from neardup.runs.runner import Runner
from neardup.stages.options import columns_of
from neardup.stages.selection import as_list_of_ids


class _Creating(DocumentSchemeOptions, kw_only=False):
    folder: str | Path = argument("New, or empty.")


class _Opening(CommitOptions, kw_only=False):
    folder: str | Path = argument("Where it is.")


class _Adding(TextReadingOptions, RunOptions, kw_only=False):
    data: Data = argument(DOCUMENTS)


class _Searching(MostOptions, TextReadingOptions, RunOptions, kw_only=False):
    queries: Data = argument(
        "A text, or documents in any form that ``deduplicate`` takes. A string is always a "
        "text: a file is named by a ``Path``."
    )
    threshold: Number | None = option(DocumentSearchOptions.known["threshold"], default=None)


class DocumentIndex(OneAtATime):
    """A folder in which documents are found that are similar to a text.

    Make one with ``create`` or ``open``. Readers and one writer at a time may use a folder; readers
    see what this object has inserted, and what others have committed. Every answer is compared
    exactly. Any number of threads may use one object.

    Documents come in with ``add``, many at once, or with ``insert`` and ``insert_if_new``, one at a
    time; the latter are durable after ``commit``, or every ``commit_every`` documents. Until then
    this object holds the write lock, for which others wait up to their ``timeout``.

    Examples
    --------
    >>> import neardup, tempfile
    >>> folder = tempfile.mkdtemp() + "/index"
    >>> index = neardup.DocumentIndex.create(folder, threshold="0.5", ngram=1)
    >>> index.insert("a", "the cat sat on the mat")
    >>> index.query("the cat sat on a mat")
    [Match(id='a', similarity=0.8333333333333334)]
    >>> index.insert_if_new("b", "a cat sat on the mat")
    'a'
    >>> index.commit()
    1
    """

    @takes(_Opening)
    def __init__(self, given: _Opening) -> None:
        self.folder = Path(given.folder)
        follows = given.refresh == "auto"
        handle = DocumentHandle(
            self.folder, given.tokenizer, timeout=given.timeout, follows=follows
        )
        super().__init__(handle, given.commit_every)

    @classmethod
    @takes(_Creating)
    def create(cls, given: _Creating) -> DocumentIndex:
        """Make an empty index.

        Raises
        ------
        InvalidParameterError
            For an option out of range.
        OutputExistsError, WriteError
            If the folder is in use, or cannot be made.
        """
        scheme = make_document_scheme(given.part(DocumentSchemeOptions))
        create_index(Path(given.folder), scheme)
        return cls(given.folder, tokenizer=given.tokenizer)

    @classmethod
    @takes(_Opening)
    def open(cls, given: _Opening) -> DocumentIndex:
        """Open an index; what is large is checked where it is touched.

        Raises
        ------
        ReadError, IndexFormatError
            If there is none; if it is damaged, of a newer version, or an index of passages.
        """
        opened = cls(**vars(given))
        opened.refresh()
        return opened

    def refresh(self) -> None:
        """See what others have changed since, if this object does not look for it (``manual``).

        Only new files are opened.

        Raises
        ------
        ReadError, IndexFormatError
            As ``open``; then this object still sees what it saw.
        """
        self.handle.refresh(Runner(1))

    def __len__(self) -> int:
        """Count the documents."""
        with self._session.shared() as view:
            return view.n_documents

    def __repr__(self) -> str:
        """Return the class, the folder and the number of documents."""
        return f"DocumentIndex({str(self.folder)!r}: {len(self):,} documents)"

    def info(self) -> dict[str, Any]:
        """Return what the index holds and how it was made; of what is committed.

        Every byte that has not been touched yet is read and checked, unlike by ``open``.

        Raises
        ------
        IndexFormatError
            If anything is damaged.
        """
        return jobs.describe(self.handle, Runner(1))

    @takes(_Adding)
    def add(self, given: _Adding) -> AdditionResult:
        """Add documents, all of them or none; what was inserted before is committed first.

        Returns
        -------
        ``n_documents``, ``n_tokens``, ``n_empty`` and ``skipped`` rows, and all of these as
        ``summary``.

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
            sources = resolve_inputs(given.data, reading)
            check_effect(reading, sources)
            self._session.commit(runner)
            how = ReadOptions(columns_of(reading), reading.skip_bad)
            return jobs.add(self.handle, sources, how, runner)

    @takes(_Searching)
    def search(self, given: _Searching) -> DocumentSearchResult:
        """Find the documents that are similar to each of many texts.

        Returns
        -------
        ``matches`` (query_id, doc_id, similarity; in the order of queries, the most similar first)
        and a ``summary`` with counts, skipped rows and the predicted recall.

        Raises
        ------
        InvalidParameterError, InvalidInputError, ReadError, IndexFormatError
            As ``deduplicate``, and if what was touched of the index is damaged.
        """
        options = given.part(DocumentSearchOptions)
        with Runner(given.workers, given.progress) as runner:
            sources = resolve_inputs(as_documents(given.queries), options)
            with self._session.shared() as view:
                return search_documents(view, sources, options, runner)

    def remove(self, ids: Iterable[str | int]) -> DocumentRemovalResult:
        """Take documents out, all of them or none; what was inserted before is committed first.

        They are not found any more at once; the room they take is freed by ``compact``.

        Returns
        -------
        ``n_removed``, ``n_documents``, which are left, and ``orphans``: documents that are not in
        the index because they went for one of these; all of it as ``summary``.

        Raises
        ------
        InvalidInputError
            If one of them is not in the index.
        InvalidParameterError
            If ``ids`` is a single id, or nothing that has ids.
        """
        wanted = as_list_of_ids(ids)
        self._session.commit(Runner(1))
        removed = jobs.remove(self.handle, wanted, Runner(1))
        assert isinstance(removed, DocumentRemovalResult)
        return removed

    @takes(RunOptions)
    def compact(self, given: RunOptions) -> CompactionResult:
        """Write the index anew as one segment, without what was removed; answers stay the same.

        Returns
        -------
        ``n_segments``, ``n_documents`` and ``n_freed_bytes``, and all of these as ``summary``.
        """
        with Runner(given.workers, given.progress) as runner:
            self._session.commit(runner)
            return jobs.compact(self.handle, runner)
