"""Sums and extremes of rows that have the same key, of more rows than memory has room for.

Rows are put together three times: those of a batch as they come, those of a partition while it is
read, and what is left of it. So a key that nearly all rows have takes no more room than another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.kernels.common.hashing import GOLDEN, mix_words
from neardup.runs.exchange import Shuffle
from neardup.runs.work import Workspace
from neardup.tables import Int64s, Uint64s

if TYPE_CHECKING:
    import pyarrow as pa

# Shares of the memory: rows that wait to be written, and rows that are put together.
_WAITING, _AT_WORK = 0.25, 0.5
# Copies of a row while it is put together with others.
_COPIES = 5
# Rows of a partition that are put together at a time, unless those without a like are more.
_LEAST = 1 << 18


_UPPER = np.uint64(0xFFFFFFFF00000000)


class Totals:
    """One row for each key, with totals of all rows that have it.

    Parameters
    ----------
    name
        Of the exchange in the work folder.
    workspace
        Memory, and where rows go that it has no room for.
    n_keys
        Columns of the key.
    totals
        How the values of a column become one: ``np.add``, ``np.minimum`` or ``np.maximum``, by the
        name of the column.
    n_rows
        About how many rows will be added.
    n_together
        Keys that are alike in so many first columns are read together; None if it does not matter.
        All of them have to fit.

    Notes
    -----
    Used in a ``with`` block, in which rows are added, and then read. In files 8 bytes a column and
    row, of rows of a batch that have one key once.
    """

    def __init__(
        self,
        name: str,
        workspace: Workspace,
        n_keys: int,
        totals: Mapping[str, np.ufunc],
        *,
        n_rows: int,
        n_together: int | None = None,
    ) -> None:
        self._n_keys, self._totals = n_keys, totals
        self._n_together = n_together or n_keys
        n_bytes = n_rows * 8 * (n_keys + len(totals)) * _COPIES
        self._rows = Shuffle(
            name,
            workspace,
            workspace.passes(n_bytes, _AT_WORK),
            in_memory=None,
            share=_WAITING,
        )

    def add(self, keys: Sequence[Uint64s], **values: Int64s) -> None:
        """Add some rows: the columns of their keys, and what is totalled."""
        import pyarrow as pa

        hashes, keys, values = self._put_together(keys, values)
        # Sorted by hashes, and so by partitions.
        n = np.uint64(self._rows.n_partitions)
        partitions = ((hashes >> np.uint64(32)) * n >> np.uint64(32)).astype(np.int64)
        names = [*map(str, range(self._n_keys)), *self._totals]
        columns = [*keys, *(values[name] for name in self._totals)]
        self._rows.add(pa.record_batch([pa.array(each) for each in columns], names), partitions)

    def read(self) -> Iterator[tuple[Sequence[Uint64s], dict[str, Int64s]]]:
        """Yield keys and totals, some at a time: each key once, in an order of no meaning.

        Rows are gone afterwards.
        """
        self._rows.__exit__(None, None, None)
        for number in range(self._rows.n_partitions):
            waiting: list[pa.RecordBatch] = []
            n_together = n_waiting = 0
            for batch in self._rows.read(number):
                waiting.append(batch)
                n_waiting += len(batch)
                if n_waiting > max(_LEAST, 2 * n_together):
                    waiting = [self._joined(waiting)]
                    n_together = n_waiting = len(waiting[0])
            if n_waiting:
                together = self._joined(waiting)
                columns = [each.to_numpy() for each in together.columns]
                yield (
                    columns[: self._n_keys],
                    dict(zip(self._totals, columns[self._n_keys :], strict=True)),
                )
        self._rows.discard()

    def __enter__(self) -> Totals:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is not None:
            self._rows.__exit__(kind, *rest)

    def _joined(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Put the rows of some batches together that have one key."""
        import pyarrow as pa

        columns = [
            np.concatenate([batch.column(name).to_numpy() for batch in batches])
            for name in batches[0].schema.names
        ]
        named = dict(zip(self._totals, columns[self._n_keys :], strict=True))
        _, keys, values = self._put_together(columns[: self._n_keys], named)
        arrays = [pa.array(each) for each in (*keys, *values.values())]
        return pa.record_batch(arrays, batches[0].schema.names)

    def _put_together(
        self, keys: Sequence[Uint64s], values: Mapping[str, Int64s]
    ) -> tuple[Uint64s, list[Uint64s], dict[str, Int64s]]:
        """Make one row of those that have one key; returns hashes of the keys, too, ascending."""
        hashes = _hash(keys[: self._n_together])
        if self._n_together < self._n_keys:
            # The upper half decides the partition.
            hashes = (hashes & _UPPER) | (_hash(keys) & ~_UPPER)
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        sorted_keys = [column[order] for column in keys]
        is_same_hash = hashes[1:] == hashes[:-1]
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = np.any([column[1:] != column[:-1] for column in sorted_keys], axis=0)
        if (is_new[1:] & is_same_hash).any():
            # Different keys may have one hash, and then be mixed up.
            order = np.lexsort([*keys, hashes[np.argsort(order)]])
            sorted_keys = [column[order] for column in keys]
            is_new[1:] = np.any([column[1:] != column[:-1] for column in sorted_keys], axis=0)
        starts = np.flatnonzero(is_new)
        return (
            hashes[starts],
            [column[starts] for column in sorted_keys],
            {
                name: together.reduceat(values[name][order], starts)
                if len(starts)
                else values[name]
                for name, together in self._totals.items()
            },
        )


def _hash(columns: Sequence[Uint64s]) -> Uint64s:
    hashes: Uint64s = np.full(len(columns[0]), GOLDEN)
    with np.errstate(over="ignore"):
        for column in columns:
            hashes = mix_words(hashes ^ column)
    return hashes
