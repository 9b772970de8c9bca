"""Equal paragraphs, lines and passages, grouped by digest.

Each unit is a row with its digest and position. Rows go to partitions by digest, so that each
partition decides about equal units by itself. Removed units then go to partitions of consecutive
documents, in which they are cut and written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from neardup.engine.engine import DOCUMENT, Change, Engine, Partition, Read, TaskRows
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.passages import FoundSpans, Repeated, change_of, count_repeated, locate_cuts
from neardup.jobs.cut.plan import (
    CutJobPlan,
    CutSpans,
    count_documents,
    keep_order,
    keep_ranks,
    read_collections,
    spans_in,
    take_out,
)
from neardup.jobs.cut.units import find_units
from neardup.passages.cutting import RemovedPassages
from neardup.passages.repeats import WindowSamples, find_repeats, sample_windows
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import ContentTable, part_of, text_has_changed
from neardup.reading.sign import ListedBlock, ReadingPlan, hash_tokens, listed, numbers_of
from neardup.runs.exchange import GrowingArray, Shuffle
from neardup.tables import Bools, Digests, Int64s, Texts, TokenLists, offsets_of
from neardup.text.shingles import digest_token_lists
from neardup.text.tokenizers import Tokenizer

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace

T = TypeVar("T")

# Shares of the memory for compared tokens and for marks of tokens that begin a character, and the
# ratio of a partition's memory to its samples.
_TOKENS_SHARE, _HEADS_SHARE, _MEETING = 0.3, 0.05, 5

_HASH = "hash"


def _list_samples(plan: CutJobPlan, block: RowBlock, reading: ReadingPlan) -> ListedBlock:
    import pyarrow as pa

    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    texts = Texts.from_arrow(parsed.text, block.language)
    n_tokens, parts = hash_tokens(texts, reading.shingles.tokenizer)
    found, n_before = [WindowSamples.of_none()], 0
    for part in parts:
        samples = sample_windows(part, plan.min_tokens)
        found.append(samples._replace(documents=samples.documents + n_before))
        n_before += len(part)
    hashes, documents = map(np.concatenate, zip(*found, strict=True))
    rows = pa.RecordBatch.from_pydict({_HASH: hashes, DOCUMENT: documents})
    return listed(block, parsed, n_tokens, reading, rows)


def _sample_partitions(samples: pa.RecordBatch, n_partitions: int) -> Int64s:
    return part_of(numbers_of(samples, _HASH), n_partitions).astype(np.int64)


def cut_equal_passages(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> FoundSpans:
    """Find the passages to remove because of an equal one."""
    with engine.stage("read") as note:
        collections = read_collections(sources, against, plan)
        read = engine.read(collections, partial(_list_samples, plan), "samples", _sample_partitions)
        other, own = read.catalogues
        note(documents=len(own), samples=read.rows.n_rows)
    with engine.stage("cut") as note:
        n_other = len(other)
        found = find_repeats(
            partial(_each_part, read.rows),
            _TokensAgain(read, engine.workspace),
            np.concatenate([np.arange(n_other), n_other + keep_order(own, plan.keep)]),
            plan.min_tokens,
            plan.options.min_documents or 1,
            n_against=n_other,
        )
        note(passages=len(found))
    with engine.stage("locate"):
        gone = RemovedPassages(similarities=np.ones(len(found)), **vars(found))
        spans = locate_cuts(gone, (other, own), plan, read.again)
    return FoundSpans(other, own, None, change_of(own, spans, plan))


def _each_part(rows: TaskRows, look: Callable[[WindowSamples], T]) -> Iterator[T]:
    for _, made in rows.work(partial(_look_at, look)).collect("cut"):
        yield from (found for found, _ in made)


def _look_at(look: Callable[[WindowSamples], T], partition: Partition) -> Iterator[tuple[T, None]]:
    n_passes = partition.count_passes(_MEETING)
    for number in range(n_passes):
        yield look(samples_in(partition.rows(), number, n_passes)), None


def samples_in(
    batches: Iterable[pa.RecordBatch], number: int = 0, n_passes: int = 1
) -> WindowSamples:
    """Return samples in rows of ``sample_texts``, all or one pass."""
    found = [WindowSamples.of_none()]
    for batch in batches:
        samples = WindowSamples(numbers_of(batch, _HASH), numbers_of(batch, DOCUMENT))
        if n_passes > 1:
            # Partitions use the high half.
            passes = part_of(samples.hashes << np.uint64(32), n_passes)
            samples = samples.select(np.flatnonzero(passes == number))
        found.append(samples)
    return WindowSamples(*map(np.concatenate, zip(*found, strict=True)))


@dataclass(frozen=True)
class Tokens:
    """Tokenizer of documents with known token counts: ``OfTexts``."""

    tokenizer: Tokenizer
    n_tokens: Int64s

    def part(self, first: int, behind: int) -> Tokens:
        """Return the tokenizer of some of the documents."""
        return Tokens(self.tokenizer, self.n_tokens[first:behind])

    def __call__(self, texts: Texts, places: Int64s, name: str) -> TokenLists:
        """Return the tokens of all of these documents."""
        tokens = self.tokenizer.hash_with_heads(texts)
        if not np.array_equal(np.diff(tokens.offsets), self.n_tokens[places]):
            raise text_has_changed(name)
        return tokens


class _TokensAgain:
    """Reader of documents' tokens, into memory or a mapped file."""

    def __init__(self, read: Read, workspace: Workspace) -> None:
        self._read, self._workspace = read, workspace
        self._names = map("tokens-{}".format, count())

    def __call__(self, documents: Int64s) -> TokenLists:
        n_tokens = np.concatenate([each.n_tokens for each in self._read.catalogues])[documents]
        tokenizer, workspace = self._read.reading.shingles.tokenizer, self._workspace
        name, tokens = next(self._names), Tokens(tokenizer, n_tokens)
        with (
            GrowingArray(name, np.uint64, workspace, share=_TOKENS_SHARE) as values,
            GrowingArray(f"{name}-heads", np.bool_, workspace, share=_HEADS_SHARE) as heads,
        ):
            has_heads = heads.is_there or not tokenizer.splits_characters
            if not (values.is_there and has_heads):
                for found in self._read.again(documents, tokens):
                    if not values.is_there:
                        values.append(found.values)
                    if not has_heads:
                        heads.append(found.heads)
        return TokenLists(values.array, offsets_of(n_tokens), heads.array)


