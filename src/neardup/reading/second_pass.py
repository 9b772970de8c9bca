"""The second pass, the stage sets: read compared contents again, as sets or tokens.

Documents are given by position: an array per catalogue has the position of each document in the
result, -1 for an unwanted document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from neardup.errors import ReadError
from neardup.files.rawsource import Buffers
from neardup.files.rows import ColumnNames, Place, RowBlock, Source
from neardup.files.streams import file_has_changed
from neardup.kernels.text import shingles
from neardup.reading.catalogue import Catalogue
from neardup.reading.sign import SLICE_BYTES, ReadingPlan
from neardup.runs.runner import Runner
from neardup.tables import Bools, Int64s, ShingleSets, Texts, Uint64s, WeightedSets
from neardup.text.shingles import shingle_sets
from neardup.text.weighting import WeightedScheme, weighted_sets

if TYPE_CHECKING:
    import pyarrow as pa


# Few documents of a source without bad rows, by the number of rows before them.


class Documents(NamedTuple):
    """Texts of some documents, and their ids from a column, None without a column.

    Texts are bytes if files are read as bytes.
    """

    texts: list[str | bytes]
    ids: pa.Array | None


def read_at(source: Source, columns: ColumnNames, places: Int64s) -> Documents:
    """Read the documents at some positions of a source, up to the last one.

    Parameters
    ----------
    source
        Source of the documents.
    columns
        Columns of texts and ids.
    places
        Ascending distinct numbers of rows before each.

    Returns
    -------
    The documents; fewer than places if the source ends before.
    """
    import pyarrow as pa

    texts: list[str | bytes] = []
    ids: list[pa.Array] = []
    start = n_found = 0
    for block in source.blocks() if len(places) else ():
        stop = start + len(block)
        n_here = int(np.searchsorted(places, stop)) - n_found
        if n_here:
            select: Bools = np.zeros(len(block), np.bool_)
            select[places[n_found : n_found + n_here] - start] = True
            parsed = block.parse(columns, select=select)
            texts += parsed.text.to_pylist()
            if parsed.id is not None:
                ids.append(parsed.id)
        start, n_found = stop, n_found + n_here
        if n_found == len(places):
            break
    return Documents(texts, pa.concat_arrays(ids) if ids else None)


R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class OfTexts(Protocol[T_co]):
    """Function of documents that are read again, numbered from 0."""

    def __call__(self, texts: Texts, places: Int64s, name: str) -> T_co:
        """Return the result for texts, given document numbers and the source's name."""
        ...

    def part(self, first: int, behind: int) -> OfTexts[T_co]:
        """Return the function for some consecutive documents, renumbered from 0."""
        ...


class SetCollector:
    """Make the shingle sets of documents in any order, and store them by position.

    Parameters
    ----------
    n_tokens
        Token count of each document, by position.
    plan
        Plan of reading.

    Notes
    -----
    Memory 8 bytes per shingle, repeats included. Threads may add different documents.
    """

    def __init__(self, n_tokens: Int64s, plan: ReadingPlan) -> None:
        self._plan = plan
        self._capacities = _most_shingles(n_tokens, plan)
        starts: Int64s = np.cumsum(self._capacities) - self._capacities
        values: Uint64s = np.empty(int(self._capacities.sum()), np.uint64)
        self.sets = ShingleSets(values, starts, np.zeros(len(starts), np.int64))

    def add(self, texts: Texts, places: Int64s) -> bool:
        """Add the sets of some texts; False if the texts have changed."""
        found, sets = shingle_sets(texts, self._plan.shingles), self.sets
        if (found.sizes > self._capacities[places]).any() or (found.sizes == 0).any():
            return False
        shingles.copy_sets(
            found.values, found.starts, found.sizes, sets.values, sets.starts[places]
        )
        sets.sizes[places] = found.sizes
        return True


