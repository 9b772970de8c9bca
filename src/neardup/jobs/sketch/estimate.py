"""Similarities of documents estimated from their sketches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.jobs.sketch.sketches import Sketches, as_sketches, check_same_scheme
from neardup.matching.pieces import check_limit
from neardup.options.jobs import FUNCTIONS
from neardup.options.kinds import exact_fraction
from neardup.options.option import check_options
from neardup.results import TableResult
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner
from neardup.sketches.kind import AnyKind, SketchRows
from neardup.sketches.pairs import Pairs, count_pairs, count_pairs_up_to, list_pairs
from neardup.sketches.registry import kinds_with
from neardup.tables import Int64s

# Without a threshold all pairs are estimated; more than these are hardly wanted.
MOST_PAIRS = 20_000_000


@dataclass(frozen=True, repr=False)
class EstimateResult(TableResult):
    """Pairs of documents and what their sketches say of them.

    ``pairs`` has ``id_a``, ``id_b`` and the estimates with standard errors and 95 % intervals, by
    kind; null where the samples are not enough. ``summary`` has the counts.
    """

    pairs: pa.Table
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """The pairs."""
        return self.pairs

    def headline(self) -> str:
        """Return kind and number of pairs."""
        return f"{self.summary['kind']}: {len(self.pairs):,} pairs"


def estimate(
    sketches: Sketches | str | Path,
    other: Sketches | str | Path | None = None,
    *,
    threshold: str | float | Decimal | Fraction | None = None,
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
    threshold
        Only pairs whose estimated similarity is at least this, in (0, 1], taken as the exact
        decimal. None: all pairs.
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
    ``pairs``, an Arrow table in input order, and ``summary``. Columns besides the ids, by kind:

    - all but ``edit``: ``similarity``, its standard ``error``, and an interval from ``low`` to
      ``high`` that holds the truth in 95 of 100 cases. An error of 0 with low equal to high says
      that nothing was left to chance; ``samples`` are the elements that the estimate rests on.
    - ``modulo`` also: ``containment_a``, how much of a is in b, ``containment_b`` the other way,
      each with its error.
    - ``edit``: ``distance`` in characters with ``low`` and ``high``, ``similarity``, which is 1 -
      distance / characters of the longer text, ``significance``, by how many standard deviations
      the pair is nearer than unrelated texts, and ``spread``, from 0 for differences in one place
      to 1 for differences all over. With ``places`` also ``inner``, a or b, the shorter text,
      ``place_start`` and ``place_end``, characters of the other one, to within a few times the
      compression, and ``place_share``, the part of the inner one's symbols that was found there.

    Estimates are null where fewer than 20 samples or symbols are there; such pairs reach no
    threshold, and are counted in the summary where they were looked at.

    Raises
    ------
    SketchMismatchError
        If the two were made by unlike schemes.
    ReadError, SketchFormatError
        If a file cannot be read, or is not one of sketches.
    ResultLimitError
        At more than ``limit`` pairs.
    InvalidParameterError
        For an option out of range; without a threshold for more than 20,000,000 pairs.

    Notes
    -----
    Given a threshold, every pair whose estimate reaches it is found, through bands (minhash,
    weighted), prefixes (smallest, modulo) or lengths (edit). Whether the true similarity reaches it
    is another matter, which the interval answers.

    Examples
    --------
    >>> import neardup
    >>> theirs = neardup.sketch(["a b c d e f", "g h i"], ngram=1)
    >>> ours = neardup.sketch(["b c d e f a"], ngram=1)
    >>> neardup.estimate(ours, theirs, threshold=0.9).pairs["id_b"].to_pylist()
    ['0']
    """
    given = check_options(FUNCTIONS["estimate"], threshold=threshold, places=places, limit=limit)
    limit = given["limit"]
    own = as_sketches(sketches)
    others = None if other is None else as_sketches(other)
    if others is not None:
        check_same_scheme(own, others)
    if places:
        _check_places(own)
    least = None if threshold is None else exact_fraction("threshold", threshold)
    collection = _Collection.of(own, others)
    with Runner(workers, progress) as runner, runner.stage("estimate") as note:
        # Pairs are estimated as they are found: all of them would fill the memory.
        pairs = collection.pairs(least, limit, runner)
        found = _estimate_pairs(collection, pairs, least, limit, runner)
        table = found.table
        if places:
            table = _add_places(table, collection)
        note(estimated_pairs=found.n_pairs, pairs=len(table))
    summary = {
        "kind": own.kind,
        "documents": [len(own)] if others is None else [len(own), len(others)],
        "pairs": len(table),
        "estimated_pairs": found.n_pairs,
        "unusable_pairs": found.n_unusable,
        "threshold": None if least is None else float(least),
        "scheme": own.scheme,
        "workers": runner.workers,
        "seconds": runner.seconds,
    }
    return EstimateResult(_name_pairs(table, collection), summary)