# Share of the memory for removed rows that wait to be written, and the ratio of a partition's
# memory to its rows.
_GONE_SHARE, _SETTLING = 0.15, 4

# Units per partition of removed ones, up to a maximum number of partitions.
_UNITS_OF_PART, _MOST_PARTS = 1 << 16, 1024

# Bytes per file of removed units in the work folder, which is the loss of a killed run.
_FILE_BYTES = 1 << 28

_DIGESTS, _PLACES = ("digest_low", "digest_high"), ("document", "start", "stop", "end")
_GONE = ("document", "start", "stop", "kept_document", "kept_start", "kept_stop")

# Column for rows that are not in keep order: the position of their document in it.
_RANK = "rank"


def _list_units(plan: CutJobPlan, block: RowBlock, reading: ReadingPlan) -> ListedBlock:
    import pyarrow as pa

    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    n_tokens, units, parts, long = find_units(Texts.from_arrow(parsed.text, block.language), plan)
    digests = np.concatenate([np.empty((0, 2), np.uint64), *map(digest_token_lists, parts)])
    columns = dict(zip(_DIGESTS, digests[long].T.copy(), strict=True))
    places = (units.documents, units.starts, units.stops, units.ends)
    rows = pa.RecordBatch.from_pydict(columns | dict(zip(_PLACES, places, strict=True)))
    return listed(block, parsed, n_tokens, reading, rows)


def _partitions_of(units: pa.RecordBatch, n_partitions: int) -> Int64s:
    return part_of(numbers_of(units, "digest_high"), n_partitions).astype(np.int64)


