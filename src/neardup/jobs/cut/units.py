"""Equal paragraphs, lines and runs of sentences, grouped by digest.

Each unit is a row with its digest and position. Rows go to partitions by digest, so that each
partition decides about equal units by itself. Removed units then go to partitions of consecutive
documents, in which they are cut and written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.engine.engine import DOCUMENT, Engine, RowPartition, TaskRows
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.cut_plan import CutJobPlan
from neardup.jobs.cut.spans import FoundSpans, Repeated, change_of, count_documents, count_repeated
from neardup.kernels.text import tokens
from neardup.options.choices import CutUnit
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import ContentTable, part_of, route_by_hash
from neardup.reading.sign import ListedBlock, ReadingPlan, hash_in_parts, numbers_of
from neardup.runs.exchange import Shuffle
from neardup.runs.work import Workspace
from neardup.tables import Bools, Bytes, CutSpans, Digests, Int64s, Texts, offsets_of
from neardup.text.shingles import digest_token_lists, take_ranges

_NEWLINE, _RETURN = 10, 13

# Sentences per unit, as in C4: single ones are often repeated by chance.
_SENTENCES = 3


def split_units(texts: Texts, unit: CutUnit) -> tuple[Int64s, ...]:
    r"""Return units with starts, stops and ends in bytes.

    Stops are exclusive, without the end of the last line; ends are the earliest starts of the next
    unit: after the line end, and after blank lines that follow a paragraph. A line ends with
    ``\n``, ``\r\n`` or ``\r``. Blank lines (only white space) are not lines, and separate
    paragraphs; blank lines before the first belong to none. A sentence ends with its line, and
    after a sentence mark: Chinese and Japanese marks anywhere, others before white space, and full
    stops and ellipses unless a small ASCII letter follows.
    """
    if unit == "sentences":
        n_sentences = tokens.find_sentences(texts.data, texts.offsets, *_empty(0))
        arrays = _empty(n_sentences)
        tokens.find_sentences(texts.data, texts.offsets, *arrays)
        return arrays
    data = texts.data[int(texts.offsets[0]) : int(texts.offsets[-1])]
    n_most = sum(int(np.count_nonzero(data == byte)) for byte in (_NEWLINE, _RETURN)) + len(texts)
    arrays = _empty(n_most)
    count = tokens.find_units(texts.data, texts.offsets, int(unit == "paragraphs"), *arrays)
    return tuple(array[:count] for array in arrays)


def _empty(n_units: int) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    documents, starts, stops, ends = (np.empty(n_units, np.int64) for _ in range(4))
    return documents, starts, stops, ends


_DIGESTS, _PLACES = ("digest_low", "digest_high"), ("document", "start", "stop", "end")


def _list_units(plan: CutJobPlan, block: RowBlock, reading: ReadingPlan) -> ListedBlock:
    """List units with enough tokens, or runs of three sentences, in characters."""
    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    texts, is_run = Texts.from_arrow(parsed.text, block.language), plan.unit == "sentences"
    documents, *edges = split_units(texts, plan.unit)
    sizes, parts = hash_in_parts(
        texts.parts(documents, edges[0], edges[1]), reading.shingles.tokenizer
    )
    n_tokens = np.bincount(documents, sizes, len(texts)).astype(np.int64)
    chosen = np.flatnonzero(sizes >= (1 if is_run else plan.min_tokens))
    documents, places = documents[chosen], np.column_stack([edge[chosen] for edge in edges])
    # Positions ascend within a text.
    bounds = 3 * np.searchsorted(documents, np.arange(len(texts) + 1)).astype(np.int64)
    characters = np.empty_like(places)
    tokens.count_characters(
        texts.data, texts.offsets, places.reshape(-1), bounds, characters.reshape(-1)
    )
    starts, stops, ends = characters.T
    if is_run:
        # A unit is a run of consecutive sentences of one document, with enough tokens together.
        values = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
        counted = offsets_of(sizes[chosen])
        last = np.arange(_SENTENCES - 1, len(documents))
        first = last - (_SENTENCES - 1)
        is_long = counted[last + 1] - counted[first] >= plan.min_tokens
        is_long &= documents[first] == documents[last]
        first, last = first[is_long], last[is_long]
        documents, starts, stops = documents[first], starts[first], stops[last]
        ends = ends[last] + _line_ends(texts, documents, places[first, 0], places[last, 2])
        digests = digest_token_lists(take_ranges(values, counted[first], counted[last + 1]))
    else:
        digests = np.concatenate([np.empty((0, 2), np.uint64), *map(digest_token_lists, parts)])
        digests = digests[chosen]
    columns = dict(zip(_DIGESTS, digests.T.copy(), strict=True))
    columns |= zip(_PLACES, (documents, starts, stops, ends), strict=True)
    rows = pa.RecordBatch.from_pydict(columns)
    return ListedBlock.of(block, parsed, n_tokens, reading, rows)


def _line_ends(texts: Texts, documents: Int64s, starts: Int64s, ends: Int64s) -> Int64s:
    """Return the line end's length after whole lines, 0 elsewhere."""
    behind, stops = texts.offsets[documents] + ends, texts.offsets[documents + 1]

    def bytes_at(places: Int64s, are_there: Bools) -> Bytes:
        found: Bytes = np.zeros(len(places), np.uint8)
        found[are_there] = texts.data[places[are_there]]
        return found

    before = bytes_at(behind - ends + starts - 1, starts > 0)
    at, next_at = bytes_at(behind, behind < stops), bytes_at(behind + 1, behind + 1 < stops)
    is_whole = (starts == 0) | np.isin(before, (_NEWLINE, _RETURN))
    is_pair = (at == _RETURN) & (next_at == _NEWLINE)
    found: Int64s = (is_whole & np.isin(at, (_NEWLINE, _RETURN))) * (1 + is_pair.astype(np.int64))
    return found


