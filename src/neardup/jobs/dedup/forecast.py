"""What a job would find and take, told from its options and a sample of its input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.files.input_options import check_effect
from neardup.files.inputs import passed_over
from neardup.files.passes import ReadingPass
from neardup.files.rows import RowBlock, Source
from neardup.jobs.dedup.plan import DedupPlan
from neardup.matching.bands import Banding
from neardup.reading.frequencies import block_frequencies, with_frequencies
from neardup.reading.plan import ReadingPlan
from neardup.reading.sign import sign_block
from neardup.runtime.job_kernels import KERNELS_OF
from neardup.runtime.runner import Runner
from neardup.sketches.minhash import MinHashScheme, minhash_signatures
from neardup.sketches.weighted_minhash import WeightedMinHashScheme, weighted_signatures
from neardup.tables import Floats, Int64s, Texts, Uint32s
from neardup.text.shingles import shingle_lists
from neardup.text.weighted_sets import weighted_sets
from neardup.text.weighting import count_documents

# Documents compared with each other to learn how similar unrelated ones are.
SAMPLE_DOCUMENTS = 1500
_SAMPLE_FUNCTIONS = 256

# What a run takes before the first document: interpreter, Arrow, Numba, kernels, character tables.
_BASE_BYTES = 200_000_000

# Blocks that wait or are worked on for each thread, as they are on disk and parsed.
_WORKER_BYTES = 50_000_000


@dataclass(frozen=True)
class JobForecast:
    """Figures for a collection, scaled up from a sample.

    ``pairs_similar`` and ``pairs_false`` are expected numbers of pairs of documents at or above
    the threshold, and of candidate pairs below it; both rest on the pairs of ``sample_documents``
    documents and say nothing about rarer ones. ``memory_bytes`` has a lower and an upper bound:
    no document has a near-duplicate, or every one has. ``seconds`` likewise.
    ``passed_over`` counts files of folders that were not read, by ending.
    """

    documents: int
    text_bytes: int
    sample_documents: int
    pairs_similar: float
    pairs_false: float
    memory_bytes: tuple[int, int]
    disk_bytes: int
    seconds: tuple[float, float]
    passed_over: dict[str, int]


def forecast_job(sources: Sequence[Source], plan: DedupPlan, runner: Runner) -> JobForecast:
    """Count the rows of a collection, parse a few blocks of it, and scale up.

    Every file is read once; of each, blocks 1, 2, 4, 8, ... are parsed and sketched.
    """
    check_effect(plan.options, sources)
    runner.prepare(KERNELS_OF["dedup"])
    seconds_of_reading = runner.stopwatch()
    n_documents, sampled = _sample_blocks(sources, runner)
    reading = seconds_of_reading()
    weighed = _count_sample(sampled, plan.reading)
    text_bytes, n_tokens, sketching = 0, 0, 0.0
    signatures: list[Uint32s] = []
    for block in sampled:
        seconds_of_block = runner.stopwatch()
        signed = sign_block(block, weighed)
        sketching += seconds_of_block()
        text_bytes += signed.text_bytes
        n_tokens += int(np.maximum(signed.n_tokens, 0).sum())
        share = max(1, SAMPLE_DOCUMENTS * len(block) // max(1, sum(map(len, sampled))))
        signatures.append(_sample_signatures(block, weighed, share))
    n_sampled_rows = sum(map(len, sampled))
    scale = n_documents / n_sampled_rows if n_sampled_rows else 0.0
    sample = np.concatenate(signatures) if signatures else np.empty((0, 1), np.uint32)
    similar, false = _count_pairs(sample, plan.banding, float(plan.measure.least_jaccard))
    pair_scale = (n_documents / len(sample)) ** 2 if len(sample) else 0.0
    n_bands, workers = plan.banding.bands, runner.workers
    least = _BASE_BYTES + workers * _WORKER_BYTES
    least += n_documents * (12 * n_bands + 20 * workers + 120)
    disk = sum(source.size or 0 for source in sources) + 60 * n_documents
    seconds = 2 * reading + sketching * scale / workers
    return JobForecast(
        documents=n_documents,
        text_bytes=int(text_bytes * scale),
        sample_documents=len(sample),
        pairs_similar=similar * pair_scale,
        pairs_false=false * pair_scale,
        memory_bytes=(least, least + int(8 * n_tokens * scale)),
        disk_bytes=disk,
        seconds=(seconds, 2 * seconds),
        passed_over=passed_over(sources),
    )


def _sample_blocks(sources: Sequence[Source], runner: Runner) -> tuple[int, list[RowBlock]]:
    """Count all rows; keep blocks 1, 2, 4, 8, ... of each source, of sources 1, 2, 4, 8, ..."""
    n_documents = 0
    sampled: list[RowBlock] = []
    n_blocks = [0] * len(sources)
    reading = ReadingPass("read", sources, runner)
    for i, block in reading.map(lambda _, block: block, sources):
        n_blocks[i] += 1
        n_documents += len(block)
        if _is_power_of_two(i + 1) and _is_power_of_two(n_blocks[i]) and len(block):
            sampled.append(block)
    return n_documents, sampled


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def _sample_signatures(block: RowBlock, plan: ReadingPlan, count: int) -> Uint32s:
    """Sign some documents of a block, drawn at random, leaving out empty ones."""
    select = np.zeros(len(block), np.bool_)
    # At random, because copies often stand side by side, where even steps would pass them over.
    generator = np.random.default_rng(len(block))
    select[generator.choice(len(block), min(count, len(block)), replace=False)] = True
    parsed = block.parse(plan.columns, select=select, skip_bad=plan.skip_bad)
    tokens = plan.shingles.tokenizer.hash_tokens(Texts.from_arrow(parsed.text))
    if plan.weighted:
        sets = weighted_sets(tokens, plan.shingles, plan.weighted)
        signed = weighted_signatures(sets, WeightedMinHashScheme(_SAMPLE_FUNCTIONS))
        return signed[sets.totals > 0]
    lists = shingle_lists(tokens, plan.shingles)
    scheme = MinHashScheme(_SAMPLE_FUNCTIONS)
    return minhash_signatures(lists, scheme)[np.diff(lists.offsets) > 0]


def _count_sample(sampled: Sequence[RowBlock], plan: ReadingPlan) -> ReadingPlan:
    """Weigh shingles by the documents of a sample, where a plan asks for their frequencies."""
    if not plan.needs_frequencies:
        return plan
    counted = count_documents(block_frequencies(block, plan) for block in sampled)
    return with_frequencies(plan, counted)


def _count_pairs(sample: Uint32s, banding: Banding, threshold: float) -> tuple[float, float]:
    """Count the pairs of a sample: those at the threshold, and expected candidates below it."""
    agreements: Int64s = np.zeros(_SAMPLE_FUNCTIONS + 1, np.int64)
    for i in range(len(sample) - 1):
        agreeing = (sample[i + 1 :] == sample[i]).sum(axis=1)
        agreements += np.bincount(agreeing, minlength=len(agreements))
    jaccard: Floats = np.arange(len(agreements)) / _SAMPLE_FUNCTIONS
    probability = np.array([banding.candidate_probability(float(s)) for s in jaccard])
    reached = jaccard >= threshold
    return float(agreements[reached].sum()), float((agreements * probability)[~reached].sum())
