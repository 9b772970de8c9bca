"""Which removed documents are worth a look, and pairs of documents to be shown side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.tables import Floats, Int64s

Kind = Literal["least", "middle", "most", "copies"]


@dataclass(frozen=True)
class Document:
    """A document of an example; its text is None if it is not at hand."""

    id: str
    file: str | None
    row: int | None
    text: str | None


@dataclass(frozen=True)
class Common:
    """Shingles that two documents have in common, and those of each."""

    n_common: int
    n_first: int
    n_second: int

    @property
    def n_either(self) -> int:
        """Shingles that one of the two has, or both."""
        return self.n_first + self.n_second - self.n_common


@dataclass(frozen=True)
class Pair:
    """A removed document and the one that stays for it, or two that stay.

    ``common`` is None where nobody has counted it.
    """

    first: Document
    second: Document
    similarity: float | None
    common: Common | None = None


@dataclass(frozen=True)
class KeptPairs:
    """Pairs of documents that both stay, from a similarity below the threshold on.

    The first ``n_documents`` that stay were compared exactly, each with each, down to the
    similarity ``least``. ``missed`` reach the threshold, and should not both have
    stayed: ``n_missed`` at least, and no more unless ``is_cut``. ``below`` are those nearest to it.
    """

    n_documents: int
    least: float
    n_missed: int
    is_cut: bool
    below: Sequence[Pair]
    missed: Sequence[Pair]


def choose_examples(removed: pa.Table, *, n: int = 3) -> dict[Kind, list[int]]:
    """Choose removed documents to be looked at: the least similar, middling, the most similar ones.

    Returns their places in the table, ``n`` of each kind, of copies one. No document is of two
    kinds, and as far as possible no two of a kind have gone for the same one. The first of a kind
    is the very least or most similar one; the others differ from it by 0.01 at most, where there
    are as many, and are from all over the table.
    """
    copies = pc.fill_null(removed["exact_copy"], False).to_numpy()
    values = removed["similarity"].to_numpy()
    near = np.flatnonzero(~copies & ~np.isnan(values))
    keepers = removed["kept_id"]
    chosen: dict[Kind, list[int]] = {}
    taken: set[int] = set()
    if len(near):
        middle = (float(values[near].min()) + 1) / 2
        distances: dict[Kind, Floats] = {
            "least": values[near],
            "most": -values[near],
            "middle": np.abs(values[near] - middle),
        }
        for kind, distance in distances.items():
            found = _of_different_keepers(_spread(near, distance, n), keepers, taken, n)
            taken.update(found)
            if found:
                chosen[kind] = found
    if copies.any():
        chosen["copies"] = np.flatnonzero(copies)[:1].tolist()
    return {kind: chosen[kind] for kind in ("least", "middle", "most", "copies") if kind in chosen}


# Documents that are gone through for different keepers; and how much farther than the nearest one
# others may be, which are taken from all over the table.
_LOOKED_AT = 1_000
_AS_GOOD = 0.01


def _spread(places: Int64s, distances: Floats, n: int) -> Int64s:
    """Put the nearest one first, then some of nearly that distance from all over, then the rest."""
    order = np.argsort(distances, kind="stable")
    n_as_good = int(np.searchsorted(distances[order], distances[order[0]] + _AS_GOOD, "right"))
    as_good = np.sort(order[:n_as_good])
    spread = as_good[np.linspace(0, n_as_good - 1, min(n_as_good, 4 * n)).astype(np.int64)]
    # Few are taken: every fourth of them first, which are from all over, too.
    by_fours = np.argsort(np.arange(len(spread)) % 4, kind="stable")
    first: Int64s = np.concatenate([order[:1], spread[by_fours], order])
    _, at = np.unique(first, return_index=True)
    return places[first[np.sort(at)]]


def _of_different_keepers(
    order: Int64s, keepers: pa.ChunkedArray, taken: set[int], n: int
) -> list[int]:
    """Take the first ones, of different keepers; then others, if these are not enough."""
    first = [place for place in order[:_LOOKED_AT].tolist() if place not in taken]
    ids = keepers.take(pa.array(first, pa.int64())).to_pylist()
    seen = set()
    different = []
    for place, kept_id in zip(first, ids, strict=True):
        if kept_id not in seen:
            seen.add(kept_id)
            different.append(place)
    chosen = different[:n]
    rest = (place for place in first if place not in set(chosen))
    return [*chosen, *islice(rest, n - len(chosen))]
