"""Keep policies: in which order documents are offered a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa

_USAGE = "first, longest, shortest, max:COLUMN, min:COLUMN or priority:COLUMN=A,B,C"


@dataclass(frozen=True)
class KeepPolicy:
    """Which of several similar documents stays: the first in the policy's order.

    ``rule`` is ``first``, ``longest`` or ``shortest`` (in characters), ``max`` or ``min`` (of a
    column), or ``priority`` (a column's values in the order of ``values``, others after them).
    Ties go by input order; nulls in a column come last.
    """

    rule: str
    column: str | None = None
    values: tuple[str, ...] = ()

    @property
    def by_length(self) -> bool:
        """Whether the policy looks at the length of texts."""
        return self.rule in ("longest", "shortest")

    def order(self, n_documents: int, lengths: Int64s | None, column: pa.Array | None) -> Int64s:
        """Give the documents' numbers in keep order."""
        if self.rule == "first":
            return np.arange(n_documents, dtype=np.int64)
        if self.by_length:
            assert lengths is not None
            keys = -lengths if self.rule == "longest" else lengths
            return np.argsort(keys, kind="stable")
        return self._order_by_column(column)

    def _order_by_column(self, column: pa.Array) -> Int64s:
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.rule == "priority":
            if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
                column = column.cast(pa.string())
            values = pa.array(self.values, pa.string())
            places = pc.fill_null(pc.index_in(column, values.cast(column.type)), len(values))
            places = pc.if_else(column.is_null(), len(values) + 1, places)
            return np.argsort(places.to_numpy(zero_copy_only=False), kind="stable")
        # Ranks are dense, so equal values tie and the stable sort keeps their input order.
        direction = "descending" if self.rule == "max" else "ascending"
        ranks = pc.rank(column, sort_keys=direction, tiebreaker="dense")
        return np.argsort(ranks.to_numpy(zero_copy_only=False), kind="stable")


def parse_keep(keep: str) -> KeepPolicy:
    """Read a keep policy as users write it."""
    rule, colon, rest = keep.partition(":")
    if not colon and rule in ("first", "longest", "shortest"):
        return KeepPolicy(rule)
    if rule in ("max", "min") and rest:
        return KeepPolicy(rule, rest)
    if rule == "priority":
        column, equals, values = rest.partition("=")
        if column and equals and values:
            return KeepPolicy(rule, column, tuple(values.split(",")))
    message = f"keep must be {_USAGE}, got {keep!r}"
    raise InvalidParameterError(message)


def join_order_columns(parts: list[pa.Array], name: str) -> pa.Array:
    """Put the blocks of an order column together; integers and decimals mix, other kinds do not."""
    import pyarrow as pa

    if not parts:
        # No file has any rows.
        return pa.nulls(0, pa.int64())
    types = {part.type for part in parts if part.null_count < len(part)}
    if types == {pa.int64(), pa.float64()}:
        types = {pa.float64()}
    if len(types) > 1:
        kinds = " and ".join(sorted(str(kind) for kind in types))
        message = (
            f"column {name!r} holds different kinds of values ({kinds}), by which documents cannot "
            "be ordered; choose another column, or another policy, with keep (--keep)"
        )
        raise InvalidInputError(message)
    kind = types.pop() if types else pa.int64()
    nulls = (pa.nulls(len(part), kind) if part.null_count == len(part) else None for part in parts)
    return pa.concat_arrays(
        [part.cast(kind) if null is None else null for part, null in zip(parts, nulls, strict=True)]
    )
