"""A table of pairs as its page looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.tables import Floats, Int64s

_IDS = (("id_a", "id_b"), ("query_id", "doc_id"))
_SCORES = ("overlap", "distance")


@dataclass(frozen=True)
class PairsTable:
    """Pairs of documents with their similarities, and what is known of how they were found.

    Rows whose similarity is not known are left out; there were ``n_unknown``. ``ids_a`` and
    ``ids_b`` are large strings; ``a`` and ``b`` number them, which with ``two_sided`` are those of
    two collections, numbered apart. ``shown`` has the columns of both documents, by name.
    ``summary`` is what the job says of itself, and may say nothing.
    """

    ids_a: pa.Array
    ids_b: pa.Array
    similarities: Floats
    scores: Int64s | None
    score_name: str | None
    intervals: tuple[Floats, Floats] | None
    names: tuple[str, str]
    two_sided: bool
    shown: Mapping[str, tuple[pa.ChunkedArray, pa.ChunkedArray]]
    n_unknown: int
    summary: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids_a)

    @property
    def by_distance(self) -> bool:
        """Whether pairs were limited by a distance, and so are ranked by it."""
        return self.score_name == "distance" and self.summary.get("max_distance") is not None

    @property
    def values(self) -> Floats:
        """What pairs are ranked by, the best highest."""
        if self.by_distance and self.scores is not None:
            return -self.scores.astype(np.float64)
        return self.similarities

    @property
    def is_count(self) -> bool:
        """Whether what stands for similarities are numbers of shingles."""
        return bool(
            self.summary.get("measure") == "overlap" or self.similarities.max(initial=0) > 1
        )

    @cached_property
    def numbered(self) -> tuple[Int64s, Int64s]:
        """Numbers of the documents a and b of each pair; the same id is the same number."""
        if self.two_sided:
            return number_ids(self.ids_a), number_ids(self.ids_b)
        both = number_ids(pa.concat_arrays([self.ids_a, self.ids_b]))
        return both[: len(self)], both[len(self) :]


def pairs_table(
    table: pa.Table, summary: Mapping[str, Any] | None, *, two_sided: bool | None = None
) -> PairsTable:
    """Take a table of pairs, estimates or matches apart.

    ``two_sided`` says whether its documents are of two collections; None where the summary, or
    what the table is, has to say so. An id on both sides of a pair says it, too.
    """
    summary = dict(summary or {})
    name_a, name_b = next(names for names in _IDS if set(names) <= set(table.column_names))
    is_known = pc.invert(pc.is_null(table["similarity"].cast(pa.float64()), nan_is_null=True))
    n_unknown = len(table) - int(pc.sum(is_known).as_py() or 0)
    table = table.filter(is_known) if n_unknown else table
    ids_a, ids_b = (_as_ids(table[name]) for name in (name_a, name_b))
    if two_sided is None:
        two_sided = name_a == "query_id" or len(summary.get("documents", ())) == 2
    two_sided = two_sided or bool(pc.any(pc.equal(ids_a, ids_b)).as_py())
    score_name = next((name for name in _SCORES if name in table.column_names), None)
    intervals = None
    # Of sketches of edit distances the bounds are those of the distance.
    if {"low", "high"} <= set(table.column_names) and score_name is None:
        intervals = (_floats(table["low"]), _floats(table["high"]))
    own = {name_a, name_b, "similarity", *_SCORES}
    stems = [name.removesuffix("_a") for name in table.column_names if name not in own]
    shown = {
        stem: (table[f"{stem}_a"], table[f"{stem}_b"])
        for stem in stems
        if {f"{stem}_a", f"{stem}_b"} <= set(table.column_names) and intervals is None
    }
    return PairsTable(
        ids_a,
        ids_b,
        _floats(table["similarity"]),
        None if score_name is None else _wholes(table[score_name]),
        score_name,
        intervals,
        (name_a, name_b),
        two_sided,
        shown,
        n_unknown,
        summary,
    )


def number_ids(ids: pa.Array) -> Int64s:
    """Return a number for each id, the same for the same."""
    numbers: Int64s = ids.dictionary_encode().indices.to_numpy().astype(np.int64)
    return numbers


def _as_ids(column: pa.ChunkedArray) -> pa.Array:
    text = column.cast(pa.large_string())
    return pa.concat_arrays([pa.array([], pa.large_string()), *text.chunks])


def _floats(column: pa.ChunkedArray) -> Floats:
    values: Floats = column.cast(pa.float64()).to_numpy()
    return values


def _wholes(column: pa.ChunkedArray) -> Int64s:
    values: Int64s = pc.fill_null(column.cast(pa.int64()), 0).to_numpy()
    return values
