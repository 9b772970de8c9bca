"""What a job would find and take, told from its options and a sample of its input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from neardup.errors import InvalidParameterError
from neardup.files.ids import choose_id_column
from neardup.files.inputs import check_effect, passed_over
from neardup.files.rows import Source
from neardup.runs.runner import Runner
from neardup.stages import costs
from neardup.stages.costs import (
    BandCost,
    compare_bands,
)
from neardup.stages.forecasts import PROCESS, Executors, StageForecast
from neardup.stages.plan import DedupPlan
from neardup.stages.sample import Sample, draw_sample, load_of

# Bytes a shingle that an exact join holds in memory, by those of a shingle, plain or weighted.
_EXACT = {8: 30, 16: 48}
# Those of a token of an index that is being built, which is written segment by segment; of a hash
# function of a signature; of a result of any kind, with its id.
_INDEX, _MOST_INDEX, _SIGNATURE, _DOCUMENT = 110, 2_000_000_000, 4, 40
_SKETCH_FUNCTIONS = 128
# Memory of a task on Spark, which no session tells here.
_TASK_MEMORY = 512 << 20


@dataclass(frozen=True)
class Resources:
    """What a job may use: memory for what is beyond the process, threads, executors if any."""

    memory: int
    workers: int
    executors: int | None = None
    executor_cores: int = 4


@dataclass(frozen=True)
class Planned:
    """The size of the collection that a sample stands for; None: it is all."""

    documents: int | None = None
    source_bytes: int | None = None


@dataclass(frozen=True)
class JobForecast:
    """Figures for a collection, scaled up from a sample.

    ``documents_counted`` says whether the documents of INPUT were counted, or estimated from those
    that begin where it was read. ``pairs_similar`` and ``pairs_false`` are expected numbers of
    pairs of documents at or above the threshold, and of candidate pairs below it; both rest on the
    pairs of ``sample_documents`` documents and say nothing about rarer ones. ``candidates`` and
    ``compared_documents`` are those that share a bucket with another, and those that filters leave.
    Memory is that of the whole process: ``memory_bytes`` at the expected numbers,
    ``memory_at_most_bytes`` if every document has a near-duplicate; ``memory_limit_bytes`` is the
    budget beyond the process, and ``memory_needed_bytes`` the least with which nothing goes to
    files. ``temporary_bytes`` are these files, ``disk_bytes`` the output. ``other_jobs`` is the
    memory of jobs that keep everything in it. ``shingle_lengths`` compares numbers of tokens in a
    shingle on a few hundred documents. ``passed_over`` counts files of folders that were not read,
    by ending. ``growth`` is how many times as large as INPUT the planned collection is.
    """

    documents: int
    documents_counted: bool
    text_bytes: int
    sample_documents: int
    pairs_similar: float
    pairs_false: float
    candidates: int
    compared_documents: int
    fits_in_memory: bool
    memory_bytes: int
    memory_at_most_bytes: int
    memory_limit_bytes: int
    memory_needed_bytes: int
    array_bytes_per_document: float
    signed_bytes_per_document: float
    temporary_bytes: int
    disk_bytes: int
    seconds: float
    stages: list[dict[str, Any]]
    on_executors: dict[str, Any] | None
    cheaper_bands: dict[str, Any] | None
    other_jobs: dict[str, int]
    shingle_lengths: list[dict[str, Any]]
    passed_over: dict[str, int]
    growth: float

    @property
    def similar_to_each(self) -> float:
        """Expected number of similar documents of each one, in the mean."""
        return 2 * self.pairs_similar / max(1, self.documents)


def forecast_job(
    sources: Sequence[Source],
    plan: DedupPlan,
    runner: Runner,
    resources: Resources,
    planned: Planned | None = None,
) -> JobForecast:
    """Sign a few blocks of a collection, evenly spread, and scale up.

    Of large files that can be read anywhere only these blocks are read; all others are read once,
    as a whole.
    """
    check_effect(plan.options, sources)
    columns = choose_id_column(plan.reading.columns, sources)
    plan = replace(plan, reading=replace(plan.reading, columns=columns))
    sample = draw_sample(sources, plan, runner)
    growth = _growth(sample, sources, planned or Planned())
    load = load_of(sample, sources, plan, growth)
    rates = costs.Rates(
        reading=sample.reading * growth,
        signing=sample.signing * load.documents / max(1, sample.n_sampled),
        n_sources=round(len(sources) * max(1.0, growth)),
    )
    found = _forecast(sample, load, rates, plan, resources, passed_over(sources))
    return replace(found, growth=growth)


def _growth(sample: Sample, sources: Sequence[Source], planned: Planned) -> float:
    """Return how many times as large the planned collection is."""
    if planned.documents is not None:
        asked, found, name = planned.documents, sample.n_documents, "documents"
    elif planned.source_bytes is not None:
        asked, found = planned.source_bytes, sum(source.size or 0 for source in sources)
        name = "input_size"
    else:
        return 1.0
    if not found:
        message = f"{name} needs an input of known size, got one of none; name files that have rows"
        raise InvalidParameterError(message, name)
    return asked / found


def _forecast(
    sample: Sample,
    load: costs.Load,
    rates: costs.Rates,
    plan: DedupPlan,
    resources: Resources,
    passed: dict[str, int],
) -> JobForecast:
    n, memory, workers = load.documents, resources.memory, resources.workers
    of_memory = costs.memory_of_stages(load, memory, workers)
    of_disk = costs.disk_of_stages(load, memory)
    seconds = costs.seconds_of_stages(load, rates, memory, workers)
    all_similar = load.of_candidates(n, n)
    band_cost, cheaper = compare_bands(plan, sample.similarities, load)
    least = float(plan.measure.least_jaccard)
    return JobForecast(
        documents=n,
        documents_counted=sample.is_counted,
        text_bytes=load.text_bytes,
        sample_documents=sample.similarities.n_documents,
        pairs_similar=sample.similarities.count_similar(least, n),
        pairs_false=band_cost.pairs_false,
        candidates=load.candidates,
        compared_documents=load.live,
        fits_in_memory=costs.choose_storage(load, memory).is_memory,
        memory_bytes=max(of_memory.values()),
        memory_at_most_bytes=max(costs.memory_of_stages(all_similar, memory, workers).values()),
        memory_limit_bytes=memory,
        memory_needed_bytes=costs.memory_for_all(load),
        array_bytes_per_document=costs.array_bytes(load),
        signed_bytes_per_document=load.signed_bytes,
        temporary_bytes=max(of_disk.values()),
        disk_bytes=load.source_bytes + int(n * sample.table_bytes),
        seconds=sum(seconds.values()),
        stages=[
            {
                "stage": stage,
                "memory_bytes": of_memory[stage],
                "temporary_bytes": of_disk[stage],
                "seconds": seconds[stage],
            }
            for stage in costs.STAGES
        ],
        on_executors=_on_executors(load, rates, resources),
        cheaper_bands=_cheaper(band_cost, cheaper),
        other_jobs=_other_jobs(load, sample, workers),
        shingle_lengths=[asdict(each) for each in sample.shingle_lengths],
        passed_over=passed,
        growth=1.0,
    )


def _on_executors(
    load: costs.Load, rates: costs.Rates, resources: Resources
) -> dict[str, Any] | None:
    if resources.executors is None:
        return None
    cores = resources.executor_cores
    n_slots = resources.executors * cores
    executors = Executors(n_slots, _TASK_MEMORY, n_slots)
    stages = [
        StageForecast(stage, 0, 0, 0.0, "", spread)
        for stage, spread in costs.spread_of_stages(load, rates, resources.memory).items()
    ]
    told = executors.spread(stages)
    return {
        "executors": resources.executors,
        "executor_cores": cores,
        "exchanged_bytes": told[-1].exchanged_bytes,
        "memory_bytes": max(each.memory_bytes for each in told),
        "seconds": sum(each.seconds for each in told),
        "stages": [{"stage": each.stage, "seconds": each.seconds} for each in told],
    }


def _cheaper(planned: BandCost, cheaper: BandCost | None) -> dict[str, Any] | None:
    if cheaper is None:
        return None
    return asdict(cheaper) | {"instead_of_work_seconds": planned.work_seconds}


def _other_jobs(load: costs.Load, sample: Sample, workers: int) -> dict[str, int]:
    """Return the memory of jobs over the same documents that keep everything in memory."""
    process = costs.process_bytes(load, workers)
    # Sets are made of blocks, and joined when all are there.
    exact = max(
        process + load.shingle_bytes * load.shingles,
        PROCESS + _EXACT[load.shingle_bytes] * load.shingles,
    )
    return {
        "dedup --method exact": exact + int(costs.array_bytes(load) * load.documents),
        "pairs": exact + _DOCUMENT * load.documents,
        "sketch": process + load.documents * (_SIGNATURE * _SKETCH_FUNCTIONS + _DOCUMENT),
        "align": process + min(_INDEX * load.tokens, _MOST_INDEX),
    }
