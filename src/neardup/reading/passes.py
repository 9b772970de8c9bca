"""Passes over collections, to list, sign and write documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa

from neardup.errors import ReadError
from neardup.files.arrowcolumns import joined
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.files.streams import Destination, file_has_changed
from neardup.kernels.common import hashing
from neardup.kernels.text import shingle_kernels
from neardup.options.choices import OutputFormat
from neardup.outputs.output_tables import SKIPPED, write_rows
from neardup.reading.catalogue import Catalogue
from neardup.reading.sign import SLICE_BYTES, ReadingPlan, numbers_of
from neardup.runs.runner import Runner
from neardup.tables import (
    Bools,
    ContentNumbers,
    Digests,
    Int64s,
    ShingleSets,
    Texts,
    Uint64s,
    WeightedSets,
)

_FIRST_SLOTS = 1 << 12


class ContentTable:
    """Number digests by first appearance. Memory: 32 to 64 bytes per distinct text."""

    def __init__(self) -> None:
        self.size = 0
        self._slots: Int64s = np.full(_FIRST_SLOTS, -1, np.int64)
        self._digests: Uint64s = np.empty((_FIRST_SLOTS // 2, 2), np.uint64)

    def number(self, digests: Digests) -> ContentNumbers:
        """Return content numbers, and a mask of first documents."""
        self._reserve(self.size + len(digests))
        before = self.size
        numbers: Int64s = np.empty(len(digests), np.int64)
        self.size = hashing.number_digests(
            self._slots, self._digests, before, digests.values, digests.is_filled, numbers
        )
        # Contents are numbered by appearance: a new maximum is a first document.
        highest = np.maximum.accumulate(np.concatenate([[before - 1], numbers]))
        return ContentNumbers(numbers, numbers > highest[:-1])

    def _reserve(self, size: int) -> None:
        if size <= len(self._digests):
            return
        n_slots = len(self._slots)
        while n_slots // 2 < size:
            n_slots *= 2
        digests: Uint64s = np.empty((n_slots // 2, 2), np.uint64)
        digests[: self.size] = self._digests[: self.size]
        self._digests = digests
        self._slots = np.full(n_slots, -1, np.int64)
        hashing.rebuild_slots(self._slots, self._digests, self.size)


def assign_firsts(
    documents: Int64s, contents: Int64s, ranks: Int64s | None, firsts: Int64s
) -> None:
    """Assign each document its first equal document in keep order."""
    if ranks is not None:
        order = np.argsort(ranks[documents])
        documents, contents = documents[order], contents[order]
    first_of: Int64s = np.empty(int(contents.max(initial=-1)) + 1, np.int64)
    # Assigned backwards, so that the first document of each content remains.
    first_of[contents[::-1]] = documents[::-1]
    firsts[documents] = first_of[contents]


def part_of(values: Uint64s, n_parts: int) -> Uint64s:
    """Return each value's part among equal ranges of 64-bit numbers."""
    return ((values >> np.uint64(32)) * np.uint64(n_parts)) >> np.uint64(32)


def route_by_hash(name: str, rows: pa.RecordBatch, n_partitions: int) -> Int64s:
    """Return the partition of each row, by its column of hashes."""
    return part_of(numbers_of(rows, name), n_partitions).astype(np.int64)


R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class TextFunction(Protocol[T_co]):
    """Function of documents that are read again, numbered from 0."""

    def __call__(self, texts: Texts, places: Int64s, name: str) -> T_co:
        """Return the result for texts of one source."""
        ...

    def part(self, start: int, stop: int) -> TextFunction[T_co]:
        """Return the function for some consecutive documents, renumbered from 0."""
        ...


class SetCollector:
    """Make the compared sets of documents, in any order.

    ``n_tokens`` are the token counts of the documents. Memory 8 bytes per shingle, repeats
    included, 16 per weighted one. Threads may add different documents.
    """

    def __init__(self, n_tokens: Int64s, plan: ReadingPlan) -> None:
        self._plan = plan
        self._capacities: Int64s = np.maximum(n_tokens - plan.shingles.ngram + 1, 1)
        starts: Int64s = np.cumsum(self._capacities) - self._capacities
        n, n_most = len(starts), int(self._capacities.sum())
        values, sizes = np.empty(n_most, np.uint64), np.zeros(n, np.int64)
        self.sets: ShingleSets | WeightedSets = ShingleSets(values, starts, sizes)
        if plan.weighted is not None:
            weights, totals = np.empty(n_most, np.int64), np.zeros(n, np.int64)
            self.sets = WeightedSets(values, weights, starts, sizes, totals)

    def add(self, texts: Texts, places: Int64s, name: str) -> None:
        """Add the sets of texts, or raise if texts changed."""
        sets, done = self.sets, 0
        for part in texts.slices(SLICE_BYTES):
            own = places[done : done + len(part)]
            done += len(part)
            made = self._plan.sets_of(part)
            is_plain = isinstance(made, ShingleSets)
            has_changed = made.sizes > self._capacities[own]
            if has_changed.any() or (is_plain and not made.sizes.all()):
                raise text_has_changed(name)
            columns = [(made.values, sets.values)]
            if isinstance(made, WeightedSets) and isinstance(sets, WeightedSets):
                columns.append((made.weights.view(np.uint64), sets.weights.view(np.uint64)))
                sets.totals[own] = made.totals
            for values, target in columns:
                shingle_kernels.copy_sets(values, made.starts, made.sizes, target, sets.starts[own])
            sets.sizes[own] = made.sizes


