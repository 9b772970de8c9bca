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

from neardup.errors import InvalidParameterError
from neardup.jobs.sketch.estimators import estimate_rows
from neardup.jobs.sketch.places import add_places, check_places
from neardup.jobs.sketch.sketches import Sketches, check_same_scheme
from neardup.matching.pieces import check_limit
from neardup.matching.signature_join import join_signatures
from neardup.options.jobs import FUNCTIONS
from neardup.options.kinds import exact_fraction
from neardup.options.option import check_options
from neardup.runtime.progress import Progress, StageClock, no_progress
from neardup.runtime.runner import Runner
from neardup.runtime.threads import map_ordered
from neardup.sketches.modulo import ModuloScheme
from neardup.sketches.rows import join_rows
from neardup.sketches.smallest import SmallestScheme
from neardup.tables import EditSignatures, Int64s, SetSketches, Signatures

# Without a threshold all pairs are told; more than these are hardly wanted.
MOST_PAIRS = 20_000_000

# Pairs estimated at a time.
_PIECE = 1 << 16

Pairs = tuple[Int64s, Int64s]


@dataclass(frozen=True)
class EstimateResult:
    """Pairs of documents and what their sketches tell of them.

    ``pairs`` has ``id_a``, ``id_b`` and the estimates with standard errors and 95 % intervals, by
    kind; null where the samples are not enough. ``summary`` has the counts.
    """

    pairs: pa.Table
    summary: dict[str, Any]

    def __repr__(self) -> str:
        """Tell the counts."""
        return f"EstimateResult({self.summary['kind']}: {len(self.pairs):,} pairs)"


