"""Kinds of sketches that are samples of sets, of which shares are estimated."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.sketches.kind import (
    LEAST_SAMPLES,
    EstimatedShares,
    PairEstimates,
    RowsT,
    SchemeT,
    SketchKind,
    where_known,
)
from neardup.tables import Estimates, Int64s

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Shares:
    """What samples tell of pairs of sets, a and b.

    ``jaccard``, weighted if the sets are, and of kinds that tell it how much of a is in b, and of b
    in a.
    """

    jaccard: Estimates
    a_in_b: Estimates | None = None
    b_in_a: Estimates | None = None


class ShareKind(SketchKind[SchemeT, RowsT]):
    """A kind of sketches from which shares of sets are estimated."""

    @abstractmethod
    def shares(self, rows: RowsT, left: Int64s, right: Int64s) -> Shares:
        """Estimate the shares that pairs of rows have in common; a is the left one."""

    def estimate(self, rows: RowsT, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate how similar pairs of rows are."""
        import pyarrow as pa

        shares = self.shares(rows, left, right)
        found = shares.jaccard
        is_usable = found.is_usable(LEAST_SAMPLES)
        columns = {
            "similarity": where_known(is_usable, found.values),
            "error": where_known(is_usable, found.errors),
            "low": where_known(is_usable, found.low),
            "high": where_known(is_usable, found.high),
            **_containment("a", shares.a_in_b),
            **_containment("b", shares.b_in_a),
            "samples": pa.array(found.n_samples),
        }
        measures = zip(self.measures, self.by_measure(shares, rows, left, right), strict=True)
        return PairEstimates(columns, {name: _counted(found) for name, found in measures})

    def by_measure(
        self, shares: Shares, rows: RowsT, left: Int64s, right: Int64s
    ) -> tuple[Estimates, ...]:
        """Return the estimates of each of the kind's measures, in their order."""
        return (shares.jaccard,)


def _counted(found: Estimates) -> EstimatedShares:
    samples = np.maximum(found.n_samples, 1)
    hits = np.rint(np.nan_to_num(found.values) * samples).astype(np.int64)
    return EstimatedShares(hits, samples, found.is_usable(LEAST_SAMPLES))


def _containment(name: str, found: Estimates | None) -> dict[str, pa.Array]:
    if found is None:
        return {}
    is_usable = found.is_usable(LEAST_SAMPLES)
    return {
        f"containment_{name}": where_known(is_usable, found.values),
        f"containment_{name}_error": where_known(is_usable, found.errors),
        f"containment_{name}_low": where_known(is_usable, found.low),
        f"containment_{name}_high": where_known(is_usable, found.high),
    }