@dataclass(frozen=True)
class _Collection:
    """All sketches in one table; the first ``n_left`` are one side, None where there is one."""

    kind: AnyKind
    left_ids: pa.Array
    right_ids: pa.Array
    rows: SketchRows
    n_left: int | None

    @classmethod
    def of(cls, own: Sketches, others: Sketches | None) -> _Collection:
        kind = own.kind_object
        if others is None:
            return cls(kind, own.ids, own.ids, own.rows, None)
        rows = kind.join_rows([own.rows, others.rows])
        return cls(kind, own.ids, others.ids, rows, len(own))

    def pairs(self, least: Fraction | None, limit: int | None, runner: Runner) -> Iterator[Pairs]:
        """Return all pairs to be estimated, in ascending order, some at a time."""
        if least is not None:
            return self.kind.candidates(
                self.rows, least, n_left=self.n_left, limit=limit, runner=runner
            )
        n_pairs = count_pairs(len(self.rows), self.n_left)
        check_limit(limit, n_pairs)
        if n_pairs > MOST_PAIRS:
            message = f"{n_pairs:,} pairs; give a threshold, {MOST_PAIRS:,} can be had without"
            raise InvalidParameterError(message, "threshold")
        return list_pairs(len(self.rows), self.n_left)


@dataclass(frozen=True)
class _Found:
    """Estimates of pairs that are wanted, by rows ``left`` and ``right``, and counts of all.

    Up to the last of them there are ``n_passed`` pairs, those included that are no candidates.
    """

    table: pa.Table
    n_pairs: int
    n_unusable: int
    n_passed: int


def _estimate_pairs(
    collection: _Collection,
    parts: Iterator[Pairs],
    least: Fraction | None,
    limit: int | None,
    runner: Runner,
) -> _Found:
    """Estimate pairs, and keep those that reach the threshold."""

    def work(pairs: Pairs) -> _Found:
        left, right = pairs
        found = collection.kind.estimate(collection.rows, left, right)
        table = pa.table({"left": pa.array(left), "right": pa.array(right), **found.columns})
        if least is not None:
            table = table.filter(pa.array(found.reaching(least)))
        last = int(left[-1]) if len(left) else -1
        n_passed = count_pairs_up_to(last, len(collection.rows), collection.n_left)
        return _Found(table, len(found), int((~found.is_usable).sum()), n_passed)

    nothing: Int64s = np.empty(0, np.int64)
    tables = [work((nothing, nothing)).table]
    n_found = n_unusable = n_pairs = 0
    n_all = count_pairs(len(collection.rows), collection.n_left)
    for part in runner.map(work, parts):
        tables.append(part.table)
        n_found += len(part.table)
        n_unusable += part.n_unusable
        n_pairs += part.n_pairs
        check_limit(limit, n_found)
        runner.report("estimate", part.n_passed, n_all)
    runner.report("estimate", n_all, n_all)
    return _Found(pa.concat_tables(tables), n_pairs, n_unusable, n_all)


def _check_places(sketches: Sketches) -> None:
    if not sketches.kind_object.has_places:
        kinds = kinds_with("has_places")
        message = (
            f"places need sketches of kind {kinds}, got {sketches.kind}; leave out places, "
            "or make such sketches"
        )
        raise InvalidParameterError(message, "places")


def _add_places(table: pa.Table, collection: _Collection) -> pa.Table:
    """Add to pairs of rows where the shorter text may lie; null where there is no estimate."""
    is_known = table["similarity"].is_valid().to_numpy()
    left, right = (np.array(table[name].to_numpy(), np.int64) for name in ("left", "right"))
    found = collection.kind.places(collection.rows, left[is_known], right[is_known])
    numbers = pa.array(np.cumsum(is_known) - 1, mask=~is_known)
    for name, column in found.items():
        table = table.append_column(name, column.take(numbers))
    return table


def _name_pairs(table: pa.Table, collection: _Collection) -> pa.Table:
    """Return a table with the ids of the pairs in place of their rows."""
    first_right = pa.scalar(collection.n_left or 0, pa.int64())
    left = collection.left_ids.take(table["left"]).combine_chunks()
    right = collection.right_ids.take(pc.subtract(table["right"], first_right)).combine_chunks()
    table = table.drop_columns(["left", "right"])
    return table.add_column(0, "id_a", left).add_column(1, "id_b", right)