class WeightedSetCollector:
    """As ``SetCollector``; memory 16 bytes per shingle."""

    def __init__(self, n_tokens: Int64s, plan: ReadingPlan, scheme: WeightedScheme) -> None:
        self._plan, self._scheme = plan, scheme
        self._capacities = _most_shingles(n_tokens, plan)
        starts: Int64s = np.cumsum(self._capacities) - self._capacities
        n, n_most = len(starts), int(self._capacities.sum())
        self.sets = WeightedSets(
            np.empty(n_most, np.uint64),
            np.empty(n_most, np.int64),
            starts,
            np.zeros(n, np.int64),
            np.zeros(n, np.int64),
        )

    def add(self, texts: Texts, places: Int64s) -> bool:
        """Add the sets of some texts; False if the texts have changed."""
        token_lists = self._plan.shingles.tokenizer.hash_tokens(texts)
        found, sets = weighted_sets(token_lists, self._plan.shingles, self._scheme), self.sets
        if (found.sizes > self._capacities[places]).any():
            return False
        pairs = ((found.values, sets.values), (found.weights, sets.weights))
        for source, target in pairs:
            shingles.copy_sets(
                source.view(np.uint64),
                found.starts,
                found.sizes,
                target.view(np.uint64),
                sets.starts[places],
            )
        sets.sizes[places], sets.totals[places] = found.sizes, found.totals
        return True


def collector_of(n_tokens: Int64s, plan: ReadingPlan) -> SetCollector | WeightedSetCollector:
    """Return the collector of a plan's sets."""
    if plan.weighted is None:
        return SetCollector(n_tokens, plan)
    return WeightedSetCollector(n_tokens, plan, plan.weighted)


def add_texts(
    collector: SetCollector | WeightedSetCollector, texts: Texts, places: Int64s, name: str
) -> None:
    """Add texts to a collector, some at a time."""
    for part, own_places in _slices(texts, places):
        if not collector.add(part, own_places):
            raise text_has_changed(name)


def _slices(texts: Texts, places: Int64s) -> Iterator[tuple[Texts, Int64s]]:
    done = 0
    for part in texts.slices(SLICE_BYTES):
        yield part, places[done : done + len(part)]
        done += len(part)


def parts_again(texts: Texts, documents: Int64s, starts: Int64s, stops: Int64s, name: str) -> Texts:
    """Return parts of texts that were read again, as ``Texts.parts``; raise if they changed.

    ``name`` is the name of the texts' source.
    """
    base, sizes = texts.offsets[documents], np.diff(texts.offsets)[documents]
    edges = np.concatenate([(base + starts)[starts < sizes], (base + stops)[stops < sizes]])
    # A byte within a character begins with these bits.
    if (stops > sizes).any() or (texts.data[edges] & 0xC0 == 0x80).any():
        raise text_has_changed(name)
    return texts.parts(documents, starts, stops)


def text_has_changed(name: str) -> ReadError:
    """Return the error for a source whose text has changed."""
    message = "a text has changed since it was first read; run again when it is at rest"
    return ReadError(message, path=name)


def read_comparable(
    catalogues: Sequence[Catalogue],
    wanted: Sequence[Int64s],
    plan: ReadingPlan,
    runner: Runner,
) -> ShingleSets | WeightedSets:
    """Read some documents again and make their sets, or weighted sets.

    Parameters
    ----------
    catalogues
        Catalogues of the documents.
    wanted
        An array per catalogue with the position of each document's set in the result, -1 for an
        unwanted document. Positions run from 0 without gaps.

    Notes
    -----
    Memory 8 bytes per shingle of the wanted documents, 16 per weighted one. Only files with a
    wanted document are read.
    """
    collector = collector_of(tokens_of(catalogues, wanted), plan)
    _collect(catalogues, wanted, plan, collector, runner)
    return collector.sets


def _collect(
    catalogues: Sequence[Catalogue],
    wanted: Sequence[Int64s],
    plan: ReadingPlan,
    collector: SetCollector | WeightedSetCollector,
    runner: Runner,
) -> None:
    for _ in read_texts(catalogues, wanted, plan, runner, partial(add_texts, collector)):
        pass


