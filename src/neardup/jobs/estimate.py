"""``estimate``: similarities of documents from their sketches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engine.opening import check_run, memory_budget
from neardup.errors import InvalidParameterError
from neardup.matching.join import check_limit
from neardup.options.choices import EstimatedMeasure, Number
from neardup.options.document_options import ClusterOptions, EstimateOptions
from neardup.options.groups import RunOptions
from neardup.options.kinds import exact_fraction
from neardup.options.option import merge, no_effect
from neardup.results import TableResult
from neardup.runs.progress import counted
from neardup.runs.runner import Runner, release_memory
from neardup.sketches.greedy import cluster_greedily
from neardup.sketches.kind import (
    KIND_NAMES,
    Pairs,
    SketchKind,
    WantedPairs,
    cut_pairs,
    kind_named,
    list_pairs,
    parse_scheme,
)
from neardup.sketches.minhash import MinHashScheme, SuperShingleRule, SuperShingles
from neardup.sketches.samples import SampleScheme
from neardup.stages.sketches import Sketches, SketchParts, bytes_to_read, check_same_scheme
from neardup.tables import Int64s

# Maximum number of pairs without a threshold.
MOST_PAIRS = 20_000_000

# Memory per byte of sketches in memory, and per byte of a file's part: two joined, and one being
# read.
_HELD_OF_ALL, _HELD_OF_PART = 4, 6


class _Selection(NamedTuple):
    """Selection of pairs: by a measure, by super-shingles, or all."""

    measure: str
    threshold: Fraction | None
    rule: SuperShingleRule | None
    limit: int | None


class _FoundPairs(NamedTuple):
    """Estimates of selected pairs, and counts of all."""

    table: pa.Table
    n_pairs: int
    n_unusable: int
    n_short: int = 0


# Steps of progress for each couple of parts.
_STEPS = 1000


@dataclass(frozen=True)
class _Couple:
    """One or two parts of collections, whose pairs are estimated.

    The first ``n_left`` rows are the first of two parts, None for one.
    """

    selection: _Selection
    kind: SketchKind
    # The type depends on the kind, which alone accesses it.
    rows: Any
    digests: pa.Array
    n_left: int | None
    super_shingles: SuperShingles | None

    @classmethod
    def of(cls, selection: _Selection, left: Sketches, right: Sketches | None) -> _Couple:
        kind, rows, digests, n_left = parse_scheme(left.scheme), left.rows, left.digests, None
        if right is not None:
            rows = kind.join_rows([left.rows, right.rows])
            digests, n_left = pa.concat_arrays([left.digests, right.digests]), len(left)
        super_shingles = None if selection.rule is None else SuperShingles.of(rows, selection.rule)
        return cls(selection, kind, rows, digests, n_left, super_shingles)

    def pairs(self, runner: Runner) -> Iterator[Pairs]:
        selection = self.selection
        if self.super_shingles is not None:
            return cut_pairs(*self.super_shingles.join(self.n_left, runner))
        if selection.threshold is None:
            return list_pairs(len(self.rows), self.n_left)
        wanted = WantedPairs(selection.measure, selection.threshold, self.n_left, selection.limit)
        return self.kind.candidates(self.rows, wanted, runner)

    def estimate(self, pairs: Pairs) -> tuple[_FoundPairs, int]:
        """Return estimates of selected pairs, and the last pair's first row."""
        left, right = pairs
        found = self.kind.estimate(self.rows, left, right)
        shares = found.measures[self.selection.measure]
        columns = {"left": pa.array(left), "right": pa.array(right), **found.columns}
        # Empty documents are no copies; the result is null if a digest is unknown.
        is_filled = pa.array(self.kind.count_elements(self.rows)[left] != 0)
        is_equal = pc.equal(self.digests.take(columns["left"]), self.digests.take(columns["right"]))
        columns["exact_copy"] = pc.and_(is_equal, is_filled)
        is_wanted = np.ones(len(left), np.bool_)
        if self.selection.threshold is not None:
            is_wanted &= shares.reaching(self.selection.threshold)
        if self.super_shingles is not None:
            agreements = self.super_shingles.count(left, right)
            columns["super_shingles"] = pa.array(agreements)
            is_wanted &= agreements >= self.super_shingles.rule.least
        table = pa.table(columns).filter(pa.array(is_wanted))
        n_unusable = int((~shares.is_usable).sum())
        return _FoundPairs(table, len(left), n_unusable), int(left[-1]) if len(left) else 0


