"""What an alignment would take, told from a sample of its input."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.files.inputs import check_effect
from neardup.files.rows import Source
from neardup.jobs.align.align import find_shared
from neardup.jobs.align.found import Found
from neardup.jobs.align.looked_up import Asked, InThreads, LookUp
from neardup.jobs.align.other import Made, NewDocuments, Other, open_other
from neardup.options.passages import AlignOptions
from neardup.passages.additions import BYTES_OF_TOKEN
from neardup.passages.align import make_window_scheme
from neardup.passages.documents import PassageReading
from neardup.passages.index import OpenPassages
from neardup.passages.index_size import OF_QUERY, IndexSize, expect_index
from neardup.passages.lookup import FILES_SHARE, QUERIES_SHARE, SEARCH_SHARE, WAITING_SHARE
from neardup.reading.drawn import DrawnTokens, draw_tokens
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.forecasts import (
    Between,
    Planned,
    Spread,
    StageForecast,
    StagesForecast,
    expect_distinct,
    expect_pairs,
)
from neardup.stages.options import columns_of
from neardup.tables import Bools, Int64s

# Bytes that each byte of a block takes while it is cut into tokens, and most bytes of a block, of
# which two are under way for each thread; of a document while the index is made, of a passage that
# is found, of one of a window that waits, and of a row of the table without texts.
_OF_BLOCK, _MOST_OF_BLOCK = 8.5, 8_400_000
_DOCUMENT, _PASSAGE, _HIT, _ROW = 60, 150, 40, 30
# On Spark: bytes of a token of a segment that is kept beside the text; of one of a query on its
# way, with what there is to tell of different ones; and of a passage.
_KEPT, _SENT, _FOUND = 5, 4, 90
# Kernels that no other job has.
_KERNELS = 20_000_000
# Bytes of text that are indexed for trial, at most, and looked up so that all kernels are loaded.
_INDEXED_BYTES, _LOADING_BYTES = 32_000_000, 50_000
# In so many groups documents are looked up for trial, until that has taken so long on one core, and
# such a share of all seconds, which many may be.
_GROUPS, _TRIAL_SECONDS, _TRIAL_SHARE, _MOST_TRIAL_SECONDS = 64, 3.0, 0.05, 20.0
# Runs of documents that are aligned for trial, unless these had too few each: those that many
# others are like may stand together.
_RUNS, _LEAST_RUN = 128, 8


def documents_of(other: Other) -> Sequence[Source]:
    """Return the documents that are indexed for an alignment, if they are no queries.

    Raises
    ------
    InvalidParameterError
        Where documents are looked up in an index that is there.
    """
    if not isinstance(other, NewDocuments):
        message = "plan is for documents that are indexed for the run; name documents with against"
        raise InvalidParameterError(message, "plan", "against")
    return () if other.is_input else other.sources


def forecast_alignment(
    sources: Sequence[Source],
    other: Other,
    options: AlignOptions,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    """Tell what an alignment would take of a sample of the documents.

    Some of them, and half of these, are aligned for trial. Raises as ``documents_of``.
    """
    others = documents_of(other)
    assert isinstance(other, NewDocuments)
    check_effect(options, sources, others)
    tokenizer = make_window_scheme(other.min_tokens, **other.scheme).tokenizer
    queries = draw_tokens(sources, columns_of(options), options.skip_bad, tokenizer, runner)
    indexed = queries
    if not other.is_input:
        read = other.read
        indexed = draw_tokens(other.sources, read.columns, read.skip_bad, tokenizer, runner)
    drawn = [queries] if other.is_input else [queries, indexed]
    distinct = expect_distinct(indexed.parts, indexed.scaled(1))
    index = expect_index(indexed.tokens, distinct, indexed.bytes, planned.memory, planned.workers)
    own = PassageReading(columns_of(options), options.skip_bad)
    reads = [own] if other.is_input else [own, other.read]
    trial = _try(drawn, reads, other, options, index, planned)
    documents = sum(each.rows.n_documents for each in drawn)
    passages, hits = round(trial.passages.number), trial.hits
    stored, searched = index.stored, index.searched
    largest = max(each.bytes for each in drawn)
    process = planned.process_bytes() + _KERNELS
    blocks = _OF_BLOCK * min(largest, 2 * planned.workers * _MOST_OF_BLOCK)
    always = process + blocks + _PASSAGE * passages
    # One segment of all is made when all blocks have been read.
    making = index.making + blocks
    if index.n_segments == 1:
        making = max(index.making, blocks)
    # Texts are looked up in as many segments as fit, so many at a time.
    asked = 0 if index.fits else planned.within(queries.tokens * OF_QUERY, QUERIES_SHARE)
    # What is found for a part of the queries waits, which is a block where nothing is forgotten.
    parts = index.rounds(queries.tokens)
    if index.fits:
        parts = max(1.0, queries.bytes / _MOST_OF_BLOCK)
    waiting = planned.spilled(_HIT * hits / parts, WAITING_SHARE)
    reading = sum(each.rows.reading for each in drawn)
    stages = [
        StageForecast(
            "read",
            int(process + making + _DOCUMENT * indexed.rows.n_documents),
            int(stored),
            max(indexed.rows.reading, trial.making / planned.workers)
            + planned.spill_seconds(stored),
            "a segment that is made",
            Spread(
                reading,
                trial.making * sum(each.tokens for each in drawn) / max(1.0, indexed.tokens),
                stored=sum(each.scaled(each.packed_texts) + _KEPT * each.tokens for each in drawn),
                rows=sum(each.bytes + _KEPT * each.tokens for each in drawn),
                met=BYTES_OF_TOKEN * sum(each.tokens for each in drawn),
                parts=0 if planned.executors is None else planned.executors.tasks,
                held=_DOCUMENT * documents,
                jobs=2 * len(drawn),
            ),
        ),
        StageForecast(
            "align",
            int(
                always
                + planned.within(searched, SEARCH_SHARE)
                + planned.within(stored, FILES_SHARE)
                + asked
                + planned.within(_HIT * hits / parts, WAITING_SHARE)
            ),
            int(stored + waiting),
            trial.searching.number / planned.workers,
            "segments that are searched, and what is looked up",
            _look_up_on_executors(drawn, trial.searching.number, searched, passages, planned),
        ),
    ]
    counts = {"tokens": round(sum(each.tokens for each in drawn)), "passages": passages}
    between = {"passages": trial.passages}
    if planned.executors is None:
        between["seconds"] = _of_all_stages(trial.searching, stages, planned)
    return StagesForecast.of(
        drawn, planned, stages, counts, passages * _ROW, sources, others, between=between
    )


def _of_all_stages(
    looked_up: Between, stages: Sequence[StageForecast], planned: Planned
) -> Between:
    """Return the seconds of all stages, of those of one core of the look-up."""
    seconds = sum(each.seconds for each in stages)
    return Between(
        seconds,
        seconds - (looked_up.number - looked_up.low) / planned.workers,
        seconds + (looked_up.high - looked_up.number) / planned.workers,
    )


def _look_up_on_executors(
    drawn: Sequence[DrawnTokens],
    seconds: float,
    searched: float,
    passages: float,
    planned: Planned,
) -> Spread:
    """Return what executors have of a look-up in parts, each of which a task has read.

    Half of the parts, in the mean, have something for a text of the same collection.
    """
    if planned.executors is None:
        return Spread()
    queries, indexed = drawn[0], drawn[-1]
    n_parts = planned.executors.tasks * indexed.bytes / max(1.0, sum(each.bytes for each in drawn))
    n_parts = max(1.0, n_parts)
    looked_in = n_parts if len(drawn) > 1 else (n_parts + 1) / 2
    return Spread(
        work=seconds,
        sent=queries.tokens * _SENT * looked_in + passages * _FOUND,
        stored=passages * _FOUND,
        met=searched,
        parts=n_parts,
        held=_PASSAGE * passages,
        jobs=4,
    )


@dataclass(frozen=True)
class _Trial:
    """What look-ups of some documents tell of all: seconds of one core, for all of them.

    In ``making`` an index is made, in ``searching`` everything behind it is done.
    """

    hits: float
    passages: Between
    making: float
    searching: Between


class _Side:
    """Rows of one collection that are aligned for trial: runs of them from all over it."""

    def __init__(
        self, drawn: DrawnTokens, read: PassageReading, share: float, of_block: int
    ) -> None:
        self.sources, self.lengths = drawn.rows.runs(share, of_block)
        self.share = min(1.0, int(self.lengths.sum()) / max(1, drawn.rows.n_documents))
        columns, texts = read.columns.only_text(), [pa.array([], pa.large_binary())]
        for source in self.sources:
            for block in source.blocks():
                parsed = block.parse(columns, skip_bad=read.skip_bad)
                texts.append(parsed.text.cast(pa.large_binary()))
        sizes = pc.binary_length(pa.concat_arrays(texts))
        # Bad rows are no documents.
        self.are_documents: Bools = sizes.is_valid().to_numpy(zero_copy_only=False)
        self.sizes: Int64s = sizes.fill_null(0).to_numpy()

    def only_firsts(self, lengths: Int64s, groups: Int64s) -> Int64s:
        """Return the groups of all rows, those of the first ones of each run being given.

        There are so many of each; the others are in none, which is -1.
        """
        bounds = np.stack([lengths, self.lengths - lengths], axis=1).ravel()
        are_first = np.repeat(np.arange(len(bounds)) % 2 == 0, bounds)
        of_all = np.full(len(are_first), -1, np.int64)
        of_all[are_first] = groups
        return of_all


def _group(sizes: Int64s, n_groups: int) -> Int64s:
    """Put texts into groups, each of which has short ones and long ones, and about as many bytes.

    Which group is which is chance, so that the first ones stand for all.
    """
    groups, n_bytes = np.empty_like(sizes), np.zeros(n_groups, np.int64)
    order = np.argsort(-sizes, kind="stable")
    for first in range(0, len(order), n_groups):
        # Of as many as are about as long as each other the longest goes to who has least so far.
        rows = order[first : first + n_groups]
        chosen = np.argsort(n_bytes, kind="stable")[: len(rows)]
        groups[rows] = chosen
        n_bytes[chosen] += sizes[rows]
    return np.random.default_rng(len(sizes)).permutation(n_groups)[groups]


class _Bench:
    """Queries that are looked up in an index of ``sides[-1]``, some groups of them at a time.

    The first look-up makes the index, which is kept; its segments are those that the memory of the
    job allows. ``groups`` are those of the rows of each side, below 0 where one is no query.
    """

    def __init__(
        self,
        sides: Sequence[_Side],
        groups: Sequence[Int64s],
        other: NewDocuments,
        options: AlignOptions,
        planned: Planned,
        kept: ExitStack,
    ) -> None:
        self._sides, self._groups, self._options, self._kept = sides, groups, options, kept
        self._other = replace(other, sources=sides[-1].sources)
        self._workspace, self._workers = Workspace(planned.memory), planned.workers
        self._indexes: dict[int, tuple[OpenPassages, Made]] = {}
        self._chosen: dict[int, Bools] = {}

    def look_up(self, groups: range, *, anew: bool = False) -> tuple[float, Found]:
        """Look some groups up; returns the seconds of one core, and what was found.

        With ``anew`` all that has been made of the index to look others up is forgotten before.
        """
        for index, _ in self._indexes.values() if anew else ():
            for searcher in index.searchers:
                searcher.forget()
        for side, are_chosen in zip(self._sides, self._choose(groups), strict=True):
            self._chosen[id(side.sources)] = are_chosen[side.are_documents]
        sources, workspace = self._sides[0].sources, self._workspace
        start = time.process_time()
        with Runner(self._workers) as runner:
            found = find_shared(
                sources, self._other, self._options, workspace, runner, opened=self._open
            )
        return time.process_time() - start, found

    def share(self, groups: range) -> float:
        """Return which part of all groups some are, by their bytes."""
        n_bytes, of_all = (
            sum(int(side.sizes[rows].sum()) for side, rows in zip(self._sides, chosen, strict=True))
            for chosen in (self._choose(groups), [each >= 0 for each in self._groups])
        )
        return n_bytes / of_all if of_all else 1.0

    def _choose(self, groups: range) -> list[Bools]:
        return [(each >= groups.start) & (each < groups.stop) for each in self._groups]

    @contextmanager
    def _open(self, asked: Asked, workspace: Workspace, runner: Runner) -> Iterator[LookUp]:
        assert isinstance(asked.other, NewDocuments)
        key = id(asked.other.sources)
        if key not in self._indexes:
            opened = open_other(asked.other, workspace, runner)
            self._indexes[key] = self._kept.enter_context(opened)
        chosen = self._chosen[id(asked.sources)]
        yield InThreads(*self._indexes[key], asked, workspace, runner, chosen)


class _Timed:
    """What an index takes, and groups of queries that are looked up in it, in seconds of one core.

    It is made in ``making``, made ready once in ``ready`` and again in ``ready_again``; all texts
    are read as queries in ``reading``.
    """

    def __init__(self, bench: _Bench, *, is_kept: bool) -> None:
        nothing, one = range(0), range(1)
        self._bench, self._seconds, self._shares = bench, list[float](), list[float]()
        self.n_groups, self.found = 0, list[Found]()
        making, _ = bench.look_up(nothing)
        self.reading, _ = bench.look_up(nothing)
        self.making = max(0.0, making - self.reading)
        first, _ = bench.look_up(one)
        self.look_up(one)
        known = self.reading + self._seconds[0]
        self.ready = max(0.0, first - known)
        self.ready_again = 0.0 if is_kept else max(0.0, bench.look_up(one, anew=True)[0] - known)

    def look_up(self, groups: range) -> None:
        """Look up some more groups."""
        seconds, found = self._bench.look_up(groups)
        self._seconds.append(max(0.0, seconds - self.reading))
        self._shares.append(self._bench.share(groups))
        self.n_groups = groups.stop
        self.found.append(found)

    @property
    def share(self) -> float:
        """Which part has been looked up."""
        return sum(self._shares)

    @property
    def seconds(self) -> float:
        """What that took, behind the reading."""
        return sum(self._seconds)

    def of_all(self) -> Between:
        """Return the seconds of all groups, and two standard errors of their ratio to the bytes."""
        of_all = self.seconds / self.share if self.share else 0.0
        shares, n = np.array(self._shares), len(self._shares)
        if self.share >= 1 or not of_all:
            return Between(of_all, of_all, of_all)
        if n < 2:
            return Between(of_all, of_all / 2, 2 * of_all)
        off = float(((self._seconds - shares * of_all) ** 2 / np.maximum(shares, 1e-9)).sum())
        error = 2 * float(np.sqrt((1 - self.share) * off / (self.share * (n - 1))))
        return Between(of_all, max(self.seconds, of_all - error), of_all + error)

    def more(self, n_groups: int, seconds: float) -> range:
        """Return the groups of ``n_groups`` that are to be looked up now, if any.

        They are twice as many as the last ones, and take no longer than is left of some seconds.
        """
        left = n_groups - self.n_groups
        of_one = self.seconds / self.n_groups
        if of_one * left > seconds - self.seconds:
            left = max(0, int((seconds - self.seconds) / of_one))
        return range(self.n_groups, self.n_groups + min(left, self.n_groups))


def _try(
    drawn: Sequence[DrawnTokens],
    reads: Sequence[PassageReading],
    other: NewDocuments,
    options: AlignOptions,
    index: IndexSize,
    planned: Planned,
) -> _Trial:
    """Look up some documents in an index of as many as may be.

    What one takes does not depend on the others that are looked up. How it grows with the index,
    where that has but a part of all, the same ones tell in half of it.
    """
    largest = max(1, *(each.text_bytes for each in drawn))
    share = min(1.0, _INDEXED_BYTES / largest)
    of_blocks = [_runs_of_block(each, share / 2) for each in drawn]

    def take(share: float) -> list[_Side]:
        given = zip(drawn, reads, of_blocks, strict=True)
        return [_Side(each, read, share, n) for each, read, n in given]

    sides = take(share)
    is_all = all(side.share >= 1 for side in sides)
    halves = sides if is_all else take(share / 2)
    n_groups = max(1, min(_GROUPS, *(len(half.sizes) for half in halves)))
    of_halves = [_group(half.sizes, n_groups) for half in halves]
    both = zip(sides, halves, of_halves, strict=True)
    of_sides = [side.only_firsts(half.lengths, groups) for side, half, groups in both]
    indexed, asked = sides[-1].share, halves[0].share
    with ExitStack() as kept:
        what = other, options, planned, kept
        # What is loaded for the first ones is no work of the documents.
        few = take(min(1.0, _LOADING_BYTES / largest))
        _Bench(few, [np.zeros_like(each.sizes) for each in few], *what).look_up(range(1))
        timed = _Timed(_Bench(sides, of_sides, *what), is_kept=index.fits)
        while more := timed.more(n_groups, _seconds_for(timed.of_all().number / asked / indexed)):
            timed.look_up(more)
        seconds = timed.of_all().times(1 / asked)
        if not is_all and timed.seconds:
            half = _Timed(_Bench(halves, of_halves, *what), is_kept=True)
            if timed.n_groups > 1:
                half.look_up(range(1, timed.n_groups))
            of_rest = (1 - half.seconds / timed.seconds) * (1 - indexed) / (indexed / 2)
            seconds = seconds.times(min(max(1.0, 1.0 + of_rest), 1 / indexed))
    places = np.concatenate([each.places for each in timed.found])
    shares = timed.n_groups / n_groups * asked, indexed
    counts = _count_by_runs(places, sides[0].lengths, sides[-1].lengths)
    passages = expect_pairs(counts, shares, is_one=other.is_input)
    hits = sum(each.summary["hits"] for each in timed.found)
    growth = passages.number / len(places) if len(places) else 1 / np.prod(shares)
    made_ready = timed.ready + timed.ready_again * (index.rounds(drawn[0].tokens) - 1)
    once = timed.reading / sides[0].share + made_ready / indexed
    return _Trial(hits * growth, passages, timed.making / indexed, seconds.plus(once))


def _seconds_for(expected: float) -> float:
    """Return how long a trial may be: short, or next to nothing beside all of the work."""
    return max(_TRIAL_SECONDS, min(_MOST_TRIAL_SECONDS, _TRIAL_SHARE * expected))


def _runs_of_block(drawn: DrawnTokens, share: float) -> int:
    """Return in how many runs of a block documents are taken: many in all, of some each.

    They are to be evenly spread, so that there is one of a block if there are gaps between blocks.
    """
    n_blocks, n_drawn = len(drawn.rows.drawn), sum(len(block) for _, block in drawn.rows.drawn)
    if n_drawn < drawn.rows.n_documents:
        return 1
    return max(1, min(-(-_RUNS // n_blocks), int(n_drawn * share / (n_blocks * _LEAST_RUN))))


def _count_by_runs(places: Int64s, lengths: Int64s, other_lengths: Int64s) -> Int64s:
    """Count passages by runs of the queries, and of the documents of the index.

    Of one collection, whose runs are the same ones, an earlier run has those with a later one.
    """
    # Runs of no document are none.
    ends = [np.cumsum(each[each > 0]) for each in (lengths, other_lengths)]
    runs = [
        np.searchsorted(of_side, places[:, column], side="right")
        for of_side, column in zip(ends, (0, 2), strict=True)
    ]
    if lengths is other_lengths:
        runs = [np.minimum(*runs), np.maximum(*runs)]
    counts = np.zeros([len(each) for each in ends], np.int64)
    np.add.at(counts, tuple(runs), 1)
    return counts
