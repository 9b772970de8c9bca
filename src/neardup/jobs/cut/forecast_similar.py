"""What a cut of similar passages would take, told from a sample of its input and trials."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.files.inputs import passed_over
from neardup.files.rows import Source
from neardup.jobs.cut.cut import cut_sources
from neardup.jobs.cut.plan import CutJobPlan
from neardup.passages.additions import segment_tokens_within
from neardup.passages.index_size import INDEX_SECONDS, OF_QUERY, expect_index
from neardup.passages.lookup import FILES_SHARE, QUERIES_SHARE, SEARCH_SHARE
from neardup.reading.drawn import DrawnTokens, draw_tokens
from neardup.reading.token_pass import TOKENS_SHARE
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.forecasts import (
    Growth,
    Planned,
    PowerLaw,
    StageForecast,
    StagesForecast,
    expect_distinct,
    source_bytes,
)
from neardup.stages.options import other_columns_of

# Bytes of a thread with its block, of a document, of a passage that goes, and of a token while an
# index of it is made.
_THREAD, _DOCUMENT, _GONE, _MADE = 90_000_000, 60, 600, 25
_KERNELS = 20_000_000
# Where not all that is searched is in memory, texts are cut once more to foresee what they will be.
_FORESEEN = 2.0
# Bytes of text that are cut for trial, at first, and twice as many until one takes so long on one
# core; so many trials tell how time grows.
_TRIAL_BYTES, _MOST_TRIAL_BYTES, _TRIAL_SECONDS, _TIMED = 250_000, 32_000_000, 3.0, 3
# Seconds of one core: a byte of text that is written, and a token of a document that is read again.
_WRITE, _LOCATE = 1.5e-9, 0.1e-6
# Where a trial has cut all documents, more may stay of all.
_LEAST_KEPT = 1e-3


@dataclass(frozen=True)
class _Trial:
    """What of all documents cuts of some tell, and seconds of one core, the reading apart.

    ``cut`` is the share of the documents that lose something, ``passages`` of each of these;
    ``seconds`` grow with the share of the documents that is cut.
    """

    cut: float
    passages: float
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
    always = planned.process_bytes(_THREAD) + _KERNELS + _DOCUMENT * documents
    held = always + planned.within(8 * tokens, TOKENS_SHARE)
    read = planned.spilled(8 * tokens, TOKENS_SHARE)
    at_a_time = 0 if index.fits else planned.within(asked * OF_QUERY, QUERIES_SHARE)
    seconds = trial.seconds.at(1.0) * (1.0 if index.fits else _FORESEEN)
    reading = sum(each.rows.reading for each in drawn)
    tokenizing = sum(each.scaled(each.tokenizing) for each in drawn)
    text_bytes = round(own.bytes)
    locating = own.scaled(own.tokenizing) + own.tokens * _LOCATE
    return StagesForecast(
        documents=documents,
        documents_counted=all(each.rows.is_counted for each in drawn),
        sample_documents=sum(len(block) for each in drawn for _, block in each.rows.drawn),
        text_bytes=round(sum(each.bytes for each in drawn)),
        memory_limit_bytes=planned.memory,
        disk_bytes=source_bytes(sources, text_bytes),
        counts={"tokens": round(tokens), "passages_that_go": passages},
        stages=[
            StageForecast(
                "read",
                int(held),
                read,
                max(reading, (reading + tokenizing) / planned.workers)
                + planned.spill_seconds(read),
                "tokens of the texts",
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
                    + _GONE * passages
                ),
                int(read + index.stored),
                (seconds + own.tokens * INDEX_SECONDS + index.ready_seconds(asked))
                / planned.workers,
                "segments that are searched, and what is looked up",
            ),
            StageForecast(
                "locate",
                int(held + _GONE * passages),
                read,
                own.rows.reading + trial.cut * locating / planned.workers,
                "documents that lose something, read again",
            ),
            StageForecast(
                "write",
                int(always + _GONE * passages),
                read,
                own.rows.reading + text_bytes * _WRITE / min(planned.workers, len(sources) or 1),
                "rows without what goes",
            ),
        ],
        passed_over=passed_over(sources, against),
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
    return _Trial(whole, summary["spans"] / max(1, n_cut), PowerLaw.of(found[-_TIMED:]))
