"""The first pass over collections: what documents there are, and which have the same content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.files.rows import Source
from neardup.reading.catalogue import Catalogue
from neardup.reading.copies import ContentTable
from neardup.reading.plan import ReadingPlan
from neardup.reading.sign_pass import sign_collections
from neardup.runtime.runner import Runner
from neardup.storage.workspace import IN_MEMORY
from neardup.tables import Int64s, Uint64s


@dataclass(frozen=True)
class FirstPass:
    """What the first pass over some collections found.

    ``catalogues`` has one for each collection. ``contents`` has each document's content number, -1
    for an empty or skipped one; the contents of all collections are numbered together, as they are
    met, and there are ``n_contents``. Where documents have ``blocking_keys``, those of different
    keys have different contents, and those without one have none.
    """

    catalogues: tuple[Catalogue, ...]
    contents: Int64s
    n_contents: int
    blocking_keys: Uint64s | None = None


def read_collections(
    collections: Sequence[tuple[Sequence[Source], ReadingPlan]], runner: Runner
) -> FirstPass:
    """Read all documents of some collections once, each by its own plan; all stays in memory.

    Raises
    ------
    InvalidInputError
        For a bad row, unless the plan skips those, and for a repeated id in a collection.
    ReadError
        If a file cannot be read.
    """
    signed = sign_collections(collections, IN_MEMORY, runner)
    table = ContentTable()
    contents = [table.number(digests).numbers for _, digests in signed.batches.digests()]
    joined = np.concatenate([np.empty(0, np.int64), *contents])
    return FirstPass(signed.catalogues, joined, table.size, signed.batches.blocking_keys())