@dataclass(frozen=True)
class UnitRules:
    """Choice of the kept unit among equal units.

    Documents of the other collection, ``n_other``, come first. With ``keeps_none``, the first of
    equal units is also removed, with the next one as its copy.
    """

    n_other: int
    min_documents: int | None
    keeps_none: bool = False

    def settle(self, partition: Partition) -> Iterator[tuple[list[Repeated], pa.RecordBatch]]:
        """Yield the most repeated and removed units of a partition."""
        n_passes = partition.count_passes(_SETTLING)
        for number in range(n_passes):
            gone, most = self._settle(partition.rows(), number, n_passes)
            yield most, gone

    def _settle(
        self, units: Iterable[pa.RecordBatch], number: int, n_passes: int
    ) -> tuple[pa.RecordBatch, list[Repeated]]:
        """Return removed units by document and start, and repeated units."""
        import pyarrow as pa

        low, high, documents, starts, stops, ends, *ranks = _units_of(units, number, n_passes)
        order = np.arange(len(documents))
        if ranks:
            # A stable sort keeps units of one document in text order, because they have its rank.
            order = np.argsort(ranks[0], kind="stable")
        digests = np.column_stack([low[order], high[order]])
        found = ContentTable().number(Digests(digests, np.ones(len(order), np.bool_)))
        keepers = np.empty(len(order), np.int64)
        groups = np.empty(len(order), np.int64)
        groups[order] = found.numbers
        keepers[order] = order[found.is_first][found.numbers]
        goes: Bools = keepers != np.arange(len(order))
        if self.n_other:
            # Only units of the other collection are removed.
            goes = (documents >= self.n_other) & (documents[keepers] < self.n_other)
        if self.keeps_none:
            copies = np.flatnonzero(goes)
            copies = copies[np.unique(groups[copies], return_index=True)[1]]
            firsts = keepers[copies]
            keepers[firsts], goes[firsts] = copies, True
        if self.min_documents is not None:
            counted = np.flatnonzero(goes | (keepers == np.arange(len(order))))
            n_groups = int(groups.max(initial=-1)) + 1
            n_documents = count_documents(groups[counted], documents[counted], n_groups)
            goes &= n_documents[groups] >= self.min_documents
        gone = np.flatnonzero(goes)
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
        columns = zip(_GONE, list(vars(spans).values())[: len(_GONE)], strict=True)
        return pa.RecordBatch.from_pydict(dict(columns)), count_repeated(spans, groups[gone])


def _units_of(units: Iterable[pa.RecordBatch], number: int, n_passes: int) -> list[Any]:
    import pyarrow as pa

    def wanted(batch: pa.RecordBatch) -> pa.RecordBatch:
        is_wanted = part_of(numbers_of(batch, _DIGESTS[0]), n_passes) == number
        return batch.take(pa.array(np.flatnonzero(is_wanted)))

    listed = list(units if n_passes == 1 else map(wanted, units))
    names = [*_DIGESTS, *_PLACES]
    if listed and _RANK in listed[0].schema.names:
        names.append(_RANK)
    columns = _columns_of(listed, names)
    order = _order_of(columns[2], columns[3])
    return columns if order is None else [column[order] for column in columns]


def _order_of(documents: Int64s, starts: Int64s) -> Int64s | None:
    """Return the order by document and start, None if sorted."""
    keys = documents * (int(starts.max(initial=0)) + 1) + starts
    if (keys[1:] >= keys[:-1]).all():
        return None
    # A stable sort exploits sorted runs of rows.
    order: Int64s = np.argsort(keys, kind="stable")
    return order


