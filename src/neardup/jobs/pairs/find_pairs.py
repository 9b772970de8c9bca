"""``find_pairs``: pairs of similar documents in one or two collections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from neardup.engine.opening import open_engine
from neardup.files.inputs import resolve_inputs
from neardup.jobs.pairs.rows import PairResult
from neardup.jobs.pairs.run import PairJob
from neardup.options.choices import (
    ColumnNames,
    Data,
    DataOrIndex,
    DocumentPreset,
    Number,
    PairMeasure,
    PairMethod,
)
from neardup.options.documents import PairOptions
from neardup.options.groups import ReadOptions, RunOptions, TextOptions
from neardup.options.option import merge
from neardup.stages.options import with_warning

# Pairs that are converted to Python values together.
_AT_ONCE = 1 << 12


def find_pairs(
    data: Data,
    against: DataOrIndex | None = None,
    *,
    threshold: Number | None = None,
    measure: PairMeasure | None = None,
    max_distance: int | None = None,
    top: int | None = None,
    per_document: bool = False,
    one_to_one: bool = False,
    blocking: ColumnNames | None = None,
    also: ColumnNames | None = None,
    columns: ColumnNames | None = None,
    method: PairMethod | None = None,
    limit: int | None = None,
    preset: DocumentPreset | None = None,
    recall: Number | None = None,
    num_perm: int | None = None,
    bands: tuple[int, int] | str | None = None,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> PairResult:
    """Find all pairs of similar documents, or the most similar.

    Parameters
    ----------
    data
        Documents, in any form that ``deduplicate`` takes.
    against
        A second collection: pairs have one document of each. None: pairs within ``data``. In an
        index of documents, or its folder, documents are looked up; it defines all but the
        threshold. Method ``exact`` and options that need all texts read the texts of the index.
    threshold
        Least similarity, in (0, 1], an exact decimal; for ``overlap`` a number of shingles, for
        ``edit`` a value of 1 - distance / length of the longer text. None: 0.8, or any with
        ``top``.
    measure
        ``jaccard`` (the default), ``cosine``, ``dice``, ``containment`` (the share of a that b
        has), ``max-containment``, ``overlap`` (common shingles), ``weighted-jaccard``, ``hamming``
        (shingles that one of the two lacks) or ``edit`` (the default with ``max_distance``).
    max_distance
        Most edits, or Hamming distance, instead of a threshold.
    top
        Only this many pairs, the most similar; ties in input order.
    per_document
        Only the ``top`` most similar partners of each document of ``data``. In a self-join a pair
        may then come in both directions.
    one_to_one
        No document is in two pairs: the most similar pairs stay, ties in input order.
    blocking
        Compare only documents with equal values, as text, in all of these columns. A document
        without a value is in no pair.
    also
        Drop pairs whose documents have different values, as text, in one of these columns. Not with
        ``top``.
    columns
        Add these columns of both documents: ``title`` becomes ``title_a`` and ``title_b``.
    method
        ``exact`` (the default but for an index) misses no pair, ``minhash`` compares documents that
        share a band. ``allpairs``, ``ppjoin`` and ``ppjoin+`` are exact with these filters.
    limit
        Raise an error at more pairs.
    preset
        ``ocr``, ``titles`` or ``code``: defaults for such texts.
    recall, num_perm, bands
        MinHash bands of method ``minhash``, as of ``deduplicate``.
    text, read, run
        Tokens and shingles, input, and threads, memory or Spark.

    Returns
    -------
    ``pairs`` (Arrow table: id_a, id_b, similarity, and overlap or distance, but for
    ``weighted-jaccard``), ``counts`` (of the filters) and ``summary``.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``.
    ResultLimitError
        At more than ``limit`` pairs.

    Notes
    -----
    Exact except for collisions of 64-bit hashes. Keeps within ``memory``, except for about 80 bytes
    per document, the table ``pairs``, and with ``top`` about 50 bytes per pair of a step. A join in
    memory takes about 30 bytes per shingle, 80 if few are shared, 50 to 100 per weighted one, and
    50 per character for ``edit``; with less memory, records are joined in blocks, and the time
    grows with the number of blocks.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "a dog", "the cat sat on a mat"]
    >>> neardup.find_pairs(
    ...     texts, threshold="0.8", text=neardup.TextOptions(ngram=1)
    ... ).pairs.to_pylist()
    [{'id_a': '0', 'id_b': '2', 'similarity': 0.8333333333333334, 'overlap': 5}]
    >>> neardup.find_pairs(["Miller", "Muller", "Moeller"], max_distance=1).pairs.to_pylist()
    [{'id_a': '0', 'id_b': '1', 'similarity': 0.8333333333333334, 'distance': 1}]
    """
    options = merge(
        PairOptions,
        *(text, read),
        threshold=threshold,
        measure=measure,
        max_distance=max_distance,
        top=top,
        per_document=per_document,
        one_to_one=one_to_one,
        blocking=blocking,
        also=also,
        columns=columns,
        method=method,
        limit=limit,
        preset=preset,
        recall=recall,
        num_perm=num_perm,
        bands=bands,
    )
    return with_warning(_find(data, against, options, run))


class Pair(NamedTuple):
    """Two similar documents, by their ids."""

    id_a: str | int
    id_b: str | int
    similarity: float


def iter_pairs(
    data: Data,
    against: DataOrIndex | None = None,
    *,
    threshold: Number | None = None,
    measure: PairMeasure | None = None,
    max_distance: int | None = None,
    top: int | None = None,
    per_document: bool = False,
    one_to_one: bool = False,
    blocking: ColumnNames | None = None,
    also: ColumnNames | None = None,
    method: PairMethod | None = None,
    limit: int | None = None,
    preset: DocumentPreset | None = None,
    recall: Number | None = None,
    num_perm: int | None = None,
    bands: tuple[int, int] | str | None = None,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> Iterator[Pair]:
    """Find all pairs of similar documents, and yield each pair.

    Parameters as of ``find_pairs``.

    Returns
    -------
    An iterator of pairs, in the order of ``find_pairs``.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError, ResultLimitError
        As ``find_pairs``, before the first pair.

    Notes
    -----
    All pairs are found first, with the time and memory of ``find_pairs``; pairs that do not fit are
    in files, which are removed with the iterator. The table is never made.

    Examples
    --------
    >>> import neardup
    >>> for a, b, similarity in neardup.iter_pairs(["Miller", "Muller", "Smith"], max_distance=1):
    ...     print(a, b, round(similarity, 3))
    0 1 0.833
    """
    options = merge(
        PairOptions,
        *(text, read),
        threshold=threshold,
        measure=measure,
        max_distance=max_distance,
        top=top,
        per_document=per_document,
        one_to_one=one_to_one,
        blocking=blocking,
        also=also,
        method=method,
        limit=limit,
        preset=preset,
        recall=recall,
        num_perm=num_perm,
        bands=bands,
    )
    return _named(with_warning(_find(data, against, options, run)))


def _named(result: PairResult) -> Iterator[Pair]:
    for batch in result.rows():
        # A batch of Python values takes ten times the memory of its columns.
        for start in range(0, len(batch), _AT_ONCE):
            rows = batch.slice(start, _AT_ONCE)
            columns = (rows[name].to_pylist() for name in Pair._fields)
            yield from map(Pair, *columns)


def _find(data: Any, against: Any, options: PairOptions, run: RunOptions | None) -> PairResult:
    job = PairJob(options, resolve_inputs, data, against, options.idf_from)
    sources = [*job.left, *(job.right or ()), *(job.counted or ())]
    with open_engine(run, "pairs", sources, options) as engine:
        return job.run(engine)
