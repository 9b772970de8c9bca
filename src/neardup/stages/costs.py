"""What a deduplication takes: memory, disk and time of its stages, by counts of what they have.

Stages have the names that the summary has in ``seconds``. ``docs/how-it-works.md`` lists the same
figures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neardup.matching.bands import Banding, list_choices
from neardup.reading.block_exchange import FILE_TEXT_BYTES
from neardup.reading.drawn import blocks_under_way
from neardup.reading.first_pass import COPIES_BYTES, COPIES_SHARE, SIGNED_SHARE
from neardup.stages.components import (
    KEYS_SHARE,
    PARTITION_SHARE,
    SORTING_BYTES,
    SORTING_SHARE,
    WAITING_SHARE,
)
from neardup.stages.decide import SETS_SHARE, SIGN_SECONDS, SORT_SECONDS
from neardup.stages.forecasts import PROCESS, Spread
from neardup.stages.plan import DedupPlan
from neardup.tables import Int64s, Uint32s

STAGES = ("read", "bucket", "sieve", "compare", "choose", "write")

# Bytes of a document of a block that is worked on beside its columns, and of a token of its text:
# where rows and values begin and end. And the share of what blocks took that stays with allocators,
# so that a later stage has it beside its own. Resident bytes measured on Linux.
_OF_ROW, _OF_TOKEN, _STAYS = 150, 4, 0.75

# Bytes a document of arrays that are in memory whatever the budget. What stays for all stages:
_N_TOKENS, _LENGTHS, _FIRSTS, _RANKS = 8, 8, 8, 8
# What one stage has beside that, at its peak: hashes of ids; parents, and numbers of contents;
# places of candidates; two numbers a content, and what is assigned to documents; and what tables
# are made of.
_ID_HASHES, _PARENTS, _PLACES, _ASSIGNED, _TABLES = 10, 16, 8, 57, 61

# Bytes of a candidate: its number, component and the sorting of both; and while it is compared.
_CANDIDATE = 48


@dataclass(frozen=True)
class Load:
    """What goes through the stages, counted or expected.

    ``signed_bytes``, ``row_bytes`` and ``order_bytes`` are means of a document: all columns that it
    is signed to; what of them goes to a partition if it is a candidate; its value for the order.
    ``text_ratio`` is how much is left of text that is compressed. The ``largest`` block that a
    thread works on has so many bytes of text. ``candidates`` share a bucket
    with another document, ``live`` ones are those that filters leave. ``copies`` come after an
    equal document.
    """

    documents: int
    source_bytes: int
    text_bytes: int
    shingles: int
    signed_bytes: float
    row_bytes: float
    text_ratio: float
    largest: float
    tokens: int
    candidates: int
    live: int
    bands: int
    copies: int = 0
    order_bytes: float = 0.0
    shingle_bytes: int = 8
    has_ids: bool = False
    has_lengths: bool = False
    is_ranked: bool = False

    def of_candidates(self, candidates: int, live: int) -> Load:
        """Return the same with other numbers of candidates."""
        return replace(self, candidates=candidates, live=live)

    @property
    def live_share(self) -> float:
        """The share of the documents whose texts are compared."""
        return self.live / self.documents if self.documents else 0.0


def process_bytes(load: Load, workers: int) -> int:
    """Return what a process takes that works on blocks of the collection."""
    return PROCESS + int(_under_way(load, workers, _OF_TOKEN))


def _under_way(load: Load, workers: int, of_token: float) -> float:
    made = 2 * load.text_bytes + of_token * load.tokens
    made += load.documents * (load.signed_bytes + _OF_ROW)
    return blocks_under_way(load.text_bytes, load.largest, workers, made)


def _process_of_stages(load: Load, workers: int) -> dict[str, int]:
    """Return what the process takes in each stage with its blocks, or what is left of these."""
    blocks = _under_way(load, workers, _OF_TOKEN)
    at_once = min(1.0, 2 * workers * load.largest / load.text_bytes) if load.text_bytes else 1.0
    stays = _STAYS * (1 - at_once) * blocks
    beyond = dict.fromkeys(STAGES, stays)
    beyond |= {"read": blocks, "compare": blocks, "write": stays + _under_way(load, workers, 0)}
    return {stage: PROCESS + int(n_bytes) for stage, n_bytes in beyond.items()}


def held_bytes(load: Load) -> float:
    """Return the bytes a document of arrays that stay in memory from the copies to the choice."""
    return _catalogue_bytes(load) + _FIRSTS + _RANKS * load.is_ranked


def array_bytes(load: Load) -> float:
    """Return the bytes a document of arrays that no budget changes, in the stage of most."""
    return max(arrays_of_stages(load).values())


def signed_bytes(load: Load) -> int:
    """Return the bytes of all signed documents: keys, filters, digests, ids."""
    return int(load.documents * load.signed_bytes)


def keys_bytes(load: Load) -> int:
    """Return the bytes of keys and filters on their way to partitions."""
    return int(load.candidates * load.row_bytes)


def texts_bytes(load: Load) -> int:
    """Return the bytes of the texts that are compared, before they are compressed."""
    return int(load.text_bytes * load.live_share)


def sets_bytes(load: Load) -> int:
    """Return the bytes of the shingle sets that are compared."""
    return int(load.shingle_bytes * load.shingles * load.live_share)


@dataclass(frozen=True)
class Storage:
    """Which rows stay in memory; the others go to files."""

    signed: bool
    keys: bool
    sets: bool

    @property
    def is_memory(self) -> bool:
        """Whether nothing goes to files."""
        return self.signed and self.keys and self.sets


def choose_storage(load: Load, memory: int) -> Storage:
    """Return where rows are put by a run that may take so much memory."""
    signed = signed_bytes(load)
    in_memory = signed <= SIGNED_SHARE * memory
    return Storage(
        signed=in_memory,
        keys=in_memory and signed <= KEYS_SHARE * memory,
        sets=sets_bytes(load) <= SETS_SHARE * memory,
    )


def memory_for_all(load: Load) -> int:
    """Return the least budget with which nothing goes to files."""
    return int(
        max(signed_bytes(load) / min(KEYS_SHARE, SIGNED_SHARE), sets_bytes(load) / SETS_SHARE)
    )


def sorting_passes(load: Load, memory: int, workers: int) -> int:
    """Return how often the keys of a band are gone through, a range after the other."""
    needed = load.documents * SORTING_BYTES * min(workers, load.bands)
    return (
        1 if choose_storage(load, memory).is_memory else int(needed // (SORTING_SHARE * memory)) + 1
    )


def memory_of_stages(load: Load, memory: int, workers: int) -> dict[str, int]:
    """Return the resident bytes of the whole process at the peak of each stage."""
    stored = choose_storage(load, memory)
    n, always = load.documents, arrays_of_stages(load)
    signed = signed_bytes(load) if stored.signed else 0
    signing = min(signed_bytes(load), int(SIGNED_SHARE * memory))
    # Pages of a file that is mapped stay resident while it is read.
    n_mapped = 0 if stored.signed else min(n, _documents_of_file(load))
    mapped = n_mapped * load.row_bytes
    keys = keys_bytes(load) if stored.keys else 0
    waiting = 0 if stored.keys else min(keys_bytes(load), int(WAITING_SHARE * memory))
    sets = sets_bytes(load)
    partitions = min(sets + keys_bytes(load), int(PARTITION_SHARE * memory))
    candidates = _CANDIDATE * load.candidates
    sorting = n * SORTING_BYTES * min(workers, load.bands)
    looking = n * (COPIES_BYTES + 24 * load.is_ranked)
    beyond = {
        "read": max(
            signing,
            signed + n * always["ids"],
            signed + n * always["copies"] + min(looking, COPIES_SHARE * memory),
        )
        + n_mapped * max(0.0, load.signed_bytes - load.row_bytes),
        "bucket": signed
        + n * always["bucket"]
        + max(min(sorting, SORTING_SHARE * memory), mapped + keys + waiting + candidates),
        "sieve": signed
        + n * held_bytes(load)
        + keys
        + candidates
        + min(keys_bytes(load), int(PARTITION_SHARE * memory)),
        "compare": signed
        + n * always["compare"]
        + keys
        + candidates
        + (sets if stored.sets else 2 * min(texts_bytes(load), int(WAITING_SHARE * memory))),
        "choose": signed
        + n * held_bytes(load)
        + keys
        + candidates
        + (sets if stored.sets else partitions),
        "write": signed + n * max(always["assign"], always["write"]),
    }
    process = _process_of_stages(load, workers)
    return {stage: process[stage] + int(beyond[stage]) for stage in STAGES}


def disk_of_stages(load: Load, memory: int) -> dict[str, int]:
    """Return the bytes of temporary files at the end of each stage."""
    stored = choose_storage(load, memory)
    read = 0 if stored.signed else signed_bytes(load)
    bucket = read + (0 if stored.keys else keys_bytes(load))
    sieve = bucket + (24 * load.candidates if bucket else 0)
    compare = sieve + (0 if stored.sets else int(texts_bytes(load) * load.text_ratio))
    return dict(zip(STAGES, (read, bucket, sieve, compare, compare, compare), strict=True))


def _catalogue_bytes(load: Load) -> float:
    return _N_TOKENS + _LENGTHS * load.has_lengths + load.order_bytes


def arrays_of_stages(load: Load) -> dict[str, float]:
    """Return the bytes a document of arrays that no budget changes, at the peaks of the work."""
    catalogue, held = _catalogue_bytes(load), held_bytes(load)
    return {
        # Twice, because blocks are joined.
        "ids": 2 * catalogue + _ID_HASHES * load.has_ids,
        "copies": held,
        "bucket": held + _PARENTS,
        "compare": held + _PLACES,
        "assign": held + _ASSIGNED,
        "write": catalogue + _TABLES,
    }


def _documents_of_file(load: Load) -> int:
    """Return how many signed documents are in a file of a work folder."""
    return int(FILE_TEXT_BYTES / max(1.0, load.text_bytes / max(1, load.documents)))


# How long the stages of a deduplication take: by rates of a sample, or once measured.

# Seconds of one core, measured with two threads of a virtual machine on 1 GB of JSON lines, in
# documents of 3 kB and of 60 bytes: a document whose copies are looked for; a key of a band that is
# sorted, and gone through; a candidate whose pairs are told apart by filters, and one that is
# compared; a byte of the files that is written, and a row of tables; a byte of a temporary file.
_COPY, _SORT, _PASS, _SIEVE, _CHOOSE = 300e-9, 80e-9, 30e-9, 4e-6, 12e-6
_WRITE, _ROW, _SPILL = 3e-9, 0.9e-6, 2e-9

# The share of signing that tokens and shingles are, which texts go through again.
_AGAIN = 0.5

# On Spark: bytes of a document that is looked for among copies, of a key on its way, and of one
# while equal ones meet.
_SENT, _KEY, _MET = 20, 10.6, 100


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


def spread_of_stages(load: Load, rates: Rates, memory: int) -> dict[str, Spread]:
    """Return what each stage is on executors; files are cut into blocks."""
    work = _work(load, rates, memory, 1)
    n, held = load.documents, array_bytes(load) * load.documents
    edges, keys = load.candidates * load.bands, (n - load.copies) * load.bands
    texts = texts_bytes(load) * load.text_ratio

    def spread(stage: str, **more: Any) -> Spread:
        alone, shared = work[stage]
        found = Spread(reading=alone, work=shared, held=held)
        return replace(found, **more)

    return {
        "read": spread("read", sent=n * _SENT, stored=signed_bytes(load), jobs=4),
        # Components are found by the driver, of an edge a candidate and band at most.
        "bucket": spread("bucket", alone=edges * _PASS, sent=keys * _KEY, met=keys * _MET, jobs=2),
        "sieve": spread("sieve", sent=keys_bytes(load), jobs=2),
        "compare": spread("compare", sent=texts),
        "choose": spread("choose", jobs=1),
        "write": Spread(work=work["write"][1], alone=work["write"][0], held=held, jobs=1),
    }


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


# Similarities of all pairs of a sample, and the cheapest bands at a collection's size.

SAMPLE_FUNCTIONS = 256

# Seconds of one core: a pair told apart by filters; an element of a text that is read again; an
# element of a pair that filters leave, which are so many of the false ones.
_SIEVE_SECONDS, _READ_SECONDS, _COMPARE_SECONDS = 150e-9, 20e-9, 3e-9
_LEFT = 0.05

# Numbers of hash functions that are looked at, and how much less work one must be.
_NUM_PERMS = (128, 192, 256, 384, 512, 768, 1024)
_WORTHWHILE = 0.9


@dataclass(frozen=True)
class Similarities:
    """In how many of ``SAMPLE_FUNCTIONS`` hash functions the pairs of some documents agree."""

    n_documents: int
    agreements: Int64s

    @classmethod
    def of(cls, sample: Uint32s) -> Similarities:
        """Compare the signatures of all pairs."""
        agreements: Int64s = np.zeros(SAMPLE_FUNCTIONS + 1, np.int64)
        for i in range(len(sample) - 1):
            agreeing = (sample[i + 1 :] == sample[i]).sum(axis=1)
            agreements += np.bincount(agreeing, minlength=len(agreements))
        return cls(len(sample), agreements)

    def count_similar(self, threshold: float, n_documents: int) -> float:
        """Return how many pairs of so many documents reach a Jaccard similarity."""
        reached = np.arange(len(self.agreements)) / SAMPLE_FUNCTIONS >= threshold
        return float(self.agreements[reached].sum()) * self._scale(n_documents)

    def count_false(self, banding: Banding, threshold: float, n_documents: int) -> float:
        """Return how many pairs of so many documents are candidates below that.

        Of the ways to choose the rows of a band among all functions those count in which the pair
        agrees: the mean is right, however unlike documents are.
        """
        probability = np.zeros(len(self.agreements))
        for agreeing in range(banding.rows, len(self.agreements)):
            if agreeing / SAMPLE_FUNCTIONS < threshold and self.agreements[agreeing]:
                ways = math.comb(agreeing, banding.rows)
                in_a_band = ways / math.comb(SAMPLE_FUNCTIONS, banding.rows)
                probability[agreeing] = -math.expm1(banding.bands * math.log1p(-in_a_band))
        return float((self.agreements * probability).sum()) * self._scale(n_documents)

    def _scale(self, n_documents: int) -> float:
        return (n_documents / self.n_documents) ** 2 if self.n_documents else 0.0


@dataclass(frozen=True)
class BandCost:
    """Bands, and what they make of a collection: false candidates, and seconds of one core.

    ``work_seconds`` are those that depend on the bands.
    """

    num_perm: int
    bands: int
    rows: int
    pairs_false: float
    work_seconds: float


def cost_of_bands(
    banding: Banding, num_perm: int, similarities: Similarities, load: Load, least_jaccard: float
) -> BandCost:
    """Return what bands cost: the signing grows with them, false candidates with the square."""
    n = load.documents
    false = similarities.count_false(banding, least_jaccard, n)
    left = _LEFT * false
    read_again = n * -math.expm1(-2 * left / n) if n else 0.0
    mean = load.shingles / n if n else 0.0
    work = (
        load.shingles * banding.num_perm * SIGN_SECONDS
        + n * banding.bands * SORT_SECONDS
        + false * _SIEVE_SECONDS
        + left * mean * _COMPARE_SECONDS
        + read_again * mean * _READ_SECONDS
    )
    return BandCost(num_perm, banding.bands, banding.rows, false, work)


def compare_bands(
    plan: DedupPlan, similarities: Similarities, load: Load
) -> tuple[BandCost, BandCost | None]:
    """Return what the planned bands cost, and those of more hash functions that cost clearly less.

    None are looked for where bands and rows were given.
    """
    least = plan.measure.least_jaccard
    most = plan.options.num_perm or 128
    planned = cost_of_bands(plan.banding, most, similarities, load, float(least))
    if plan.options.bands is not None or plan.reading.banding is None:
        return planned, None
    larger = [num_perm for num_perm in _NUM_PERMS if num_perm > most]
    others = [
        cost_of_bands(choice.banding, choice.num_perm, similarities, load, float(least))
        for choice in list_choices(least, plan.recall, larger)
    ]
    best = min(others, key=lambda cost: cost.work_seconds, default=planned)
    return planned, best if best.work_seconds < _WORTHWHILE * planned.work_seconds else None
