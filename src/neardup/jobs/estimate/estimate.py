"""``estimate``: similarities of documents from their sketches."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.jobs.estimate.pairs import Collection, add_places, estimate_pairs
from neardup.jobs.sketch.sketches import Sketches, as_sketches, check_same_scheme
from neardup.jobs.stages.pair_ids import READING_PAIRS
from neardup.options.choices import EstimatedMeasure
from neardup.options.jobs import FUNCTIONS
from neardup.options.kinds import exact_fraction
from neardup.options.option import check_options, no_effect
from neardup.results import TableResult
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner
from neardup.sketches.kind import Wanted
from neardup.sketches.registry import KIND_NAMES, kind_named, kinds_with
from neardup.sketches.super_shingles import SuperShingleRule, SuperShingles


def make_wanted(
    sketches: Sketches,
    *,
    measure: str | None,
    threshold: str | float | Decimal | Fraction | None,
    min_significance: float | None,
) -> Wanted:
    """Check which pairs are wanted.

    Raises
    ------
    InvalidParameterError
        For a measure or a significance that the kind does not estimate, a measure without a
        threshold, and a threshold that is out of range.
    """
    kind = sketches.kind_object
    if measure is not None and measure not in kind.measures:
        kinds = [name for name in KIND_NAMES if measure in kind_named(name).measures]
        message = (
            f"measure {measure} needs sketches of kind {' or '.join(kinds)}, got {sketches.kind}; "
            f"choose {' or '.join(kind.measures)}, or make such sketches"
        )
        raise InvalidParameterError(message, "measure")
    if measure is not None and threshold is None:
        raise no_effect("measure", "without threshold", "give threshold", "threshold")
    if min_significance is not None:
        check_feature(sketches, "has_significance", "min_significance")
    least = None if threshold is None else exact_fraction("threshold", threshold)
    return Wanted(least, measure, min_significance)


def make_rule(
    sketches: Sketches, *, least: int | None, groups: int | None, rows: int | None
) -> SuperShingleRule | None:
    """Check how many super-shingles pairs have in common; None if that is not asked.

    Raises
    ------
    InvalidParameterError
        For kinds without, options without effect, and more min-hashes than sketches have.
    """
    if least is None:
        for name, value in (("bands", groups), ("rows", rows)):
            if value is not None:
                raise no_effect(
                    name, "without super_shingles", "give super_shingles", "super_shingles"
                )
        return None
    check_feature(sketches, "has_super_shingles", "super_shingles", "need")
    usual = SuperShingleRule()
    groups, rows = groups or usual.groups, rows or usual.rows
    if least > groups:
        message = f"super_shingles must lie between 1 and the {groups} bands, got {least}"
        raise InvalidParameterError(message, "super_shingles")
    n_values = sketches.rows.values.shape[1]
    if groups * rows > n_values:
        message = (
            f"bands * rows must be at most the {n_values} min-hashes of a sketch, got {groups} * "
            f"{rows}; make sketches with a larger num_perm, or give less bands or rows"
        )
        raise InvalidParameterError(message, "bands", "rows", "num_perm")
    return SuperShingleRule(groups, rows, least)


def check_feature(sketches: Sketches, feature: str, option: str, verb: str = "needs") -> None:
    """Raise unless the kind of sketches has what an option needs.

    Raises
    ------
    InvalidParameterError
        Naming the kinds that have it.
    """
    if not getattr(sketches.kind_object, feature):
        message = (
            f"{option} {verb} sketches of kind {kinds_with(feature)}, got {sketches.kind}; leave "
            f"out {option}, or make such sketches"
        )
        raise InvalidParameterError(message, option)


@dataclass(frozen=True, repr=False)
class EstimateResult(TableResult):
    """Pairs of documents and what their sketches say of them.

    ``pairs`` has ``id_a``, ``id_b`` and the estimates with standard errors and 95 % intervals, by
    kind; null where the samples are not enough. ``summary`` has the counts.
    """

    _rows_are = "pairs"

    pairs: pa.Table
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """The pairs."""
        return self.pairs

    def headline(self) -> str:
        """Return kind and number of pairs."""
        return f"{self.summary['kind']}: {len(self.pairs):,} pairs"

    def _chart(self) -> str:
        from neardup.reports.notebook import similarities_in_notebook

        parts = [self.pairs["similarity"]]
        return similarities_in_notebook(parts, self.summary["threshold"], "pairs")


def estimate(
    sketches: Sketches | str | Path,
    other: Sketches | str | Path | None = None,
    *,
    measure: EstimatedMeasure | None = None,
    threshold: str | float | Decimal | Fraction | None = None,
    min_significance: float | None = None,
    super_shingles: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    pairs: Any = None,
    places: bool = False,
    limit: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> EstimateResult:
    """Estimate how similar documents are, from their sketches alone.

    Parameters
    ----------
    sketches
        From ``sketch``, or the path of a file of them.
    other
        More, made by the same scheme: pairs are of one document of each. None: all pairs within
        ``sketches``.
    measure
        What the threshold is for. None is the similarity that sketches of a kind are for:
        ``jaccard``, ``weighted-jaccard``, or ``edit``. Of ``modulo`` also ``containment``, how much
        of a is in b, and ``max-containment``, how much of the smaller set is in the other one.
    threshold
        Only pairs of which that estimate is at least this, in (0, 1], taken as the exact decimal.
        None: all pairs.
    min_significance
        Of ``edit``: only pairs that are nearer than unrelated texts by so many standard deviations,
        above 0; 3 leaves few pairs that share nothing.
    super_shingles
        Of ``minhash`` and ``weighted``: only pairs that agree in so many super-shingles or more.
        Texts that are very much alike do, others hardly ever: with r as similarity the probability
        is that of so many successes in ``bands`` trials of probability r^``rows``.
    bands, rows
        With ``super_shingles``: how many super-shingles a document has, None is 6, and of how many
        min-hashes each is a hash, None is 14.
    pairs
        Only these, in their order: a table with columns ``id_a`` and ``id_b``, as a path or in any
        form that documents may have. ``id_a`` is of ``sketches``, ``id_b`` of ``other`` if that is
        given.
    places
        Also report where the shorter text seems to lie in the longer one; for ``edit`` only.
    limit
        Raise an error at more pairs than this.
    workers
        Threads; None is one a core. The result does not depend on it.
    progress
        As for ``deduplicate``.

    Returns
    -------
    ``pairs``, an Arrow table in input order, and ``summary``. For ``containment`` a is the document
    that lies in b, so that within one collection a pair may come twice, in both orders. Columns
    besides the ids, by kind:

    - all but ``edit``: ``similarity``, its standard ``error``, and an interval from ``low`` to
      ``high`` that holds the truth in 95 of 100 cases. An error of 0 with low equal to high says
      that nothing was left to chance; ``samples`` are the elements that the estimate rests on.
    - ``modulo`` also: ``containment_a``, how much of a is in b, ``containment_b`` the other way,
      each with its error and interval.
    - ``edit``: ``distance`` in characters with ``low`` and ``high``, ``similarity``, which is 1 -
      distance / characters of the longer text, ``significance``, by how many standard deviations
      the pair is nearer than unrelated texts, and ``spread``, from 0 for differences in one place
      to 1 for differences all over. With ``places`` also ``inner``, a or b, the shorter text,
      ``place_start`` and ``place_end``, characters of the other one, to within a few times the
      compression, and ``place_share``, the part of the inner one's symbols that was found there.

    Of blocks also ``start_a``, ``end_a`` and ``start_b``, ``end_b``, characters of the document;
    blocks of one document make no pair. All have ``exact_copy``: whether both texts have the same
    tokens in the same order, of ``edit`` the same characters; null where one has no digest, as
    unions have none. With ``super_shingles`` there is also that, the number of them that agree.
    Estimates are null where fewer than 20 samples or symbols are there; such pairs reach no
    threshold, and are counted in the summary where they were looked at.

    Raises
    ------
    SketchMismatchError
        If the two were made by unlike schemes.
    ReadError, SketchFormatError, InvalidInputError
        If a file cannot be read, or is not one of sketches; if ``pairs`` has no such columns, or
        names a document that has no sketch.
    ResultLimitError
        At more than ``limit`` pairs.
    InvalidParameterError
        For an option out of range, or that sketches of this kind do not have; for more than
        20,000,000 pairs where nothing is asked of them.

    Notes
    -----
    Given a threshold, every pair whose estimate reaches it is found, through bands (minhash,
    weighted) or prefixes (smallest, modulo, edit); of ``edit`` sketches all pairs of fitting
    lengths are looked at with a threshold below 0.36 or so, which unrelated texts may reach, or
    with less than 65,536 letters. Whether the true similarity reaches the threshold is another
    matter, which the interval answers.

    Examples
    --------
    >>> import neardup
    >>> theirs = neardup.sketch(["a b c d e f", "g h i"], ngram=1)
    >>> ours = neardup.sketch(["b c d e f a"], ngram=1)
    >>> neardup.estimate(ours, theirs, threshold=0.9).pairs["id_b"].to_pylist()
    ['0']
    """
    given = check_options(
        FUNCTIONS["estimate"],
        measure=measure,
        threshold=threshold,
        min_significance=min_significance,
        super_shingles=super_shingles,
        bands=bands,
        rows=rows,
        places=places,
        limit=limit,
    )
    limit = given["limit"]
    own = as_sketches(sketches)
    others = None if other is None else as_sketches(other)
    if others is not None:
        check_same_scheme(own, others)
    if places:
        check_feature(own, "has_places", "places", "need")
    wanted = make_wanted(
        own,
        measure=measure,
        threshold=threshold,
        min_significance=given["min_significance"],
    )
    if pairs is not None:
        for each in (own, others or own):
            each.check_whole("pairs")
    rule = make_rule(own, least=super_shingles, groups=bands, rows=rows)
    collection = Collection.of(own, others)
    alike = None if rule is None else SuperShingles.of(collection.rows, rule)
    with Runner(workers, progress) as runner:
        listed = None
        if pairs is not None:
            with runner.stage(READING_PAIRS):
                listed = collection.listed(pairs, runner)
        with runner.stage("estimate") as note:
            # Pairs are estimated as they are found: all of them would fill the memory.
            asked = listed or collection.pairs(wanted, alike, limit, runner)
            found = estimate_pairs(collection, asked, wanted, alike, limit, runner)
            table = found.table
            if places:
                table = add_places(table, collection)
            note(estimated_pairs=found.n_pairs, pairs=len(table))
    sides = [own] if others is None else [own, others]
    summary = {
        "kind": own.kind,
        "documents": [each.n_documents for each in sides],
        "blocks": [None if each.blocks is None else len(each) for each in sides],
        "short_sketches": collection.kind.count_short(collection.rows),
        "pairs": len(table),
        "estimated_pairs": found.n_pairs,
        "unusable_pairs": found.n_unusable,
        "exact_copies": pc.sum(table["exact_copy"]).as_py() or 0,
        "measure": measure or own.kind_object.measures[0],
        "threshold": None if wanted.threshold is None else float(wanted.threshold),
        "min_significance": wanted.min_significance,
        "super_shingles": None if rule is None else rule.least,
        "bands": None if rule is None else rule.groups,
        "rows": None if rule is None else rule.rows,
        "scheme": own.scheme,
        "workers": runner.workers,
        "seconds": runner.seconds,
    }
    return EstimateResult(collection.name_pairs(table), summary)
