"""Documents that were put into an index one at a time, and are not written yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents import blocks
from neardup.documents.additions import Adding
from neardup.documents.blocks import Block
from neardup.documents.queries import (
    Queries,
    Searchable,
    interleave,
    join_queries,
    join_sets,
    sets_of_texts,
)
from neardup.documents.reading import (
    Contents,
    DocumentBatch,
    make_batch,
    pack_rows,
    queries_of_texts,
)
from neardup.documents.scheme import DocumentScheme
from neardup.documents.values import (
    Cells,
    Id,
    as_cells,
    as_texts,
    ids_of_values,
    join_cells,
    reason_of,
    runs_of_cells,
)
from neardup.files.ids import common_id_type
from neardup.tables import (
    Bools,
    Filters,
    Floats,
    Int64s,
    ShingleSets,
    Texts,
    Uint32s,
    Uint64s,
    WeightedSets,
)


@dataclass
class _Gone:
    """Documents that went for others, since the last commit."""

    ids: list[Id] = field(default_factory=list)
    kept_ids: list[str] = field(default_factory=list)
    digests: list[Uint64s] = field(default_factory=list)
    similarities: list[float] = field(default_factory=list)
    places: dict[bytes, list[int]] = field(default_factory=lambda: defaultdict(list))


class Pending(Searchable):
    """Documents in memory, which are found as those of a segment are; for one thread at a time."""

    def __init__(self, scheme: DocumentScheme) -> None:
        self._scheme = scheme
        self._rows: dict[str, int] = {}
        self._ids: list[Id] = []
        self._texts: list[str | None] = []
        self._cells: list[Cells] = []
        self._parts: list[Queries] = []
        # Sets of documents that have no text; those of texts are made when they are asked for.
        self._sets: dict[int, ShingleSets | WeightedSets] = {}
        self._n_signed = 0
        self._rows_of_keys: dict[int, list[int]] = defaultdict(list)
        self._rows_of_digests: dict[bytes, list[int]] = defaultdict(list)
        self._n_listed = 0
        self._unlisted: list[Queries] = []
        self._gone = _Gone()

    @property
    def id_type(self) -> pa.DataType:
        """The type of the ids."""
        return common_id_type({ids_of_values(self._ids).type} if self._ids else ())

    def __len__(self) -> int:
        return self._n_signed

    def __contains__(self, identifier: Id) -> bool:
        """Whether a document has an id."""
        return str(identifier) in self._rows

    @property
    def n_documents(self) -> int:
        """Count the documents, signed or not."""
        return len(self._ids)

    @property
    def n_gone(self) -> int:
        """Count the documents that went for others."""
        return len(self._gone.ids)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self._ids or self._gone.ids)

    def add(
        self,
        identifier: Id,
        text: str | None,
        columns: dict[str, Any],
        queries: Queries | None = None,
    ) -> None:
        """Take a document, whose id is new.

        ``queries`` are what is known of it already; a text is signed when that is needed.
        """
        as_texts([text])
        cells = as_cells(identifier, columns, self._scheme.columns)
        if queries is not None:
            self.sign()
            self._take(replace(queries, sets=None))
            self._n_signed += 1
        if queries is not None and queries.sets is not None and not self._has_text(text):
            self._sets[len(self._ids)] = queries.sets
        self._rows[str(identifier)] = len(self._ids)
        self._ids.append(identifier)
        # So that it is not read from here and missing from the files.
        self._texts.append(text if self._scheme.with_text else None)
        self._cells.append(cells)

    def went(self, identifier: Id, kept_id: str, digest: Uint64s, similarity: float) -> None:
        """Note that a document went for another one."""
        gone = self._gone
        gone.places[digest.tobytes()].append(len(gone.ids))
        gone.ids.append(identifier)
        gone.kept_ids.append(kept_id)
        gone.digests.append(digest)
        gone.similarities.append(similarity)

    def sign(self) -> None:
        """Sign the documents that were not signed yet."""
        waiting = self._texts[self._n_signed :]
        if waiting:
            texts = as_texts(waiting)
            queries = queries_of_texts(texts, self._scheme, with_sets=False)
            # Weighted ones are made in any case.
            self._take(replace(queries, sets=None))
            self._n_signed = len(self._texts)

    def write(self, adding: Adding) -> list[tuple[Id, str]]:
        """Put all documents into the next state of the index.

        Returns
        -------
        Documents that cannot be written, for some reason that nobody has thought of, and why; the
        others are.
        """
        self.sign()
        unwritable: list[tuple[Id, str]] = []
        for start, stop in runs_of_cells(self._cells):
            for batch in self._batches(start, stop, unwritable):
                adding.add(batch)
        gone = self._gone
        if gone.ids:
            digests: Uint64s = np.stack(gone.digests)
            similarities: Floats = np.array(gone.similarities)
            kept = pa.array(gone.kept_ids, pa.large_string())
            adding.went(ids_of_values(gone.ids), kept, digests, similarities)
        return unwritable

    def _batches(
        self, start: int, stop: int, unwritable: list[tuple[Id, str]]
    ) -> Iterator[DocumentBatch]:
        """Pack some rows: in one batch, unless one of them is in the way of the others."""
        try:
            batch = self._batch(start, stop)
        except MemoryError:
            raise
        except Exception as error:
            if stop - start == 1:
                unwritable.append((self._ids[start], reason_of(error)))
                return
            middle = (start + stop) // 2
            yield from self._batches(start, middle, unwritable)
            yield from self._batches(middle, stop, unwritable)
        else:
            yield batch

    def _batch(self, start: int, stop: int) -> DocumentBatch:
        contents = Contents(
            ids_of_values(self._ids[start:stop]),
            as_texts(self._texts[start:stop]),
            self._user_columns(start, stop),
        )
        rows = np.arange(start, stop)
        queries = self._queries()
        if stop - start < len(queries):
            queries = queries.take(rows)
        if self._sets:
            queries = replace(queries, sets=self.sets_of(rows))
        return make_batch(contents, queries, self._scheme)

    def candidates(self, keys: Uint32s, is_wanted: Bools) -> tuple[Int64s, Int64s]:
        """Return queries and rows that share a band key."""
        self.prepare()
        found = []
        for query in np.flatnonzero(is_wanted).tolist():
            rows: set[int] = set()
            for band, key in enumerate(keys[query].tolist()):
                rows.update(self._rows_of_keys.get(band << 32 | key, ()))
            found += [(query, row) for row in sorted(rows)]
        return _pairs(found)

    def rows_of_digests(self, digests: Uint64s, is_wanted: Bools) -> tuple[Int64s, Int64s]:
        """Return queries and rows of equal digests."""
        self.prepare()
        return _pairs(
            [
                (query, row)
                for query in np.flatnonzero(is_wanted).tolist()
                for row in self._rows_of_digests.get(digests[query].tobytes(), ())
            ]
        )

    def rows_of_ids(self, ids: pa.Array, _: Uint64s) -> tuple[Int64s, Int64s]:
        """Return which ids which rows have."""
        known = ((query, self._rows.get(name)) for query, name in enumerate(ids.to_pylist()))
        return _pairs([(query, row) for query, row in known if row is not None])

    def may_have_id(self, _: int) -> bool:
        """Return whether it may have an id."""
        return bool(self._rows)

    def find_gone(self, digests: Uint64s, is_wanted: Bools) -> list[tuple[int, str, float]]:
        """Find gone documents of equal digests."""
        gone = self._gone
        return [
            (query, gone.kept_ids[place], gone.similarities[place])
            for query in np.flatnonzero(is_wanted).tolist()
            for place in gone.places.get(digests[query].tobytes(), ())
        ]

    def filters_of(self, rows: Int64s) -> Filters:
        """Return the filters of some rows."""
        filters = self._queries().filters
        assert filters is not None
        cells = blocks.take_cells_of(filters.words, filters.offsets, rows)
        return Filters(*cells, filters.sizes[rows])

    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return what the measure compares of some rows."""
        wanted = rows.tolist()
        own = [self._sets[row] for row in wanted if row in self._sets]
        texts = [self._texts[row] for row in wanted if row not in self._sets]
        found = sets_of_texts(Texts.from_arrow(as_texts(texts)), self._scheme)
        if not own:
            return found
        is_text: Bools = np.array([row not in self._sets for row in wanted])
        return interleave(found, reduce(join_sets, own), is_text)

    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of some rows."""
        return pa.array([str(self._ids[row]) for row in rows.tolist()], pa.large_string())

    def id_of(self, row: int) -> str:
        """Return the id of one row, as text."""
        return str(self._ids[row])

    def block_of(self, row: int) -> tuple[Block, int]:
        """Return a block of one row."""
        queries = self._queries().take(np.array([row]))
        queries = replace(queries, sets=self._sets.get(row))
        packed = pack_rows(
            ids_of_values(self._ids[row : row + 1]),
            as_texts(self._texts[row : row + 1]),
            self._user_columns(row, row + 1),
            queries,
        )
        return blocks.unpack(packed.data[0], packed.raw_sizes[0]), 0

    def _has_text(self, text: str | None) -> bool:
        return text is not None and self._scheme.with_text

    def _take(self, queries: Queries) -> None:
        self._parts.append(queries)
        self._unlisted.append(queries)

    def _queries(self) -> Queries:
        """Return all documents that are signed, which are put together for that."""
        if len(self._parts) > 1:
            self._parts = [join_queries(self._parts)]
        return self._parts[0]

    def prepare(self) -> None:
        """Sign all documents, and have them found by their keys.

        After that any number of threads may look them up, until the next is taken.
        """
        self.sign()
        if self._n_listed == self._n_signed:
            return
        row = self._n_listed
        for part in self._unlisted:
            keys = (part.keys >> np.uint64(32)).tolist()
            for place, own in enumerate(keys):
                if part.n_tokens[place] > 0:
                    self._rows_of_digests[part.digests[place].tobytes()].append(row)
                    for band, key in enumerate(own):
                        self._rows_of_keys[band << 32 | key].append(row)
                row += 1
        self._unlisted = []
        self._n_listed = self._n_signed

    def _user_columns(self, start: int, stop: int) -> pa.Table | None:
        names = self._scheme.columns
        return join_cells(self._cells[start:stop], names) if names else None


def _pairs(found: list[tuple[int, int]]) -> tuple[Int64s, Int64s]:
    pairs: Int64s = np.array(found, np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()