def _couple_parts(
    sides: Sequence[SketchParts], *, both_ways: bool
) -> Iterator[tuple[Sketches, Sketches | None, tuple[int, int]]]:
    """Yield parts, with first rows, to cover each pair once.

    With ``both_ways``, pairs of different parts of one collection come in both orders.
    """
    own, others, is_one = sides[0], sides[-1], len(sides) == 1
    for number, rows in enumerate(own.rows):
        left = own.part(number)
        if is_one:
            yield left, None, (rows.start, rows.start)
        for other in range(number + 1 if is_one else 0, len(others.rows)):
            right = others.part(other)
            starts = rows.start, others.rows[other].start
            yield left, right, starts
            if both_ways:
                yield right, left, starts[::-1]
            # Free it before the next one.
            del right


def _find_pairs(sides: Sequence[SketchParts], selection: _Selection, runner: Runner) -> _FoundPairs:
    kind, is_one = parse_scheme(sides[0].scheme), len(sides) == 1
    if selection.rule is None and selection.threshold is None:
        n = len(sides[0])
        n_all = n * (n - 1) // 2 if is_one else n * len(sides[1])
        check_limit(selection.limit, n_all)
        if n_all > MOST_PAIRS:
            message = f"{n_all:,} pairs; give a threshold, {MOST_PAIRS:,} can be had without"
            raise InvalidParameterError(message, "threshold")
    both_ways = is_one and selection.measure in kind.directed_measures
    n_parts = len(sides[0].rows)
    n_couples = n_parts * (n_parts + 1) // 2
    if both_ways or not is_one:
        n_couples = n_parts * len(sides[-1].rows)
    tables: list[pa.Table] = []
    keys: list[tuple[Int64s, Int64s]] = []
    n_found = n_pairs = n_unusable = n_short = 0
    with runner.stage("estimate") as note:
        couples = _couple_parts(sides, both_ways=both_ways)
        for number, (left, right, starts) in enumerate(couples):
            # Free the memory of reading before the next step.
            release_memory()
            # Each part is coupled with itself once, or with the first part of the other side.
            if right is None or (not is_one and starts[1] == 0):
                n_short += kind.count_short(left.rows)
            if right is not None and not is_one and starts[0] == 0:
                n_short += kind.count_short(right.rows)
            couple = _Couple.of(selection, left, right)
            n_rows, steps = len(left), number * _STEPS
            nothing: Pairs = (np.empty(0, np.int64), np.empty(0, np.int64))
            found = [couple.estimate(nothing)[0].table]
            # Pairs are estimated as they are found, because all of them would fill the memory.
            for part, last in runner.map(couple.estimate, couple.pairs(runner)):
                found.append(part.table)
                n_found += len(part.table)
                n_pairs += part.n_pairs
                n_unusable += part.n_unusable
                check_limit(selection.limit, n_found)
                done = steps + _STEPS * min(last, n_rows) // max(n_rows, 1)
                runner.report("estimate", done, n_couples * _STEPS)
            runner.report("estimate", steps + _STEPS, n_couples * _STEPS)
            table = pa.concat_tables(found)
            rows_a = table["left"].to_numpy()
            rows_b = table["right"].to_numpy() - (couple.n_left or 0)
            keys.append((rows_b + starts[1], rows_a + starts[0]))
            ids_b = left.ids if right is None else right.ids
            named = {"id_a": left.ids.take(pa.array(rows_a)), "id_b": ids_b.take(pa.array(rows_b))}
            rest = table.drop_columns(["left", "right"])
            tables.append(pa.table(named | dict(zip(rest.column_names, rest.columns, strict=True))))
            # Free all of it before the next parts are read.
            del left, right, couple, found, table, rest
        table = pa.concat_tables(tables)
        if len(tables) > 1:
            columns = [np.concatenate(each) for each in zip(*keys, strict=True)]
            table = table.take(np.lexsort(columns))
        note(estimated_pairs=n_pairs, pairs=n_found)
    return _FoundPairs(table, n_pairs, n_unusable, n_short)


