"""What the sketches of each kind tell of pairs, as columns of a table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from neardup.jobs.sketch.sketches import Sketches
from neardup.sketches.agreement import estimate_agreement
from neardup.sketches.edit.estimate import edit_estimates
from neardup.sketches.edit.signature import LEAST_ALIGNED_LETTERS, EditScheme
from neardup.sketches.modulo import ModuloScheme, estimate_containment
from neardup.sketches.samples.resemblance import estimate_resemblance
from neardup.sketches.smallest import SmallestScheme
from neardup.tables import Bools, EditSignatures, Estimates, Floats, Int64s, SetSketches, Signatures

# Fewer samples than this tell too little.
LEAST_SAMPLES = 20


@dataclass(frozen=True)
class PairEstimates:
    """Estimates of pairs of rows.

    ``table`` has the columns to be told. The similarity is ``hits / samples``, in whole numbers for
    all kinds but ``edit``; it means something where ``is_usable``.
    """

    table: pa.Table
    hits: Int64s | Floats
    samples: Int64s | Floats
    is_usable: Bools

    def __len__(self) -> int:
        return len(self.table)

    def reaching(self, threshold: Fraction) -> pa.Table:
        """Give the rows of usable estimates that reach a threshold."""
        # Samples are less than 2^33 and the threshold's numbers 2^30: whole products are exact.
        p, q = threshold.numerator, threshold.denominator
        reached = self.is_usable & (self.hits * q >= self.samples * p)
        return self.table.filter(pa.array(reached))


def estimate_rows(sketches: Sketches, left: Int64s, right: Int64s) -> PairEstimates:
    """Estimate pairs of rows by what the kind of sketches tells.

    The table's first columns are ``left`` and ``right``, the rows.
    """
    rows, scheme = sketches.rows, sketches.kind_scheme
    pair = {"left": pa.array(left), "right": pa.array(right)}
    if isinstance(rows, Signatures):
        found = estimate_agreement(rows, rows, left, right)
        return _shares(pair, found, {})
    if isinstance(rows, SetSketches):
        assert isinstance(scheme, SmallestScheme | ModuloScheme)
        found = estimate_resemblance(rows, rows, left, right, scheme)
        return _shares(pair, found, _containments(rows, left, right, scheme))
    assert isinstance(scheme, EditScheme)
    return _distances(pair, rows, scheme, left, right)


def _shares(
    pair: dict[str, pa.Array], found: Estimates, more: dict[str, pa.Array]
) -> PairEstimates:
    is_usable = found.is_usable(LEAST_SAMPLES)
    columns = {
        "similarity": _where(is_usable, found.values),
        "error": _where(is_usable, found.errors),
        "low": _where(is_usable, found.low),
        "high": _where(is_usable, found.high),
        **more,
        "samples": pa.array(found.n_samples),
    }
    samples = np.maximum(found.n_samples, 1)
    hits = np.rint(np.nan_to_num(found.values) * samples).astype(np.int64)
    return PairEstimates(pa.table({**pair, **columns}), hits, samples, is_usable)


def _containments(
    rows: SetSketches, left: Int64s, right: Int64s, scheme: SmallestScheme | ModuloScheme
) -> dict[str, pa.Array]:
    """Estimate how much of either set is in the other; smallest sketches do not tell."""
    if not isinstance(scheme, ModuloScheme):
        return {}
    columns = {}
    for name, a, b in (("a", left, right), ("b", right, left)):
        found = estimate_containment(rows, rows, a, b, scheme)
        is_usable = found.is_usable(LEAST_SAMPLES)
        columns[f"containment_{name}"] = _where(is_usable, found.values)
        columns[f"containment_{name}_error"] = _where(is_usable, found.errors)
    return columns


def _distances(
    pair: dict[str, pa.Array],
    rows: EditSignatures,
    scheme: EditScheme,
    left: Int64s,
    right: Int64s,
) -> PairEstimates:
    align = scheme.letters >= LEAST_ALIGNED_LETTERS
    found = edit_estimates(rows, scheme, left, right, align=align)
    longer = np.maximum(np.maximum(rows.lengths[left], rows.lengths[right]), 1).astype(np.float64)
    hits = longer - found.distances
    columns = {
        "distance": _where(found.is_usable, found.distances),
        "low": pa.array(found.low),
        "high": pa.array(found.high),
        "similarity": _where(found.is_usable, hits / longer),
        "significance": _where(found.is_usable, found.significances),
        "spread": _where(~np.isnan(found.spreads), found.spreads),
    }
    return PairEstimates(pa.table({**pair, **columns}), hits, longer, found.is_usable)


def _where(is_known: Bools, values: Floats) -> pa.Array:
    """Give values, null where nothing is known."""
    return pa.array(values, mask=~is_known)
