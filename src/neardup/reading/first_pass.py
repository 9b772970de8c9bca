"""The first pass over collections: what documents there are, and which have the same content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neardup.clustering.keep import join_order_columns
from neardup.files.ids import choose_id_column, join_ids
from neardup.files.passes import ReadingPass
from neardup.files.rows import Source
from neardup.reading.catalogue import Catalogue
from neardup.reading.copies import ContentTable
from neardup.reading.ids import check_unique
from neardup.reading.plan import ReadingPlan
from neardup.reading.sign import SignedBlock, sign_block
from neardup.runtime.runner import Runner
from neardup.tables import BandKeys, Int64s

# Columns of a signed block that are kept of each document, and its content.
_COLUMNS = ("numbers", "n_tokens", "contents", "lengths", "ids", "order")


@dataclass(frozen=True)
class FirstPass:
    """What the first pass over some collections found.

    ``catalogues`` has one for each collection; the contents of all of them are numbered together,
    and the first ``content_ends[k]`` occur in the first k + 1 collections. ``keys`` are the band
    keys of the contents.
    """

    catalogues: tuple[Catalogue, ...]
    content_ends: tuple[int, ...]
    keys: BandKeys

    @property
    def n_contents(self) -> int:
        """The number of distinct contents."""
        return self.content_ends[-1]


def read_collections(
    collections: Sequence[tuple[Sequence[Source], ReadingPlan]], runner: Runner
) -> FirstPass:
    """Read all documents of some collections once, each by its own plan.

    Raises
    ------
    InvalidInputError
        For a bad row, unless the plan skips those, and for a repeated id in a collection.
    ReadError
        If a file cannot be read.
    """
    contents, keys = ContentTable(), BandKeys([])
    reading = ReadingPass(
        "read", [source for sources, _ in collections for source in sources], runner
    )
    catalogues, content_ends = [], []
    for sources, plan in collections:
        catalogues.append(_read(sources, plan, contents, keys, reading))
        content_ends.append(contents.size)
    return FirstPass(tuple(catalogues), tuple(content_ends), keys)


def _read(
    sources: Sequence[Source],
    plan: ReadingPlan,
    contents: ContentTable,
    keys: BandKeys,
    reading: ReadingPass,
) -> Catalogue:
    """Read one collection; its new contents and their keys come behind those that are there."""
    plan = replace(plan, columns=choose_id_column(plan.columns, sources))
    parts = _Parts(sources)
    for i, signed in reading.map(lambda _, block: sign_block(block, plan), sources):
        numbered = contents.number(signed.digests)
        keys.parts.append(signed.keys[numbered.is_first])
        parts.add(i, signed, numbered.numbers)
    return parts.join(plan)


class _Parts:
    """What is kept of the blocks of one collection: small arrays, not keys and digests."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._counts: Int64s = np.zeros(len(sources), np.int64)
        self._columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        self._skipped: list[tuple[str, int, str]] = []
        self._text_bytes = 0

    def add(self, source: int, signed: SignedBlock, contents: Int64s) -> None:
        """Append a block of a source, and the contents of its documents."""
        self._counts[source] += len(signed.numbers)
        for name, column in self._columns.items():
            column.append(contents if name == "contents" else getattr(signed, name))
        name = self._sources[source].name
        self._skipped.extend((name, row, reason) for row, reason in signed.skipped)
        self._text_bytes += signed.text_bytes

    def join(self, plan: ReadingPlan) -> Catalogue:
        """Put the blocks together, and check the ids."""
        columns, order = self._columns, plan.columns.order
        catalogue = Catalogue(
            sources=self._sources,
            columns=plan.columns,
            source_starts=np.concatenate([[0], np.cumsum(self._counts)]).astype(np.int64),
            numbers=_join(columns["numbers"]),
            n_tokens=_join(columns["n_tokens"]),
            contents=_join(columns["contents"]),
            lengths=_join(columns["lengths"]) if plan.with_lengths else None,
            ids=join_ids(columns["ids"]) if plan.columns.id else None,
            order=join_order_columns(columns["order"], order) if order else None,
            text_bytes=self._text_bytes,
            skipped=self._skipped,
        )
        if catalogue.ids is not None:
            check_unique(catalogue.ids, catalogue.place, plan.columns)
        return catalogue


def _join(parts: list[Int64s]) -> Int64s:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