def _make_selection(kind: SketchKind, given: EstimateOptions) -> _Selection:
    """Check the selection of pairs, its measure and threshold."""
    measure, threshold = given.measure, given.threshold
    if measure is not None and measure not in kind.measures:
        kinds = [name for name in KIND_NAMES if measure in kind_named(name).measures]
        message = (
            f"measure {measure} needs sketches of kind {' or '.join(kinds)}, got {kind.name}; "
            f"choose {' or '.join(kind.measures)}, or make such sketches"
        )
        raise InvalidParameterError(message, "measure")
    if measure is not None and threshold is None:
        raise no_effect("measure", "without threshold", "give threshold", "threshold")
    least = None if threshold is None else exact_fraction("threshold", threshold)
    return _Selection(measure or kind.measures[0], least, _make_rule(kind, given), given.limit)


def _make_rule(kind: SketchKind, given: EstimateOptions) -> SuperShingleRule | None:
    """Make the rule of super-shingles, None without, and check its options."""
    least = given.super_shingles
    if least is None:
        return None
    if not isinstance(kind, MinHashScheme):
        message = (
            f"super_shingles need sketches of kind minhash or weighted, got {kind.name}; leave out "
            "super_shingles, or make such sketches"
        )
        raise InvalidParameterError(message, "super_shingles")
    rule = SuperShingleRule(least=least)
    if least > rule.groups:
        message = f"super_shingles must lie between 1 and {rule.groups}, got {least}"
        raise InvalidParameterError(message, "super_shingles")
    if rule.groups * rule.rows > kind.num_perm:
        message = (
            f"super_shingles need {rule.groups * rule.rows} min-hashes of a sketch, got "
            f"{kind.num_perm}; make sketches with a larger num_perm"
        )
        raise InvalidParameterError(message, "super_shingles", "num_perm")
    return rule


@dataclass(frozen=True, repr=False, eq=False)
class EstimateResult(TableResult):
    """Pairs of documents with estimates from their sketches.

    ``pairs`` has ``id_a``, ``id_b`` and the estimates with standard errors and 95 % intervals, by
    kind; null for too few samples. ``summary`` has the counts.
    """

    pairs: pa.Table
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """The pairs, as an Arrow table."""
        return self.pairs

    def headline(self) -> str:
        """Return kind and number of pairs."""
        return f"{self.summary['kind']}: {counted(len(self.pairs), 'pair')}"


