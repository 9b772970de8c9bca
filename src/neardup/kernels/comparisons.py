"""What decides who stays and who belongs together: documents that share a key are compared."""

from __future__ import annotations

from typing import NamedTuple

from neardup.kernels.types import ConstInt32s, ConstInt64s, ConstUint64s, Int32s, Int64s


class MeasuredSets(NamedTuple):
    """Sets of sorted values, and what is known of each before it is compared.

    Set k is ``values[starts[k] :][: sizes[k]]``. ``totals`` are the sizes, and ``parities`` those
    of ``set_parities``. Of weighted sets ``weights`` stand beside the values and ``totals`` are
    their sums; they have no parities, and plain sets no weights.
    """

    values: ConstUint64s
    starts: ConstInt64s
    sizes: ConstInt64s
    weights: ConstInt64s
    totals: ConstInt64s
    parities: ConstUint64s


class Keys(NamedTuple):
    """Keys by which documents find each other: d's are ``keys[starts[d] : starts[d + 1]]``."""

    starts: ConstInt64s
    keys: ConstInt32s


class Comparisons(NamedTuple):
    """What has been compared.

    ``last_compared`` (n, all -1 at first) is the document with which each was compared last.
    ``counts`` adds up comparisons and pairs that reached the threshold.
    """

    last_compared: Int32s
    counts: Int64s
