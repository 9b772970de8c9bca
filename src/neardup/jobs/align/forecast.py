"""What an alignment would take, told from a sample of its input."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.files.inputs import check_effect
from neardup.files.rows import Source
from neardup.jobs.align.align import find_shared
from neardup.jobs.align.found import Found
from neardup.jobs.align.other import NewDocuments, Other
from neardup.options.passages import AlignOptions
from neardup.passages.additions import BYTES_OF_TOKEN
from neardup.passages.align import make_window_scheme
from neardup.passages.index_size import INDEX_SECONDS, OF_QUERY, expect_index
from neardup.passages.lookup import FILES_SHARE, QUERIES_SHARE, SEARCH_SHARE, WAITING_SHARE
from neardup.reading.drawn import DrawnTokens, draw_tokens
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.forecasts import (
    Between,
    Growth,
    Planned,
    Spread,
    StageForecast,
    StagesForecast,
    expect_distinct,
    expect_pairs,
)
from neardup.stages.options import columns_of
from neardup.tables import Int64s

# Bytes that each byte of a block takes while it is cut into tokens, and most bytes of a block; of a
# document while the index is made, of a passage that is found, of one of a window that waits, and
# of a row of the table without texts.
_OF_BLOCK, _MOST_OF_BLOCK = 17, 8_400_000
_DOCUMENT, _PASSAGE, _HIT, _ROW = 60, 150, 40, 30
# On Spark: bytes of a token of a segment that is kept beside the text; of one of a query on its
# way, with what there is to tell of different ones; and of a passage.
_KEPT, _SENT, _FOUND = 5, 4, 90
# Kernels that no other job has.
_KERNELS = 20_000_000
# Bytes of text that are aligned for trial, at first, and twice as many until one takes so long on
# one core, and such a share of all seconds, which many may be.
_TRIAL_BYTES, _MOST_TRIAL_BYTES = 250_000, 64_000_000
_TRIAL_SECONDS, _TRIAL_SHARE, _MOST_TRIAL_SECONDS = 3.0, 0.05, 20.0
# So many trials there are at least; the last ones, so many, tell how time grows.
_TIMED, _FITTED = 3, 4
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
    trial = _try(queries, indexed, other, options, Workspace(planned.memory), runner)
    documents = sum(each.rows.n_documents for each in drawn)
    passages, hits = round(trial.passages.number), trial.hits
    index = expect_index(indexed.tokens, distinct, indexed.bytes, planned.memory, planned.workers)
    stored, searched = index.stored, index.searched
    largest = max(each.bytes for each in drawn)
    n_blocks = min(planned.workers, -(-largest // _MOST_OF_BLOCK))
    process = planned.process_bytes(0) + _KERNELS
    process += int(_OF_BLOCK * min(largest, n_blocks * _MOST_OF_BLOCK))
    always = process + _PASSAGE * passages
    # Texts are looked up in as many segments as fit, so many at a time.
    asked = 0 if index.fits else planned.within(queries.tokens * OF_QUERY, QUERIES_SHARE)
    rounds = index.rounds(queries.tokens)
    waiting = 0 if index.fits else planned.spilled(_HIT * hits / rounds, WAITING_SHARE)
    reading = sum(each.rows.reading for each in drawn)
    making = sum(each.scaled(each.tokenizing) for each in drawn)
    stages = [
        StageForecast(
            "read",
            int(process + index.making + _DOCUMENT * indexed.rows.n_documents),
            int(stored),
            max(
                indexed.rows.reading,
                (indexed.scaled(indexed.tokenizing) + indexed.tokens * INDEX_SECONDS)
                / planned.workers,
            )
            + planned.spill_seconds(stored),
            "a segment that is made",
            Spread(
                reading,
                making + sum(each.tokens for each in drawn) * INDEX_SECONDS,
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
                + planned.within(_HIT * hits, WAITING_SHARE)
            ),
            int(stored + waiting),
            (trial.seconds.number + index.ready_seconds(queries.tokens)) / planned.workers,
            "segments that are searched, and what is looked up",
            _look_up_on_executors(drawn, trial.seconds.number, searched, passages, planned),
        ),
    ]
    counts = {"tokens": round(sum(each.tokens for each in drawn)), "passages": passages}
    between = {"passages": trial.passages}
    if planned.executors is None:
        between["seconds"] = _of_all_stages(trial.seconds, stages, planned)
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
    """What alignments of some documents tell of all: seconds are of one core, the index apart."""

    hits: float
    passages: Between
    seconds: Between


def _try(
    queries: DrawnTokens,
    indexed: DrawnTokens,
    other: NewDocuments,
    options: AlignOptions,
    workspace: Workspace,
    runner: Runner,
) -> _Trial:
    """Align some documents with some of the other ones, then twice as many of both.

    By the memory of ``workspace`` the segments are as large as all will have.
    """
    largest = max(1, queries.text_bytes, indexed.text_bytes)
    # Numbers grow with those of either collection.
    drawn = float(np.sqrt(queries.rows.share * indexed.rows.share))
    n_bytes, timed = _TRIAL_BYTES // 2, list[tuple[float, float]]()
    while len(timed) < _TIMED or (n_bytes < min(largest, _MOST_TRIAL_BYTES) and _is_short(timed)):
        n_bytes *= 2
        # Of few bytes all are aligned, and a half and a quarter of them.
        share = min(0.5 ** (_TIMED - 1 - len(timed)), 1.0, n_bytes / largest)
        sources, lengths = queries.rows.runs(share, _runs_of_block(queries, share))
        others, other_lengths = sources, lengths
        if not other.is_input:
            others, other_lengths = indexed.rows.runs(share, _runs_of_block(indexed, share))
        part = replace(other, sources=others)
        if not timed:
            # What is loaded for the first one is no work of the documents.
            find_shared(sources, part, options, workspace, runner)
        clock, start = time.perf_counter(), time.process_time()
        with Runner(runner.workers) as trial:
            found = find_shared(sources, part, options, workspace, trial)
        seconds = time.process_time() - start
        # What an index takes to be made is told by itself.
        share_of_stage = trial.seconds["align"] / (time.perf_counter() - clock)
        timed.append((share * drawn, share_of_stage * seconds))
    passages = expect_pairs(
        _count_by_runs(found, lengths, other_lengths),
        (_share_of(lengths, queries), _share_of(other_lengths, indexed)),
        is_one=other.is_input,
    )
    hits, n_found = found.summary["hits"], len(found.passages)
    growth = passages.number / n_found if n_found else timed[-1][0] ** -2
    return _Trial(hits * growth, passages, _expect_seconds(timed))


def _runs_of_block(drawn: DrawnTokens, share: float) -> int:
    """Return in how many runs of a block documents are taken: many in all, of some each.

    They are to be evenly spread, so that there is one of a block if there are gaps between blocks.
    """
    n_blocks, n_drawn = len(drawn.rows.drawn), sum(len(block) for _, block in drawn.rows.drawn)
    if n_drawn < drawn.rows.n_documents:
        return 1
    return max(1, min(-(-_RUNS // n_blocks), int(n_drawn * share / (n_blocks * _LEAST_RUN))))


def _share_of(lengths: Int64s, drawn: DrawnTokens) -> float:
    return min(1.0, int(lengths.sum()) / max(1, drawn.rows.n_documents))


def _count_by_runs(found: Found, lengths: Int64s, other_lengths: Int64s) -> Int64s:
    """Count the passages of runs of queries, by runs of the other documents.

    Of one collection, whose runs are the same ones, an earlier run has those with a later one.
    """
    # Runs of no document are none.
    ends = [np.cumsum(each[each > 0]) for each in (lengths, other_lengths)]
    runs = [
        np.searchsorted(of_side, found.places[:, column], side="right")
        for of_side, column in zip(ends, (0, 2), strict=True)
    ]
    if lengths is other_lengths:
        runs = [np.minimum(*runs), np.maximum(*runs)]
    counts = np.zeros([len(each) for each in ends], np.int64)
    np.add.at(counts, tuple(runs), 1)
    return counts


def _is_short(timed: Sequence[tuple[float, float]]) -> bool:
    """Whether a longer trial costs little, or next to nothing beside all of the work."""
    seconds = timed[-1][1]
    return seconds < _TRIAL_SECONDS or (
        seconds < min(_MOST_TRIAL_SECONDS, _TRIAL_SHARE * _expect_seconds(timed).number)
    )


def _expect_seconds(timed: Sequence[tuple[float, float]]) -> Between:
    """Tell from the seconds of some shares of the documents those of all.

    They are between what is told where one of the trials is left out.
    """
    size, seconds = timed[-1]
    if size >= 1:
        return Between(seconds, seconds, seconds)
    last = list(timed[-_FITTED:])
    told = Growth.fit(last).at(1.0)
    others = [Growth.fit(last[:i] + last[i + 1 :]).at(1.0) for i in range(len(last))]
    return Between(told, min(told, *others), max(told, *others))