def estimate(
    data: Sketches | str | Path,
    against: Sketches | str | Path | None = None,
    *,
    threshold: Number | None = None,
    measure: EstimatedMeasure | None = None,
    super_shingles: int | None = None,
    limit: int | None = None,
    run: RunOptions | None = None,
) -> EstimateResult:
    """Estimate similarities of documents from their sketches alone.

    Parameters
    ----------
    data
        Sketches from ``sketch``, or the path of a file of them.
    against
        Sketches of the same scheme: pairs have one document of each. None: all pairs in ``data``.
    threshold
        Only pairs whose estimate is at least this, in (0, 1], an exact decimal. None: all pairs.
    measure
        Measure of the threshold. None: the similarity of the kind, ``jaccard``,
        ``weighted-jaccard`` or ``edit``. For ``modulo`` also ``containment``, the share of a that b
        has, and ``max-containment``.
    super_shingles
        For ``minhash`` and ``weighted``: only pairs with this many common super-shingles, each a
        hash of 14 min-hashes, 6 per document. Only very similar texts have any.
    limit
        Raise an error at more pairs.
    run
        Threads, and the memory budget: parts of files that do not fit are compared two at a time.

    Returns
    -------
    ``pairs``, an Arrow table in input order, and ``summary``. For ``containment`` a is the document
    that lies in b, so that within one collection a pair may come twice. Columns besides the ids, by
    kind:

    - all but ``edit``: ``similarity``, its standard ``error``, and an interval from ``low`` to
      ``high`` that holds the truth in 95 of 100 cases. An error of 0 with low equal to high says
      that nothing was left to chance; ``samples`` are the elements that the estimate rests on.
    - ``modulo`` also: ``containment_a``, how much of a is in b, ``containment_b`` the other way,
      each with its error and interval.
    - ``edit``: ``distance`` in characters with ``low`` and ``high``, ``similarity``, which is 1 -
      distance / characters of the longer text, and ``significance``, by how many symbols
      the pair is nearer than unrelated texts.

    All have ``exact_copy``: whether both texts have the same tokens in the same order, of ``edit``
    the same characters; null where one has no digest. With ``super_shingles`` there is also that,
    the number of them that agree.
    Estimates are null where fewer than 20 samples or symbols are there; such pairs reach no
    threshold, and are counted in the summary where they were looked at.

    Raises
    ------
    SketchMismatchError
        If the two were made by unlike schemes.
    ReadError, SketchFormatError
        If a file cannot be read, or is not a file of sketches.
    ResultLimitError
        At more than ``limit`` pairs.
    InvalidParameterError
        For an option out of range or of other kinds, and over 20,000,000 pairs without a selection.

    Notes
    -----
    Given a threshold, every pair whose estimate reaches it is found, through bands (minhash,
    weighted) or prefixes (smallest, modulo); for ``edit`` sketches, all pairs of compatible lengths
    are compared. The true similarity may differ from the estimate; see the interval.

    Examples
    --------
    >>> import neardup
    >>> words = neardup.TextOptions(ngram=1)
    >>> theirs = neardup.sketch(["a b c d e f", "g h i"], text=words)
    >>> ours = neardup.sketch(["b c d e f a"], text=words)
    >>> neardup.estimate(ours, theirs, threshold=0.9).pairs["id_b"].to_pylist()
    ['0']
    """
    options = merge(EstimateOptions, locals())
    given = check_run(run, "memory")
    with Runner(given.workers, given.progress) as runner:
        return estimate_files(data, against, options, runner, memory_budget(given.memory))


