"""Index of passages, and the opening of either kind."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.engine.opening import open_engine
from neardup.errors import InvalidParameterError
from neardup.files.inputs import as_documents, resolve_inputs
from neardup.index.open_index import RemovalResult
from neardup.index.store import create_index, index_kind
from neardup.jobs.index.base_index import Index
from neardup.jobs.search import search_passages
from neardup.options.choices import Data, Number, PassageMeasure, PassagePresetName, TokenizerChoice
from neardup.options.groups import ReadingOptions, ReadOptions, RunOptions, TextOptions
from neardup.options.kinds import as_folder
from neardup.options.option import merge
from neardup.options.passage_options import PassageOptions, SearchOptions
from neardup.passages.document_blocks import DocumentReading
from neardup.passages.open_passages import PassageHandle
from neardup.passages.windows import make_passage_scheme
from neardup.reading.sign import rows_where
from neardup.results import PassageResult
from neardup.runs.runner import Runner
from neardup.stages.options import columns_of, with_warning
from neardup.text.tokenizers import KNOWN_NAMES

if TYPE_CHECKING:
    from neardup.jobs.index.document_index import DocumentIndex


class PassageIndex(Index[PassageHandle]):
    """A folder for similarity search of passages in documents.

    Make one with ``create`` or ``open``. Readers and one writer at a time may use a folder;
    ``search`` sees all earlier commits, by any process. An open index checks each of its files
    once, and keeps the data of lookups: searching it again costs nothing that grows with it. Any
    number of threads may use one object.

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

    _opened = PassageHandle

    @classmethod
    def create(
        cls,
        folder: str | Path,
        *,
        min_tokens: int | None = None,
        preset: PassagePresetName | None = None,
        num_perm: int | None = None,
        text: TextOptions | None = None,
    ) -> PassageIndex:
        """Make an empty index.

        Parameters
        ----------
        folder
            New, or empty.
        min_tokens
            Length in tokens from which all passages are found. None: 50.
        preset
            ``ocr``, ``code``, ``editions``, ``quotations`` or ``rewording``: options that suit such
            texts, where they are not given.
        num_perm
            Hash functions, 8 to 1,024. None: 64. 0: an index of a third of the size that misses
            nothing, in which long queries take longer.
        text
            Tokens and shingles; idf is counted over the documents of the first addition.

        Raises
        ------
        InvalidParameterError
            For an option out of range, and for a function as tokenizer.
        OutputExistsError, WriteError
            If the folder is in use, or cannot be made.
        """
        options = merge(PassageOptions, locals())
        tokenizer, scheme = options.tokenizer, make_passage_scheme(**vars(options))
        if callable(tokenizer):
            message = (
                f"tokenizer must be one of {KNOWN_NAMES} or a tokenizer.json file for an index on "
                f"disk, got the function {scheme.tokenizer.name}, which the index cannot keep for "
                "those who open it later; align takes functions"
            )
            raise InvalidParameterError(message, "tokenizer")
        create_index(as_folder(folder), scheme.describe())
        return cls.open(folder, tokenizer=tokenizer)

    def replace(self, id: str | int, text: str) -> RemovalResult:  # noqa: A002
        """Replace the document with an id, or add a document.

        The change is visible and durable when this returns; the document becomes the last one.

        Returns
        -------
        As ``remove``: ``n_removed`` is 0 if there was none.
        """
        start = time.perf_counter()
        reading = ReadingOptions(id_column="id")
        sources = resolve_inputs([{"id": id, "text": text}], reading)
        how = DocumentReading(columns_of(reading), reading.skip_bad)
        removal = self._handle.replace(id, sources, how, Runner())
        return dataclasses.replace(removal, seconds=time.perf_counter() - start)

    def search(
        self,
        queries: Data,
        threshold: Number | None = None,
        *,
        measure: PassageMeasure = "jaccard",
        preset: PassagePresetName | None = None,
        recall: Number | None = None,
        places: bool = False,
        place_marker: str | None = None,
        with_text: bool = False,
        read: ReadOptions | None = None,
        run: RunOptions | None = None,
    ) -> PassageResult:
        """Find the passages of documents that are similar to queries.

        Parameters
        ----------
        queries
            A text, or documents in any form that ``deduplicate`` takes; each is searched as a
            whole. A string is a text: name a file by a ``Path``.
        threshold
            Least similarity, in (0, 1], an exact decimal. None: 0.8, or that of the preset.
        measure
            ``jaccard``, or ``containment``: the share of the query that a passage has.
        preset
            Chooses the threshold, as of ``align``.
        recall
            Least probability that a passage at the threshold is found. None: 0.99, or 1 of an index
            without min-hashes.
        places, place_marker, with_text
            As of ``align``.
        read, run
            Input, and threads or Spark.

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
            As ``deduplicate``.
        """
        options = merge(SearchOptions, locals())
        sources = rows_where(resolve_inputs(as_documents(queries), options), options.where)
        with open_engine(run, sources) as engine:
            index = self._handle.share(self._handle.view(engine.runner))
            result = search_passages(engine, index, sources, options)
        return with_warning(result)


def open_index(
    folder: str | Path, *, tokenizer: TokenizerChoice | None = None, timeout: float = 5.0
) -> PassageIndex | DocumentIndex:
    """Open the index of either kind in ``folder``, as ``DocumentIndex.open``."""
    if index_kind(as_folder(folder)) == "documents":
        from neardup.jobs.index.document_index import DocumentIndex

        return DocumentIndex.open(folder, tokenizer=tokenizer, timeout=timeout)
    return PassageIndex.open(folder, tokenizer=tokenizer, timeout=timeout)
