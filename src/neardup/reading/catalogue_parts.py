"""What is kept in memory of each signed document: some numbers, and the way to its id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.clustering.keep import join_order_columns
from neardup.files.ids import common_id_type
from neardup.files.rows import ColumnNames, Source
from neardup.reading.catalogue import Catalogue, HeldIds
from neardup.reading.column_values import ValueCollector
from neardup.reading.ids import check_unique
from neardup.reading.signed_batches import numbers_of
from neardup.storage.spilled import SpilledBatches
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa


def make_catalogue(
    sources: Sequence[Source],
    columns: ColumnNames,
    signed: SpilledBatches,
    *,
    skips_bad: bool,
    with_lengths: bool = False,
    by: str | None = None,
) -> Catalogue:
    """Put together what is kept of each document of a collection, and check the ids.

    Raises
    ------
    InvalidInputError
        For a repeated id, or a column ``by`` that is not there or has too many values.
    """
    counts: Int64s = np.zeros(len(sources), np.int64)
    numbers, n_tokens, lengths, order = [], [], [], []
    skipped, text_bytes, id_types = [], 0, set()
    values = None if by is None else ValueCollector(by)
    for batch, known in signed.known():
        source = known["source"]
        counts[source] += len(batch)
        # Copies, because a column may be mapped from a file.
        numbers.append(numbers_of(batch, "numbers").copy())
        n_tokens.append(numbers_of(batch, "n_tokens").copy())
        if with_lengths:
            lengths.append(numbers_of(batch, "lengths").copy())
        if columns.order:
            order.append(_copied(batch.column("order")))
        if values is not None:
            values.add(batch.column("by"))
        if columns.id and batch.column("ids").null_count < len(batch):
            id_types.add(batch.column("ids").type)
        skipped += [(sources[source].name, row, reason) for row, reason in known["skipped"]]
        text_bytes += known["text_bytes"]
    catalogue = Catalogue(
        sources=sources,
        columns=columns,
        source_starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        numbers=_join(numbers),
        n_tokens=_join(n_tokens),
        lengths=_join(lengths) if with_lengths else None,
        ids=_Ids(signed, common_id_type(id_types)) if columns.id else None,
        order=join_order_columns(order, columns.order) if columns.order else None,
        text_bytes=text_bytes,
        skipped=skipped,
        skips_bad=skips_bad,
        values=None if values is None else values.values(sources),
    )
    if catalogue.ids is not None:
        check_unique(catalogue.ids, catalogue.place, columns)
    return catalogue


@dataclass(frozen=True)
class _Ids:
    """The ids of signed documents, of the type that they have together."""

    signed: SpilledBatches
    kind: pa.DataType

    def __reduce__(self) -> tuple[type[HeldIds], tuple[pa.Array]]:
        """Be copied as ids in memory, because batches may be in files that go with the run."""
        import pyarrow as pa

        return HeldIds, (pa.concat_arrays([pa.array([], self.kind), *self]),)

    def __iter__(self) -> Iterator[pa.Array]:
        import pyarrow as pa

        for batch in self.signed:
            ids = batch.column("ids")
            is_null = ids.null_count == len(ids)
            yield pa.nulls(len(ids), self.kind) if is_null else ids.cast(self.kind)


def _copied(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.concat_arrays([column])


def _join(parts: list[Int64s]) -> Int64s:
    return np.concatenate([np.empty(0, np.int64), *parts])
