"""How long the stages of a deduplication take: by rates of a sample, or once measured."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.jobs.dedup.costs import (
    STAGES,
    Load,
    choose_storage,
    disk_of_stages,
    sorting_passes,
)

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
