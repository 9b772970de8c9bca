"""What a cut of equal passages would take, told from a sample of its input and a trial."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from neardup.files.ids import choose_id_column
from neardup.files.rows import ColumnNames, Source
from neardup.jobs.cut.cut import cut_sources
from neardup.jobs.cut.equal_passages import (
    HASH,
    MEETING,
    MEETING_SHARE,
    N_PARTITIONS,
    PART_BYTES,
    SAMPLES_SHARE,
    TOKENS_SHARE,
    ReadInThreads,
    Tokens,
    cut_equal_passages,
    sample_texts,
)
from neardup.jobs.cut.passages import OfTexts
from neardup.jobs.cut.plan import CutJobPlan
from neardup.passages.repeats import Samples
from neardup.reading.drawn import (
    DrawnBlocks,
    bytes_named,
    count_characters,
    draw_rows,
    packed_bytes,
)
from neardup.reading.signed_batches import numbers_of
from neardup.runs.runner import Runner
from neardup.stages.forecasts import (
    PROCESS,
    Planned,
    Spread,
    StageForecast,
    StagesForecast,
    bytes_without,
    expect_distinct,
)
from neardup.stages.options import other_columns_of
from neardup.tables import Int64s, Uint64s

T = TypeVar("T")

# Bytes of a document whose text is elsewhere; of a sample that is shared; of a passage that goes;
# and of a token with its place.
_DOCUMENT, _SHARED, _GONE, _LOCATED = 60, 30, 130, 24
# Bytes of text that are cut for trial, at first, and twice as many until one takes so long.
_TRIAL_BYTES, _MOST_TRIAL_BYTES, _TRIAL_SECONDS = 1_000_000, 64_000_000, 2.0
# Seconds of one core: a sample that is met; a token of documents that share one, where the trial
# has none of these; a byte of text that is written with something cut out; a span that is.
_MEET, _COMPARE, _CUT, _GO = 0.1e-6, 0.1e-6, 1.5e-9, 0.6e-6
# On Spark: a token of a document that is read again; bytes of what goes,
# and of a token, as they travel.
_HASH_AGAIN, _PACKED, _TOKEN = 0.1e-6, 20, 6


@dataclass(frozen=True)
class _Drawn(DrawnBlocks):
    """Samples of texts that were drawn; ``parts`` are the different ones of blocks.

    ``packed`` are the bytes of their rows as they travel.
    """

    n_samples: int
    packed: int
    parts: list[Uint64s]
    sampling: float


@dataclass
class _Read:
    """What a trial has looked at: samples, how many of them are repeated, and tokens.

    Tokens of documents that were read again are ``compared``, ``rounds`` times in all, and
    ``located`` where some go.
    """

    samples: int = 0
    repeated: int = 0
    tokens: int = 0
    compared: int = 0
    again: int = 0
    located: int = 0

    @property
    def rounds(self) -> float:
        """How often tokens are read that are compared."""
        return self.again / self.compared if self.compared else 1.0


@dataclass(frozen=True)
class _Trial:
    """What a trial has found, and its seconds for a token that is compared, and that is located.

    A passage that goes has ``length`` characters, in the mean.
    """

    read: _Read
    passages: int
    length: float
    comparing: float
    locating: float

    @property
    def repeated_share(self) -> float:
        """The share of the samples that are repeated."""
        return self.read.repeated / self.read.samples if self.read.samples else 0.0

    @property
    def passages_of_each(self) -> float:
        """Passages that go for each sample that is repeated."""
        return self.passages / self.read.repeated if self.read.repeated else 0.0

    def share_of(self, tokens: int, times: float) -> float:
        """Return the share of tokens of such documents where samples are repeated more often.

        Repeats are of any documents, as likely of each: so some have several, and some none.
        """
        share = tokens / self.read.tokens if self.read.tokens else 0.0
        return 1.0 - float((1.0 - min(share, 1.0 - 1e-9)) ** times)


def forecast_equal_passages(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    """Tell what a cut would take of a sample of the documents; some of them are cut for trial."""
    drawn = [_draw(sources, plan.reading.columns, plan, runner)]
    if against:
        drawn.append(_draw(against, other_columns_of(plan.options), plan, runner))
    own = drawn[0]
    trial = _try(drawn, plan, runner)
    tokens = sum(each.tokens for each in drawn)
    samples = sum(each.scaled(each.n_samples) for each in drawn)
    documents = sum(each.rows.n_documents for each in drawn)
    growth = samples / max(1, sum(each.n_samples for each in drawn))
    distinct = expect_distinct([part for each in drawn for part in each.parts], growth)
    repeated = max(0.0, samples - distinct)
    times = 1.0
    if trial.repeated_share:
        times = repeated / max(1.0, samples) / trial.repeated_share
    passages = round(repeated * trial.passages_of_each)
    compared = tokens * trial.share_of(trial.read.compared, times)
    located = tokens * trial.share_of(trial.read.located, times)
    rows = samples * 16
    meeting = MEETING * planned.workers * max(rows / N_PARTITIONS, min(PART_BYTES, rows))
    always = PROCESS + _DOCUMENT * documents
    blocks = max(each.under_way(planned.workers) for each in drawn)
    held = always + planned.within(rows, SAMPLES_SHARE)
    read = planned.spilled(rows, SAMPLES_SHARE)
    cut = read + planned.spilled(8 * compared, TOKENS_SHARE)
    reading, sampling = (
        sum(values)
        for values in zip(
            *((each.rows.reading, each.scaled(each.sampling)) for each in drawn), strict=True
        )
    )
    packed = sum(each.scaled(each.packed) for each in drawn)
    known = _DOCUMENT * documents
    comparing = planned.within(8 * compared, TOKENS_SHARE) + _SHARED * repeated + compared / 8
    going = _GONE * passages
    locating = own.under_way(planned.workers, of_token=_LOCATED) if located else 0.0
    n_files = max(1, len(sources))
    stages = [
        StageForecast(
            "read",
            int(held + blocks),
            read,
            max(reading, (reading + sampling) / planned.workers) + planned.spill_seconds(read),
            "samples of the texts",
            Spread(
                reading, sampling, sent=packed, rows=rows, stored=2 * packed, held=known, jobs=4
            ),
        ),
        StageForecast(
            "cut",
            int(held + max(planned.within(meeting, MEETING_SHARE), blocks) + comparing + going),
            cut,
            samples * _MEET / planned.workers
            + compared * trial.comparing
            + planned.spill_seconds(cut - read),
            "samples that are met, tokens of documents that share one",
            Spread(
                reading=reading * trial.read.rounds,
                work=samples * _MEET + compared * _HASH_AGAIN * trial.read.rounds,
                alone=compared * trial.comparing,
                rows=8 * compared,
                stored=_TOKEN * compared * trial.read.rounds,
                met=MEETING * rows,
                held=known + comparing + going,
                files=planned.spilled(8 * compared, TOKENS_SHARE),
                jobs=4,
            ),
        ),
        StageForecast(
            "locate",
            int(always + locating + 2 * going),
            cut,
            located * trial.locating,
            "documents that lose something, read again",
            Spread(reading, located * trial.locating, held=known + 2 * going, jobs=2),
        ),
        StageForecast(
            "write",
            int(always + own.under_way(planned.workers, of_token=0) + going),
            cut,
            own.rows.reading + own.bytes * _CUT / min(planned.workers, n_files) + passages * _GO,
            "rows without what goes",
            Spread(
                own.rows.reading,
                own.bytes * _CUT,
                passages * _GO,
                passages * _PACKED,
                held=known + going,
                whole=True,
                jobs=2,
            ),
        ),
    ]
    counts = {"samples": round(samples), "passages_that_go": passages}
    gone_bytes = own.bytes_of(passages * trial.length)
    output = bytes_without(sources, own, gone_bytes, passages)
    return StagesForecast.of(drawn, planned, stages, counts, output, sources, against)


def _draw(
    sources: Sequence[Source], columns: ColumnNames, plan: CutJobPlan, runner: Runner
) -> _Drawn:
    """Find the samples of some blocks of a collection, evenly spread."""
    columns = choose_id_column(columns, sources)
    rows = draw_rows(sources, runner)
    parts: list[Uint64s] = []
    text_bytes = largest = n_characters = n_tokens = n_samples = packed = 0
    sampling = 0.0
    with bytes_named(sources, rows):
        for _, block in rows.drawn:
            start = time.thread_time()
            parsed = block.parse(columns, skip_bad=plan.reading.skip_bad)
            sizes, ((batch, _), _) = sample_texts(parsed.text, plan)
            sampling += time.thread_time() - start
            packed += packed_bytes(batch)
            hashes = numbers_of(batch, HASH).astype(np.uint64)
            parts.append(np.unique(hashes))
            text_bytes += parsed.text.nbytes
            largest = max(largest, parsed.text.nbytes)
            n_characters += count_characters(parsed.text)
            n_tokens, n_samples = n_tokens + int(np.maximum(sizes, 0).sum()), n_samples + len(batch)
    return _Drawn(
        rows, text_bytes, largest, n_characters, n_tokens, n_samples, packed, parts, sampling
    )


def _try(drawn: Sequence[_Drawn], plan: CutJobPlan, runner: Runner) -> _Trial:
    """Cut some documents, and twice as many until that takes some time."""
    largest = max(1, *(each.text_bytes for each in drawn))
    n_bytes = _TRIAL_BYTES
    while True:
        own, *others = (each.rows.part(min(1.0, n_bytes / largest)) for each in drawn)
        read = _Read()
        clock, start = time.perf_counter(), time.process_time()
        with Runner(runner.workers) as trial:
            find = partial(cut_equal_passages, read=partial(_Watched, read))
            other = others[0] if others else None
            result = cut_sources(own, other, plan, trial, find=find)
        # On a machine that has something else to do stages take longer.
        passed = max(1e-9, time.perf_counter() - clock)
        busy = min(1.0, (time.process_time() - start) / passed)
        seconds = busy * sum(trial.seconds.values())
        if seconds >= _TRIAL_SECONDS or n_bytes >= min(largest, _MOST_TRIAL_BYTES):
            break
        n_bytes *= 2
    comparing = max(0.0, busy * trial.seconds["cut"] - read.samples * _MEET / runner.workers)
    return _Trial(
        read,
        result.summary["spans"],
        result.summary["characters_removed"] / max(1, result.summary["spans"]),
        comparing / read.compared if read.compared else _COMPARE,
        busy * trial.seconds["locate"] / read.located if read.located else _COMPARE,
    )


class _Watched:
    """Documents that are read in threads: notes what is looked at and what is read again."""

    def __init__(self, read: _Read, *arguments: Any) -> None:
        self._reading, self._read = ReadInThreads(*arguments), read
        self.catalogues, self.n_samples = self._reading.catalogues, self._reading.n_samples
        self._n_tokens = np.concatenate([each.n_tokens for each in self.catalogues])
        read.samples, read.tokens = self.n_samples, int(np.maximum(self._n_tokens, 0).sum())

    def each_part(self, look: Callable[[Samples], T]) -> Iterable[T]:
        """Look at the samples; those of joints are looked for in all once more."""
        repeated: list[int] = []

        def count(samples: Samples) -> T:
            # Sorted, for to find different ones by a table takes longer than all the rest.
            hashes = np.sort(samples.hashes)
            repeated.append(int(np.count_nonzero(hashes[1:] == hashes[:-1])))
            return look(samples)

        yield from self._reading.each_part(count)
        self._read.repeated = sum(repeated)

    def read_again(self, documents: Int64s, function: OfTexts[T]) -> Iterator[T]:
        """Read documents to compare them, or to locate what goes."""
        count = int(self._n_tokens[documents].sum())
        if isinstance(function, Tokens):
            self._read.compared = max(self._read.compared, count)
            self._read.again += count
        else:
            self._read.located += count
        return self._reading.read_again(documents, function)
