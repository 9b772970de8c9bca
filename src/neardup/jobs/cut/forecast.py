"""What a cut of equal paragraphs or lines would take, told from a sample of its input."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.files.ids import as_text, choose_id_column
from neardup.files.inputs import check_effect, passed_over
from neardup.files.rows import ColumnNames, Source
from neardup.jobs.cut.equal_units import (
    _GONE_SHARE,
    _SETTLING,
    _SETTLING_SHARE,
    _UNITS_SHARE,
    N_PARTITIONS,
    list_units,
)
from neardup.jobs.cut.forecast_passages import forecast_equal_passages
from neardup.jobs.cut.forecast_similar import forecast_similar_passages
from neardup.jobs.cut.plan import CutJobPlan
from neardup.reading.drawn import bytes_named, draw_rows
from neardup.reading.signed_batches import numbers_of
from neardup.reading.token_pass import _LISTED_SHARE
from neardup.runs.runner import Runner
from neardup.stages.forecasts import (
    Planned,
    StageForecast,
    StagesForecast,
    expect_distinct,
    source_bytes,
)
from neardup.stages.options import other_columns_of
from neardup.tables import Uint64s

# Bytes of a thread with its block; of a document whose text, and its parts, are elsewhere; of a
# unit that goes; and of a batch in a file beside its rows.
_THREAD, _DOCUMENT, _GONE, _BATCH = 90_000_000, 60, 48, 600
# Kernels, and what the tables are written with.
_KERNELS = 20_000_000
# Seconds of one core, measured on 250 MB of made-up lines: a unit that is settled, one that goes,
# and a byte of text that is written with something cut out.
_SETTLE, _GO, _CUT = 0.6e-6, 0.6e-6, 9e-9
# A batch that is found in a file.
_FIND = 0.25e-3


@dataclass(frozen=True)
class _Units:
    """Units of a collection: sums of a sample, that is so large a share of it.

    ``parts`` are the digests of each of its blocks. ``reading`` are seconds in which one
    thread reads all files, ``digesting`` those in which one core digested the sample.
    """

    documents: int
    is_counted: bool
    share: float
    sampled: int
    text_bytes: int
    id_bytes: int
    n_units: int
    n_bytes: int
    parts: list[Uint64s]
    reading: float
    digesting: float

    def scaled(self, value: float) -> float:
        return value / self.share if self.share else 0.0

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

    Raises
    ------
    InvalidParameterError
        For a cut of which no forecast is made, that of similar paragraphs or lines.
    """
    if plan.units is not None:
        message = (
            "plan tells of passages, and of paragraphs or lines that are equal, not similar; set "
            "exact, or leave out plan"
        )
        raise InvalidParameterError(message, "plan", "exact")
    check_effect(plan.options, sources, against)
    if plan.unit == "passages":
        forecast = forecast_equal_passages if plan.options.exact else forecast_similar_passages
        return forecast(sources, against, plan, runner, planned)
    own = _draw(sources, plan.reading.columns, plan, runner)
    other = _draw(against, other_columns_of(plan.options), plan, runner)
    units = round(own.scaled(own.n_units) + other.scaled(other.n_units))
    gone = round(_gone(own, other))
    return StagesForecast(
        documents=own.documents,
        documents_counted=own.is_counted and other.is_counted,
        sample_documents=own.sampled,
        text_bytes=round(own.scaled(own.text_bytes)),
        memory_limit_bytes=planned.memory,
        disk_bytes=source_bytes(sources, round(own.scaled(own.text_bytes))),
        counts={"units": units, "units_that_go": gone},
        stages=_stages(own, other, gone, len(sources), planned),
        passed_over=passed_over(sources, against),
    )