def text_has_changed(name: str) -> ReadError:
    """Return the error for a source whose text has changed."""
    message = "a text has changed since it was first read; run again when it is at rest"
    return ReadError(message, path=name)


def read_comparable(
    catalogues: Sequence[Catalogue], places: Int64s, plan: ReadingPlan, runner: Runner
) -> ShingleSets | WeightedSets:
    """Read documents' compared sets again, into ``places``; -1 is unwanted."""
    collector = SetCollector(tokens_of(catalogues, places), plan)
    for _ in read_texts(catalogues, places, plan, runner, collector.add):
        pass
    return collector.sets


def tokens_of(catalogues: Sequence[Catalogue], places: Int64s) -> Int64s:
    """Return the token counts of the wanted documents, by position."""
    chosen = np.flatnonzero(places >= 0)
    gathered: Int64s = np.zeros(len(chosen), np.int64)
    gathered[places[chosen]] = np.concatenate([each.n_tokens for each in catalogues])[chosen]
    return gathered


def read_texts(
    catalogues: Sequence[Catalogue],
    places: Int64s,
    plan: ReadingPlan,
    runner: Runner,
    function: Callable[[Texts, Int64s, str], R],
    n_done: int = 0,
) -> Iterator[R]:
    """Read wanted documents again, and apply a function in threads.

    ``places`` are positions of the documents of all collections, -1 for an unwanted one. The
    function takes texts, their positions, and the name of their source. Only files with a wanted
    document are read. The first ``n_done`` blocks with one, of an earlier run, are skipped.
    """

    def blocks() -> Iterator[tuple[Source, RowBlock, ColumnNames, Int64s]]:
        first = 0
        for catalogue in catalogues:
            stop = first + len(catalogue.n_tokens)
            own, first = places[first:stop], stop
            for source, block, rows in selected_blocks(catalogue, own >= 0):
                yield source, block, catalogue.columns.only_text(), own[rows]

    def work(item: tuple[Source, RowBlock, ColumnNames, Int64s]) -> tuple[R, int]:
        source, block, columns, own = item
        select: Bools = own >= 0
        parsed = block.parse(columns, select=select, skip_bad=plan.skip_bad)
        texts = Texts.from_arrow(parsed.text, block.language)
        return function(texts, own[select], source.name), len(texts)

    count = runner.counter("compare", int((places >= 0).sum()))
    for result, n_read in runner.map(work, islice(blocks(), n_done, None)):
        yield result
        count(n_read)


def selected_blocks(
    catalogue: Catalogue, is_wanted: Bools
) -> Iterator[tuple[Source, RowBlock, slice]]:
    """Yield the blocks with wanted documents, read again."""
    for source, start, stop in catalogue.ranges():
        if is_wanted[start:stop].any():
            for block, rows in numbered_blocks(source, start, stop):
                if is_wanted[rows].any():
                    yield source, block, rows


def numbered_blocks(source: Source, start: int, stop: int) -> Iterator[tuple[RowBlock, slice]]:
    """Yield a source's blocks with their document ranges."""
    first = start
    for block in source.blocks():
        rows = slice(first, first + len(block))
        first = rows.stop
        if first > stop:
            break
        yield block, rows
    if first != stop:
        raise file_has_changed(source.name)


# Returns the changed block, given the range of its documents.
ChangeBlock = Callable[[RowBlock, slice], RowBlock]


def read_kept(documents: Catalogue, stays: Bools, change: ChangeBlock) -> pa.Table:
    """Return the changed kept documents, in input order."""
    stays = stays & documents.is_document
    tables = []
    for source, start, stop in documents.ranges():
        schema = source.schema() if source.has_fixed_columns else None
        if start == stop and schema is not None:
            # A table without rows still has columns.
            tables.append(schema.empty_table())
        for block, rows in numbered_blocks(source, start, stop):
            tables.append(change(block, rows).to_table(stays[rows]))
    return joined(tables) if tables else pa.table({})


def sides_of(documents: Catalogue, stays: Bools | None = None) -> dict[str, Bools]:
    """Return the rows of each folder, none of removed ones without ``stays``."""
    is_document = documents.is_document
    sides = {"kept": is_document}
    if stays is not None:
        sides = {"kept": stays & is_document, "removed": ~stays}
    return sides | {SKIPPED: ~is_document}


def write_documents(
    documents: Catalogue,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    runner: Runner,
    change: ChangeBlock,
    write_others: Callable[[], None],
) -> None:
    """Write changed rows of ``sides``, with sources, blocks and others in parallel."""
    count = runner.counter("write", len(documents))

    def write(source: Source, start: int, stop: int) -> None:
        own = {side: rows[start:stop] for side, rows in sides.items()}
        write_source(source, start, own, folder, output_format, change, count)

    work: list[Callable[[], None]] = [write_others]
    work += (partial(write, *each) for each in documents.ranges())
    for _ in runner.map(lambda each: each(), work):
        pass


def write_source(
    source: Source,
    start: int,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    change: ChangeBlock,
    count: Callable[[int], None] = lambda _: None,
) -> None:
    """Write changed rows of a source, whose documents are numbered from ``start``."""

    def changed(block: RowBlock, rows: slice) -> RowBlock:
        return change(block, slice(start + rows.start, start + rows.stop))

    blocks = numbered_blocks(source, 0, len(sides[SKIPPED]))
    write_rows(source, blocks, changed, sides, folder, output_format, count)
