"""A few blocks of a collection, parsed and signed: what its documents are like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.files.ids import as_text
from neardup.files.passes import ReadingPass
from neardup.files.rows import RowBlock, Source
from neardup.jobs.dedup.company import Company, find_company
from neardup.jobs.dedup.plan import DedupPlan
from neardup.jobs.dedup.shingle_lengths import (
    LENGTH_DOCUMENTS,
    ShingleLength,
    compare_lengths,
    cut_documents,
)
from neardup.jobs.dedup.similarities import SAMPLE_FUNCTIONS, Similarities
from neardup.reading.frequencies import block_frequencies, with_frequencies
from neardup.reading.plan import ReadingPlan
from neardup.reading.sign import SignedBlock, sign_block
from neardup.reading.signed_batches import to_batch
from neardup.runtime.runner import Runner
from neardup.sketches.minhash import MinHashScheme, minhash_signatures
from neardup.sketches.weighted_minhash import WeightedMinHashScheme, weighted_signatures
from neardup.tables import Texts, TokenLists, Uint32s
from neardup.text.shingles import shingle_lists
from neardup.text.weighted_sets import weighted_sets
from neardup.text.weighting import count_documents

# Documents compared with each other to learn how similar unrelated ones are.
SAMPLE_DOCUMENTS = 1500

# Blocks that are parsed and signed, of a large collection half of these or more. They are spread
# evenly: documents that are alike may stand anywhere.
_MOST_BLOCKS = 32


@dataclass(frozen=True)
class Sample:
    """What a collection is like: sums of ``n_sampled`` documents of ``n_documents``.

    ``reading`` are seconds in which all files were read by one thread, ``signing`` those in which
    one core signed the sample. ``table_bytes`` is what a document takes in the table of clusters,
    ``text_ratio`` how much is left of text that is compressed.
    """

    n_documents: int
    n_sampled: int
    text_bytes: int
    n_tokens: int
    n_shingles: int
    signed_bytes: int
    filter_bytes: int
    order_bytes: int
    has_ids: bool
    table_bytes: float
    text_ratio: float
    reading: float
    signing: float
    candidates: Company
    live: Company
    similarities: Similarities
    shingle_lengths: list[ShingleLength]


def draw_sample(sources: Sequence[Source], plan: DedupPlan, runner: Runner) -> Sample:
    """Read every file once, and parse and sign some blocks, evenly spread."""
    elapsed = runner.stopwatch()
    n_documents, drawn = _sample_blocks(sources, runner)
    reading = elapsed()
    blocks = [block for _, block in drawn]
    weighed = _count_sample(blocks, plan.reading)
    n_sampled = sum(map(len, blocks))
    signed: list[SignedBlock] = []
    signatures: list[Uint32s] = []
    tokens: list[TokenLists] = []
    signing, batch_bytes, filter_bytes, order_bytes, table_bytes = 0.0, 0, 0, 0, 0
    whole, packed = 0, 0
    for source, block in drawn:
        elapsed = runner.stopwatch()
        signed.append(sign_block(block, weighed))
        signing += elapsed()
        batch = to_batch(signed[-1])
        batch_bytes += batch.nbytes
        filter_bytes += sum(_nbytes(batch, name) for name in ("filter", "filter_sizes"))
        order_bytes += _nbytes(batch, "order")
        table_bytes += _table_bytes(source, block, signed[-1])
        share = max(1, SAMPLE_DOCUMENTS * len(block) // max(1, n_sampled))
        texts, own, sampled = _sample_documents(block, weighed, share)
        signatures.append(sampled)
        tokens.append(cut_documents(own, max(1, share * LENGTH_DOCUMENTS // SAMPLE_DOCUMENTS)))
        whole, packed = whole + len(texts), packed + len(pa.compress(texts, "lz4", asbytes=True))
    n_tokens = np.concatenate([np.empty(0, np.int64), *(each.n_tokens for each in signed)])
    candidates, live = find_company(signed, plan)
    sample = np.concatenate(signatures) if signatures else np.empty((0, 1), np.uint32)
    return Sample(
        n_documents=n_documents,
        n_sampled=n_sampled,
        text_bytes=sum(each.text_bytes for each in signed),
        n_tokens=int(np.maximum(n_tokens, 0).sum()),
        n_shingles=int(np.maximum(n_tokens - plan.reading.shingles.ngram + 1, n_tokens > 0).sum()),
        signed_bytes=batch_bytes,
        filter_bytes=filter_bytes,
        order_bytes=order_bytes,
        has_ids=any(each.ids is not None for each in signed),
        table_bytes=table_bytes / max(1, n_sampled),
        text_ratio=packed / max(1, whole),
        reading=reading,
        signing=signing,
        candidates=candidates,
        live=live,
        similarities=Similarities.of(sample),
        shingle_lengths=compare_lengths(tokens, plan.reading.shingles),
    )


def _sample_blocks(
    sources: Sequence[Source], runner: Runner
) -> tuple[int, list[tuple[Source, RowBlock]]]:
    """Count all rows; keep every 2^k-th block of all files together, so that there are enough."""
    n_documents, n_blocks, step = 0, 0, 1
    sampled: list[tuple[Source, RowBlock]] = []
    reading = ReadingPass("read", sources, runner)
    for i, block in reading.map(lambda _, block: block, sources):
        if not len(block):
            continue
        n_documents += len(block)
        if n_blocks % step == 0:
            sampled.append((sources[i], block))
            if len(sampled) > _MOST_BLOCKS:
                sampled, step = sampled[::2], 2 * step
        n_blocks += 1
    return n_documents, sampled


def _count_sample(sampled: Sequence[RowBlock], plan: ReadingPlan) -> ReadingPlan:
    """Weigh shingles by the documents of a sample, where a plan asks for their frequencies."""
    if not plan.needs_frequencies:
        return plan
    counted = count_documents(block_frequencies(block, plan) for block in sampled)
    return with_frequencies(plan, counted)


def _sample_documents(
    block: RowBlock, plan: ReadingPlan, count: int
) -> tuple[bytes, TokenLists, Uint32s]:
    """Return texts and tokens of documents of a block, drawn at random; signatures if not empty."""
    select = np.zeros(len(block), np.bool_)
    # At random, because copies often stand side by side, where even steps would pass them over.
    generator = np.random.default_rng(len(block))
    select[generator.choice(len(block), min(count, len(block)), replace=False)] = True
    parsed = block.parse(plan.columns, select=select, skip_bad=plan.skip_bad)
    texts = Texts.from_arrow(parsed.text)
    data = texts.data[int(texts.offsets[0]) : int(texts.offsets[-1])].tobytes()
    tokens = plan.shingles.tokenizer.hash_tokens(texts)
    if plan.weighted:
        sets = weighted_sets(tokens, plan.shingles, plan.weighted)
        signed = weighted_signatures(sets, WeightedMinHashScheme(SAMPLE_FUNCTIONS))
        return data, tokens, signed[sets.totals > 0]
    lists = shingle_lists(tokens, plan.shingles)
    signed = minhash_signatures(lists, MinHashScheme(SAMPLE_FUNCTIONS))
    return data, tokens, signed[np.diff(lists.offsets) > 0]


def _nbytes(batch: pa.RecordBatch, name: str) -> int:
    return batch.column(name).nbytes if name in batch.schema.names else 0


def _table_bytes(source: Source, block: RowBlock, signed: SignedBlock) -> int:
    """Return the size of the table of clusters of a block whose documents all stay."""
    ids = as_text(source.default_ids(block.numbers) if signed.ids is None else signed.ids)
    n = len(ids)
    columns = {
        "id": ids,
        "cluster_id": np.arange(n),
        "cluster_size": np.ones(n, np.int64),
        "is_duplicate": np.zeros(n, np.bool_),
        "representative_id": ids,
    }
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, compression="zstd")
    return int(sink.tell())
