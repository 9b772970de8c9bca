"""Deduplication on a Spark session: the stages of ``neardup.deduplicate``, on its executors."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.documents.other import index_among
from neardup.engines.spark.run import deduplicate_on_spark, plan_on_spark
from neardup.engines.spark.session import cluster_of
from neardup.files.resolve import resolve_inputs
from neardup.jobs.dedup.plan import DedupOptions
from neardup.jobs.dedup.result import DeduplicationResult
from neardup.jobs.workspaces import open_workspace
from neardup.options.choices import (
    Clusters,
    DocumentMeasure,
    Fingerprint,
    InputFormat,
    InverseFrequency,
    Occurrences,
    OnError,
    TermFrequency,
    UnicodeForm,
)
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from neardup.text.tokenizers import TokenFunction


def deduplicate(
    session: SparkSession,
    data: Any,
    *,
    against: Any = None,
    against_text_column: str | Sequence[str] | None = None,
    against_id_column: str | None = None,
    measure: DocumentMeasure | None = None,
    threshold: str | float | Decimal | Fraction | None = None,
    recall: str | float | Decimal | Fraction | None = None,
    tokenizer: str | Path | TokenFunction | None = None,
    ngram: int | None = None,
    occurrences: Occurrences | None = None,
    fingerprint: Fingerprint | None = None,
    fingerprint_bits: int | None = None,
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    num_perm: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    seed: int | None = None,
    keep: str = "first",
    clusters: Clusters = "survivors",
    by: str | None = None,
    tf: TermFrequency | None = None,
    idf: InverseFrequency | None = None,
    idf_from: Any = None,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    input_format: InputFormat = "auto",
    encoding: str | None = None,
    delimiter: str | None = None,
    lines: bool = False,
    main_text: bool = False,
    alternative_texts: bool = False,
    on_error: OnError = "raise",
    memory: int | str | None = None,
    work: str | Path | None = None,
    progress: Progress | None = None,
) -> DeduplicationResult:
    """Find near-duplicate documents as ``neardup.deduplicate``, on the executors of a session.

    The result is the same, byte by byte. It needs the session until it has been written, which
    executors do as well, to a folder that all of them reach under the same path.

    Parameters
    ----------
    session
        A ``SparkSession``; its executors need the same version of neardup.
    data
        A path, glob or URL as a string, or a list of ``pathlib.Path``; files that all executors
        reach under the same paths.
    against
        More documents, as for ``data``. They all stay; what is similar to one of them goes.
    against_text_column, against_id_column, measure, threshold, recall, tokenizer, ngram
        As for ``neardup.deduplicate``, and so are all others up to ``on_error``. A function as
        ``tokenizer`` has to be one that Spark can send to its executors.
    occurrences, fingerprint, fingerprint_bits, casefold, unicode_form, strip_accents, fold_digits
        Likewise.
    num_perm, bands, rows, seed
        Likewise.
    keep, clusters, by, tf, idf, idf_from, text_column, id_column, input_format, encoding
        Likewise.
    delimiter, lines, main_text, alternative_texts, on_error
        Likewise.
    memory
        Most memory that the driver uses for what it keeps of documents, in bytes or as a size such
        as ``4GB``; None is 60 % of what is free. What does not fit goes to files.
    work
        Folder for these files, on the driver; None is where the system has temporary files.
    progress
        As for ``neardup.deduplicate``.

    Returns
    -------
    The result: ``removed``, ``clusters`` (Arrow tables), ``summary`` and ``write()``.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or a session without a ``SparkContext``.
    InvalidInputError
        For a bad row or a repeated id, and for data in memory.
    ReadError
        For a file that cannot be read.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    The driver keeps some 60 bytes a document, and ids in files; see the page on Spark.
    """
    options = DedupOptions(
        measure=measure,
        threshold=threshold,
        recall=recall,
        tokenizer=tokenizer,
        ngram=ngram,
        occurrences=occurrences,
        fingerprint=fingerprint,
        fingerprint_bits=fingerprint_bits,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
        num_perm=num_perm,
        bands=bands,
        rows=rows,
        seed=seed,
        keep=keep,
        clusters=clusters,
        by=by,
        tf=tf,
        idf=idf,
        idf_from=idf_from,
        against_text_column=against_text_column,
        against_id_column=against_id_column,
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
    handle = None if against is None else index_among(against, options.tokenizer)
    plan = plan_on_spark(options, has_other=against is not None, has_index=handle is not None)
    cluster = cluster_of(session)
    with Runner(None, progress) as runner:
        sources = resolve_inputs(data, options)
        others = resolve_inputs(against, options) if against is not None else []
        counted = None if idf_from is None else resolve_inputs(idf_from, options)
        workspace = open_workspace(memory, work)
        return deduplicate_on_spark(cluster, sources, others, plan, runner, workspace, counted)
