"""What a job would find and take, told from its options and a sample of its input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from neardup.errors import InvalidParameterError
from neardup.files.ids import choose_id_column
from neardup.files.inputs import check_effect, passed_over
from neardup.files.rows import Source
from neardup.jobs.plan import costs
from neardup.jobs.plan.costs import (
    STAGES,
    BandCost,
    Load,
    choose_storage,
    compare_bands,
    disk_of_stages,
    sorting_passes,
)
from neardup.jobs.plan.sample import Sample, draw_sample
from neardup.runs.runner import Runner
from neardup.stages.plan import DedupPlan

# How long the stages of a deduplication take: by rates of a sample, or once measured.

# Seconds of one core, measured with two threads of a virtual machine on 1 GB of JSON lines, in
# documents of 3 kB and of 60 bytes: a document whose copies are looked for; a key of a band that is
# sorted, and gone through; a candidate whose pairs are told apart by filters, and one that is
# compared; a byte of the files that is written, and a row of tables; a byte of a temporary file.
_COPY, _SORT, _PASS, _SIEVE, _CHOOSE = 300e-9, 80e-9, 30e-9, 4e-6, 12e-6
_WRITE, _ROW, _SPILL = 3e-9, 0.9e-6, 2e-9

# The share of signing that tokens and shingles are, which texts go through again.
_AGAIN = 0.5

# What a session of Spark takes to start, a stage to be scheduled, and its share of processor time:
# as much again for serialisation and the exchange.
_SPARK_START, _SPARK_STAGE, _SPARK_SHARE = 20.0, 1.5, 2.0


@dataclass(frozen=True)
class Rates:
    """Seconds for a collection: all files read by one thread, all documents signed by one core.

    ``n_sources`` files can be written side by side.
    """

    reading: float
    signing: float
    n_sources: int


def seconds_of_stages(load: Load, rates: Rates, memory: int, workers: int) -> dict[str, float]:
    """Return the seconds of each stage on this machine, with so many threads."""
    work = _work(load, rates, memory, workers)
    # One thread reads files; others work on what it has read.
    seconds = {stage: max(alone, (alone + rest) / workers) for stage, (alone, rest) in work.items()}
    table, copied = work["write"]
    seconds["write"] = table + copied / min(workers, max(1, rates.n_sources))
    disk = disk_of_stages(load, memory)
    before = 0
    for stage in STAGES:
        seconds[stage] += _SPILL * (disk[stage] - before)
        before = disk[stage]
    return seconds


def seconds_on_executors(
    load: Load, rates: Rates, memory: int, executors: int, cores: int
) -> dict[str, float]:
    """Return the seconds of each stage on a Spark cluster; files are cut into blocks."""
    n_cores = executors * cores
    work = _work(load, rates, memory, cores)
    seconds = {
        stage: _SPARK_STAGE + _SPARK_SHARE * (alone + rest) / n_cores
        for stage, (alone, rest) in work.items()
    }
    # Components are found by one task, of an edge a candidate and band at most.
    seconds["bucket"] += load.candidates * load.bands * _PASS
    seconds["read"] += _SPARK_START
    return seconds


def _work(load: Load, rates: Rates, memory: int, workers: int) -> dict[str, tuple[float, float]]:
    """Return for each stage the seconds of one core that are one thread's, and those of any."""
    n = load.documents
    again = _AGAIN * rates.signing * load.live_share
    keys = n * load.bands * (_SORT + _PASS * sorting_passes(load, memory, workers))
    choosing = load.live * _CHOOSE + (0.0 if choose_storage(load, memory).sets else again)
    reading_again = rates.reading if load.live else 0.0
    return {
        "read": (rates.reading, rates.signing + n * _COPY),
        "bucket": (0.0, keys),
        "sieve": (0.0, load.candidates * _SIEVE),
        "compare": (reading_again, again),
        "choose": (0.0, choosing),
        "write": (n * _ROW, load.source_bytes * _WRITE),
    }


