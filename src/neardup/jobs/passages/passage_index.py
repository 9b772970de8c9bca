"""The passage index as users see it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.files.input_options import check_effect
from neardup.files.resolve import resolve_inputs
from neardup.indexes.index import create_index
from neardup.jobs import index_changes as jobs
from neardup.jobs.index_results import AdditionResult, CompactionResult, RemovalResult
from neardup.jobs.passages.result import PassageResult
from neardup.jobs.passages.search import as_documents, search_sources
from neardup.options.choices import (
    Data,
    Number,
)
from neardup.options.groups import OpenOptions, RunOptions, TextReadingOptions
from neardup.options.kinds import Whole
from neardup.options.option import argument, option, takes
from neardup.options.passages import LookUpOptions, PassageOptions, SearchOptions
from neardup.passages.documents import ReadOptions
from neardup.passages.index import PassageHandle
from neardup.passages.scheme import make_passage_scheme
from neardup.runs.runner import Runner
from neardup.stages.options import columns_of
from neardup.stages.selection import as_list_of_ids
from neardup.text.tokenizers import KNOWN_NAMES


class _Creating(PassageOptions, kw_only=False):
    folder: str | Path = argument("New, or empty.")


class _Opening(OpenOptions, kw_only=False):
    folder: str | Path = argument("Where it is.")


class _Adding(TextReadingOptions, RunOptions, kw_only=False):
    data: Data = argument(
        "Documents, in any form that ``deduplicate`` takes. Of several text columns the joined "
        "text is stored, and places count in it."
    )


class _Searching(LookUpOptions, RunOptions, kw_only=False):
    queries: Data = argument(
        "A text, or documents in any form that ``deduplicate`` takes; each is looked for as a "
        "whole. A string is always a text: a file is named by a ``Path``. The name of a file "
        "or folder that exists is refused as a string; put it in a list to look for it as a "
        "text."
    )
    threshold: Number = option(SearchOptions.known["threshold"], default="0.8")


class PassageIndex:
    """A folder in which passages of documents are found by similarity.

    Make one with ``create`` or ``open``. Readers and one writer at a time may use a folder; what
    ``search`` sees is what was committed before it, by whomever. An open index checks each of its
    files once, and keeps what it looks up in them: searching it again costs nothing that grows with
    it. Any number of threads may use one object.

    Examples
    --------
    >>> import neardup, tempfile
    >>> folder = tempfile.mkdtemp() + "/index"
    >>> index = neardup.PassageIndex.create(folder, min_tokens=5)
    >>> _ = index.add(["Once upon a midnight dreary, while I pondered, weak and weary, I slept"])
    >>> hits = index.search("upon a midnight dreary while he pondered weak and weary", "0.7")
    >>> hits.passages.select(["doc_id", "doc_start", "doc_end", "similarity"]).to_pylist()
    [{'doc_id': '0', 'doc_start': 5, 'doc_end': 64, 'similarity': 0.8181818181818182}]
    """

    @takes(_Opening)
    def __init__(self, given: _Opening) -> None:
        self.folder = Path(given.folder)
        follows = given.refresh == "auto"
        self.handle = PassageHandle(
            self.folder, given.tokenizer, timeout=given.timeout, follows=follows
        )

    @classmethod
    @takes(_Creating)
    def create(cls, given: _Creating) -> PassageIndex:
        """Make an empty index.

        Raises
        ------
        InvalidParameterError
            For an option out of range, and for a function as tokenizer.
        OutputExistsError, WriteError
            If the folder is in use, or cannot be made.
        """
        options = given.part(PassageOptions)
        tokenizer, scheme = given.tokenizer, make_passage_scheme(**vars(options))
        if callable(tokenizer):
            message = (
                f"tokenizer must be one of {KNOWN_NAMES} or a tokenizer.json file for an index on "
                f"disk, got the function {scheme.tokenizer.name}, which the index cannot keep for "
                "those who open it later; align takes functions"
            )
            raise InvalidParameterError(message, "tokenizer")
        create_index(Path(given.folder), scheme)
        return cls(given.folder, tokenizer=tokenizer)

    @classmethod
    @takes(_Opening)
    def open(cls, given: _Opening) -> PassageIndex:
        """Open an index and check every byte of it.

        Raises
        ------
        ReadError, IndexFormatError
            If there is none; if it is damaged, or of a newer version.
        """
        opened = cls(**vars(given))
        opened.refresh()
        return opened

    def refresh(self) -> None:
        """See what others have changed since, if this object does not look for it (``manual``).

        Only new files are read.

        Raises
        ------
        ReadError, IndexFormatError
            As ``open``; then this object still sees what it saw.
        """
        self.handle.refresh(Runner())

    def __len__(self) -> int:
        """Count the documents."""
        return self.handle.latest(Runner()).n_documents

    def __repr__(self) -> str:
        """Return the class, the folder and the number of documents."""
        return f"PassageIndex({str(self.folder)!r}: {len(self):,} documents)"

    def info(self) -> dict[str, Any]:
        """Return what the index holds and how it was made."""
        return jobs.describe(self.handle, Runner())

    def get(self, id: str | int) -> dict[str, Any] | None:  # noqa: A002
        """Return a document as ``{"id": ..., "text": ...}``, or None if no document has that id."""
        view = self.handle.latest(Runner())
        # The first look makes a table of all ids, which is kept as long as the segments are open.
        document = view.documents_of_ids(pa.array([str(id)], pa.large_string()))
        found: list[dict[str, Any]] = view.read_rows(document[document >= 0]).to_pylist()
        return found[0] if found else None

    def documents(self, start: int = 0, limit: int = 50) -> list[dict[str, Any]]:
        """Return some documents in the order in which they were added, each as ``get`` does.

        Parameters
        ----------
        start
            How many documents to pass over.
        limit
            How many to return at most.

        Raises
        ------
        InvalidParameterError
            If one of them is no whole number, or negative.
        """
        least = Whole(0)
        start, limit = least.checked("start", start), least.checked("limit", limit)
        view = self.handle.latest(Runner())
        documents: list[dict[str, Any]] = view.read_rows(view.live(start, limit)).to_pylist()
        return documents

    @takes(_Adding)
    def add(self, given: _Adding) -> AdditionResult:
        """Add documents, all of them or none.

        Returns
        -------
        ``n_documents``, ``n_tokens``, ``n_empty``, ``n_short`` and ``skipped`` rows, and all of
        these as ``summary``.

        Raises
        ------
        InvalidInputError
            For a bad row, or an id that is in use.
        IndexLockedError
            If another writer is at work.
        ReadError, WriteError
            If a file cannot be read or written; the index is as before then.
        """
        reading = given.part(TextReadingOptions)
        read = ReadOptions(columns_of(reading), reading.skip_bad)
        with Runner(given.workers, given.progress) as runner:
            sources = resolve_inputs(given.data, reading)
            check_effect(reading, sources)
            return jobs.add(self.handle, sources, read, runner)

    def remove(self, ids: Iterable[str | int]) -> RemovalResult:
        """Take documents out, all of them or none.

        They are not found any more at once; the room they take is freed by ``compact``.

        Returns
        -------
        ``n_removed`` and ``n_documents``, which are left, and both as ``summary``.

        Raises
        ------
        InvalidInputError
            If one of them is not in the index.
        InvalidParameterError
            If ``ids`` is a single id, or nothing that has ids.
        """
        return jobs.remove(self.handle, as_list_of_ids(ids), Runner())

    @takes(RunOptions)
    def compact(self, given: RunOptions) -> CompactionResult:
        """Write the index anew without what was removed, in as few segments as possible.

        Answers stay the same.

        Returns
        -------
        ``n_segments``, ``n_documents`` and ``n_freed_bytes``, and all of these as ``summary``.
        """
        with Runner(given.workers, given.progress) as runner:
            return jobs.compact(self.handle, runner)

    @takes(_Searching)
    def search(self, given: _Searching) -> PassageResult:
        """Find the passages of all documents that are similar to queries.

        Returns
        -------
        ``passages`` and a ``summary`` with the counts, the skipped rows and the predicted recall.
        Passages are ``query_id, query_start, query_end, doc_id, doc_start, doc_end, similarity``:
        places in characters of the original texts, ends exclusive; in the order of queries,
        documents and places. The similarity is the true one. For ``windows`` see ``neardup
        search``.

        Raises
        ------
        InvalidParameterError, InvalidInputError, ReadError
            As ``deduplicate``, and if a string is the name of a file.
        """
        options = given.part(SearchOptions)
        with Runner(given.workers, given.progress) as runner:
            sources = resolve_inputs(as_documents(given.queries), options)
            return search_sources(self.handle.latest(runner), sources, options, runner)
