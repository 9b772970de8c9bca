"""The passage index as users see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.files.input_options import check_effect
from neardup.files.resolve import resolve_inputs
from neardup.indexes.index import create_index
from neardup.jobs import index_changes as jobs
from neardup.jobs.document_options import ReadingOptions
from neardup.jobs.index_results import AdditionResult, CompactionResult, RemovalResult
from neardup.jobs.passages.result import PassageResult
from neardup.jobs.passages.search import SearchOptions, as_documents, search_sources
from neardup.jobs.selection import as_list_of_ids
from neardup.options import table
from neardup.options.choices import (
    InverseFrequency,
    OnError,
    Refresh,
    Report,
    TermFrequency,
    TextFormat,
    UnicodeForm,
)
from neardup.options.jobs import INDEX_REFRESH
from neardup.options.kinds import Whole
from neardup.passages.documents import ReadOptions
from neardup.passages.index import PassageHandle
from neardup.passages.scheme import make_passage_scheme
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner
from neardup.text.tokenizers import KNOWN_NAMES

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


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

    def __init__(
        self,
        folder: str | Path,
        *,
        tokenizer: str | Path | TokenFunction | None = None,
        timeout: float = 5.0,
        refresh: Refresh = "auto",
    ) -> None:
        self.folder = Path(folder)
        seconds = table.LOCK_TIMEOUT.checked(timeout)
        follows = INDEX_REFRESH.checked(refresh) == "auto"
        self.handle = PassageHandle(self.folder, tokenizer, timeout=seconds, follows=follows)

    @classmethod
    def create(
        cls,
        folder: str | Path,
        *,
        min_tokens: int = 50,
        num_perm: int = 64,
        tf: TermFrequency = "binary",
        idf: InverseFrequency = "unary",
        seed: int = 42,
        tokenizer: str | Path = "words",
        ngram: int = 1,
        casefold: bool | None = None,
        unicode_form: UnicodeForm | None = None,
        strip_accents: bool = False,
        fold_digits: bool = False,
    ) -> PassageIndex:
        """Make an empty index.

        Parameters
        ----------
        folder
            New, or empty.
        min_tokens
            Tokens of the shortest passage to be found for certain, ``ngram`` to 65,536.
        num_perm
            Hash functions, 8 to 1,024. More of them find passages with fewer vain comparisons; the
            index grows with their number.
        tf, idf
            What a token, or a shingle, weighs: ``tf`` is ``binary`` (once is as good as often),
            ``raw``, ``log``, ``squared`` or ``saturating``, times ``idf``: ``unary`` (1),
            ``standard``, ``smooth`` or ``probabilistic``, counted over the documents of the first
            addition.
        seed
            Which hash functions.
        tokenizer, casefold, unicode_form, strip_accents, fold_digits
            What a text is cut into; as for ``deduplicate``.
        ngram
            Tokens in a shingle, 1 to 65,536. Passages are compared by their shingles, runs of
            ``ngram`` tokens, so that the order of words counts; 1: by their tokens.

        Raises
        ------
        InvalidParameterError
            For an option out of range, and for a function as tokenizer.
        OutputExistsError, WriteError
            If the folder is in use, or cannot be made.
        """
        scheme = make_passage_scheme(
            min_tokens=min_tokens,
            num_perm=num_perm,
            tf=tf,
            idf=idf,
            seed=seed,
            tokenizer=tokenizer,
            ngram=ngram,
            casefold=casefold,
            unicode_form=unicode_form,
            strip_accents=strip_accents,
            fold_digits=fold_digits,
        )
        if callable(tokenizer):
            message = (
                f"tokenizer must be one of {KNOWN_NAMES} or a tokenizer.json file for an index on "
                f"disk, got the function {scheme.tokenizer.name}, which the index cannot keep for "
                "those who open it later; align takes functions"
            )
            raise InvalidParameterError(message, "tokenizer")
        create_index(Path(folder), scheme)
        return cls(folder, tokenizer=tokenizer)

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        tokenizer: str | Path | None = None,
        timeout: float = 5.0,
        refresh: Refresh = "auto",
    ) -> PassageIndex:
        """Open an index and check every byte of it.

        Parameters
        ----------
        folder
            Where it is.
        tokenizer
            Has to be given where a ``tokenizer.json`` file was used.
        timeout, refresh
            As for ``DocumentIndex.open``.

        Raises
        ------
        ReadError, IndexFormatError
            If there is none; if it is damaged, or of a newer version.
        """
        opened = cls(folder, tokenizer=tokenizer, timeout=timeout, refresh=refresh)
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

    def add(
        self,
        data: Any,
        *,
        text_column: str | Sequence[str] = "text",
        id_column: str | None = None,
        input_format: TextFormat = "auto",
        encoding: str | None = None,
        delimiter: str | None = None,
        lines: bool = False,
        main_text: bool = False,
        alternative_texts: bool = False,
        on_error: OnError = "raise",
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> AdditionResult:
        """Add documents, all of them or none.

        Parameters
        ----------
        data
            Documents, in any form that ``deduplicate`` takes.
        text_column, id_column, input_format, encoding, delimiter, lines
            As for ``deduplicate``.
        main_text, alternative_texts, on_error
            As for ``deduplicate``. Ids must not be in the index yet. Of several text columns the
            joined text is stored, and places count in it.
        workers, progress
            As for ``deduplicate``.

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
        reading = ReadingOptions(
            text_column=text_column,
            id_column=id_column,
            input_format=input_format,
            encoding=encoding,
            delimiter=delimiter,
            lines=lines,
            main_text=main_text,
            alternative_texts=alternative_texts,
            on_error=on_error,
        )
        read = ReadOptions(reading.columns, reading.skip_bad)
        with Runner(workers, progress) as runner:
            sources = resolve_inputs(data, reading)
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

    def compact(
        self, *, workers: int | None = None, progress: Progress | None = None
    ) -> CompactionResult:
        """Write the index anew without what was removed, in as few segments as possible.

        Answers stay the same.

        Parameters
        ----------
        workers, progress
            As for ``deduplicate``.

        Returns
        -------
        ``n_segments``, ``n_documents`` and ``n_freed_bytes``, and all of these as ``summary``.
        """
        with Runner(workers, progress) as runner:
            return jobs.compact(self.handle, runner)

    def search(
        self,
        queries: Any,
        threshold: str | float | Decimal | Fraction = "0.8",
        *,
        recall: str | float | Decimal | Fraction | None = None,
        hits: int | None = None,
        report: Report = "best",
        with_text: bool = False,
        text_column: str | Sequence[str] = "text",
        id_column: str | None = None,
        input_format: TextFormat = "auto",
        encoding: str | None = None,
        delimiter: str | None = None,
        lines: bool = False,
        main_text: bool = False,
        alternative_texts: bool = False,
        on_error: OnError = "raise",
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> PassageResult:
        """Find the passages of all documents that are similar to queries.

        Parameters
        ----------
        queries
            A text, or documents in any form that ``deduplicate`` takes; each is looked for as a
            whole. A string is always a text: a file is named by a ``Path``. The name of a file or
            folder that exists is refused as a string; put it in a list to look for it as a text.
        threshold
            Least similarity, in (0, 1], taken as the exact decimal.
        recall
            Least probability with which a passage at the threshold is found; one that is more
            similar is found with a greater one. None is 0.99.
        hits
            Least number of min-hashes in common with the query, instead of choosing it for the
            recall; ``num_perm * threshold``, rounded up: all passages whose estimated similarity
            reaches the threshold, and no others.
        report
            ``best``: passages that do not overlap, the most similar first. ``maximal``: all that
            reach the threshold and are part of no longer one that does. ``windows``: all
            sub-texts with enough common min-hashes, as ranges of starts and of ends, not compared
            exactly.
        with_text
            Add the columns query_text and doc_text.
        text_column, id_column, input_format, encoding, delimiter, lines
            As for ``deduplicate``.
        main_text, alternative_texts, on_error
            As for ``deduplicate``.
        workers, progress
            As for ``deduplicate``.

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
        options = SearchOptions(
            threshold=threshold,
            recall=recall,
            hits=hits,
            report=report,
            with_text=with_text,
            text_column=text_column,
            id_column=id_column,
            input_format=input_format,
            encoding=encoding,
            delimiter=delimiter,
            lines=lines,
            main_text=main_text,
            alternative_texts=alternative_texts,
            on_error=on_error,
        )
        with Runner(workers, progress) as runner:
            sources = resolve_inputs(as_documents(queries), options)
            return search_sources(self.handle.latest(runner), sources, options, runner)
