"""What an exact search for pairs would take, told from a sample of its input."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.files.ids import as_text, choose_id_column
from neardup.files.inputs import check_effect
from neardup.files.rows import Source
from neardup.jobs.pairs.blocked import JOIN_SHARE, blocks_for, expect_blocks
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.records import join_of, maker_of
from neardup.jobs.pairs.rows import ROWS_SHARE
from neardup.jobs.pairs.run import find_pairs_in_sources
from neardup.matching.join import Costs, PartedJoin
from neardup.reading.drawn import (
    DrawnBlocks,
    bytes_named,
    count_characters,
    draw_rows,
    packed_bytes,
    weighed_by_sample,
)
from neardup.reading.set_exchange import SETS_SHARE, extents_of, layout
from neardup.reading.sign import ReadingPlan
from neardup.runs.runner import Runner
from neardup.stages.forecasts import (
    PROCESS,
    Growth,
    Planned,
    PowerLaw,
    Spread,
    StageForecast,
    StagesForecast,
    expect_distinct,
)
from neardup.tables import Int64s, Texts, TokenLists, Uint64s, WeightedSets

# Bytes of a document whose text is elsewhere, of its row among those of sets, and of what else is
# in files where these are, beside its id; of a pair, and of a row of the table; and of a document
# of a block that is worked on.
_DOCUMENT, _LISTED, _KNOWN, _PAIR, _ROW, _MADE = 105, 24, 28, 32, 20, 150
# On Spark: what else is told of a document, its digest where its elements are, and where these
# begin and end as that travels; and seconds of a pair that comes to the driver.
_TOLD, _DIGEST, _OF_ROW, _TAKE = 30, 30, 8, 0.3e-6
# Copies of what a task receives, and the share of the work that there is again in each block.
_RECEIVED, _IN_BLOCKS = 3.5, 0.36
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
class _Drawn(DrawnBlocks):
    """What texts that were drawn are compared by.

    ``sizes`` and ``extents`` are those of the documents, ``parts`` the different elements of each
    block that are counted, ``packed`` what is left of a byte as it travels. ``making`` are
    seconds in which one core made it; ``join`` joins no documents.
    """

    id_bytes: int
    sizes: Int64s
    extents: Int64s
    parts: list[Uint64s]
    bytes_of_element: int
    packed: float
    making: float
    join: PartedJoin


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
        Where candidates come from buckets.
    """
    if plan.banding is not None:
        message = "what method minhash takes, `neardup plan` tells; choose exact here"
        raise InvalidParameterError(message, "method")
    if plan.mean is not None:
        message = "what a search by fields takes is not told beforehand; leave out plan"
        raise InvalidParameterError(message, "plan", "fields")
    check_effect(plan.options, left, right or ())
    drawn = [_draw(left, plan.reading, plan, runner)]
    if right is not None:
        drawn.append(_draw(right, plan.reading_of_other, plan, runner))
    documents = sum(each.rows.n_documents for each in drawn)
    elements = sum(each.scaled(float(each.sizes.sum())) for each in drawn)
    distinct = sum(_ONE_IN * expect_distinct(each.parts, each.scaled(1)) for each in drawn)
    trial = _try(drawn, plan, runner)
    pairs, top = round(trial.pairs.at(documents)), plan.options.top
    if top is not None:
        most = top * (drawn[0].rows.n_documents if plan.options.per_document else 1)
        pairs = min(pairs, most)
    joining = trial.seconds(documents) / planned.workers
    n_bytes = elements * drawn[0].bytes_of_element + documents * _LISTED
    sizes = documents, round(elements), round(distinct)
    blocks = partial(expect_blocks, drawn[0].join.costs, *sizes)
    needed, taken = drawn[0].join.costs.of(*sizes), _TAKEN.of(*sizes)
    room = JOIN_SHARE * planned.memory
    work = _work_in_blocks(drawn, blocks(room))
    files = planned.spilled(n_bytes, SETS_SHARE)
    if files:
        files += documents * _KNOWN + round(sum(each.scaled(each.id_bytes) for each in drawn))
    # Pairs are in files where sets are, but for the top ones.
    in_memory = 0
    if top is not None or (not files and not planned.spilled(_PAIR * pairs, ROWS_SHARE)):
        in_memory = _PAIR * pairs
    always = PROCESS + _DOCUMENT * documents
    in_blocks = max(
        each.under_way(planned.workers, more=_MADE * each.rows.n_documents) for each in drawn
    )
    sets = planned.within(n_bytes, SETS_SHARE)
    reading = sum(each.rows.reading for each in drawn)
    making = sum(each.scaled(each.making) for each in drawn)
    known = (_DOCUMENT + _TOLD) * documents
    packed = drawn[0].packed * elements * drawn[0].bytes_of_element + _OF_ROW * documents
    joined = Spread()
    if planned.executors is not None:
        room_of_task = JOIN_SHARE * planned.executors.task_bytes
        n_blocks = blocks(room_of_task, blocks_for(planned.executors.slots))
        # To each unit of the join all of its records are sent.
        times = _work_in_blocks(drawn, n_blocks)
        joined = Spread(
            work=trial.seconds(documents) * (1 + _IN_BLOCKS * (times - 1)),
            alone=pairs * _TAKE,
            sent=packed * times,
            stored=_PAIR * pairs,
            rows=n_bytes * times,
            met=2 * (taken + _RECEIVED * n_bytes),
            parts=n_blocks,
            held=known + planned.within(_PAIR * pairs, ROWS_SHARE),
            files=planned.spilled(_PAIR * pairs, ROWS_SHARE),
            jobs=2,
        )
    stages = [
        StageForecast(
            "read",
            int(always + in_blocks + sets),
            files,
            max(reading, (reading + making) / planned.workers) + planned.spill_seconds(files),
            "what texts are compared by",
            Spread(reading, making, stored=packed + _DIGEST * documents, held=known, jobs=2),
        ),
        StageForecast(
            "join",
            # Arrow keeps the memory of sets that have been let go.
            int(always + sets + min(1.0, room / max(1, needed)) * taken + in_memory),
            files + _PAIR * pairs - in_memory,
            work * joining + planned.spill_seconds(files * (work - 1)),
            "all of it, and postings" if needed <= room else "two blocks of it, and postings",
            joined,
        ),
    ]
    counts = {"elements": round(elements), "pairs": pairs}
    return StagesForecast.of(drawn, planned, stages, counts, pairs * _ROW, left, right or ())


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
    text_bytes = largest = n_characters = n_tokens = id_bytes = n_bytes = packed = 0
    making = 0.0
    with bytes_named(sources, rows):
        for block in blocks:
            start = time.perf_counter()
            parsed = block.parse(columns, skip_bad=reading.skip_bad)
            text_bytes += parsed.text.nbytes
            largest = max(largest, parsed.text.nbytes)
            n_characters += count_characters(parsed.text)
            id_bytes += 0 if parsed.id is None else as_text(parsed.id).nbytes
            tokens = reading.shingles.tokenizer.hash_tokens(Texts.from_arrow(parsed.text))
            n_tokens += len(tokens.values)
            made = make(tokens)
            making += time.perf_counter() - start
            n_bytes, packed = n_bytes + made.values.nbytes, packed + packed_bytes(made.values)
            sizes.append(layout(made)[1])
            extents.append(extents_of(made))
            parts.append(np.unique(made.values[made.values < _COUNTED_BELOW]))
    return _Drawn(
        rows,
        text_bytes,
        largest,
        n_characters,
        n_tokens,
        id_bytes,
        np.concatenate(sizes),
        np.concatenate(extents),
        parts,
        16 if isinstance(nothing, WeightedSets) else 8,
        packed / max(1, n_bytes),
        making,
        join_of(nothing, plan)[0],
    )