# Bytes a shingle that an exact join holds in memory, by those of a shingle, plain or weighted.
_EXACT = {8: 30, 16: 48}
# Those of a token of an index that is being built, which is written segment by segment; of a hash
# function of a signature; of a result of any kind, with its id.
_INDEX, _MOST_INDEX, _SIGNATURE, _DOCUMENT = 110, 2_000_000_000, 4, 40
_SKETCH_FUNCTIONS = 128


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
    rates = Rates(
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
        message = f"{name} needs an input of known size, got one of none; name files with documents"
        raise InvalidParameterError(message, name)
    return asked / found


def load_of(
    sample: Sample, sources: Sequence[Source], plan: DedupPlan, growth: float = 1.0
) -> costs.Load:
    """Return what goes through the stages of a collection so many times as large."""
    n, n_sampled = round(sample.n_documents * growth), max(1, sample.n_sampled)
    scale = n / n_sampled
    candidates = sample.candidates.expected(n)
    sizes = [source.size for source in sources]
    text_bytes = int(sample.text_bytes * scale)
    known = sum(size or 0 for size in sizes)
    return costs.Load(
        documents=n,
        source_bytes=text_bytes if None in sizes else int(known * growth),
        text_bytes=text_bytes,
        shingles=int(sample.n_shingles * scale),
        signed_bytes=sample.signed_bytes / n_sampled,
        row_bytes=8 + 8 * plan.banding.bands + sample.filter_bytes / n_sampled,
        text_ratio=sample.text_ratio,
        candidates=candidates,
        live=min(candidates, sample.live.expected(n)),
        bands=plan.banding.bands,
        order_bytes=sample.order_bytes / n_sampled,
        shingle_bytes=16 if plan.reading.weighted else 8,
        has_ids=sample.has_ids,
        has_lengths=plan.reading.with_lengths,
        is_ranked=plan.keep.rule != "first",
    )


def _forecast(
    sample: Sample,
    load: costs.Load,
    rates: Rates,
    plan: DedupPlan,
    resources: Resources,
    passed: dict[str, int],
) -> JobForecast:
    n, memory, workers = load.documents, resources.memory, resources.workers
    of_memory = costs.memory_of_stages(load, memory, workers)
    of_disk = costs.disk_of_stages(load, memory)
    seconds = seconds_of_stages(load, rates, memory, workers)
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
        other_jobs=_other_jobs(load, sample),
        shingle_lengths=[asdict(each) for each in sample.shingle_lengths],
        passed_over=passed,
        growth=1.0,
    )


def _on_executors(load: costs.Load, rates: Rates, resources: Resources) -> dict[str, Any] | None:
    if resources.executors is None:
        return None
    cores = resources.executor_cores
    seconds = seconds_on_executors(load, rates, resources.memory, resources.executors, cores)
    return {
        "executors": resources.executors,
        "executor_cores": cores,
        "exchanged_bytes": costs.signed_bytes(load)
        + costs.keys_bytes(load)
        + int(costs.texts_bytes(load) * load.text_ratio),
        "seconds": sum(seconds.values()),
        "stages": [{"stage": stage, "seconds": each} for stage, each in seconds.items()],
    }


def _cheaper(planned: BandCost, cheaper: BandCost | None) -> dict[str, Any] | None:
    if cheaper is None:
        return None
    return asdict(cheaper) | {"instead_of_work_seconds": planned.work_seconds}


def _other_jobs(load: costs.Load, sample: Sample) -> dict[str, int]:
    """Return the memory of jobs over the same documents that keep everything in memory."""
    n_tokens = sample.n_tokens * load.documents // max(1, sample.n_sampled)
    exact = costs.process_bytes(1) + _EXACT[load.shingle_bytes] * load.shingles
    return {
        "dedup --method exact": exact + int(costs.array_bytes(load) * load.documents),
        "pairs": exact + _DOCUMENT * load.documents,
        "sketch": costs.process_bytes(1)
        + load.documents * (_SIGNATURE * _SKETCH_FUNCTIONS + _DOCUMENT),
        "align": costs.process_bytes(1) + min(_INDEX * n_tokens, _MOST_INDEX),
    }
