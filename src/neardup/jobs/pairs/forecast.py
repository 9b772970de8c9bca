"""What an exact search for pairs would take, told from a sample of its input."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.files.ids import as_text, choose_id_column
from neardup.files.inputs import check_effect, passed_over
from neardup.files.rows import Source
from neardup.jobs.pairs.blocked import _SHARE as JOIN_SHARE
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.records import _join_of, maker_of
from neardup.jobs.pairs.rows import _ROWS_SHARE
from neardup.jobs.pairs.run import find_pairs_in_sources
from neardup.matching.join import Costs, PartedJoin
from neardup.reading.drawn import DrawnRows, bytes_named, draw_rows, weighed_by_sample
from neardup.reading.set_exchange import _SHARE as SETS_SHARE
from neardup.reading.set_exchange import _extents_of, _layout
from neardup.reading.sign import ReadingPlan
from neardup.runs.runner import Runner
from neardup.stages.forecasts import (
    Growth,
    Planned,
    StageForecast,
    StagesForecast,
    expect_distinct,
)
from neardup.stages.options import other_columns_of
from neardup.tables import Int64s, Texts, TokenLists, Uint64s, WeightedSets

# Bytes of a thread with its block, of a document whose text is elsewhere, of its row among those
# of sets, and of what else is in files where these are, beside its id; of a pair, and of a row of
# the table.
_THREAD, _DOCUMENT, _LISTED, _KNOWN, _PAIR, _ROW = 30_000_000, 105, 24, 28, 32, 20
# What a join takes in memory for a record, an element and a different one, measured; what decides
# about its blocks are bounds of that.
_TAKEN = Costs(130, 16, 20)
# Seconds of one core for a posting that is met, measured on records of seven words.
_HIT = 20e-9
# Documents that are joined for trial, and their elements.
_TRIAL_DOCUMENTS, _TRIAL_ELEMENTS = 200_000, 4_000_000
# Of different elements one in so many is counted.
_ONE_IN = 64
_COUNTED_BELOW = np.uint64(2**64 // _ONE_IN)


@dataclass(frozen=True)
class _Drawn:
    """What a sample of a collection is compared by.

    ``sizes`` and ``extents`` are those of its documents, ``parts`` the different elements of each
    block that are counted. ``reading`` are seconds in which one thread reads all files, ``making``
    those in which one core made it of the sample; ``join`` joins no documents.
    """

    rows: DrawnRows
    text_bytes: int
    id_bytes: int
    sizes: Int64s
    extents: Int64s
    parts: list[Uint64s]
    bytes_of_element: int
    making: float
    join: PartedJoin

    def scaled(self, value: float) -> float:
        """Return a sum over the sample as one over all documents."""
        return value / self.rows.share if self.rows.share else 0.0


def forecast_pairs(
    left: Sequence[Source],
    right: Sequence[Source] | None,
    plan: PairPlan,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    """Tell what an exact join would take of a sample of the documents.

    Some of them, and half of these, are joined for trial.

    Raises
    ------
    InvalidParameterError
        Where candidates come from buckets, and where the most similar pairs are asked for.
    """
    if plan.banding is not None:
        message = "what method minhash takes, `neardup plan` tells; choose exact here"
        raise InvalidParameterError(message, "method")
    if plan.options.top is not None:
        message = "plan is for all pairs at a threshold, not for the top ones; leave top out"
        raise InvalidParameterError(message, "plan", "top")
    check_effect(plan.options, left, right or ())
    drawn = [_draw(left, plan.reading, plan, runner)]
    if right is not None:
        other = plan.reading.for_other(other_columns_of(plan.options))
        drawn.append(_draw(right, other, plan, runner))
    documents = sum(each.rows.n_documents for each in drawn)
    elements = sum(each.scaled(float(each.sizes.sum())) for each in drawn)
    distinct = sum(_ONE_IN * expect_distinct(each.parts, each.scaled(1)) for each in drawn)
    trial = _try(drawn, plan, runner)
    pairs = round(trial.pairs.at(documents))
    joining = trial.seconds_of_each * documents + trial.hits.at(documents) * _HIT / planned.workers
    n_bytes = elements * drawn[0].bytes_of_element + documents * _LISTED
    needed = drawn[0].join.costs.of(documents, round(elements), round(distinct))
    taken = _TAKEN.of(documents, round(elements), round(distinct))
    room = JOIN_SHARE * planned.memory
    work = 1.0 if needed <= room else _work_in_blocks(drawn, needed, room / 2)
    files = planned.spilled(n_bytes, SETS_SHARE)
    if files:
        files += documents * _KNOWN + round(sum(each.scaled(each.id_bytes) for each in drawn))
    # Pairs are in files where sets are.
    in_memory = 0
    if not files and not planned.spilled(_PAIR * pairs, _ROWS_SHARE):
        in_memory = _PAIR * pairs
    always = planned.process_bytes(_THREAD) + _DOCUMENT * documents
    reading = sum(each.rows.reading for each in drawn)
    making = sum(each.scaled(each.making) for each in drawn)
    return StagesForecast(
        documents=documents,
        documents_counted=all(each.rows.is_counted for each in drawn),
        sample_documents=sum(len(each.sizes) for each in drawn),
        text_bytes=round(sum(each.scaled(each.text_bytes) for each in drawn)),
        memory_limit_bytes=planned.memory,
        disk_bytes=pairs * _ROW,
        counts={"elements": round(elements), "pairs": pairs},
        stages=[
            StageForecast(
                "read",
                int(always + planned.within(n_bytes, SETS_SHARE)),
                files,
                max(reading, (reading + making) / planned.workers) + planned.spill_seconds(files),
                "what texts are compared by",
            ),
            StageForecast(
                "join",
                int(always + min(1.0, room / max(1, needed)) * taken + in_memory),
                files + _PAIR * pairs - in_memory,
                work * joining + planned.spill_seconds(files * (work - 1)),
                "all of it, and postings" if needed <= room else "two blocks of it, and postings",
            ),
        ],
        passed_over=passed_over(left, right or ()),
    )


def _draw(
    sources: Sequence[Source], reading: ReadingPlan, plan: PairPlan, runner: Runner
) -> _Drawn:
    """Make what some blocks of a collection, evenly spread, are compared by."""
    rows = draw_rows(sources, runner)
    blocks = [block for _, block in rows.drawn]
    columns = choose_id_column(reading.columns, sources)
    reading = weighed_by_sample(blocks, replace(reading, columns=columns))
    plan = replace(plan, reading=reading)
    make = maker_of(plan)
    nothing = make(TokenLists(np.empty(0, np.uint64), np.zeros(1, np.int64)))
    sizes, extents = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    parts: list[Uint64s] = []
    text_bytes = id_bytes = 0
    start = time.perf_counter()
    with bytes_named(sources, rows):
        for block in blocks:
            parsed = block.parse(columns, skip_bad=reading.skip_bad)
            text_bytes += parsed.text.nbytes
            id_bytes += 0 if parsed.id is None else as_text(parsed.id).nbytes
            tokens = reading.shingles.tokenizer.hash_tokens(Texts.from_arrow(parsed.text))
            made = make(tokens)
            sizes.append(_layout(made)[1])
            extents.append(_extents_of(made))
            parts.append(np.unique(made.values[made.values < _COUNTED_BELOW]))
    return _Drawn(
        rows,
        text_bytes,
        id_bytes,
        np.concatenate(sizes),
        np.concatenate(extents),
        parts,
        16 if isinstance(nothing, WeightedSets) else 8,
        time.perf_counter() - start,
        _join_of(nothing, plan)[0],
    )


@dataclass(frozen=True)
class _Trial:
    """What a join of some documents has met, and its seconds for each beside those for hits."""

    hits: Growth
    pairs: Growth
    seconds_of_each: float


def _try(drawn: Sequence[_Drawn], plan: PairPlan, runner: Runner) -> _Trial:
    """Join some documents, and half of them."""
    sampled = sum(len(each.sizes) for each in drawn)
    elements = int(sum(each.sizes.sum() for each in drawn))
    most = min(1.0, _TRIAL_DOCUMENTS / max(1, sampled), _TRIAL_ELEMENTS / max(1, elements))
    summaries = []
    for share in (most / 2, most):
        left, *right = (each.rows.part(share) for each in drawn)
        found = find_pairs_in_sources(left, right[0] if right else None, plan, runner)
        summaries.append(found.summary)
    counted = [
        (sum(each["documents"]), next(iter(each["filters"].values())), each["pairs"])
        for each in summaries
    ]
    (n, hits, pairs), (n_more, more_hits, more_pairs) = counted
    seconds = summaries[-1]["seconds"]["join"] - more_hits * _HIT / runner.workers
    return _Trial(
        Growth.of((n, hits), (n_more, more_hits)),
        Growth.of((n, pairs), (n_more, more_pairs)),
        max(0.0, seconds) / max(1, n_more),
    )


def _work_in_blocks(drawn: Sequence[_Drawn], needed: float, room: float) -> float:
    """Return how many times as much a join works in blocks that take so much than on all at once.

    Blocks have about as many bytes each, by extent. Of every two those documents are joined that
    may be similar to one of the other block.
    """
    extents = np.sort(np.concatenate([each.extents for each in drawn]))
    extents = extents[extents > 0]
    n = int(-(-needed // room))
    if n < 2 or not len(extents):
        return 1.0
    blocks = [block.tolist() for block in np.array_split(extents, n) if len(block)]
    join = drawn[0].join
    n_apart = 0
    for (i, low), (j, high) in combinations(enumerate(blocks), 2):
        # Two neighbours are joined as one.
        if i // 2 != j // 2 and join.may_meet(min(low[-1], high[0]), high[0]):
            first = bisect_left(
                low, True, key=lambda own: join.may_meet(min(own, high[0]), high[0])
            )
            stop = bisect_left(
                high, True, key=lambda own: not join.may_meet(min(low[-1], own), own)
            )
            n_apart += len(low) - first + stop
    return 1.0 + n_apart / len(extents)