@dataclass(frozen=True)
class _Trial:
    """What joins of some documents have met, and found, and what they took.

    At a threshold time grows with the hits, and else with the documents. The most similar pairs are
    looked for at thresholds that fall, how far depends on all documents: ``law`` is how time grew.
    """

    hits: Growth
    pairs: Growth
    seconds_of_each: float
    law: PowerLaw | None

    def seconds(self, documents: int) -> float:
        """Return those of one core for so many documents."""
        if self.law is not None:
            return self.law.at(documents)
        return self.seconds_of_each * documents + self.hits.at(documents) * _HIT


def _try(drawn: Sequence[_Drawn], plan: PairPlan, runner: Runner) -> _Trial:
    """Join some documents, and half of them; where the top is looked for, a quarter, too."""
    sampled = sum(len(each.sizes) for each in drawn)
    elements = int(sum(each.sizes.sum() for each in drawn))
    most = min(1.0, _TRIAL_DOCUMENTS / max(1, sampled), _TRIAL_ELEMENTS / max(1, elements))
    is_of_top = plan.options.top is not None
    summaries, timed = [], list[float]()
    for share in (*([most / 4] if is_of_top else []), most / 2, most):
        left, *right = (each.rows.part(share) for each in drawn)
        clock, start = time.perf_counter(), time.process_time()
        summary = find_pairs_in_sources(left, right[0] if right else None, plan, runner).summary
        spent = time.process_time() - start
        summaries.append(summary)
        timed.append(spent * summary["seconds"]["join"] / (time.perf_counter() - clock))
    counted = [
        (sum(each["documents"]), next(iter(each["filters"].values())), each["pairs"])
        for each in summaries
    ]
    (n, hits, pairs), (n_more, more_hits, more_pairs) = counted[-2:]
    law = PowerLaw.of([(each[0], spent) for each, spent in zip(counted, timed, strict=True)])
    return _Trial(
        Growth.of((n, hits), (n_more, more_hits)),
        Growth.of((n, pairs), (n_more, more_pairs)),
        max(0.0, timed[-1] - more_hits * _HIT) / max(1, n_more),
        law if is_of_top else None,
    )


def _work_in_blocks(drawn: Sequence[_Drawn], n: int) -> float:
    """Return how many times as much a join works in so many blocks than on all at once.

    Blocks have about as many bytes each, by extent. Of every two those documents are joined that
    may be similar to one of the other block.
    """
    extents = np.sort(np.concatenate([each.extents for each in drawn]))
    extents = extents[extents > 0]
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
