"""What a cut of equal paragraphs or lines would take, told from a sample of its input."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.files.ids import as_text, choose_id_column
from neardup.files.inputs import check_effect
from neardup.files.rows import ColumnNames, Source
from neardup.jobs.cut.equal_units import (
    GONE_SHARE,
    N_PARTITIONS,
    SETTLING,
    SETTLING_SHARE,
    UNITS_SHARE,
    list_units,
)
from neardup.jobs.cut.forecast_passages import forecast_equal_passages
from neardup.jobs.cut.forecast_similar import forecast_similar_passages
from neardup.jobs.cut.forecast_units import forecast_similar_units
from neardup.jobs.cut.plan import CutJobPlan
from neardup.reading.drawn import (
    DrawnBlocks,
    bytes_named,
    count_characters,
    draw_rows,
    packed_bytes,
)
from neardup.reading.signed_batches import numbers_of
from neardup.reading.token_pass import LISTED_SHARE
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

# Bytes of a document whose text, and its parts, are elsewhere; of a unit while the places of those
# of a block are found, and of one that goes; and of a batch in a file beside its rows.
_DOCUMENT, _PLACED, _GONE, _BATCH = 60, 120, 48, 600
# A text, the units that are cut out of it, and the room that is made for these. Bytes of a token;
# where sentences go, tokens are put together, and there are again those of any three in a row.
_TEXTS, _TOKEN, _OF_SENTENCES = 3, 8, 40
# Seconds of one core, measured on 250 MB of made-up lines: a unit that is settled, one that goes,
# and a byte of text that is written with something cut out.
_SETTLE, _GO, _CUT = 0.6e-6, 0.6e-6, 9e-9
# A batch that is found in a file; on Spark, what goes and comes to the driver.
_FIND, _TAKE = 0.25e-3, 0.3e-6
# Bytes of what goes as it travels, and of its row of the table.
_PACKED, _WRITTEN = 16, 150


@dataclass(frozen=True)
class _Units(DrawnBlocks):
    """Units of texts that were drawn: sums of them, and digests and characters of each block's.

    ``packed`` are the bytes of their rows as they travel. ``digesting`` are seconds in which one
    core digested them.
    """

    id_bytes: int
    n_units: int
    n_bytes: int
    packed: int
    parts: list[Uint64s]
    lengths: list[Int64s]
    digesting: float

    @property
    def distinct(self) -> float:
        """How many of all units are different."""
        return expect_distinct(list(map(np.unique, self.parts)), self.scaled(1))


def forecast_cut(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    """Tell what a cut would take of a sample of the documents, and of ``against`` if there are any.

    Where trials tell it, some documents of the sample are cut.
    """
    check_effect(plan.options, sources, against)
    if plan.unit == "passages" or plan.units is not None:
        forecast = forecast_similar_units
        if plan.units is None:
            forecast = forecast_similar_passages
            if plan.options.exact:
                forecast = forecast_equal_passages
        return forecast(sources, against, plan, runner, planned)
    own = _draw(sources, plan.reading.columns, plan, runner)
    other = _draw(against, other_columns_of(plan.options), plan, runner)
    units = round(own.scaled(own.n_units) + other.scaled(other.n_units))
    number, length = _gone(own, other, plan)
    gone = round(number)
    return StagesForecast.of(
        [own, other],
        planned,
        _stages(own, other, gone, len(sources), plan, planned),
        {"units": units, "units_that_go": gone},
        bytes_without(sources, own, own.bytes_of(gone * length), gone),
        sources,
        against,
    )


def _draw(
    sources: Sequence[Source], columns: ColumnNames, plan: CutJobPlan, runner: Runner
) -> _Units:
    """Find the units of some blocks of a collection, evenly spread."""
    columns = choose_id_column(columns, sources)
    rows = draw_rows(sources, runner)
    parts: list[Uint64s] = []
    lengths: list[Int64s] = []
    text_bytes = largest = n_characters = n_tokens = id_bytes = n_units = n_bytes = packed = 0
    digesting = 0.0
    with bytes_named(sources, rows):
        for _, block in rows.drawn:
            start = time.thread_time()
            parsed = block.parse(columns, skip_bad=plan.reading.skip_bad)
            sizes, batch = list_units(parsed.text, plan)
            digesting += time.thread_time() - start
            parts.append(numbers_of(batch, "digest_low").astype(np.uint64))
            text_bytes += parsed.text.nbytes
            largest = max(largest, parsed.text.nbytes)
            n_characters += count_characters(parsed.text)
            n_tokens += int(sizes.sum())
            lengths.append(numbers_of(batch, "end") - numbers_of(batch, "start"))
            id_bytes += 0 if parsed.id is None else as_text(parsed.id).nbytes
            n_units, n_bytes = n_units + len(batch), n_bytes + batch.nbytes
            packed += packed_bytes(batch)
    return _Units(
        rows,
        text_bytes,
        largest,
        n_characters,
        n_tokens,
        id_bytes,
        n_units,
        n_bytes,
        packed,
        parts,
        lengths,
        digesting,
    )


def _gone(own: _Units, other: _Units, plan: CutJobPlan) -> tuple[float, float]:
    """Return how many units go, and how many characters each of them, in the mean.

    These are all but one of equal ones, or those that another collection has.
    """
    if not own.n_units:
        return 0.0, 0.0
    units, lengths = np.concatenate(own.parts), np.concatenate(own.lengths)
    if not other.rows.n_documents:
        number = max(0.0, own.scaled(own.n_units) - own.distinct)
        goes = np.ones(len(units), np.bool_)
        goes[np.unique(units, return_index=True)[1]] = False
    else:
        goes = np.isin(units, np.concatenate([np.empty(0, np.uint64), *other.parts]))
        # What is not in the sample of the other collection may be in the rest of it.
        share = min(1.0, float(goes.mean()) / other.rows.share) if other.n_units else 0.0
        number = share * own.scaled(own.n_units)
    length = float(lengths[goes].mean() if goes.any() else lengths.mean())
    # Of sentences in a row that go each is in three spans.
    return number, length / 3 if plan.unit == "sentences" else length


def _stages(
    own: _Units, other: _Units, gone: int, n_sources: int, plan: CutJobPlan, planned: Planned
) -> list[StageForecast]:
    both = (own, other)
    units = sum(each.scaled(each.n_units) for each in both)
    n_bytes = sum(each.scaled(each.n_bytes) for each in both)
    ids = sum(each.scaled(each.id_bytes) for each in both)
    gone_bytes = gone * _GONE
    packed = sum(each.scaled(each.packed) for each in both)
    known = _DOCUMENT * sum(each.rows.n_documents for each in both)
    always = PROCESS + known
    blocks = max(
        each.under_way(
            planned.workers,
            texts=_TEXTS,
            of_token=_OF_SENTENCES if plan.unit == "sentences" else _TOKEN,
            more=_PLACED * each.scaled(each.n_units),
        )
        for each in both
    )
    held = always + planned.within(n_bytes, UNITS_SHARE)
    settling = SETTLING * planned.workers * n_bytes / N_PARTITIONS
    read, n_batches = planned.spilled(n_bytes, UNITS_SHARE), 0
    if read:
        n_batches = N_PARTITIONS * round(n_bytes / (UNITS_SHARE * planned.memory) + 1)
        # Once units are in files, what is known of their documents is, too.
        read += n_batches * _BATCH + int(ids)
    cut = read + planned.spilled(gone_bytes, GONE_SHARE)
    reading, digesting = (
        sum(values)
        for values in zip(
            *((each.rows.reading, each.scaled(each.digesting)) for each in both), strict=True
        )
    )
    writing = own.bytes * _CUT
    goes = planned.within(gone_bytes, GONE_SHARE)
    settled = units * _SETTLE + gone * _GO
    return [
        StageForecast(
            "read",
            int(held + blocks + planned.within(ids, LISTED_SHARE)),
            read,
            max(reading, (reading + digesting) / planned.workers) + planned.spill_seconds(read),
            "digests and places of units, ids",
            Spread(
                reading=reading,
                work=digesting,
                stored=packed,
                held=known + planned.within(ids, LISTED_SHARE),
                files=planned.spilled(ids, LISTED_SHARE),
                jobs=2,
            ),
        ),
        StageForecast(
            "cut",
            int(held + planned.within(settling, SETTLING_SHARE) + goes),
            cut,
            (settled + n_batches * _FIND) / planned.workers + planned.spill_seconds(cut - read),
            "a partition's units a thread, and what goes",
            Spread(
                work=settled,
                alone=gone * _TAKE,
                sent=packed,
                rows=n_bytes,
                stored=gone * _PACKED,
                met=SETTLING * n_bytes,
                held=known + goes + gone * _WRITTEN,
                files=planned.spilled(gone_bytes, GONE_SHARE),
                jobs=2,
            ),
        ),
        StageForecast(
            "write",
            int(always + own.under_way(planned.workers, of_token=0) + goes),
            cut,
            own.rows.reading + writing / min(planned.workers, max(1, n_sources)) + gone * _GO,
            "rows without what goes",
            Spread(
                reading=own.rows.reading,
                work=writing,
                alone=gone * _GO,
                sent=gone * _PACKED,
                held=known + goes + gone * _WRITTEN,
                files=planned.spilled(gone_bytes, GONE_SHARE),
                whole=True,
            ),
        ),
    ]
