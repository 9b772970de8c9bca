"""Which of two documents comes first in keep order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.clustering.keep import KeepPolicy, join_order_columns
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class OrderKeys:
    """By what some documents are ordered.

    ``numbers`` are their places in the input; those of a collection compared against are negative,
    because all of it comes first. ``lengths``, in characters, and the values of a ``column`` are
    there where the policy needs them.
    """

    numbers: Int64s
    lengths: Int64s | None = None
    column: pa.Array | None = None

    def take(self, rows: Int64s) -> OrderKeys:
        """Return the keys of some of the documents."""
        return OrderKeys(
            self.numbers[rows],
            None if self.lengths is None else self.lengths[rows],
            None if self.column is None else self.column.take(rows),
        )


def come_first(policy: KeepPolicy, others: OrderKeys, own: OrderKeys) -> Bools:
    """Return which documents come before one in keep order.

    Parameters
    ----------
    policy
        The keep policy.
    others
        Keys of documents, in input order.
    own
        Keys of one document, which is none of them.
    """
    if own.numbers[0] < 0 or policy.rule == "first" or (others.numbers < 0).all():
        before: Bools = others.numbers < own.numbers[0]
        return before
    n_before = int(np.searchsorted(others.numbers, own.numbers[0]))
    rows = np.arange(len(others.numbers))
    parts = (others.take(rows[:n_before]), own, others.take(rows[n_before:]))
    lengths = column = None
    if policy.by_length:
        lengths = np.concatenate([part.lengths for part in parts if part.lengths is not None])
    elif policy.column is not None:
        values = [part.column for part in parts if part.column is not None]
        column = join_order_columns(values, policy.column)
    order = policy.order(len(rows) + 1, lengths, column)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return np.delete(ranks < ranks[n_before], n_before)
