"""What a cut of similar passages would take, told from a sample of its input and trials."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.files.rows import Source
from neardup.jobs.cut.cut import cut_sources
from neardup.jobs.cut.plan import CutJobPlan
from neardup.passages.additions import segment_tokens_within
from neardup.passages.index_size import (
    BATCHES,
    INDEX_SECONDS,
    LEAST_BATCH,
    LEAST_PART,
    OF_QUERY,
    PARTS_A_SLOT,
    expect_index,
)
from neardup.passages.lookup import FILES_SHARE, QUERIES_SHARE, SEARCH_SHARE
from neardup.reading.drawn import DrawnTokens, draw_tokens
from neardup.reading.token_pass import TOKENS_SHARE
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.forecasts import (
    Executors,
    Growth,
    Planned,
    PowerLaw,
    Spread,
    StageForecast,
    StagesForecast,
    bytes_without,
    expect_distinct,
)
from neardup.stages.options import other_columns_of

# Bytes of a document, of a passage that goes, of a token with its place, and of one while an index
# of it is made.
_DOCUMENT, _GONE, _LOCATED, _MADE = 60, 600, 24, 25
_KERNELS = 20_000_000
# Where not all that is searched is in memory, texts are cut once more to foresee what they will be.
_FORESEEN = 2.0
# Bytes of text that are cut for trial, at first, and twice as many until one takes so long on one
# core; so many trials tell how time grows.
_TRIAL_BYTES, _MOST_TRIAL_BYTES, _TRIAL_SECONDS, _TIMED = 250_000, 32_000_000, 3.0, 3
# Seconds of one core: a byte of text that is written, and a token of a document that is read again.
_WRITE, _LOCATE = 1.5e-9, 0.1e-6
# On Spark: bytes of a token of an index, and of what goes as it travels; the
# share of its seconds in which the driver foresees what texts will be; and how the work of a
# look-up grows with parts; how often a text is looked up in the first turn; and what the driver
# holds of a token of those that it foresees.
_STORED, _PACKED, _FORESEEING, _MORE_IN_PARTS, _ANEW = 5.5, 25, 0.35, 0.585, 1.2
_FORESEEN_TOKEN = 190
# Where a trial has cut all documents, more may stay of all.
_LEAST_KEPT = 1e-3


@dataclass(frozen=True)
class _Trial:
    """What of all documents cuts of some tell, and seconds of one core, the reading apart.

    ``cut`` is the share of the documents that lose something, ``passages`` of each of these,
    which have ``length`` characters; ``seconds`` grow with the share of the documents that is cut.
    """

    cut: float
    passages: float
    length: float
    seconds: PowerLaw


def forecast_similar_passages(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    """Tell what a cut would take of a sample of the documents; some of them are cut for trial."""
    assert plan.scheme is not None
    tokenizer, skip_bad = plan.scheme.tokenizer, plan.reading.skip_bad
    own = draw_tokens(sources, plan.reading.columns, skip_bad, tokenizer, runner)
    drawn = [own]
    if against:
        other = other_columns_of(plan.options)
        drawn.append(draw_tokens(against, other, skip_bad, tokenizer, runner))
    trial = _try(drawn, plan, runner)
    documents = sum(each.rows.n_documents for each in drawn)
    tokens = sum(each.tokens for each in drawn)
    passages = round(trial.cut * own.rows.n_documents * trial.passages)
    # What takes turns is looked up: the other collection, if there is one.
    asked = drawn[-1].tokens
    distinct = expect_distinct(own.parts, own.scaled(1))
    index = expect_index(own.tokens, distinct, 0, planned.memory, planned.workers)
    known = _DOCUMENT * documents
    always = planned.process_bytes() + _KERNELS + known
    listed = planned.within(8 * tokens, TOKENS_SHARE)
    held = always + listed
    read = planned.spilled(8 * tokens, TOKENS_SHARE)
    at_a_time = 0 if index.fits else planned.within(asked * OF_QUERY, QUERIES_SHARE)
    seconds = trial.seconds.at(1.0)
    reading = sum(each.rows.reading for each in drawn)
    tokenizing = sum(each.scaled(each.tokenizing) for each in drawn)
    locating = own.scaled(own.tokenizing) + own.tokens * _LOCATE
    going = _GONE * passages
    located = own.under_way(planned.workers, of_token=_LOCATED) if passages else 0.0
    stages = [
        StageForecast(
            "read",
            int(held + max(each.under_way(planned.workers) for each in drawn)),
            read,
            max(reading, (reading + tokenizing) / planned.workers) + planned.spill_seconds(read),
            "tokens of the texts",
            Spread(
                reading,
                tokenizing,
                sent=0,
                stored=sum(each.scaled(each.packed_tokens) for each in drawn),
                held=known + listed,
                files=read,
                jobs=3,
            ),
        ),
        StageForecast(
            "cut",
            int(
                held
                + max(
                    _MADE * min(segment_tokens_within(Workspace(planned.memory)), own.tokens),
                    planned.within(index.searched, SEARCH_SHARE)
                    + planned.within(index.stored, FILES_SHARE)
                    + at_a_time,
                )
                + going
            ),
            int(read + index.stored),
            (
                seconds * (1.0 if index.fits else _FORESEEN)
                + own.tokens * INDEX_SECONDS
                + index.ready_seconds(asked)
            )
            / planned.workers,
            "segments that are searched, and what is looked up",
            _cut_on_executors(planned.executors, drawn, trial, known + listed + going)
            if planned.executors
            else Spread(),
        ),
        StageForecast(
            "locate",
            int(held + located + going),
            read,
            own.rows.reading + trial.cut * locating / planned.workers,
            "documents that lose something, read again",
            Spread(
                own.rows.reading,
                trial.cut * locating,
                held=known + listed + going,
                files=read,
                jobs=2,
            ),
        ),
        StageForecast(
            "write",
            int(always + own.under_way(planned.workers, of_token=0) + going),
            read,
            own.rows.reading + own.bytes * _WRITE / min(planned.workers, len(sources) or 1),
            "rows without what goes",
            Spread(
                own.rows.reading,
                own.bytes * _WRITE,
                sent=_PACKED * passages,
                held=known + going,
                whole=True,
                jobs=2,
            ),
        ),
    ]
    counts = {"tokens": round(tokens), "passages_that_go": passages}
    gone_bytes = own.bytes_of(passages * trial.length)
    output = bytes_without(sources, own, gone_bytes, passages)
    return StagesForecast.of(drawn, planned, stages, counts, output, sources, against)


def _cut_on_executors(
    executors: Executors, drawn: Sequence[DrawnTokens], trial: _Trial, held: float
) -> Spread:
    """Return what executors have of a cut, whose texts are looked up in parts of an index.

    Half of these, in the mean, have something for a text of the same collection, of which some are
    looked up once more because they were not foreseen. What has lost something is indexed for a
    second turn, and a little of that for a third, and all texts are looked up in either.
    """
    indexed, asked, seconds = drawn[0].tokens, drawn[-1].tokens, trial.seconds.at(1.0)
    is_alone = len(drawn) == 1
    n_parts = executors.parts(
        indexed, PARTS_A_SLOT, LEAST_PART, segment_tokens_within(Workspace(executors.task_bytes))
    )
    looked_in = _ANEW * (n_parts + 1) / 2 if is_alone else n_parts
    if trial.cut:
        looked_in += -(-trial.cut * n_parts // 1) + 1
    n_batches = min(BATCHES, max(1.0, asked / LEAST_BATCH))
    sent = drawn[0].scaled(drawn[0].packed_tokens) * (1 + trial.cut)
    sent += drawn[-1].scaled(drawn[-1].packed_tokens) * looked_in
    return Spread(
        work=seconds * n_parts**_MORE_IN_PARTS + indexed * INDEX_SECONDS,
        alone=_FORESEEING * seconds if is_alone else 0.0,
        sent=sent,
        rows=8 * (indexed + asked * looked_in),
        stored=_STORED * indexed,
        met=_MADE * indexed,
        parts=n_parts,
        held=held + (_FORESEEN_TOKEN * asked / n_batches if is_alone else 0),
        jobs=2 + round(n_batches),
    )


def _try(drawn: Sequence[DrawnTokens], plan: CutJobPlan, runner: Runner) -> _Trial:
    """Cut some documents, and a half and a quarter of them."""
    largest = max(1, *(each.text_bytes for each in drawn))
    n_bytes, seconds = _TRIAL_BYTES // 2, 0.0
    found: list[tuple[float, float]] = []
    cut = [(0.0, 0.0)]
    while len(found) < _TIMED or (
        seconds < _TRIAL_SECONDS and n_bytes < min(largest, _MOST_TRIAL_BYTES)
    ):
        n_bytes *= 2
        # Of few bytes all are cut, and a half and a quarter of them.
        share = min(0.5 ** (_TIMED - 1 - len(found)), 1.0, n_bytes / largest)
        own, *others = (each.rows.part(share) for each in drawn)
        other = others[0] if others else None
        if not found:
            # What is loaded for the first one is no work of the documents.
            cut_sources(own, other, plan, runner)
        clock, start = time.perf_counter(), time.process_time()
        with Runner(runner.workers) as trial:
            summary = cut_sources(own, other, plan, trial).summary
        seconds = time.process_time() - start
        share_of_stage = trial.seconds["cut"] / (time.perf_counter() - clock)
        # Numbers grow with those of either collection.
        size = share * float(np.sqrt(drawn[0].rows.share * drawn[-1].rows.share))
        found.append((size, share_of_stage * seconds))
        n_cut = summary["documents_cut"]
        kept = 1 - n_cut / max(1, summary["documents_in"])
        cut.append((size, size * -float(np.log(max(kept, _LEAST_KEPT)))))
    # A document is cut if any is there that is like it: near it, or among the others.
    whole = 1 - float(np.exp(-Growth.of(*cut[-2:]).at(1.0)))
    return _Trial(
        whole,
        summary["spans"] / max(1, n_cut),
        summary["characters_removed"] / max(1, summary["spans"]),
        PowerLaw.of(found[-_TIMED:]),
    )