class ExchangedSpans:
    """Removed equal units as ``Spans``, in partitions of consecutive documents.

    ``bounds`` are the first documents of the partitions, and the end of the last.
    """

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
        known: list[tuple[int, int, list[Any]]] = [
            each for each in self._shuffle.done() if each is not None
        ]
        with self._shuffle:
            for behind, made in gone.collect("cut", known[-1][0] if known else 0):
                most = Repeated.most(each for found, _ in made for each in found)
                batches = [batch for _, batch in made if batch is not None]
                size, n_bytes = sum(map(len, batches)), sum(batch.nbytes for batch in batches)
                known.append((behind, size, most))
                # Files end at partition boundaries.
                for batch in batches[:-1]:
                    self._add(batch)
                self._add(batches[-1], known[-1], n_bytes)
        self._size = sum(size for _, size, _ in known)
        return Repeated.most(Repeated(*each) for *_, found in known for each in found)

    def _add(self, batch: pa.RecordBatch, known: Any = None, weight: int = 0) -> None:
        documents = numbers_of(batch, DOCUMENT)
        parts = np.searchsorted(self._bounds, documents, side="right") - 1
        self._shuffle.add(batch, parts, known, weight)

    def __len__(self) -> int:
        return self._size

    def __reduce__(self) -> tuple[Callable[..., CutSpans], tuple[list[CutSpans]]]:
        """Copy as spans in memory, because files are temporary."""
        return CutSpans.joined, (list(self.parts()),)

    @property
    def _n_parts(self) -> int:
        return len(self._bounds) - 1

    def parts(self) -> Iterator[CutSpans]:
        """Yield rows by document and start, splitting no document."""
        return map(self._part, range(self._n_parts))

    def of_documents(self, documents: slice) -> CutSpans:
        """Return the rows of some consecutive documents."""
        first = int(np.searchsorted(self._bounds, documents.start, side="right")) - 1
        last = int(np.searchsorted(self._bounds, documents.stop))
        parts = range(max(0, first), min(last, self._n_parts))
        return CutSpans.joined([self._part(part).of_documents(documents) for part in parts])

    def _read(self, part: int) -> CutSpans:
        columns = _columns_of(self._shuffle.read(part), _GONE)
        order = _order_of(columns[0] - self._bounds[part], columns[1])
        if order is not None:
            columns = [column[order] for column in columns]
        return CutSpans(*[*columns, np.ones(len(columns[0]))])


def _columns_of(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> list[Any]:
    import pyarrow as pa

    listed = list(batches)
    if not listed:
        return [np.empty(0, np.uint64 if name in _DIGESTS else np.int64) for name in names]
    table = pa.Table.from_batches(listed)
    return [table.column(name).to_numpy() for name in names]


def _part_documents(own: Catalogue, min_tokens: int) -> Int64s:
    """Divide documents into runs with similar maximum numbers of units.

    Returns the first document of each run, and the end of the last.
    """
    n_most = np.cumsum(np.maximum(own.n_tokens, 0)) // min_tokens
    room = max(_UNITS_OF_PART, int(n_most[-1:].sum()) // _MOST_PARTS)
    is_last = np.diff((n_most - 1) // room, append=-2) != 0
    return np.unique(np.concatenate([[0], np.flatnonzero(is_last) + 1])).astype(np.int64)


def cut_equal_units(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> FoundSpans:
    """Find the equal paragraphs or lines to remove."""
    with engine.stage("read") as note:
        collections = read_collections(sources, against, plan)
        read = engine.read(collections, partial(_list_units, plan), "units", _partitions_of)
        other, own = read.catalogues
        note(documents=len(own), units=read.rows.n_rows)
    with engine.stage("cut") as note:
        more = {}
        if plan.keep.rule != "first":
            # The other collection has no documents then.
            more[_RANK] = keep_ranks(own, plan.keep)
        rules = UnitRules(len(other), plan.options.min_documents, plan.keep.keeps_none)
        gone = read.rows.work(rules.settle, more)
        bounds = _part_documents(own, plan.min_tokens)
        spans = ExchangedSpans(engine.workspace, bounds)
        most = spans.collect(gone)
        note(units=len(spans))
    columns, replacement = own.columns.texts, plan.options.replacement
    change = Change(
        spans,
        partial(take_out, columns, replacement),
        partial(ExchangedSpans.of_batches, bounds),
        spans_in,
        gone,
    )
    return FoundSpans(other, own, most, change)
