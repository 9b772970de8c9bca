"""All pairs of similar documents, within one collection or between two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.matching.measures import Measure, MeasureName, make_join_measure
from neardup.matching.set_join import ALGORITHMS, Algorithm, JoinCounts, join_sets
from neardup.matching.verify import similarities_of
from neardup.pipelines.candidates import read_sets
from neardup.pipelines.catalogue import Catalogue, SketchPlan, read_catalogue
from neardup.pipelines.contents import ContentTable
from neardup.pipelines.options import DocumentOptions
from neardup.pipelines.spelling import spell_out
from neardup.progress import Progress, StageClock, no_progress
from neardup.tables import Bytes, Int64s, ScoredPairs, ShingleSets
from neardup.text.shingles import Occurrences, digest_sets
from neardup.workers import count_workers

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.text.tokenizers import TokenFunction

# Sides of a join of two collections, as the kernel knows them.
_LEFT, _RIGHT = 1, 2


@dataclass(frozen=True, kw_only=True)
class PairOptions(DocumentOptions):
    """Everything that decides the result of ``find_pairs``; see there for the meanings."""

    measure: MeasureName = "jaccard"
    threshold: str | float | Decimal | Fraction = "0.8"
    algorithm: Algorithm = "ppjoin+"
    limit: int | None = None


@dataclass(frozen=True)
class PairPlan:
    """Checked options."""

    options: PairOptions
    measure: Measure
    sketch: SketchPlan
    workers: int


@dataclass(frozen=True)
class PairResult:
    """Pairs of similar documents and how they were found.

    ``pairs`` has the columns ``id_a``, ``id_b``, ``similarity`` and ``overlap`` (the number of
    common shingles), in input order of a, then b. In a self-join a comes before b, but for
    ``containment``, where a is the document that lies in b.
    """

    pairs: pa.Table
    counts: JoinCounts
    summary: dict[str, Any]

    def __repr__(self) -> str:
        """Tell the counts."""
        documents = " and ".join(f"{number:,}" for number in self.summary["documents"])
        return f"PairResult({documents} documents: {len(self.pairs):,} pairs)"


def make_pair_plan(options: PairOptions, workers: int | None = None) -> PairPlan:
    """Check all options, before any work starts.

    Raises
    ------
    InvalidParameterError
        For the first option that is out of range.
    """
    measure = make_join_measure(options.measure, options.threshold)
    if options.algorithm not in ALGORITHMS:
        message = f"algorithm must be one of {', '.join(ALGORITHMS)}, got {options.algorithm!r}"
        raise InvalidParameterError(message)
    if options.limit is not None and options.limit < 1:
        message = f"limit must be at least 1, got {options.limit}"
        raise InvalidParameterError(message)
    return PairPlan(options, measure, options.sketch_plan(), count_workers(workers))


def find_pairs_in_sources(
    left: Sequence[Source],
    right: Sequence[Source] | None,
    plan: PairPlan,
    progress: Progress = no_progress,
) -> PairResult:
    """Find all pairs, exactly; ``right`` is None for a self-join.

    Texts that are equal, and then shingle sets that are equal, are joined once; their documents
    come in when pairs are spelled out.
    """
    clock = StageClock()
    contents = ContentTable()
    collections = [left] if right is None else [left, right]
    with clock.stage("read"):
        catalogues = [
            read_catalogue(
                sources, plan.sketch, contents, [], workers=plan.workers, progress=progress
            )
            for sources in collections
        ]
        document_contents = np.concatenate([catalogue.contents for catalogue in catalogues])
        wanted = _first_documents(document_contents, contents.size)
        bounds = np.cumsum([len(catalogue) for catalogue in catalogues])[:-1]
        sets = read_sets(
            catalogues,
            np.split(wanted, bounds),
            plan.sketch,
            workers=plan.workers,
            progress=progress,
        )
        sets, documents = _collapse(sets, document_contents)
    n_left = len(catalogues[0])
    with clock.stage("join"):
        sides = None if right is None else _sides(documents, len(sets), n_left)
        joined, counts = join_sets(
            sets,
            plan.measure,
            sides=sides,
            algorithm=plan.options.algorithm,
            workers=plan.workers,
            limit=plan.options.limit,
            progress=lambda done: progress("join", done, len(sets)),
        )
        spelled = spell_out(
            joined,
            sets,
            documents,
            plan.measure,
            n_left=None if right is None else n_left,
            limit=plan.options.limit,
        )
    return PairResult(
        _table(spelled, sets, documents, catalogues, plan.measure),
        counts,
        _summary(catalogues, plan, counts, len(sets), len(spelled), clock),
    )


def _first_documents(contents: Int64s, n_contents: int) -> Int64s:
    """Mark each content's first document with the content's number, all others with -1."""
    wanted: Int64s = np.full(len(contents), -1, np.int64)
    filled = np.flatnonzero(contents >= 0)
    _, firsts = np.unique(contents[filled], return_index=True)
    wanted[filled[firsts]] = np.arange(n_contents)
    return wanted


def _collapse(sets: ShingleSets, contents: Int64s) -> tuple[ShingleSets, Int64s]:
    """Keep one of several equal sets; give each document the number of its set, -1 for none."""
    table = ContentTable()
    numbers = table.number(digest_sets(sets), np.ones(len(sets), np.bool_))
    _, firsts = np.unique(numbers, return_index=True)
    documents: Int64s = np.full(len(contents), -1, np.int64)
    documents[contents >= 0] = numbers[contents[contents >= 0]]
    return sets.take(firsts), documents


def _sides(documents: Int64s, n_sets: int, n_left: int) -> Bytes:
    """Tell for each set whether it occurs in the left collection, the right one, or both."""
    sides: Bytes = np.zeros(n_sets, np.uint8)
    sides[documents[:n_left][documents[:n_left] >= 0]] |= _LEFT
    sides[documents[n_left:][documents[n_left:] >= 0]] |= _RIGHT
    return sides


def _table(
    spelled: ScoredPairs,
    sets: ShingleSets,
    documents: Int64s,
    catalogues: Sequence[Catalogue],
    measure: Measure,
) -> pa.Table:
    import pyarrow as pa

    ids = pa.concat_arrays([catalogue.document_ids() for catalogue in catalogues])
    sizes = (sets.sizes[documents[side]] for side in (spelled.left, spelled.right))
    return pa.table(
        {
            "id_a": ids.take(spelled.left),
            "id_b": ids.take(spelled.right),
            "similarity": similarities_of(measure, spelled.overlaps, *sizes),
            "overlap": spelled.overlaps,
        }
    )


def _summary(
    catalogues: Sequence[Catalogue],
    plan: PairPlan,
    counts: JoinCounts,
    n_sets: int,
    n_pairs: int,
    clock: StageClock,
) -> dict[str, Any]:
    return {
        "documents": [int((catalogue.n_tokens >= 0).sum()) for catalogue in catalogues],
        "empty_documents": sum(int((c.n_tokens == 0).sum()) for c in catalogues),
        "skipped_rows": sum(len(catalogue.skipped) for catalogue in catalogues),
        "distinct_sets": n_sets,
        "pairs": n_pairs,
        "filters": vars(counts),
        "measure": plan.measure.name,
        "threshold": float(plan.measure.threshold),
        "algorithm": plan.options.algorithm,
        "scheme": plan.sketch.shingles.describe(),
        "workers": plan.workers,
        "seconds": {name: round(seconds, 3) for name, seconds in clock.seconds.items()},
    }


def find_pairs(
    left: Any,
    right: Any = None,
    *,
    measure: MeasureName = "jaccard",
    threshold: str | float | Decimal | Fraction = 0.8,
    algorithm: Algorithm = "ppjoin+",
    tokenizer: str | Path | TokenFunction = "words",
    ngram: int = 5,
    occurrences: Occurrences = "set",
    casefold: bool | None = None,
    unicode_form: Literal["NFC", "NFKC"] | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    text_column: str = "text",
    id_column: str | None = None,
    lines: bool = False,
    on_error: Literal["raise", "skip"] = "raise",
    limit: int | None = None,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> PairResult:
    """Find all pairs of documents at or above a threshold, none missed.

    Parameters
    ----------
    left
        Documents, in any form that ``deduplicate`` takes.
    right
        A second collection: pairs are of one document of each. None: pairs within ``left``.
    measure
        ``jaccard``, ``cosine``, ``dice``, ``containment`` (how much of a lies in b),
        ``max-containment`` or ``overlap`` (the number of common shingles).
    threshold
        Least similarity, in (0, 1], taken as the exact decimal; for ``overlap`` a whole number.
    algorithm
        ``allpairs``, ``ppjoin`` or ``ppjoin+``: different filters, the same pairs.
    limit
        Raise an error at more pairs than this.
    tokenizer, ngram, occurrences, casefold, unicode_form, strip_accents, fold_digits
        How texts become sets of shingles; as for ``deduplicate``.
    text_column, id_column, lines, on_error, workers, progress
        As for ``deduplicate``; both collections have the same columns.

    Returns
    -------
    ``pairs`` (Arrow table: id_a, id_b, similarity, overlap), ``counts`` (what the filters did) and
    ``summary``.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``.
    ResultLimitError
        At more than ``limit`` pairs.

    Notes
    -----
    Exact but for collisions of 64-bit shingle hashes. Memory about 24 bytes a shingle.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "a dog", "the cat sat on a mat"]
    >>> neardup.find_pairs(texts, ngram=1, threshold="0.8").pairs.to_pylist()
    [{'id_a': '0', 'id_b': '2', 'similarity': 0.8333333333333334, 'overlap': 5}]
    """
    options = PairOptions(
        measure=measure,
        threshold=threshold,
        algorithm=algorithm,
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
        limit=limit,
    )
    plan = make_pair_plan(options, workers)
    right_sources = resolve_inputs(right, lines=lines) if right is not None else None
    return find_pairs_in_sources(resolve_inputs(left, lines=lines), right_sources, plan, progress)
