"""Sets, weighted sets or strings of documents, as rows for joins.

Rows go to partitions by the extent of the document, its number of elements or total weight: a join
that bounds the extents of similar documents then reads few partitions at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neardup.engine.engine import DOCUMENT
from neardup.kernels.text import shingles
from neardup.matching.join import Compared, cut_runs
from neardup.reading.sign import SignedBatches, SignedBlock, numbers_of, sign_block
from neardup.tables import Int64s, ShingleSets, TokenLists, Uint64s, WeightedSets, offsets_of
from neardup.text.shingles import ShingleScheme, digest_sets, digest_token_lists, sets_of_tokens
from neardup.text.weighting import WeightedScheme, digest_weighted_sets, weighted_sets

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.rows import RowBlock
    from neardup.reading.sign import ReadingPlan
    from neardup.runs.runner import Runner

# Lower bounds of extent classes: eight per doubling of the extent.
_CLASSES = np.unique((2 ** (np.arange(8 * 62) / 8)).astype(np.int64))

# The class of a weighted set of one shingle: weights are in units of 2^-20.
_FIRST_OF_WEIGHTS = int(np.searchsorted(_CLASSES, 1 << 20))

# Elements that are digested at a time.
_AT_ONCE = 1 << 16

# Elements are hashes; hashes below this, one in so many, are counted.
_ONE_IN = 1 << 12
_COUNTED_BELOW = np.uint64(2**64 // _ONE_IN)


class Sizes(NamedTuple):
    """Sizes and extents of documents, and an estimate of the number of distinct elements."""

    sizes: Int64s
    extents: Int64s
    n_distinct: int


@dataclass(frozen=True)
class SetScheme:
    """Scheme that makes sets of the tokens of documents.

    They are weighted with ``weighted``. Without ``shingles``, documents are strings: the tokens
    themselves, in order.
    """

    shingles: ShingleScheme | None
    weighted: WeightedScheme | None = None

    def list_sets(self, block: RowBlock, plan: ReadingPlan) -> tuple[SignedBlock, pa.RecordBatch]:
        """Sign the documents of a block by their sets, with a row per non-empty set."""
        parts: list[Compared] = []

        def digest(tokens: TokenLists) -> Uint64s:
            parts.append(self._make(tokens))
            return digest_compared(parts[-1])

        signed = sign_block(block, plan, digest)
        rows, sizes, extents = self._rows_of(parts)
        columns = {"size": sizes}
        if self.weighted is not None:
            columns["extent"] = extents
        values = rows.column("values").values.to_numpy()
        facts = {"sample": values[values < _COUNTED_BELOW].tolist()}
        return replace(signed, columns=columns, facts=facts), rows

    def sizes(self, known: SignedBatches, n_documents: int) -> Sizes:
        """Return the sizes and extents of all listed documents."""
        sizes: Int64s = np.empty(n_documents, np.int64)
        extents = sizes if self.weighted is None else np.empty(n_documents, np.int64)
        for start, batch in known:
            own = slice(start, start + len(batch))
            sizes[own], extents[own] = sizes_of(batch), extents_of(batch)
        sample = {value for facts in known.facts() for value in facts["sample"]}
        return Sizes(sizes, extents, _ONE_IN * len(sample))

    def only_sizes(self, sizes: Int64s, extents: Int64s) -> Compared:
        """Return sets or strings without elements, of the given sizes and extents."""
        nothing = np.empty(0, np.uint64)
        starts = np.broadcast_to(np.int64(0), len(sizes))
        if self.shingles is None:
            return TokenLists(nothing, offsets_of(sizes))
        if self.weighted is None:
            return ShingleSets(nothing, starts, sizes)
        return WeightedSets(nothing, nothing.view(np.int64), starts, sizes, extents)

    def read(
        self, rows: Iterable[pa.RecordBatch], known: pa.RecordBatch, runner: Runner | None
    ) -> Compared:
        """Return the sets or strings of the documents in ``known``.

        Rows of other documents are ignored. With a runner, its threads copy the sets.
        """
        documents = numbers_of(known, DOCUMENT)
        sizes, extents = sizes_of(known), extents_of(known)
        if not len(documents):
            return self.only_sizes(sizes, extents)
        offsets = offsets_of(sizes)
        columns = {"values": np.empty(int(offsets[-1]), np.uint64)}
        if self.weighted is not None:
            columns["weights"] = np.empty(int(offsets[-1]), np.uint64)

        def add(batch: pa.RecordBatch) -> None:
            found = numbers_of(batch, DOCUMENT)
            places = np.minimum(np.searchsorted(documents, found), len(documents) - 1)
            wanted = np.flatnonzero(documents[places] == found)
            places = places[wanted]
            for name, target in columns.items():
                starts, values = _lists_of(batch, name)
                shingles.copy_sets(values, starts[wanted], sizes[places], target, offsets[places])

        for _ in map(add, rows) if runner is None else runner.map(add, rows):
            pass
        values = columns["values"]
        if self.shingles is None:
            return TokenLists(values, offsets)
        if self.weighted is None:
            return ShingleSets(values, offsets[:-1], sizes)
        weights = columns["weights"].view(np.int64)
        return WeightedSets(values, weights, offsets[:-1], sizes, extents)

    def _make(self, tokens: TokenLists) -> Compared:
        if self.shingles is None:
            return tokens
        if self.weighted is None:
            return sets_of_tokens(tokens, self.shingles)
        return weighted_sets(tokens, self.shingles, self.weighted)

    def _rows_of(self, parts: Sequence[Compared]) -> tuple[pa.RecordBatch, Int64s, Int64s]:
        """Return rows by class of extent, and the sizes and extents of all documents."""
        import pyarrow as pa

        none = np.empty(0, np.int64)
        extents = np.concatenate([none, *map(_extents_of_part, parts)])
        sizes = np.concatenate([none, *(_layout(part)[1] for part in parts)])
        # An empty set is similar to nothing.
        documents = np.flatnonzero(extents > 0)
        classes = classes_of(extents[documents]).astype(np.uint16)
        documents = documents[np.argsort(classes, kind="stable")]
        offsets = offsets_of(sizes[documents])
        starts: Int64s = np.zeros(len(extents), np.int64)
        starts[documents] = offsets[:-1]
        sizes = np.where(extents > 0, sizes, 0)
        columns = {DOCUMENT: documents}
        if self.weighted is not None:
            columns["extent"] = extents[documents]
        for name, column in self._columns(parts):
            values: Uint64s = np.empty(int(offsets[-1]), np.uint64)
            stop = 0
            for part, own in zip(parts, column, strict=True):
                start, stop = stop, stop + len(part)
                where = slice(start, stop)
                shingles.copy_sets(own, _layout(part)[0], sizes[where], values, starts[where])
            columns[name] = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))
        return pa.RecordBatch.from_pydict(columns), sizes, extents

    def _columns(self, parts: Sequence[Compared]) -> Iterator[tuple[str, list[Uint64s]]]:
        yield "values", [part.values for part in parts]
        if self.weighted is not None:
            weights = (part.weights for part in parts if isinstance(part, WeightedSets))
            yield "weights", [own.view(np.uint64) for own in weights]


def route_by_extent(rows: pa.RecordBatch, n_partitions: int) -> Int64s:
    """Return the partitions of documents, in the order of their extents."""
    classes = classes_of(extents_of(rows))
    if "extent" in rows.schema.names:
        classes -= _FIRST_OF_WEIGHTS
    partitions: Int64s = np.clip(classes, 0, n_partitions - 1)
    return partitions


def classes_of(extents: Int64s) -> Int64s:
    """Return the class of each extent, or -1 for 0."""
    classes: Int64s = np.searchsorted(_CLASSES, extents, side="right") - 1
    return classes


def sizes_of(rows: pa.RecordBatch) -> Int64s:
    """Return the number of elements of each document."""
    is_known = "size" in rows.schema.names
    sizes: Int64s = (
        numbers_of(rows, "size") if is_known else np.diff(rows.column("values").offsets.to_numpy())
    )
    return sizes


def extents_of(rows: pa.RecordBatch) -> Int64s:
    """Return the extent of each document: its number of elements, or their weight."""
    if "extent" not in rows.schema.names:
        return sizes_of(rows)
    extents: Int64s = numbers_of(rows, "extent")
    return extents


def _layout(part: Compared) -> tuple[Int64s, Int64s]:
    if isinstance(part, TokenLists):
        return part.offsets[:-1], np.diff(part.offsets)
    return part.starts, part.sizes


def _extents_of_part(part: Compared) -> Int64s:
    return part.totals if isinstance(part, WeightedSets) else _layout(part)[1]


def _lists_of(batch: pa.RecordBatch, name: str) -> tuple[Int64s, Uint64s]:
    """Return the bounds of each document's list, and all values."""
    column = batch.column(name)
    return column.offsets.to_numpy(), column.values.to_numpy()


def digest_compared(compared: Compared) -> Uint64s:
    """Digest sets or strings to 128 bits each, in an array of shape (n, 2).

    This is done in parts, because elements may be copied.
    """
    if isinstance(compared, TokenLists):
        return digest_token_lists(compared)
    digests: Uint64s = np.empty((len(compared), 2), np.uint64)
    for start, stop in cut_runs(compared.sizes, _AT_ONCE):
        own = compared.take(np.arange(start, stop))
        if isinstance(own, ShingleSets):
            digests[start:stop] = digest_sets(own)
        else:
            digests[start:stop] = digest_weighted_sets(own)
    return digests
