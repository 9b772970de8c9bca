"""Which removed documents are worth a look, and pairs of documents to be shown side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
class Pair:
    """A removed document and the one that stays for it, or two that stay."""

    first: Document
    second: Document
    similarity: float | None


@dataclass(frozen=True)
class KeptPairs:
    """Pairs of documents that both stay, from a similarity below the threshold on.

    The first ``n_documents`` that stay, ``n_bytes`` of text, were compared exactly, each with each,
    down to the similarity ``least``. ``missed`` reach the threshold, and should not both have
    stayed: ``n_missed`` at least, and no more unless ``is_cut``. ``below`` are those nearest to it.
    """

    n_documents: int
    n_bytes: int
    least: float
    n_missed: int
    is_cut: bool
    below: Sequence[Pair]
    missed: Sequence[Pair]


def choose_examples(removed: pa.Table, *, n: int = 3) -> dict[Kind, list[int]]:
    """Choose removed documents to be looked at: the least similar, middling, the most similar ones.

    Parameters
    ----------
    removed
        The table of removed documents.
    n
        Of each kind; of copies one. No document is of two kinds, and as far as possible no two
        of a kind have gone for the same one.

    Returns
    -------
    Their places in the table. Kinds without any are left out.
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
            order = near[np.argsort(distance, kind="stable")]
            found = _of_different_keepers(order, keepers, taken, n)
            taken.update(found)
            if found:
                chosen[kind] = found
    if copies.any():
        chosen["copies"] = np.flatnonzero(copies)[:1].tolist()
    return {kind: chosen[kind] for kind in ("least", "middle", "most", "copies") if kind in chosen}


# Documents that are gone through for different keepers.
_LOOKED_AT = 1_000


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
    rest = (place for place in first if place not in set(different[:n]))
    return [*different[:n], *_some(rest, n - len(different[:n]))]


def _some(places: Iterator[int], n: int) -> Iterator[int]:
    for _, place in zip(range(n), places, strict=False):
        yield place
