"""What kinds of signatures have in common: how they are put together, compared, and stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from neardup.runtime.runner import Runner
from neardup.sketches.kind import KindScheme, Wanted
from neardup.sketches.pairs import Pairs, cut_pairs
from neardup.sketches.shares import ShareKind, Shares
from neardup.tables import Int64s, Signatures

if TYPE_CHECKING:
    import pyarrow as pa


# In all positions of the signature of an empty set.
_EMPTY = np.uint32(2**32 - 1)


class SignatureScheme(KindScheme, Protocol):
    """A family of functions."""

    @property
    def num_perm(self) -> int:
        """Their number."""


SignatureSchemeT = TypeVar("SignatureSchemeT", bound=SignatureScheme)


class SignatureKind(ShareKind[SignatureSchemeT, Signatures]):
    """A kind of signatures, whose similarity is the share of positions in which they agree."""

    has_super_shingles = True

    def join_rows(self, parts: Sequence[Signatures]) -> Signatures:
        """Put signatures one after another."""
        totals = [part.totals for part in parts if part.totals is not None]
        return Signatures(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.sizes for part in parts]),
            np.concatenate(totals) if totals else None,
        )

    def take_rows(self, rows: Signatures, places: Int64s) -> Signatures:
        """Return some of the signatures."""
        totals = None if rows.totals is None else rows.totals[places]
        return Signatures(rows.values[places], rows.sizes[places], totals)

    def candidates(
        self,
        rows: Signatures,
        wanted: Wanted,
        *,
        n_left: int | None,
        limit: int | None,
        runner: Runner,
    ) -> Iterator[Pairs]:
        """Find the pairs that agree in enough positions, and no others."""
        # Only signatures need them.
        from neardup.sketches.signatures.join import join_signatures

        found = join_signatures(rows, wanted.least, n_left=n_left, limit=limit, runner=runner)
        yield from cut_pairs(found.left, found.right)

    def shares(self, rows: Signatures, left: Int64s, right: Int64s) -> Shares:
        """Estimate the similarity of pairs, weighted if the sets are."""
        from neardup.sketches.signatures.agreement import estimate_agreement

        return Shares(estimate_agreement(rows, rows, left, right))

    def count_elements(self, rows: Signatures) -> Int64s:
        """Return the numbers of shingles."""
        return rows.sizes

    def to_columns(self, rows: Signatures) -> dict[str, pa.Array]:
        """Return numbers of elements, null where not known, and lists of a fixed size."""
        import pyarrow as pa

        values = pa.array(np.ascontiguousarray(rows.values).reshape(-1))
        return {
            "size": pa.array(rows.sizes, mask=rows.sizes < 0),
            "sketch": pa.FixedSizeListArray.from_arrays(values, rows.values.shape[1]),
        }

    def from_columns(self, table: pa.Table) -> Signatures:
        """Read signatures of as many positions as the scheme has functions."""
        import pyarrow as pa

        from neardup.sketches.columns import check, read_counts, read_lists

        num_perm = self.scheme.num_perm
        values, offsets = read_lists(table, pa.uint32())
        check(bool((np.diff(offsets) == num_perm).all()))
        rows = np.array(values.to_numpy(), np.uint32).reshape(len(table), num_perm)
        sizes = read_counts(table, "size", null=-1)
        check(bool(((sizes >= 0) | (rows != _EMPTY).any(axis=1)).all()))
        return Signatures(rows, sizes)
