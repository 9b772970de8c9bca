"""Documents that a table names, found again in the files it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.ids import as_text, choose_id_column
from neardup.files.passes import ReadingPass, TextBlock, read_text_block
from neardup.files.rows import RowBlock, Source
from neardup.jobs.report.tables import Collection
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runtime.runner import Runner

# Characters of texts that are held at a time; pages show fewer.
_MOST_HELD = 1 << 26


@dataclass(frozen=True)
class FoundDocuments:
    """Where the documents of some ids are, and how long; texts are None where none is wanted.

    ``files`` are names of sources, None of documents that are not there; ``lengths`` characters;
    ``places`` ascend in the order of the input.
    ``counts`` has the number of documents of each source.
    """

    files: list[str | None]
    lengths: Int64s
    places: Int64s
    texts: list[str | None]
    counts: dict[str, int]

    def take(self, rows: Sequence[int]) -> FoundDocuments:
        """Return some of the documents."""
        files, texts = ([each[row] for row in rows] for each in (self.files, self.texts))
        return FoundDocuments(
            files, self.lengths[list(rows)], self.places[list(rows)], texts, self.counts
        )


def find_documents(
    collection: Collection, ids: pa.Array, runner: Runner, first_wanted: Sequence[int] = ()
) -> FoundDocuments:
    """Read a collection once; keep what is known of the documents that have some different ids.

    Texts are kept of those at the places ``first_wanted`` in ``ids``, in the order of how much they
    are wanted; the last ones have to do without where all of them are too much to hold.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    sources = collection.sources
    columns = choose_id_column(collection.columns, sources)
    n = len(ids)
    found = FoundDocuments([None] * n, np.zeros(n, np.int64), np.zeros(n, np.int64), [None] * n, {})
    rank = {place: k for k, place in enumerate(first_wanted)}
    held: dict[int, str] = {}

    def read(source: Source, block: RowBlock) -> tuple[TextBlock, pa.Array]:
        rows = read_text_block(source, block, columns, skip_bad=collection.skip_bad)
        return rows, pc.index_in(as_text(rows.ids), value_set=ids)

    n_held = n_read = 0
    reading = ReadingPass("read", sources, runner)
    for i, (rows, places) in reading.map(read, sources):
        name = sources[i].name
        found.counts[name] = found.counts.get(name, 0) + len(rows)
        here = np.flatnonzero(places.is_valid().to_numpy(zero_copy_only=False))
        lengths = pc.utf8_length(rows.texts.take(pa.array(here))).to_numpy()
        for row, place, length in zip(
            here.tolist(), places.drop_null().to_pylist(), lengths.tolist(), strict=True
        ):
            if found.files[place] is not None:
                continue
            found.files[place], found.lengths[place] = name, length
            found.places[place] = n_read + row
            if place in rank:
                held[place] = rows.texts[row].as_py()
                n_held += length
        n_read += len(rows)
        while n_held > _MOST_HELD:
            last = max(held, key=rank.__getitem__)
            n_held -= len(held.pop(last))
    for place, text in held.items():
        found.texts[place] = text
    return found


def check_found(found: FoundDocuments, ids: pa.Array, where: str) -> None:
    """Make sure that all documents that a table names are there."""
    missing = next((i for i, file in enumerate(found.files) if file is None), None)
    if missing is not None:
        message = (
            f"the table names documents that {where} does not have, such as "
            f"{ids[missing].as_py()!r}; give the same INPUT, --against and --id-column as when it "
            "was made"
        )
        raise InvalidInputError(message)
