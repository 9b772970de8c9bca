"""What a cut of similar paragraphs or lines would take: as much as they do as documents."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from neardup.files.ids import choose_id_column
from neardup.files.memory import MemorySource
from neardup.files.rows import Source
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans
from neardup.jobs.cut.units import (
    LISTED_SHARE,
    RANK,
    TEXT,
    cut_units,
    find_units,
    plan_of_units,
)
from neardup.reading.drawn import DrawnBlocks, DrawnRows, bytes_named, count_characters, draw_rows
from neardup.runs.runner import Runner
from neardup.runs.work import WorkFolder, Workspace
from neardup.stages import costs
from neardup.stages.forecasts import (
    PROCESS,
    Growth,
    Planned,
    Spread,
    StageForecast,
    StagesForecast,
    bytes_without,
)
from neardup.stages.sample import load_of, sign_sample
from neardup.tables import Texts

# Bytes of a document, of a unit while the places of those of a block are found, of where it is, and
# of one that goes: in memory, and as it travels.
_DOCUMENT, _PLACED, _LISTED, _GONE, _PACKED = 60, 120, 48, 120, 25
# Seconds of one core: a byte of text that is written with something cut out, and a unit that goes.
_CUT, _GO = 9e-9, 0.6e-6
# Bytes of text that are cut for trial, and as many units as may be left where all have gone.
_TRIAL_BYTES, _LEAST_KEPT = 32_000_000, 1e-3
_DECIDING = ("bucket", "sieve", "compare", "choose")


@dataclass(frozen=True)
class _Units(DrawnBlocks):
    """Units of texts that were drawn, as documents; one core found them in so many seconds."""

    units: DrawnRows
    sources: list[Source]
    finding: float

    @property
    def number(self) -> float:
        """Units of all documents."""
        return float(self.units.n_documents)


def forecast_similar_units(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    """Tell what a cut would take of a sample of the documents; some of them are cut for trial.

    Units go as documents go, and so do their figures. Of ``against`` there is nothing: what is
    compared with it is equal.
    """
    how = plan_of_units(plan)
    own = _draw(sources, plan, runner)
    sample = sign_sample(own.units, how)
    load = load_of(sample, own.sources, how)
    load = replace(load, source_bytes=0, text_bytes=round(load.text_bytes))
    n_files = max(1, len(sources))
    signing = sample.signing * load.documents / max(1, sample.n_sampled)
    rates = costs.Rates(own.rows.reading, signing, n_files)
    share, length = _try(own, plan, runner, planned)
    similar = (1 - sample.copies) * share
    gone = round(own.number * (sample.copies + similar))
    memory = costs.memory_of_stages(load, planned.memory, planned.workers)
    disk = costs.disk_of_stages(load, planned.memory)
    seconds = costs.seconds_of_stages(load, rates, planned.memory, planned.workers)
    known = _DOCUMENT * own.rows.n_documents
    places = planned.within(_LISTED * own.number, LISTED_SHARE)
    files = planned.spilled(_LISTED * own.number, LISTED_SHARE)
    always, going, finding = known + places, _GONE * gone, own.scaled(own.finding)
    reading = own.rows.reading
    # Those of documents, beside those of their units.
    blocks = own.under_way(planned.workers, texts=1, of_token=0, more=_PLACED * own.number)
    spreads = costs.spread_of_stages(load, rates, planned.memory)
    stages = [
        StageForecast(
            "read",
            memory["read"] + int(always + blocks),
            disk["read"] + files,
            max(reading, (reading + finding) / planned.workers) + seconds["read"],
            "where units are, and what they are compared by",
            replace(
                spreads["read"],
                work=spreads["read"].work + finding,
                held=spreads["read"].held + always,
                files=files,
            ),
        ),
        StageForecast(
            "cut",
            max(memory[stage] for stage in _DECIDING) + always + going,
            max(disk[stage] for stage in _DECIDING) + files,
            sum(seconds[stage] for stage in _DECIDING),
            "units that share a bucket, compared",
            replace(
                Spread.total([spreads[stage] for stage in _DECIDING]),
                held=spreads["bucket"].held + always + going,
                files=files,
            ),
        ),
        StageForecast(
            "write",
            PROCESS + int(always + going + own.under_way(planned.workers, of_token=0)),
            files,
            reading + own.bytes * _CUT / min(planned.workers, n_files) + gone * _GO,
            "rows without what goes",
            Spread(
                reading,
                own.bytes * _CUT,
                gone * _GO,
                gone * _PACKED,
                held=always + going,
                files=files,
                whole=True,
                jobs=2,
            ),
        ),
    ]
    counts = {"units": round(own.number), "units_that_go": gone}
    output = bytes_without(sources, own, gone * length, gone)
    return StagesForecast.of([own], planned, stages, counts, output, sources, against)


def _draw(sources: Sequence[Source], plan: CutJobPlan, runner: Runner) -> _Units:
    """Find the units of some blocks of a collection, evenly spread, as documents."""
    columns = choose_id_column(plan.reading.columns, sources)
    rows = draw_rows(sources, runner)
    found: list[Source] = []
    text_bytes = largest = n_characters = n_tokens = n_units = n_documents = 0
    finding = 0.0
    with bytes_named(sources, rows):
        for _, block in rows.drawn:
            start = time.thread_time()
            texts = block.parse(columns, skip_bad=plan.reading.skip_bad).text
            sizes, units, _, _ = find_units(texts, plan)
            cut_out = Texts.from_arrow(texts).parts(
                units.documents, units.first_bytes, units.last_bytes
            )
            finding += time.thread_time() - start
            columns_of_units = {TEXT: cut_out.to_arrow(), RANK: n_documents + units.documents}
            if len(units):
                found.append(MemorySource(pa.table(columns_of_units)))
            text_bytes += texts.nbytes
            largest = max(largest, texts.nbytes)
            n_tokens += int(sizes.sum())
            n_characters += count_characters(texts)
            n_units, n_documents = n_units + len(units), n_documents + len(texts)
    drawn = [(source, block) for source in found for block in source.blocks()]
    number = round(n_units / rows.share) if rows.share else 0
    units_drawn = DrawnRows(drawn, number, rows.is_counted, rows.reading)
    return _Units(rows, text_bytes, largest, n_characters, n_tokens, units_drawn, found, finding)


def _try(own: _Units, plan: CutJobPlan, runner: Runner, planned: Planned) -> tuple[float, float]:
    """Return the share of unequal units that go for a similar one, by cuts of some documents.

    And how many bytes those are that go, in the mean.
    """
    share = min(1.0, _TRIAL_BYTES / max(1, own.text_bytes))
    n_units = sum(len(block) for _, block in own.units.drawn)
    gone = [(0.0, 0.0)]
    for part in (share / 2, share):
        room = Workspace(planned.memory, WorkFolder.temporary())
        with Runner(runner.workers) as trial, room:
            _, _, spans, _ = cut_units(own.rows.part(part), (), plan, room, trial)
        assert isinstance(spans, CutSpans)
        length = float((spans.stops - spans.starts).mean()) if len(spans) else 0.0
        n_similar = int((spans.similarities < 1).sum())
        kept = 1 - n_similar / max(1.0, part * n_units - (len(spans) - n_similar))
        size = part * own.rows.share
        gone.append((size, size * -float(np.log(max(kept, _LEAST_KEPT)))))
    # A unit goes if any is there that is like it: near it, or among the others.
    share = 1 - float(np.exp(-Growth.of(*gone[-2:]).at(1.0)))
    return share, length * own.text_bytes / max(1, own.n_characters)