def tokens_of(catalogues: Sequence[Catalogue], wanted: Sequence[Int64s]) -> Int64s:
    """Return the token counts of the wanted documents, by position."""
    n_places = sum(int((places >= 0).sum()) for places in wanted)
    gathered: Int64s = np.zeros(n_places, np.int64)
    for catalogue, places in zip(catalogues, wanted, strict=True):
        chosen = places >= 0
        gathered[places[chosen]] = catalogue.n_tokens[chosen]
    return gathered


def _most_shingles(n_tokens: Int64s, plan: ReadingPlan) -> Int64s:
    most: Int64s = np.maximum(n_tokens - plan.shingles.ngram + 1, 1)
    return most


def read_texts(
    catalogues: Sequence[Catalogue],
    wanted: Sequence[Int64s],
    plan: ReadingPlan,
    runner: Runner,
    function: Callable[[Texts, Int64s, str], R],
    done: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[tuple[str, R]]:
    """Read the wanted documents again and apply a function to some texts, in threads.

    The function takes texts, their positions, and the name of their source. Yields a key of each
    block's source, and the function's result. The first ``done`` blocks of each source, from an
    earlier run, are skipped.
    """
    take = Buffers().take

    def work(item: _Wanted) -> tuple[str, R, int]:
        key, source, columns, found, numbers, places = item
        select: Bools = places >= 0
        if isinstance(found, Place):
            block = source.block_at(found.select(select), numbers[select], take)
            parsed = block.parse(columns, skip_bad=plan.skip_bad)
        else:
            block = found
            parsed = block.parse(columns, select=select, skip_bad=plan.skip_bad)
        texts = Texts.from_arrow(parsed.text, block.language)
        result = function(texts, places[select], source.name)
        return key, result, int(select.sum())

    count = runner.counter("compare", sum(int((places >= 0).sum()) for places in wanted))
    blocks = (
        item
        for number, (catalogue, places) in enumerate(zip(catalogues, wanted, strict=True))
        for item in _wanted_blocks(number, catalogue, places, done)
    )
    for key, result, n_read in runner.map(work, blocks):
        yield key, result
        count(n_read)


# Key of the source, the source, its columns, a block or its position, and row numbers and result
# positions of its documents.
_Wanted = tuple[str, Source, ColumnNames, RowBlock | Place, Int64s, Int64s]


def _wanted_blocks(
    number: int, catalogue: Catalogue, places: Int64s, done: Mapping[str, int]
) -> Iterator[_Wanted]:
    columns = catalogue.columns.only_text()
    for i, (source, start, stop) in enumerate(catalogue.ranges()):
        if not (places[start:stop] >= 0).any():
            continue
        key = f"{number}/{i}"
        n_wanted = 0
        for found, rows in unread_blocks(catalogue, i):
            if (places[rows] >= 0).any():
                n_wanted += 1
                if n_wanted > done.get(key, 0):
                    yield key, source, columns, found, catalogue.numbers[rows], places[rows]


def unread_blocks(
    catalogue: Catalogue, source: int
) -> Iterator[tuple[RowBlock, slice] | tuple[Place, slice]]:
    """Yield the blocks of a source, or their positions, each with its document numbers."""
    start, stop = catalogue.source_starts[source : source + 2].tolist()
    places = catalogue.places_of(source)
    if places is None:
        yield from numbered_blocks(catalogue.sources[source], start, stop)
        return
    for place in places:
        yield place, slice(start, start + len(place))
        start += len(place)


def numbered_blocks(source: Source, start: int, stop: int) -> Iterator[tuple[RowBlock, slice]]:
    """Read a source again; yield each block with its range of document numbers."""
    first = start
    for block in source.blocks():
        rows = slice(first, first + len(block))
        first = rows.stop
        if first > stop:
            break
        yield block, rows
    if first != stop:
        raise file_has_changed(source.name)