def estimate_files(
    data: Sketches | str | Path,
    against: Sketches | str | Path | None,
    options: EstimateOptions,
    runner: Runner,
    memory: int,
) -> EstimateResult:
    """Estimate like ``estimate``, within a memory limit in bytes."""
    named = [data] if against is None else [data, against]
    n_bytes, budget = sum(map(bytes_to_read, named)), memory
    is_whole = n_bytes * _HELD_OF_ALL <= budget
    sides = [SketchParts(each, None if is_whole else budget // _HELD_OF_PART) for each in named]
    own, others = sides[0], sides[-1]
    check_same_scheme(own, others)
    kind = parse_scheme(own.scheme)
    selection = _make_selection(kind, options)
    found = _find_pairs(sides, selection, runner)
    rule = selection.rule
    summary: dict[str, Any] = {
        "kind": kind.name,
        "documents": [len(side) for side in sides],
        "short_sketches": found.n_short,
        "pairs": len(found.table),
        "estimated_pairs": found.n_pairs,
        "unusable_pairs": found.n_unusable,
        "exact_copies": pc.sum(found.table["exact_copy"]).as_py() or 0,
        "measure": selection.measure,
        "threshold": None if selection.threshold is None else float(selection.threshold),
        "super_shingles": None if rule is None else rule.least,
        "scheme": own.scheme,
        "workers": runner.workers,
        "seconds": runner.seconds,
    }
    return EstimateResult(found.table, summary)


@dataclass(frozen=True, repr=False, eq=False)
class ClusterResult(TableResult):
    """Clusters of documents by sketches.

    ``clusters`` has a row per document: ``id``, ``cluster_id`` (from 0, in the order of first
    members), ``cluster_size`` and ``representative_id``, the first member. ``summary`` has counts.
    """

    clusters: pa.Table
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """The clusters, as an Arrow table."""
        return self.clusters

    def headline(self) -> str:
        """Return the numbers of documents and of clusters."""
        documents = counted(len(self.clusters), "document")
        return f"{documents}: {counted(self.summary['clusters'], 'cluster')}"


# Memory per byte of sketches.
_CLUSTERED_OF_ALL = 7


def cluster_sketches(
    data: Sketches | str | Path, threshold: Number = "0.5", *, run: RunOptions | None = None
) -> ClusterResult:
    """Group documents greedily, each into the most similar cluster.

    Parameters
    ----------
    data
        Sketches of kind ``smallest`` or ``modulo`` from ``sketch``, or the path of a file of them.
    threshold
        Least estimated resemblance with a cluster's first member, in (0, 1], an exact decimal.
    run
        Progress, and the memory budget, of about 7 times the bytes of the sketches.

    Returns
    -------
    ``clusters``, a table in the order of the sketches, and ``summary``.

    Raises
    ------
    InvalidParameterError
        For sketches of another kind, and for options out of range.
    ReadError, SketchFormatError
        If a file cannot be read, or is not a file of sketches.

    Notes
    -----
    Results are not verified, and depend on the order of the documents: see
    ``sketches.greedy.cluster_greedily``. To remove documents use ``deduplicate``.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, section 4.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "a dog ran", "the cat sat on a mat"]
    >>> one = neardup.TextOptions(ngram=1)
    >>> sketches = neardup.sketch(texts, kind="smallest", text=one)
    >>> neardup.cluster_sketches(sketches, 0.8).clusters["cluster_id"].to_pylist()
    [0, 1, 0]
    """
    ClusterOptions(threshold=threshold)
    given = check_run(run, "memory")
    with Runner(1, given.progress) as runner:
        return cluster_files(data, threshold, runner, memory_budget(given.memory))


def cluster_files(
    data: Sketches | str | Path, threshold: Number, runner: Runner, memory: int
) -> ClusterResult:
    """Group like ``cluster_sketches``, within a memory limit in bytes."""
    needed = bytes_to_read(data) * _CLUSTERED_OF_ALL
    if needed > memory:
        message = (
            f"clusters take all sketches at once, about {needed / 1e6:,.0f} MB for these, of "
            f"{memory / 1e6:,.0f} MB that may be used; raise memory, or make smaller sketches"
        )
        raise InvalidParameterError(message, "memory")
    own = data if isinstance(data, Sketches) else Sketches.read(data)
    kind = parse_scheme(own.scheme)
    if not isinstance(kind, SampleScheme):
        message = (
            f"clusters need sketches of kind smallest or modulo, got {kind.name}; make such "
            "sketches, or remove near-duplicates with neardup dedup"
        )
        raise InvalidParameterError(message, "clusters")
    with runner.stage("cluster"):
        found = cluster_greedily(
            own.rows, kind, threshold, report=partial(runner.report, "cluster")
        )
    sizes = np.bincount(found.clusters, minlength=len(found))
    ids = own.ids
    table = pa.table(
        {
            "id": ids,
            "cluster_id": found.clusters,
            "cluster_size": sizes[found.clusters],
            "representative_id": ids.take(pa.array(found.representatives[found.clusters])),
        }
    )
    summary: dict[str, Any] = {
        "kind": kind.name,
        "documents": [len(own)],
        "clusters": len(found),
        "largest_cluster": int(sizes.max(initial=0)),
        "single_documents": int((sizes == 1).sum()),
        "threshold": float(Fraction(str(threshold))),
        "scheme": own.scheme,
        "seconds": runner.seconds,
    }
    return ClusterResult(table, summary)
