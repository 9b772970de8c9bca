"""What an alignment would take, told from a sample of its input."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.files.inputs import check_effect
from neardup.files.rows import Source
from neardup.jobs.align.align import align_collections
from neardup.jobs.align.other import NewDocuments, Other
from neardup.options.passages import AlignOptions
from neardup.passages.additions import BYTES_OF_TOKEN
from neardup.passages.align import make_window_scheme
from neardup.passages.index_size import INDEX_SECONDS, OF_QUERY, expect_index
from neardup.passages.lookup import FILES_SHARE, QUERIES_SHARE, SEARCH_SHARE, WAITING_SHARE
from neardup.reading.drawn import DrawnTokens, draw_tokens
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.stages.forecasts import (
    Growth,
    Planned,
    PowerLaw,
    Spread,
    StageForecast,
    StagesForecast,
    expect_distinct,
)
from neardup.stages.options import columns_of

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
# one core.
_TRIAL_BYTES, _MOST_TRIAL_BYTES, _TRIAL_SECONDS = 250_000, 32_000_000, 3.0
# So many trials tell how time grows.
_TIMED = 3


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
    trial = _try(queries, indexed, other, options, runner)
    documents = sum(each.rows.n_documents for each in drawn)
    passages, hits = (round(each.at(1.0)) for each in (trial.passages, trial.hits))
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
            (trial.seconds.at(1.0) + index.ready_seconds(queries.tokens)) / planned.workers,
            "segments that are searched, and what is looked up",
            _look_up_on_executors(drawn, trial.seconds.at(1.0), searched, passages, planned),
        ),
    ]
    counts = {"tokens": round(sum(each.tokens for each in drawn)), "passages": passages}
    return StagesForecast.of(drawn, planned, stages, counts, passages * _ROW, sources, others)


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
    """What alignments of some documents have found, and seconds of one core, the index apart.

    All grow with the share of the documents that is aligned.
    """

    hits: Growth
    passages: Growth
    seconds: PowerLaw


def _try(
    queries: DrawnTokens,
    indexed: DrawnTokens,
    other: NewDocuments,
    options: AlignOptions,
    runner: Runner,
) -> _Trial:
    """Align some documents with some of the other ones, and half of these with half of those."""
    largest = max(1, queries.text_bytes, indexed.text_bytes)
    n_bytes, found, seconds = _TRIAL_BYTES // 2, list[tuple[float, int, int, float]](), 0.0
    while len(found) < _TIMED or (
        seconds < _TRIAL_SECONDS and n_bytes < min(largest, _MOST_TRIAL_BYTES)
    ):
        n_bytes *= 2
        # Of few bytes all are aligned, and a half and a quarter of them.
        share = min(0.5 ** (_TIMED - 1 - len(found)), 1.0, n_bytes / largest)
        sources = queries.rows.part(share)
        others = sources if other.is_input else indexed.rows.part(share)
        part = replace(other, sources=others)
        if not found:
            # What is loaded for the first one is no work of the documents.
            align_collections(sources, part, options, IN_MEMORY, runner)
        clock, start = time.perf_counter(), time.process_time()
        with Runner(runner.workers) as trial:
            result = align_collections(sources, part, options, IN_MEMORY, trial)
        seconds = time.process_time() - start
        share_of_stage = trial.seconds["align"] / (time.perf_counter() - clock)
        # Numbers grow with those of either collection.
        size = share * float(np.sqrt(queries.rows.share * indexed.rows.share))
        # What an index takes to be made is told by itself.
        hits, passages = result.summary["hits"], result.summary["passages"]
        found.append((size, hits, passages, share_of_stage * seconds))
    (n, some_hits, some, _), (n_more, more_hits, more_passages, _) = found[-2:]
    return _Trial(
        Growth.of((n, some_hits), (n_more, more_hits)),
        Growth.of((n, some), (n_more, more_passages)),
        PowerLaw.of([(size, spent) for size, _, _, spent in found[-_TIMED:]]),
    )
