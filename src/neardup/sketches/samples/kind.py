"""What kinds of samples have in common: how they are made, put together, compared, and stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from neardup.sketches.kind import TextScheme
from neardup.sketches.lists import places_of_lists
from neardup.sketches.samples.resemblance import estimate_resemblance
from neardup.sketches.samples.sampling import sketch_sets
from neardup.sketches.samples.scheme import SetScheme
from neardup.sketches.samples.unions import join_sketches, unite_sketches
from neardup.sketches.shares import ShareKind, Shares
from neardup.tables import Bools, Int64s, SetSketches, Texts, Uint64s
from neardup.text.shingles import shingle_texts

if TYPE_CHECKING:
    import pyarrow as pa

SetSchemeT = TypeVar("SetSchemeT", bound=SetScheme)


class SampleKind(ShareKind[SetSchemeT, SetSketches]):
    """A kind of samples of sets."""

    has_clusters = True
    has_unions = True

    def make(self, texts: Texts, how: TextScheme) -> SetSketches:
        """Sketch the set of shingles of each text."""
        return sketch_sets(shingle_texts(texts, how.shingles), self.scheme)

    def describe(self, texts: TextScheme) -> dict[str, Any]:
        """Return all that decides a sketch; the kind of fingerprints always, as it always was."""
        return super().describe(texts) | {"fingerprint": texts.shingles.fingerprints.kind}

    def join_rows(self, parts: Sequence[SetSketches]) -> SetSketches:
        """Put sketches one after another."""
        return join_sketches(parts)

    def take_rows(self, rows: SetSketches, places: Int64s) -> SetSketches:
        """Return some of the sketches."""
        of_values, offsets = places_of_lists(rows.offsets, places)
        return SetSketches(rows.values[of_values], offsets, rows.sizes[places], rows.moduli[places])

    def unite_rows(self, rows: SetSketches, members: Int64s, starts: Int64s) -> SetSketches:
        """Sketch the unions of groups of sets."""
        return unite_sketches(rows, members, starts, self.scheme)

    def shares(self, rows: SetSketches, left: Int64s, right: Int64s) -> Shares:
        """Estimate the resemblance of pairs."""
        return Shares(estimate_resemblance(rows, rows, left, right, self.scheme))

    def count_elements(self, rows: SetSketches) -> Int64s:
        """Return the numbers of shingles."""
        return rows.sizes

    def to_columns(self, rows: SetSketches) -> dict[str, pa.Array]:
        """Return sizes, null where they are not known, and lists of values."""
        import pyarrow as pa

        return {
            "size": pa.array(rows.sizes, mask=rows.sizes < 0),
            "sketch": pa.LargeListArray.from_arrays(rows.offsets, rows.values),
        }


def read_samples(table: pa.Table) -> SetSketches:
    """Read ascending values and sizes that go with them; the moduli are those of whole sets."""
    import pyarrow as pa

    from neardup.sketches.columns import check, read_counts, read_lists

    column, offsets = read_lists(table, pa.uint64())
    values: Uint64s = np.array(column.to_numpy(), np.uint64)
    is_first: Bools = np.zeros(len(values) + 1, np.bool_)
    is_first[offsets[:-1]] = True
    check(bool((is_first[1:-1] | (values[1:] > values[:-1])).all()))
    sizes = read_counts(table, "size", null=-1)
    check(bool(((sizes < 0) | (np.diff(offsets) <= sizes)).all()))
    return SetSketches(values, offsets, sizes, np.ones(len(table), np.int64))
