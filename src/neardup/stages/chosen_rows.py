"""Rows as users choose them: by place, slice, mask or id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.ids import as_text
from neardup.tables import Int64s


def places_of_key(key: Any, n: int) -> Int64s:
    """Return the places of n that an index means: one place, a slice, a mask, or several places.

    Raises
    ------
    InvalidInputError
        If it is none of these, or a mask of another length.
    IndexError
        For a place that is not there.
    """
    places: Int64s = np.arange(n, dtype=np.int64)
    if isinstance(key, slice):
        return np.arange(*key.indices(n), dtype=np.int64)
    chosen = np.asarray(key)
    if not chosen.size and chosen.ndim == 1:
        return places[:0]
    if chosen.dtype == np.bool_ and chosen.shape == (n,):
        return np.flatnonzero(chosen)
    if chosen.dtype.kind in "iu" and chosen.ndim <= 1:
        found: Int64s = np.atleast_1d(places[chosen])
        return found
    message = (
        f"expected a place, a slice, several places or a mask of {n} values, got "
        f"{type(key).__name__} of {chosen.dtype} and shape {chosen.shape}; select takes ids"
    )
    raise InvalidInputError(message)


def places_of_ids(ids: pa.Array, wanted: Any) -> Int64s:
    """Return the places of wanted ids, in their order.

    Raises
    ------
    InvalidInputError
        If one is not there, or wanted twice.
    """
    names = _as_names(wanted)
    found = pc.index_in(names, value_set=as_text(ids))
    if found.null_count:
        missing = names.filter(found.is_null())
        message = (
            f"there is no sketch of {len(missing):,} ids, such as {missing[0].as_py()!r}; "
            "Sketches.ids has those that there are"
        )
        raise InvalidInputError(message)
    check_different(names, "was given twice; name each document once")
    places: Int64s = found.to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def check_different(ids: pa.Array, problem: str) -> None:
    """Raise if an id comes twice; the problem follows it in the message.

    Raises
    ------
    InvalidInputError
        Naming the first that does.
    """
    counts = pc.value_counts(ids)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(repeated):
        message = f"id {repeated[0]['values'].as_py()!r} {problem}"
        raise InvalidInputError(message)


def match_ids(ids: pa.Array, others: pa.Array) -> Int64s:
    """Return the place of each id among others, -1 where it is not; none of these comes twice."""
    found = pc.fill_null(pc.index_in(ids, value_set=others), -1)
    places: Int64s = found.to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def _as_names(wanted: Any) -> pa.Array:
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        message = f"expected a list of ids, got {wanted!r}; write [{wanted!r}]"
        raise InvalidInputError(message)
    # Arrow's scalars print their type, too.
    values = (value.as_py() if isinstance(value, pa.Scalar) else value for value in wanted)
    return pa.array([str(value) for value in values], pa.large_string())