def _draw(
    sources: Sequence[Source], columns: ColumnNames, plan: CutJobPlan, runner: Runner
) -> _Units:
    """Find the units of some blocks of a collection, evenly spread."""
    columns = choose_id_column(columns, sources)
    rows = draw_rows(sources, runner)
    parts: list[Uint64s] = []
    text_bytes = id_bytes = n_units = n_bytes = 0
    start = time.perf_counter()
    with bytes_named(sources, rows):
        for _, block in rows.drawn:
            parsed = block.parse(columns, skip_bad=plan.reading.skip_bad)
            _, batch = list_units(parsed.text, plan)
            parts.append(numbers_of(batch, "digest_low").astype(np.uint64))
            text_bytes += parsed.text.nbytes
            id_bytes += 0 if parsed.id is None else as_text(parsed.id).nbytes
            n_units, n_bytes = n_units + len(batch), n_bytes + batch.nbytes
    sampled = sum(len(block) for _, block in rows.drawn)
    return _Units(
        documents=rows.n_documents,
        is_counted=rows.is_counted,
        share=rows.share,
        sampled=sampled,
        text_bytes=text_bytes,
        id_bytes=id_bytes,
        n_units=n_units,
        n_bytes=n_bytes,
        parts=parts,
        reading=rows.reading,
        digesting=time.perf_counter() - start,
    )


def _gone(own: _Units, other: _Units) -> float:
    """Return how many units go: all but one of equal ones, or those that another collection has."""
    if not other.documents:
        return max(0.0, own.scaled(own.n_units) - own.distinct)
    if not own.n_units or not other.n_units:
        return 0.0
    there = np.unique(np.concatenate(other.parts))
    n_found = sum(int(np.isin(part, there).sum()) for part in own.parts)
    # What is not in the sample of the other collection may be in the rest of it.
    found_share = min(1.0, n_found / own.n_units / other.share)
    return found_share * own.scaled(own.n_units)


def _stages(
    own: _Units, other: _Units, gone: int, n_sources: int, planned: Planned
) -> list[StageForecast]:
    both = (own, other)
    units = sum(each.scaled(each.n_units) for each in both)
    n_bytes = sum(each.scaled(each.n_bytes) for each in both)
    ids = sum(each.scaled(each.id_bytes) for each in both)
    gone_bytes = gone * _GONE
    always = (
        planned.process_bytes(_THREAD) + _KERNELS + _DOCUMENT * sum(each.documents for each in both)
    )
    held = always + planned.within(n_bytes, _UNITS_SHARE)
    settling = _SETTLING * planned.workers * n_bytes / N_PARTITIONS
    read, n_batches = planned.spilled(n_bytes, _UNITS_SHARE), 0
    if read:
        n_batches = N_PARTITIONS * round(n_bytes / (_UNITS_SHARE * planned.memory) + 1)
        # Once units are in files, what is known of their documents is, too.
        read += n_batches * _BATCH + int(ids)
    cut = read + planned.spilled(gone_bytes, _GONE_SHARE)
    reading, digesting = (
        sum(values)
        for values in zip(
            *((each.reading, each.scaled(each.digesting)) for each in both), strict=True
        )
    )
    writing = own.scaled(own.text_bytes) * _CUT
    return [
        StageForecast(
            "read",
            int(held + planned.within(ids, _LISTED_SHARE)),
            read,
            max(reading, (reading + digesting) / planned.workers) + planned.spill_seconds(read),
            "digests and places of units, ids",
        ),
        StageForecast(
            "cut",
            int(
                held
                + planned.within(settling, _SETTLING_SHARE)
                + planned.within(gone_bytes, _GONE_SHARE)
            ),
            cut,
            (units * _SETTLE + gone * _GO + n_batches * _FIND) / planned.workers
            + planned.spill_seconds(cut - read),
            "a partition's units a thread, and what goes",
        ),
        StageForecast(
            "write",
            int(always + planned.within(gone_bytes, _GONE_SHARE)),
            cut,
            own.reading + writing / min(planned.workers, max(1, n_sources)) + gone * _GO,
            "rows without what goes",
        ),
    ]