# Share of the memory for removed rows that wait to be written, and the ratio of a partition's
# memory to its rows.
_GONE_SHARE, _SETTLING = 0.15, 4

# Units per partition of removed ones, up to a maximum number of partitions.
_UNITS_OF_PART, _MOST_PARTS = 1 << 16, 1024

# Bytes per file of removed units in the work folder, which is the loss of a killed run.
_FILE_BYTES = 1 << 28

# Columns of removed units: those of spans but for the similarity.
_GONE = ("document", "start", "stop", "kept_document", "kept_start", "kept_stop")

# Column for rows that are not in keep order: the position of their document in it.
_RANK = "rank"


@dataclass(frozen=True)
class UnitRules:
    """Choice of the kept unit among equal units.

    Documents of the other collection, ``n_other``, come first. With ``keeps_none``, the first of
    equal units is also removed, with the next one as its copy.
    """

    n_other: int
    min_documents: int | None
    keeps_none: bool = False

    def settle(self, partition: RowPartition) -> Iterator[tuple[list[Repeated], pa.RecordBatch]]:
        """Yield the most repeated and removed units of a partition."""
        n_passes = partition.count_passes(_SETTLING)
        for number in range(n_passes):
            yield self._settle(partition.rows(), number, n_passes)

    def _settle(
        self, units: Iterable[pa.RecordBatch], number: int, n_passes: int
    ) -> tuple[list[Repeated], pa.RecordBatch]:
        """Return repeated units, and removed units by document and start."""
        if n_passes > 1:
            units = [
                batch.filter(pa.array(part_of(numbers_of(batch, _DIGESTS[0]), n_passes) == number))
                for batch in units
            ]
        names = (*_PLACES, *_DIGESTS)
        documents, starts, stops, ends, low, high, *ranks = _by_place(units, names, _RANK)
        rows = order = np.arange(len(documents))
        if ranks:
            # A stable sort keeps units of one document in text order, because they have its rank.
            order = np.argsort(ranks[0], kind="stable")
        digests = np.column_stack([low[order], high[order]]).astype(np.uint64)
        found = ContentTable().number(Digests(digests, np.ones(len(order), np.bool_)))
        # The group of equal units of each row, and the row of its first unit in keep order.
        groups, keepers = np.empty_like(rows), np.empty_like(rows)
        groups[order] = found.numbers
        keepers[order] = order[found.is_first][found.numbers]
        is_removed: Bools = keepers != rows
        if self.n_other:
            # Only units that the other collection has are removed.
            is_removed = (documents >= self.n_other) & (documents[keepers] < self.n_other)
        if self.keeps_none:
            # The first unit is also removed, and names the second as its copy.
            copies = np.flatnonzero(is_removed)
            copies = copies[np.unique(groups[copies], return_index=True)[1]]
            firsts = keepers[copies]
            keepers[firsts], is_removed[firsts] = copies, True
        if self.min_documents is not None:
            counted = np.flatnonzero(is_removed | (keepers == rows))
            n_groups = int(groups.max(initial=-1)) + 1
            n_documents = count_documents(groups[counted], documents[counted], n_groups)
            is_removed &= n_documents[groups] >= self.min_documents
        gone = np.flatnonzero(is_removed)
        keepers = keepers[gone]
        spans = CutSpans(
            documents[gone] - self.n_other,
            starts[gone],
            ends[gone],
            documents[keepers],
            starts[keepers],
            stops[keepers],
            np.ones(len(gone)),
        )
        columns = dict(zip(_GONE, vars(spans).values(), strict=False))
        return count_repeated(spans, groups[gone]), pa.RecordBatch.from_pydict(columns)


def _by_place(batches: Iterable[pa.RecordBatch], names: Sequence[str], *more: str) -> list[Any]:
    """Return columns in order of document and start, and those of ``more`` that exist."""
    listed = list(batches)
    if not listed:
        return [np.empty(0, np.int64) for _ in names]
    table = pa.Table.from_batches(listed)
    there = (*names, *(name for name in more if name in table.column_names))
    columns = [table.column(name).to_numpy() for name in there]
    keys = columns[0] * (int(columns[1].max(initial=0)) + 1) + columns[1]
    if (keys[1:] >= keys[:-1]).all():
        return columns
    # A stable sort exploits sorted runs of rows.
    order = np.argsort(keys, kind="stable")
    return [column[order] for column in columns]


