"""All pairs of similar documents, within one collection or between two."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.pairs.options import PairOptions, PairPlan, plan_pairs
from neardup.jobs.pairs.result import PairResult, pair_table, summarise_pairs
from neardup.jobs.pairs.spelling import Speller
from neardup.jobs.pairs.top import most_similar_pairs, most_similar_partners
from neardup.matching.bucket_join import BucketJoin
from neardup.matching.buckets import bucket_keys
from neardup.matching.edit_join import EditJoin
from neardup.matching.join import LEFT, RIGHT, FilterCounts, Join
from neardup.matching.pieces import check_limit
from neardup.matching.set_join import SetJoin
from neardup.options.choices import (
    Algorithm,
    Occurrences,
    OnError,
    PairMeasure,
    PairMethod,
    UnicodeForm,
)
from neardup.reading.catalogue import Catalogue
from neardup.reading.copies import ContentTable
from neardup.reading.first_pass import read_collections
from neardup.reading.second_pass import read_sets, read_token_lists
from neardup.runtime.progress import Progress, StageClock, no_progress
from neardup.runtime.runner import Runner
from neardup.tables import BandKeys, Buckets, Bytes, Digests, Int64s, ShingleSets
from neardup.text.shingles import digest_sets

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


def find_pairs_in_sources(
    left: Sequence[Source],
    right: Sequence[Source] | None,
    plan: PairPlan,
    progress: Progress = no_progress,
) -> PairResult:
    """Find all pairs, or the most similar; ``right`` is None for a self-join.

    Texts that are equal, and then records that are equal, are joined once; their documents come in
    when pairs are spelled out.
    """
    clock = StageClock()
    runner = Runner(plan.workers, progress)
    collections = [left] if right is None else [left, right]
    with clock.stage("read"):
        found = read_collections([(sources, plan.sketch) for sources in collections], runner)
        catalogues = found.catalogues
        document_contents = np.concatenate([catalogue.contents for catalogue in catalogues])
        join, documents = _make_join(
            catalogues, document_contents, found.n_contents, found.keys, plan, runner
        )
    n_records = len(join.own_scores)
    n_left = None if right is None else len(catalogues[0])
    speller = Speller.of(
        documents, join.own_scores, join.twins, n_left=n_left, is_directed=join.is_directed
    )
    sides = None if n_left is None else _sides(documents, n_records, n_left)

    options = plan.options
    with clock.stage("join"):
        if options.top is None:
            joined, counts = join.run(sides, options.limit, runner)
            pairs = speller.spell_out(joined, options.limit)
        else:
            best = most_similar_partners if options.per_document else most_similar_pairs
            pairs, step_counts = best(join, speller, sides, options.top, runner)
            counts = FilterCounts.total(step_counts)
            check_limit(options.limit, len(pairs))
    summary = summarise_pairs(catalogues, plan, counts, n_records, len(pairs), clock)
    if plan.sketch.minhash:
        summary["recall"] = float(options.recall_asked_for)
        summary["scheme"] |= plan.sketch.minhash.describe()
    if options.top is not None:
        summary["steps"] = len(step_counts)
    return PairResult(pair_table(pairs, join, documents, catalogues), counts, summary)


def _make_join(
    catalogues: Sequence[Catalogue],
    contents: Int64s,
    n_contents: int,
    band_keys: BandKeys,
    plan: PairPlan,
    runner: Runner,
) -> tuple[Join, Int64s]:
    """Read the records that are to be joined; give each document the number of its record.

    ``contents`` are the content numbers of all documents, ``band_keys`` the contents' keys.
    """
    numbers: Int64s = np.arange(n_contents, dtype=np.int64)
    buckets = None
    if plan.banding:
        buckets = bucket_keys(band_keys, numbers, plan.banding.bands, runner)
        # A content that meets no other is looked at only if several documents have it.
        is_read = (buckets.numbers >= 0).any(axis=0)
        is_read |= np.bincount(contents[contents >= 0], minlength=n_contents) > 1
        numbers = np.where(is_read, np.cumsum(is_read) - 1, -1)
        buckets = Buckets(buckets.numbers.compress(is_read, axis=1), buckets.sizes)
    wanted = _first_documents(contents, numbers)
    parts = np.split(wanted, np.cumsum([len(catalogue) for catalogue in catalogues])[:-1])
    documents: Int64s = np.full(len(contents), -1, np.int64)
    filled = contents >= 0
    documents[filled] = numbers[contents[filled]]
    if plan.edit:
        strings = read_token_lists(catalogues, parts, plan.sketch, runner)
        return EditJoin(strings, plan.edit, plan.options.ngram), documents
    algorithm = plan.options.algorithm
    assert plan.measure is not None
    assert algorithm is not None
    sets = read_sets(catalogues, parts, plan.sketch, runner)
    firsts, own_set = _find_equal(sets)
    documents[documents >= 0] = own_set[documents[documents >= 0]]
    sets = sets.take(firsts)
    if buckets:
        buckets = Buckets(buckets.numbers.take(firsts, axis=1), buckets.sizes)
        return BucketJoin(sets, plan.measure, buckets), documents
    return SetJoin(sets, plan.measure, algorithm), documents


def _first_documents(contents: Int64s, places: Int64s) -> Int64s:
    """Mark each content's first document with the content's place, all others with -1."""
    wanted: Int64s = np.full(len(contents), -1, np.int64)
    filled = np.flatnonzero(contents >= 0)
    numbers, firsts = np.unique(contents[filled], return_index=True)
    wanted[filled[firsts]] = places[numbers]
    return wanted


def _find_equal(sets: ShingleSets) -> tuple[Int64s, Int64s]:
    """Find the first of equal sets, and for each set the number of its first among those."""
    digests = Digests(digest_sets(sets), np.ones(len(sets), np.bool_))
    numbers = ContentTable().number(digests).numbers
    _, firsts = np.unique(numbers, return_index=True)
    return firsts, numbers


def _sides(documents: Int64s, n_sets: int, n_left: int) -> Bytes:
    """Tell for each set whether it occurs in the left collection, the right one, or both."""
    sides: Bytes = np.zeros(n_sets, np.uint8)
    sides[documents[:n_left][documents[:n_left] >= 0]] |= LEFT
    sides[documents[n_left:][documents[n_left:] >= 0]] |= RIGHT
    return sides


def find_pairs(
    left: Any,
    right: Any = None,
    *,
    measure: PairMeasure | None = None,
    threshold: str | float | Decimal | Fraction | None = None,
    max_distance: int | None = None,
    method: PairMethod = "exact",
    algorithm: Algorithm | None = None,
    top: int | None = None,
    per_document: bool = False,
    tokenizer: str | Path | TokenFunction | None = None,
    ngram: int | None = None,
    occurrences: Occurrences = "set",
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    text_column: str = "text",
    id_column: str | None = None,
    lines: bool = False,
    on_error: OnError = "raise",
    recall: str | float | Decimal | Fraction | None = None,
    num_perm: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    seed: int | None = None,
    limit: int | None = None,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> PairResult:
    """Find all pairs of similar documents, none missed, or the most similar.

    Parameters
    ----------
    left
        Documents, in any form that ``deduplicate`` takes.
    right
        A second collection: pairs are of one document of each. None: pairs within ``left``.
    measure
        ``jaccard`` (the default), ``cosine``, ``dice``, ``containment`` (how much of a lies in b),
        ``max-containment``, ``overlap`` (the number of common shingles), or ``edit`` (insertions,
        deletions and substitutions of tokens; the default with ``max_distance``).
    threshold
        Least similarity, in (0, 1], taken as the exact decimal; for ``overlap`` a whole number,
        for ``edit`` that of 1 - distance / length of the longer text. None is 0.8, or any
        similarity above 0 with ``top``.
    max_distance
        Most edits, instead of a threshold.
    method
        ``exact``: none is missed. ``minhash``: documents that share a MinHash band are compared,
        exactly, so that every pair is right and a pair at the threshold is found with the
        probability ``recall``.
    algorithm
        ``allpairs``, ``ppjoin`` (the default) or ``ppjoin+``: different filters of method
        ``exact``, the same pairs; not for ``edit``.
    top
        Only so many pairs, the most similar ones, or those of least distance where
        ``max_distance`` is given; ties in input order.
    per_document
        Only the ``top`` most similar partners of each document of ``left``. In a self-join a pair
        may so come in both directions.
    tokenizer, ngram, occurrences, casefold, unicode_form, strip_accents, fold_digits
        How texts become sets of shingles; as for ``deduplicate``. For ``edit`` the tokenizer is
        ``characters`` unless given, and ``ngram`` the size of the q-grams that find candidates,
        which changes the time, not the pairs.
    recall, num_perm, bands, rows, seed
        As for ``deduplicate``; with method ``minhash`` only.
    limit
        Raise an error at more pairs than this.
    text_column, id_column, lines, on_error, workers, progress
        As for ``deduplicate``; both collections have the same columns.

    Returns
    -------
    ``pairs`` (Arrow table: id_a, id_b, similarity, and overlap or distance), ``counts`` (what the
    filters did) and ``summary``.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``.
    ResultLimitError
        At more than ``limit`` pairs.

    Notes
    -----
    Exact but for collisions of 64-bit hashes. Memory about 40 bytes a shingle, or 50 a character
    for ``edit``, and some 200 bytes a pair found.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "a dog", "the cat sat on a mat"]
    >>> neardup.find_pairs(texts, ngram=1, threshold="0.8").pairs.to_pylist()
    [{'id_a': '0', 'id_b': '2', 'similarity': 0.8333333333333334, 'overlap': 5}]
    >>> neardup.find_pairs(["Miller", "Muller", "Moeller"], max_distance=1).pairs.to_pylist()
    [{'id_a': '0', 'id_b': '1', 'similarity': 0.8333333333333334, 'distance': 1}]
    """
    options = PairOptions(
        measure=measure,
        threshold=threshold,
        max_distance=max_distance,
        method=method,
        algorithm=algorithm,
        top=top,
        per_document=per_document,
        tokenizer=tokenizer,
        ngram=ngram,
        occurrences=occurrences,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
        text_column=text_column,
        id_column=id_column,
        on_error=on_error,
        recall=recall,
        num_perm=num_perm,
        bands=bands,
        rows=rows,
        seed=seed,
        limit=limit,
    )
    plan = plan_pairs(options, workers)
    right_sources = resolve_inputs(right, lines=lines) if right is not None else None
    return find_pairs_in_sources(resolve_inputs(left, lines=lines), right_sources, plan, progress)