def estimate(
    sketches: Sketches | str | Path,
    other: Sketches | str | Path | None = None,
    *,
    threshold: str | float | Decimal | Fraction | None = None,
    places: bool = False,
    limit: int | None = None,
    workers: int | None = None,
    progress: Progress = no_progress,
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
        Also tell where the shorter text seems to lie in the longer one; for ``edit`` only.
    limit
        Raise an error at more pairs than this.
    workers
        Threads; None is one a core. The result does not depend on it.
    progress
        Called with a stage's name, work done, and its amount.

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
    is another matter: the interval tells.

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
    own = sketches if isinstance(sketches, Sketches) else Sketches.read(sketches)
    others = other if isinstance(other, Sketches | None) else Sketches.read(other)
    if others is not None:
        check_same_scheme(own, others)
    if places:
        check_places(own)
    least = None if threshold is None else exact_fraction("threshold", threshold)
    n_workers = Runner(workers, progress).workers
    clock = StageClock()
    collection = _Collection.of(own, others)
    with clock.stage("estimate"):
        # Pairs are estimated as they are found: all of them would fill the memory.
        parts = collection.pairs(least, limit, n_workers, progress)
        found, n_seen, n_unusable = _estimate(collection, parts, least, limit, n_workers, progress)
        if places:
            found = add_places(found, collection.sketches)
    ids = collection.sketches.ids
    left, right = (ids.take(found[name]).combine_chunks() for name in ("left", "right"))
    table = found.drop_columns(["left", "right"])
    table = table.add_column(0, "id_a", left).add_column(1, "id_b", right)
    summary = {
        "kind": own.kind,
        "documents": [len(own)] if others is None else [len(own), len(others)],
        "pairs": len(table),
        "estimated_pairs": n_seen,
        "unusable_pairs": n_unusable,
        "threshold": None if least is None else float(least),
        "scheme": own.scheme,
        "workers": n_workers,
        "seconds": {name: round(seconds, 3) for name, seconds in clock.seconds.items()},
    }
    return EstimateResult(table, summary)


@dataclass(frozen=True)
class _Collection:
    """All sketches in one table; the first ``n_left`` are one side, None where there is one."""

    sketches: Sketches
    n_left: int | None

    @classmethod
    def of(cls, own: Sketches, others: Sketches | None) -> _Collection:
        if others is None:
            return cls(own, None)
        rows = join_rows([own.rows, others.rows])
        ids = pa.concat_arrays([own.ids, others.ids])
        return cls(Sketches(own.scheme, ids, rows), len(own))

    def pairs(
        self, least: Fraction | None, limit: int | None, workers: int, progress: Progress
    ) -> Iterator[Pairs]:
        """Give all pairs that may be told, in ascending order, some at a time."""
        rows, scheme = self.sketches.rows, self.sketches.kind_scheme
        n = len(self.sketches)
        if least is None:
            n_pairs = self._count_all()
            check_limit(limit, n_pairs)
            if n_pairs > MOST_PAIRS:
                message = f"{n_pairs:,} pairs; give a threshold, {MOST_PAIRS:,} can be had without"
                raise InvalidParameterError(message, "threshold")
            yield from self._all_pairs()
        elif isinstance(rows, Signatures):
            joined = join_signatures(
                rows,
                least,
                n_left=self.n_left,
                workers=workers,
                limit=limit,
                progress=lambda done: progress("join", done, n),
            )
            yield from _cut(joined.left, joined.right)
        elif isinstance(rows, SetSketches):
            # Compiled when it is imported, and only these kinds need it.
            from neardup.matching.sketch_join import join_set_sketches

            assert isinstance(scheme, SmallestScheme | ModuloScheme)
            yield from _cut(
                *join_set_sketches(rows, scheme, least, n_left=self.n_left, workers=workers)
            )
        else:
            yield from self._pairs_by_length(rows, least)

    def _count_all(self) -> int:
        n = len(self.sketches)
        return n * (n - 1) // 2 if self.n_left is None else self.n_left * (n - self.n_left)

    def _partners(self, row: int) -> Int64s:
        first = row + 1 if self.n_left is None else self.n_left
        return np.arange(first, len(self.sketches), dtype=np.int64)

    def _rows(self) -> range:
        return range(len(self.sketches) if self.n_left is None else self.n_left)

    def _all_pairs(self) -> Iterator[Pairs]:
        lists = ((row, self._partners(row)) for row in self._rows())
        yield from _gather(lists)

    def _pairs_by_length(self, rows: EditSignatures, least: Fraction) -> Iterator[Pairs]:
        """Give the pairs of which the lengths alone do not say that they are too far apart."""
        p, q = least.numerator, least.denominator
        lengths = rows.lengths

        def fitting(row: int) -> Int64s:
            partners = self._partners(row)
            shorter = np.minimum(lengths[partners], lengths[row])
            longer = np.maximum(lengths[partners], lengths[row])
            # 1 - distance / longer >= p / q, the distance being the difference at least.
            near: Int64s = partners[shorter * q >= longer * p]
            return near

        yield from _gather((row, fitting(row)) for row in self._rows())


def _gather(lists: Iterator[tuple[int, Int64s]]) -> Iterator[Pairs]:
    """Put rows and the partners of each into pieces of about the same size."""
    left: list[Int64s] = []
    right: list[Int64s] = []
    held = 0
    for row, partners in lists:
        left.append(np.full(len(partners), row, np.int64))
        right.append(partners)
        held += len(partners)
        if held >= _PIECE:
            yield np.concatenate(left), np.concatenate(right)
            left, right, held = [], [], 0
    if held:
        yield np.concatenate(left), np.concatenate(right)


def _cut(left: Int64s, right: Int64s) -> Iterator[Pairs]:
    for start in range(0, len(left), _PIECE):
        yield left[start : start + _PIECE], right[start : start + _PIECE]


def _estimate(
    collection: _Collection,
    parts: Iterator[Pairs],
    least: Fraction | None,
    limit: int | None,
    workers: int,
    progress: Progress,
) -> tuple[pa.Table, int, int]:
    """Estimate pairs; give a table of those that reach the threshold, and counts."""
    sketches = collection.sketches
    nothing: Int64s = np.empty(0, np.int64)
    found = [estimate_rows(sketches, nothing, nothing).table]
    n_found = n_unusable = done = 0

    def work(pairs: Pairs) -> tuple[pa.Table, int, int]:
        part = estimate_rows(sketches, *pairs)
        table = part.table if least is None else part.reaching(least)
        return table, int((~part.is_usable).sum()), len(part)

    for table, n_bad, n_pairs in map_ordered(work, parts, workers):
        found.append(table)
        n_found += len(table)
        n_unusable += n_bad
        done += n_pairs
        check_limit(limit, n_found)
        progress("estimate", done, None)
    return pa.concat_tables(found), done, n_unusable
