"""The index of documents as users see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.documents.index import DocumentHandle
from neardup.files.input_options import check_effect
from neardup.files.resolve import resolve_inputs
from neardup.indexes.index import create_index
from neardup.jobs import index_changes as jobs
from neardup.jobs.document_options import ReadingOptions
from neardup.jobs.documents.one_at_a_time import OneAtATime
from neardup.jobs.documents.result import DocumentSearchResult
from neardup.jobs.documents.scheme import DocumentIndexOptions, make_document_scheme
from neardup.jobs.documents.search import (
    DocumentSearchOptions,
    search_documents,
)
from neardup.jobs.index_results import AdditionResult, CompactionResult, DocumentRemovalResult
from neardup.jobs.passages.search import as_documents
from neardup.jobs.selection import as_list_of_ids
from neardup.options import table
from neardup.options.choices import (
    DocumentMeasure,
    Fingerprint,
    InverseFrequency,
    Occurrences,
    OnError,
    Refresh,
    TermFrequency,
    TextFormat,
    UnicodeForm,
)
from neardup.options.jobs import INDEX_REFRESH
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


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

    def __init__(
        self,
        folder: str | Path,
        *,
        tokenizer: str | Path | TokenFunction | None = None,
        commit_every: int | None = None,
        timeout: float = 5.0,
        refresh: Refresh = "auto",
    ) -> None:
        self.folder = Path(folder)
        seconds = table.LOCK_TIMEOUT.checked(timeout)
        follows = INDEX_REFRESH.checked(refresh) == "auto"
        handle = DocumentHandle(self.folder, tokenizer, timeout=seconds, follows=follows)
        super().__init__(handle, commit_every)

    @classmethod
    def create(
        cls,
        folder: str | Path,
        *,
        measure: DocumentMeasure = "jaccard",
        threshold: str | float | Decimal | Fraction = "0.8",
        recall: str | float | Decimal | Fraction | None = None,
        num_perm: int | None = None,
        bands: int | None = None,
        rows: int | None = None,
        seed: int | None = None,
        tf: TermFrequency | None = None,
        idf: InverseFrequency | None = None,
        tokenizer: str | Path | TokenFunction = "words",
        ngram: int | None = None,
        occurrences: Occurrences = "set",
        fingerprint: Fingerprint | None = None,
        fingerprint_bits: int | None = None,
        casefold: bool | None = None,
        unicode_form: UnicodeForm | None = None,
        strip_accents: bool = False,
        fold_digits: bool = False,
        columns: str | Sequence[str] | None = None,
        with_text: bool = True,
    ) -> DocumentIndex:
        """Make an empty index.

        Parameters
        ----------
        folder
            New, or empty.
        measure
            As for ``deduplicate``; of directed ones the text that is looked up is the first.
        threshold
            Least similarity that can be asked for, in (0, 1], taken as the exact decimal.
        recall, num_perm, bands, rows, seed
            As for ``deduplicate``: how many of the documents at the threshold are found.
        tf, idf
            What a shingle weighs, as for ``deduplicate``; document frequencies are those of the
            first addition.
        tokenizer, ngram, occurrences, casefold, unicode_form, strip_accents, fold_digits
            How texts become sets of shingles; as for ``deduplicate``.
        fingerprint, fingerprint_bits
            How shingles are hashed; as for ``deduplicate``.
        columns
            Columns of the input that are kept with each document.
        with_text
            Keep the texts, compressed. Without them the hashes of their shingles are kept, which
            take more room than short words do, and nobody can read.

        Raises
        ------
        InvalidParameterError
            For an option out of range.
        OutputExistsError, WriteError
            If the folder is in use, or cannot be made.
        """
        options = DocumentIndexOptions(
            measure=measure,
            threshold=threshold,
            recall=recall,
            num_perm=num_perm,
            bands=bands,
            rows=rows,
            seed=seed,
            tf=tf,
            idf=idf,
            tokenizer=tokenizer,
            ngram=ngram,
            occurrences=occurrences,
            fingerprint=fingerprint,
            fingerprint_bits=fingerprint_bits,
            casefold=casefold,
            unicode_form=unicode_form,
            strip_accents=strip_accents,
            fold_digits=fold_digits,
            columns=columns,
            with_text=with_text,
        )
        create_index(Path(folder), make_document_scheme(options))
        return cls(folder, tokenizer=tokenizer)

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        tokenizer: str | Path | TokenFunction | None = None,
        commit_every: int | None = None,
        timeout: float = 5.0,
        refresh: Refresh = "auto",
    ) -> DocumentIndex:
        """Open an index; what is large is checked where it is touched.

        Parameters
        ----------
        folder
            Where it is.
        tokenizer
            Has to be given where a ``tokenizer.json`` file or a function was used.
        commit_every
            Commit after so many insertions; None leaves it to ``commit``.
        timeout
            Seconds to wait where another process, thread or object holds the write lock; 0 does
            not wait. Five of them outlast a commit or a small addition, as in ``sqlite3``.
        refresh
            ``auto``: each look-up sees what others have committed before it, which costs some
            microseconds to find out. ``manual``: ``refresh`` is called for that.

        Raises
        ------
        ReadError, IndexFormatError
            If there is none; if it is damaged, of a newer version, or an index of passages.
        """
        opened = cls(
            folder,
            tokenizer=tokenizer,
            commit_every=commit_every,
            timeout=timeout,
            refresh=refresh,
        )
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
        """Add documents, all of them or none; what was inserted before is committed first.

        Parameters
        ----------
        data
            Documents, in any form that ``deduplicate`` takes.
        text_column, id_column, input_format, encoding, delimiter, lines
            As for ``deduplicate``.
        main_text, alternative_texts, on_error
            As for ``deduplicate``. Ids must not be in the index yet.
        workers, progress
            As for ``deduplicate``.

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
        with Runner(workers, progress) as runner:
            sources = resolve_inputs(data, reading)
            check_effect(reading, sources)
            self._session.commit(runner)
            return jobs.add(self.handle, sources, reading, runner)

    def search(
        self,
        queries: Any,
        threshold: str | float | Decimal | Fraction | None = None,
        *,
        limit: int | None = None,
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
    ) -> DocumentSearchResult:
        """Find the documents that are similar to each of many texts.

        Parameters
        ----------
        queries
            A text, or documents in any form that ``deduplicate`` takes. A string is always a text:
            a file is named by a ``Path``.
        threshold, limit
            As for ``query``; the limit is that of each query.
        text_column, id_column, input_format, encoding, delimiter, lines
            As for ``deduplicate``.
        main_text, alternative_texts, on_error
            As for ``deduplicate``.
        workers, progress
            As for ``deduplicate``.

        Returns
        -------
        ``matches`` (query_id, doc_id, similarity; in the order of queries, the most similar first)
        and a ``summary`` with counts, skipped rows and the predicted recall.

        Raises
        ------
        InvalidParameterError, InvalidInputError, ReadError, IndexFormatError
            As ``deduplicate``, and if what was touched of the index is damaged.
        """
        options = DocumentSearchOptions(
            threshold=threshold,
            limit=limit,
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

    def compact(
        self, *, workers: int | None = None, progress: Progress | None = None
    ) -> CompactionResult:
        """Write the index anew as one segment, without what was removed; answers stay the same.

        Parameters
        ----------
        workers, progress
            As for ``deduplicate``.

        Returns
        -------
        ``n_segments``, ``n_documents`` and ``n_freed_bytes``, and all of these as ``summary``.
        """
        with Runner(workers, progress) as runner:
            self._session.commit(runner)
            return jobs.compact(self.handle, runner)