class ExchangedSpans:
    """Removed equal units as ``Spans``, in partitions of consecutive documents."""

    def __init__(self, workspace: Workspace, bounds: Int64s) -> None:
        self._shuffle = Shuffle(
            "gone",
            workspace,
            len(bounds) - 1,
            in_memory=None,
            share=_GONE_SHARE,
            weight_of_file=_FILE_BYTES,
        )
        self._bounds, self._size = bounds, 0
        # Consecutive blocks of documents request the same partition.
        self._part = lru_cache(maxsize=4)(self._read)

    @classmethod
    def of_batches(
        cls, bounds: Int64s, batches: Iterator[pa.RecordBatch], workspace: Workspace
    ) -> ExchangedSpans:
        """Return spans from batches in any order."""
        spans = cls(workspace, bounds)
        with spans._shuffle:
            for batch in batches:
                spans._add(batch)
        return spans

    def collect(self, gone: TaskRows) -> list[Repeated]:
        """Collect removed units, and return the most repeated units."""
        # Per group of partitions: the next partition, the number of removed units, and the most
        # repeated ones.
        done: list[tuple[int, int, list[Any]]] = [
            each for each in self._shuffle.done() if each is not None
        ]
        with self._shuffle:
            for next_partition, made in gone.collect("cut", done[-1][0] if done else 0):
                most = Repeated.most(each for found, _ in made for each in found)
                batches = [batch for _, batch in made if batch is not None]
                size, n_bytes = sum(map(len, batches)), sum(batch.nbytes for batch in batches)
                done.append((next_partition, size, most))
                # Files end at partition boundaries.
                for batch in batches[:-1]:
                    self._add(batch)
                self._add(batches[-1], done[-1], n_bytes)
        self._size = sum(size for _, size, _ in done)
        return Repeated.most(Repeated(*each) for *_, found in done for each in found)

    def _add(self, batch: pa.RecordBatch, facts: Any = None, weight: int = 0) -> None:
        documents = numbers_of(batch, DOCUMENT)
        parts = np.searchsorted(self._bounds, documents, side="right") - 1
        self._shuffle.add(batch, parts, facts, weight)

    def __len__(self) -> int:
        return self._size

    def __reduce__(self) -> tuple[Callable[..., CutSpans], tuple[list[CutSpans]]]:
        """Copy as spans in memory, because files are temporary."""
        return CutSpans.joined, (list(self.parts()),)

    def parts(self) -> Iterator[CutSpans]:
        """Yield rows by document and start, splitting no document."""
        return map(self._part, range(len(self._bounds) - 1))

    def of_documents(self, documents: slice) -> CutSpans:
        """Return the rows of some consecutive documents."""
        first = int(np.searchsorted(self._bounds, documents.start, side="right")) - 1
        last = int(np.searchsorted(self._bounds, documents.stop))
        parts = range(max(0, first), min(last, len(self._bounds) - 1))
        return CutSpans.joined([self._part(part).of_documents(documents) for part in parts])

    def _read(self, part: int) -> CutSpans:
        columns = _by_place(self._shuffle.read(part), _GONE)
        return CutSpans(*[*columns, np.ones(len(columns[0]))])


def _part_documents(own: Catalogue, min_tokens: int) -> Int64s:
    """Divide documents into runs with similar maximum numbers of units.

    Returns the first document of each run, and the end of the last.
    """
    n_most = np.cumsum(np.maximum(own.n_tokens, 0)) // min_tokens
    room = max(_UNITS_OF_PART, int(n_most[-1:].sum()) // _MOST_PARTS)
    is_last = np.diff((n_most - 1) // room, append=-2) != 0
    return np.unique(np.concatenate([[0], np.flatnonzero(is_last) + 1])).astype(np.int64)


def cut_units(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> FoundSpans:
    """Find the equal paragraphs, lines or sentences to remove."""
    with engine.stage("read") as note:
        collections = plan.collections(sources, against)
        list_units, route = partial(_list_units, plan), partial(route_by_hash, _DIGESTS[1])
        read = engine.read(collections, list_units, "units", route)
        other, own = read.catalogues
        note(documents=len(own), units=read.rows.n_rows)
    with engine.stage("cut") as note:
        more = {}
        if not plan.keep.is_by_input:
            # The other collection has no documents then.
            more[_RANK] = np.argsort(plan.keep_order(own))
        rules = UnitRules(len(other), plan.options.min_documents, plan.keep.keeps_none)
        gone = read.rows.work(rules.settle, more)
        bounds = _part_documents(own, plan.min_tokens)
        spans = ExchangedSpans(engine.workspace, bounds)
        most = spans.collect(gone)
        note(units=len(spans))
    change = change_of(own, spans, plan, partial(ExchangedSpans.of_batches, bounds), gone)
    return FoundSpans(other, own, change, most)
