"""Order documents by keep policy, the kept document first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.rows import columns_of_order, order_of
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa

_USAGE = "first, longest, shortest, max:COLUMN, min:COLUMN or priority:COLUMN=A,B,C"


@dataclass(frozen=True)
class KeepPolicy:
    """Keep order of similar documents, whose first document stays.

    ``rule`` is ``first``, ``longest`` or ``shortest`` (in characters), ``max`` or ``min`` (of a
    column), or ``priority`` (a column's values in the order of ``values``, others after them).
    Nulls come last. Ties go by the policy ``then``, if any, and at last by input order. With
    ``keeps_none`` not even the first of equal documents stays.
    """

    rule: str
    column: str | None = None
    values: tuple[str, ...] = ()
    then: KeepPolicy | None = None
    keeps_none: bool = False

    @property
    def keys(self) -> tuple[KeepPolicy, ...]:
        """Return the policy and its tie breakers as separate policies."""
        return (replace(self, then=None), *(self.then.keys if self.then else ()))

    @property
    def by_length(self) -> bool:
        """Return whether the policy needs the lengths of texts."""
        return any(key.rule in ("longest", "shortest") for key in self.keys)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the distinct columns of the policy's keys in order."""
        named = (key.column for key in self.keys)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def __str__(self) -> str:
        """Spell the first key as users do."""
        if self.column is None:
            return self.rule
        values = ",".join(map(_quoted, self.values))
        return f"{self.rule}:{_quoted(self.column)}" + (f"={values}" if values else "")

    def order(self, n_documents: int, lengths: Int64s | None, column: pa.Array | None) -> Int64s:
        """Return the document numbers in keep order.

        ``column`` has the values of ``columns``, as ``files.rows.order_of`` puts them together.
        """
        if self.rule == "first":
            return np.arange(n_documents, dtype=np.int64)
        ranks = self.ranks(lengths, column)
        # Stable, both of them, so that ties keep their input order. The last key counts most.
        return np.argsort(ranks[0], kind="stable") if len(ranks) == 1 else np.lexsort(ranks[::-1])

    def ranks(self, lengths: Int64s | None, column: pa.Array | None) -> list[Int64s]:
        """Return ranks of documents per key, the lowest first."""
        columns = dict(zip(self.columns, columns_of_order(column, len(self.columns)), strict=True))
        return [_ranks_by(key, lengths, columns) for key in self.keys if key.rule != "first"]


def _ranks_by(key: KeepPolicy, lengths: Int64s | None, columns: Mapping[str, pa.Array]) -> Int64s:
    import pyarrow as pa
    import pyarrow.compute as pc

    if key.column is None:
        assert lengths is not None
        return -lengths if key.rule == "longest" else lengths
    column = columns[key.column]
    if key.rule == "priority":
        if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
            column = column.cast(pa.string())
        values = pa.array(key.values, pa.string())
        places = pc.fill_null(pc.index_in(column, values.cast(column.type)), len(values))
        places = pc.if_else(column.is_null(), len(values) + 1, places)
    else:
        # Ranks are dense, so equal values tie.
        direction = "descending" if key.rule == "max" else "ascending"
        places = pc.rank(column, sort_keys=direction, tiebreaker="dense")
    ranks: Int64s = places.to_numpy(zero_copy_only=False).astype(np.int64)
    return ranks


def parse_keep(keep: str, *, may_be_none: bool = False) -> KeepPolicy:
    """Parse a keep policy: keys separated by commas.

    A part after a priority is one more of its values, unless it is a key. Double quotes mark a
    column or a value. ``none`` is allowed alone, and only if ``may_be_none``.
    """
    if keep == "none" and may_be_none:
        return KeepPolicy("first", keeps_none=True)
    keys: list[KeepPolicy] = []
    for part in _parts_of(keep):
        key = _parse_key(part.strip())
        if key is not None:
            keys.append(key)
        elif keys and keys[-1].rule == "priority":
            keys[-1] = replace(keys[-1], values=(*keys[-1].values, _unquoted(part)))
        else:
            message = f"keep must be {_USAGE}, or several of these, parted by commas; got {keep!r}"
            raise InvalidParameterError(message, "keep")
    if any(key.rule == "first" for key in keys[:-1]):
        message = (
            f"keep: no two documents are equally early in the input, so that nothing counts behind "
            f"first, got {keep!r}; put it last"
        )
        raise InvalidParameterError(message, "keep")
    # In the end it is the input order anyway.
    policy = None if len(keys) > 1 and keys[-1].rule == "first" else keys[-1]
    for key in reversed(keys[:-1]):
        policy = replace(key, then=policy)
    assert policy is not None
    return policy


def _parse_key(part: str) -> KeepPolicy | None:
    rule, colon, rest = part.partition(":")
    if not colon and rule in ("first", "longest", "shortest"):
        return KeepPolicy(rule)
    if rule in ("max", "min") and rest:
        return KeepPolicy(rule, _unquoted(rest))
    if rule == "priority":
        named = _PRIORITY.fullmatch(rest)
        if named is not None:
            return KeepPolicy(rule, _unquoted(named[1]), (_unquoted(named[2]),))
    return None


_PRIORITY = re.compile(r'("[^"]+"|[^=]+)=(.+)', re.DOTALL)


def _parts_of(keep: str) -> list[str]:
    parts, is_quoted = [""], False
    for character in keep:
        is_quoted ^= character == '"'
        if character == "," and not is_quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] == '"' else name


def _quoted(name: str) -> str:
    is_plain = "," not in name and "=" not in name and _parse_key(name) is None
    return name if is_plain else f'"{name}"'


def join_order_columns(parts: list[pa.Array], names: Sequence[str]) -> pa.Array:
    """Concatenate order columns, mixing only integers and decimals."""
    split = [columns_of_order(part, len(names)) for part in parts]
    columns = [
        _join_column([columns[number] for columns in split], name)
        for number, name in enumerate(names)
    ]
    return order_of(columns)


def _join_column(parts: list[pa.Array], name: str) -> pa.Array:
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
