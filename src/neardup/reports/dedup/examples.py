"""Which removed documents are worth a look, and pairs of documents to be shown side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
import pyarrow.compute as pc

from neardup.outputs.table_rows import TableRows
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

    ``common`` is None where nobody has counted it. ``no_text`` says why the text of the second one
    cannot be had, where that is so.
    """

    first: Document
    second: Document
    similarity: float | None
    common: Common | None = None
    no_text: str = ""


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


def choose_examples(removed: TableRows, *, n: int = 3) -> dict[Kind, list[int]]:
    """Choose removed documents to be looked at: the least similar, middling, the most similar ones.

    Returns their places in the table, ``n`` of each kind, of copies one. No document is of two
    kinds, and as far as possible no two of a kind have gone for the same one. The first of a kind
    is the very least or most similar one; the others differ from it by 0.01 at most, where there
    are as many, and are from all over the table.
    """
    least, first_copy = math.inf, None
    for _, values, copies in _similarities(removed):
        least = min(least, values.min(initial=math.inf))
        if first_copy is None and len(copies):
            first_copy = int(copies[0])
    middle = (least + 1) / 2
    distances: dict[Kind, Callable[[Floats], Floats]] = {
        "least": lambda values: values,
        "most": lambda values: -values,
        "middle": lambda values: np.abs(values - middle),
    }
    orders = _spread(removed, distances, n) if least < math.inf else {}
    chosen: dict[Kind, list[int]] = {}
    taken: set[int] = set()
    for kind, order in orders.items():
        found = _of_different_keepers(order, removed, taken, n)
        taken.update(found)
        if found:
            chosen[kind] = found
    if first_copy is not None:
        chosen["copies"] = [first_copy]
    return {kind: chosen[kind] for kind in ("least", "middle", "most", "copies") if kind in chosen}


# Documents that are gone through for different keepers; and how much farther than the nearest one
# others may be, which are taken from all over the table.
_LOOKED_AT = 1_000
_AS_GOOD = 0.01


def _similarities(removed: TableRows) -> Iterator[tuple[Int64s, Floats, Int64s]]:
    """Yield, some at a time, the places of near-duplicates, their similarities, and of copies."""
    start = 0
    for batch in removed.batches("similarity", "exact_copy"):
        copies = pc.fill_null(batch["exact_copy"], False).to_numpy()
        values = batch["similarity"].to_numpy()
        near = np.flatnonzero(~copies & ~np.isnan(values))
        yield start + near, values[near], start + np.flatnonzero(copies)
        start += len(batch)


def _spread(
    removed: TableRows, distances: Mapping[Kind, Callable[[Floats], Floats]], n: int
) -> dict[Kind, Int64s]:
    """Put the nearest one first, then some of nearly that distance from all over, then the rest.

    Of the rest there are as many as are looked at.
    """
    nearest = {kind: (np.empty(0), np.empty(0, np.int64)) for kind in distances}
    for places, values, _ in _similarities(removed):
        for kind, distance_of in distances.items():
            distance = np.concatenate([nearest[kind][0], distance_of(values)])
            every = np.concatenate([nearest[kind][1], places])
            order = np.lexsort((every, distance))[:_LOOKED_AT]
            nearest[kind] = distance[order], every[order]
    limits = {kind: distance[0] + _AS_GOOD for kind, (distance, _) in nearest.items()}
    counts = dict.fromkeys(distances, 0)
    for _, values, _ in _similarities(removed):
        for kind, distance_of in distances.items():
            counts[kind] += int((distance_of(values) <= limits[kind]).sum())
    wanted = {
        kind: np.linspace(0, count - 1, min(count, 4 * n)).astype(np.int64)
        for kind, count in counts.items()
    }
    spread: dict[Kind, list[Int64s]] = {kind: [] for kind in distances}
    before = dict.fromkeys(distances, 0)
    for places, values, _ in _similarities(removed):
        for kind, distance_of in distances.items():
            as_good = places[distance_of(values) <= limits[kind]]
            here = wanted[kind] - before[kind]
            spread[kind].append(as_good[here[(here >= 0) & (here < len(as_good))]])
            before[kind] += len(as_good)
    return {
        kind: _few_first(nearest[kind][1], np.concatenate(found)) for kind, found in spread.items()
    }


def _few_first(nearest: Int64s, spread: Int64s) -> Int64s:
    # Few are taken: every fourth of them first, which are from all over, too.
    by_fours = np.argsort(np.arange(len(spread)) % 4, kind="stable")
    first: Int64s = np.concatenate([nearest[:1], spread[by_fours], nearest])
    _, at = np.unique(first, return_index=True)
    return first[np.sort(at)]


def _of_different_keepers(order: Int64s, removed: TableRows, taken: set[int], n: int) -> list[int]:
    """Take the first ones, of different keepers; then others, if these are not enough."""
    first = [place for place in order[:_LOOKED_AT].tolist() if place not in taken]
    ids = removed.take(np.array(first, np.int64), "kept_id")["kept_id"].to_pylist()
    seen = set()
    different = []
    for place, kept_id in zip(first, ids, strict=True):
        if kept_id not in seen:
            seen.add(kept_id)
            different.append(place)
    chosen = different[:n]
    rest = (place for place in first if place not in set(chosen))
    return [*chosen, *islice(rest, n - len(chosen))]
