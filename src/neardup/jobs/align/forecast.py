"""What an alignment would take, told from a sample of its input."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import numpy as np

from neardup.files.inputs import check_effect
from neardup.files.rows import Source
from neardup.jobs.align.align import find_shared
from neardup.jobs.align.found import Found
from neardup.jobs.align.looked_up import Aligned, Asked, InThreads, LookUp
from neardup.jobs.align.other import Made, NewDocuments, Other, open_other
from neardup.jobs.align.plan import plan_alignment
from neardup.options.passages import AlignOptions
from neardup.passages.align import AlignmentPlan, make_window_scheme
from neardup.passages.documents import PassageReading
from neardup.passages.index import OpenPassages, PassageHandle
from neardup.passages.index_size import IndexSize, expect_index
from neardup.reading.drawn import DrawnTokens, draw_tokens
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.bench import (
    N_GROUPS,
    Bench,
    Timed,
    TrialRows,
    count_by_runs,
    group,
    runs_of_block,
    seconds_for,
    shares_of_trials,
)
from neardup.stages.forecasts import (
    PROCESS,
    Between,
    Planned,
    StageForecast,
    StagesForecast,
    expect_distinct,
    expect_pairs,
)
from neardup.stages.hints import Flood
from neardup.stages.look_ups import (
    OF_TOKEN,
    PassageLookUp,
    kept_on_executors,
    looked_up_on_executors,
    passages_looked_up,
    told_between,
)
from neardup.stages.options import columns_of
from neardup.tables import Bools, Int64s

# Bytes of a token of a block with what is made of it for the index; of a document while the index
# is made, of one of a window that waits, and of a row of the table without texts.
_MADE, _DOCUMENT, _HIT, _ROW = 40, 60, 40, 30


def documents_of(other: Other) -> Sequence[Source]:
    """Return the documents that are indexed for an alignment, unless they are its queries."""
    return other.sources if isinstance(other, NewDocuments) and not other.is_input else ()


def forecast_alignment(
    sources: Sequence[Source],
    other: Other,
    options: AlignOptions,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    """Tell what an alignment would take of a sample of the documents.

    Some of them are aligned for trial, and without an index half of these.
    """
    others = documents_of(other)
    check_effect(options, sources, others)
    if isinstance(other, PassageHandle):
        return _forecast_with_index(sources, other, options, runner, planned)
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
    blocks = max(each.under_way(planned.workers, of_token=OF_TOKEN) for each in drawn)
    # Where segments are written meanwhile, both blocks of a thread wait for that.
    of_token = _MADE if index.n_segments == 1 else 2 * _MADE
    making = index.making + indexed.under_way(planned.workers, of_token=of_token)
    making_all = trial.making * sum(each.tokens for each in drawn) / max(1.0, indexed.tokens)
    # Half of the parts, in the mean, have something for a text of the same collection.
    n_parts = 1.0
    if planned.executors is not None:
        share = indexed.bytes / max(1.0, sum(each.bytes for each in drawn))
        n_parts = max(1.0, planned.executors.tasks * share)
    looked_in = n_parts if len(drawn) > 1 else (n_parts + 1) / 2
    stages = [
        StageForecast(
            "read",
            int(PROCESS + making + _DOCUMENT * indexed.rows.n_documents),
            int(index.files),
            max(indexed.rows.reading, trial.making / planned.workers)
            + planned.spill_seconds(index.files),
            "a segment that is made",
            kept_on_executors(drawn, making_all, planned, _DOCUMENT * documents),
        ),
        passages_looked_up(
            "align",
            queries,
            blocks,
            index,
            planned,
            seconds=trial.searching.number,
            passages=passages,
            waiting=_HIT * hits,
            spread=looked_up_on_executors(
                queries, trial.searching.number, index.searched, passages, n_parts, looked_in
            ),
        ),
    ]
    counts = {"tokens": round(sum(each.tokens for each in drawn)), "passages": passages}
    between = told_between("passages", trial.passages, trial.searching, stages, planned)
    return StagesForecast.of(
        drawn, planned, stages, counts, passages * _ROW, sources, others, between=between
    )


def _forecast_with_index(
    sources: Sequence[Source],
    other: PassageHandle,
    options: AlignOptions,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    start = time.perf_counter()
    index = other.view(runner)
    opening = time.perf_counter() - start

    def look_up(
        _: OpenPassages, sources: Sequence[Source], workspace: Workspace, runner: Runner
    ) -> Iterator[tuple[Int64s, int]]:
        found = find_shared(sources, other, options, workspace, runner, opened=_open_there)
        n_queries = found.summary["documents"][0]
        yield np.bincount(found.places[:, 0], minlength=n_queries), found.summary["hits"]

    read = PassageReading(columns_of(options), options.skip_bad).for_sources(sources)
    has_hits = plan_alignment(options, index.scheme).search.hits > 0
    asked = PassageLookUp(index, sources, read, opening, look_up, _HIT, _ROW, has_hits=has_hits)
    return asked.forecast("align", runner, planned)


class _Trying(InThreads):
    """Looks up some queries for trial: none of them more than once, as a run looks at some."""

    def find(self, plan: AlignmentPlan, flood: Flood) -> Iterator[Aligned]:
        """Look up some blocks of queries at a time; nobody looks at some of them before."""
        return super().find(plan, Flood(len(self.sizes), is_wanted=False))


@contextmanager
def _open_there(asked: Asked, workspace: Workspace, runner: Runner) -> Iterator[LookUp]:
    with open_other(asked.other, workspace, runner) as (index, made):
        yield _Trying(index, made, asked, workspace, runner)


@dataclass(frozen=True)
class _Trial:
    """What look-ups of some documents tell of all: seconds of one core, for all of them.

    In ``making`` an index is made, in ``searching`` everything behind it is done.
    """

    hits: float
    passages: Between
    making: float
    searching: Between


class _Bench(Bench[Found]):
    """Queries that are looked up in an index of ``sides[-1]``.

    Its segments are those that the memory of the job allows.
    """

    def __init__(
        self,
        sides: Sequence[TrialRows],
        groups: Sequence[Int64s],
        other: NewDocuments,
        options: AlignOptions,
        planned: Planned,
        kept: ExitStack,
    ) -> None:
        super().__init__(sides, groups)
        self._options, self._kept = options, kept
        self._other = replace(other, sources=sides[-1].sources)
        self._workspace, self._workers = Workspace(planned.memory), planned.workers
        self._indexes: dict[int, tuple[OpenPassages, Made]] = {}
        self._chosen: dict[int, Bools] = {}

    def look_up(self, groups: range, *, anew: bool = False) -> tuple[float, Found]:
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

    @contextmanager
    def _open(self, asked: Asked, workspace: Workspace, runner: Runner) -> Iterator[LookUp]:
        assert isinstance(asked.other, NewDocuments)
        key = id(asked.other.sources)
        if key not in self._indexes:
            opened = open_other(asked.other, workspace, runner)
            self._indexes[key] = self._kept.enter_context(opened)
        chosen = self._chosen[id(asked.sources)]
        yield _Trying(*self._indexes[key], asked, workspace, runner, chosen)


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
    share, least = shares_of_trials(drawn)
    of_blocks = [runs_of_block(each, share / 2) for each in drawn]

    def take(share: float) -> list[TrialRows]:
        given = zip(drawn, reads, of_blocks, strict=True)
        return [TrialRows(each, read, share, n) for each, read, n in given]

    sides = take(share)
    is_all = all(side.share >= 1 for side in sides)
    halves = sides if is_all else take(share / 2)
    n_groups = max(1, min(N_GROUPS, *(len(half.sizes) for half in halves)))
    of_halves = [group(half.sizes, n_groups) for half in halves]
    both = zip(sides, halves, of_halves, strict=True)
    of_sides = [side.only_firsts(half.lengths, groups) for side, half, groups in both]
    indexed, asked = sides[-1].share, halves[0].share
    with ExitStack() as kept:
        what = other, options, planned, kept
        # What is loaded for the first ones is no work of the documents.
        few = take(least)
        _Bench(few, [np.zeros_like(each.sizes) for each in few], *what).look_up(range(1))
        timed = Timed(_Bench(sides, of_sides, *what), is_kept=index.fits)
        while more := timed.more(n_groups, seconds_for(timed.of_all().number / asked / indexed)):
            timed.look_up(more)
        seconds = timed.of_all().times(1 / asked)
        if not is_all and timed.seconds:
            half = Timed(_Bench(halves, of_halves, *what), is_kept=True)
            if timed.n_groups > 1:
                half.look_up(range(1, timed.n_groups))
            of_rest = (1 - half.seconds / timed.seconds) * (1 - indexed) / (indexed / 2)
            seconds = seconds.times(min(max(1.0, 1.0 + of_rest), 1 / indexed))
    places = np.concatenate([each.places for each in timed.found])
    shares = timed.n_groups / n_groups * asked, indexed
    counts = count_by_runs(places[:, 0], places[:, 2], sides[0].lengths, sides[-1].lengths)
    passages = expect_pairs(counts, shares, is_one=other.is_input)
    hits = sum(each.summary["hits"] for each in timed.found)
    growth = passages.number / len(places) if len(places) else 1 / np.prod(shares)
    made_ready = timed.ready + timed.ready_again * (index.rounds(drawn[0].tokens) - 1)
    once = timed.reading / sides[0].share + made_ready / indexed
    return _Trial(hits * growth, passages, timed.making / indexed, seconds.plus(once))
