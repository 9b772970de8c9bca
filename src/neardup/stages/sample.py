"""A few blocks of a collection, parsed and signed: what its documents are like."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.files.ids import as_text
from neardup.files.rawrows import BLOCK_BYTES
from neardup.files.rows import RowBlock, Source
from neardup.kernels.common.union_find import find_roots, union_edges
from neardup.matching.buckets import star_edges
from neardup.matching.sieve import join_filters
from neardup.reading.drawn import DrawnRows, bytes_named, draw_rows, weighed_by_sample
from neardup.reading.sign import ReadingPlan, SignedBlock, sign_block
from neardup.reading.signed_batches import (
    take_filters,
    to_batch,
)
from neardup.runs.runner import Runner
from neardup.sketches.minhash import MinHashScheme, minhash_signatures
from neardup.sketches.weighted_minhash import WeightedMinHashScheme, weighted_signatures
from neardup.stages.components import Candidates
from neardup.stages.costs import SAMPLE_FUNCTIONS, Load, Similarities
from neardup.stages.decide import sieve_candidates
from neardup.stages.forecasts import expect_distinct
from neardup.stages.plan import DedupPlan
from neardup.tables import Filters, Int64s, Texts, TokenLists, Uint32s, Uint64s, offsets_of
from neardup.text.shingles import ShingleScheme, shingle_lists
from neardup.text.weighting import weighted_sets

# How many tokens a shingle should have, told from documents of a sample.

# Documents that are looked at, and tokens of each: what all lengths together take stays below a
# few seconds however long documents are.
LENGTH_DOCUMENTS, LENGTH_TOKENS = 300, 5_000

_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16)
_CHANGED = (0.01, 0.05)


@dataclass(frozen=True)
class ShingleLength:
    """What shingles of ``ngram`` tokens make of documents.

    ``chance`` is the probability that a shingle of one document is also in another, of the mean
    document: it should be low, so that documents are similar for what they share and not for what
    all texts have. ``similarity_at_1_percent`` and ``similarity_at_5_percent`` are the expected
    Jaccard similarities of a document and itself with so many of its tokens changed, one by one.
    """

    ngram: int
    chance: float
    similarity_at_1_percent: float
    similarity_at_5_percent: float


def compare_lengths(tokens: Sequence[TokenLists], scheme: ShingleScheme) -> list[ShingleLength]:
    """Compare lengths of shingles, the scheme's among them, on documents of a sample.

    There is nothing to compare without two documents that have tokens.
    """
    if sum(np.count_nonzero(np.diff(part.offsets)) for part in tokens) < 2:
        return []
    lengths = sorted({*_LENGTHS, scheme.ngram})
    return [
        ShingleLength(
            ngram,
            _chance(tokens, replace(scheme, ngram=ngram)),
            *(_left(ngram, x) for x in _CHANGED),
        )
        for ngram in lengths
    ]


def cut_documents(tokens: TokenLists, count: int) -> TokenLists:
    """Return the first tokens of some documents, evenly spread: no more than are looked at."""
    rows = np.linspace(0, len(tokens) - 1, min(count, len(tokens)), dtype=np.int64)
    starts = tokens.offsets[rows]
    sizes = np.minimum(tokens.offsets[rows + 1] - starts, LENGTH_TOKENS)
    parts = [
        tokens.values[start : start + size]
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
    values: Uint64s = np.concatenate([np.empty(0, np.uint64), *parts])
    ends = offsets_of(sizes)
    return TokenLists(values, ends)


def _chance(tokens: Sequence[TokenLists], scheme: ShingleScheme) -> float:
    """Return the mean share of a document's shingles that are in another one, over all pairs."""
    own = []
    for part in tokens:
        lists = shingle_lists(part, scheme)
        offsets = lists.offsets.tolist()
        shingles = (lists.values[start:stop] for start, stop in pairwise(offsets) if stop > start)
        own += [np.unique(values) for values in shingles]
    _, inverse, documents = np.unique(np.concatenate(own), return_inverse=True, return_counts=True)
    sizes = np.array([len(values) for values in own])
    others = (documents[inverse] - 1) / (len(own) - 1)
    return float((np.add.reduceat(others, np.cumsum(sizes) - sizes) / sizes).mean())


def _left(ngram: int, changed: float) -> float:
    """Return the Jaccard similarity when a share of tokens has changed at random.

    A shingle stays as it was if all its tokens do; the others are new on either side.
    """
    kept = (1 - changed) ** ngram
    return float(kept / (2 - kept))


# How many documents of a collection share a bucket with another, judged by some blocks of it.

# Runs into which each block is cut, to tell copies that stand near each other from others.
_RUNS = 4


@dataclass(frozen=True)
class Company:
    """In how many others a document finds company, in the mean: near it, and among all documents.

    ``near`` does not depend on their number, ``rate`` is for each one of them.
    """

    near: float
    rate: float

    def expected(self, n_documents: int) -> int:
        """Return how many of so many documents have company, if it comes to them by chance."""
        return round(n_documents * -math.expm1(-self.near - self.rate * n_documents))


def find_company(blocks: Sequence[SignedBlock], plan: DedupPlan) -> tuple[Company, Company]:
    """Return the company of documents that share a bucket, and of those that filters leave.

    What is found in the blocks together stands for all documents; what is found in a short run of
    documents is there at any size of the collection.
    """
    if plan.reading.banding is None or not blocks:
        return Company(0.0, 0.0), Company(0.0, 0.0)
    keys = np.concatenate([block.keys for block in blocks])
    digests = np.concatenate([block.digests.values for block in blocks])
    is_filled = np.concatenate([block.n_tokens for block in blocks]) > 0
    given = [block.filters for block in blocks if block.filters is not None]
    filters = join_filters(given) if given else None
    # Of copies only one is compared.
    _, firsts = np.unique(digests, axis=0, return_index=True)
    contents = np.sort(firsts[is_filled[firsts]]).astype(np.int64)
    together = _count(contents, keys, filters, plan)
    bounds = [0]
    for block in blocks:
        steps = len(block.keys) * np.arange(1, _RUNS + 1) // _RUNS
        bounds += (bounds[-1] + steps).tolist()
    runs = np.split(contents, np.searchsorted(contents, bounds[1:-1]))
    near = np.sum([_count(run, keys, filters, plan) for run in runs], axis=0).tolist()
    # Others in the run of a document, in the mean.
    mean_run = sum(len(run) ** 2 for run in runs) / max(1, len(contents))
    return (
        _company(together[0], near[0], len(contents), mean_run),
        _company(together[1], near[1], len(contents), mean_run),
    )


def _company(n_together: int, n_near: int, n: int, mean_run: float) -> Company:
    """Solve for what is near and what is anywhere, of the means that both samples show."""
    together, near = (-math.log1p(-count / (n + 1)) for count in (n_together, n_near))
    by_chance = max(0.0, together - near) / (n - mean_run) if n > mean_run else 0.0
    near = max(0.0, near - by_chance * mean_run)
    return Company(near, max(0.0, together - near) / max(1, n))


def _count(
    contents: Int64s, keys: Uint64s, filters: Filters | None, plan: DedupPlan
) -> tuple[int, int]:
    """Count the contents that share a bucket with another of these, and those after the sieve."""
    parents: Int64s = np.arange(len(contents), dtype=np.int64)
    for band in range(keys.shape[1]):
        union_edges(parents, *star_edges(keys[contents, band]))
    find_roots(parents)
    rows = np.flatnonzero((np.bincount(parents, minlength=len(parents)) > 1)[parents])
    if not len(rows):
        return 0, 0
    chosen = contents[rows]
    candidates = Candidates(keys[chosen], filters and take_filters(filters, chosen))
    are_fixed = np.zeros(len(rows), np.bool_)
    live = sieve_candidates(parents[rows], candidates, are_fixed, plan)
    return len(rows), int(np.count_nonzero(live >= 0))


# Documents compared with each other to learn how similar unrelated ones are.
SAMPLE_DOCUMENTS = 1500


@dataclass(frozen=True)
class Sample:
    """What a collection is like: sums of ``n_sampled`` documents of ``n_documents``.

    The documents were counted, or estimated from what was read (``is_counted``). ``reading`` are
    seconds in which one thread reads all files, ``signing`` those in which one core signed the
    sample; the ``largest`` block has so many bytes of text. ``table_bytes`` is what a document
    takes in the table of clusters, ``text_ratio`` how much is left of text that is compressed;
    ``copies`` the share of all documents that come after an equal one.
    """

    n_documents: int
    is_counted: bool
    n_sampled: int
    text_bytes: int
    largest: int
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
    copies: float
    candidates: Company
    live: Company
    similarities: Similarities
    shingle_lengths: list[ShingleLength]


def draw_sample(sources: Sequence[Source], plan: DedupPlan, runner: Runner) -> Sample:
    """Read blocks that are evenly spread, of files that allow no less all; parse and sign them."""
    rows = draw_rows(sources, runner)
    with bytes_named(sources, rows):
        return sign_sample(rows, plan)


def sign_sample(rows: DrawnRows, plan: DedupPlan) -> Sample:
    """Parse and sign rows that were drawn."""
    drawn = rows.drawn
    blocks = [block for _, block in drawn]
    weighed = weighed_by_sample(blocks, plan.reading)
    n_sampled = sum(map(len, blocks))
    signed: list[SignedBlock] = []
    signatures: list[Uint32s] = []
    tokens: list[TokenLists] = []
    signing, batch_bytes, filter_bytes, order_bytes, table_bytes = 0.0, 0, 0, 0, 0
    whole, packed = 0, 0
    for source, block in drawn:
        start = time.perf_counter()
        signed.append(sign_block(block, weighed))
        signing += time.perf_counter() - start
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
        n_documents=rows.n_documents,
        is_counted=rows.is_counted,
        n_sampled=n_sampled,
        text_bytes=sum(each.text_bytes for each in signed),
        largest=max((each.text_bytes for each in signed), default=0),
        n_tokens=int(np.maximum(n_tokens, 0).sum()),
        n_shingles=int(np.maximum(n_tokens - plan.reading.shingles.ngram + 1, n_tokens > 0).sum()),
        signed_bytes=batch_bytes,
        filter_bytes=filter_bytes,
        order_bytes=order_bytes,
        has_ids=any(each.ids is not None for each in signed),
        table_bytes=table_bytes / max(1, n_sampled),
        text_ratio=packed / max(1, whole),
        reading=rows.reading,
        signing=signing,
        copies=_copies(signed, rows),
        candidates=candidates,
        live=live,
        similarities=Similarities.of(sample),
        shingle_lengths=compare_lengths(tokens, plan.reading.shingles),
    )


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


def _copies(signed: Sequence[SignedBlock], rows: DrawnRows) -> float:
    """Return the share of all documents that come after an equal one."""
    parts = [np.unique(each.digests.values[:, 0]) for each in signed]
    distinct = expect_distinct(parts, 1 / rows.share if rows.share else 1.0)
    return max(0.0, 1 - distinct / max(1, rows.n_documents))


def _nbytes(batch: pa.RecordBatch, name: str) -> int:
    return batch.column(name).nbytes if name in batch.schema.names else 0


def _table_bytes(source: Source, block: RowBlock, signed: SignedBlock) -> int:
    """Return the size of the table of clusters of a block whose documents all stay."""
    # As they would be if the block had been reached from the start of its file.
    numbers = block.numbers[:1] + np.arange(len(block))
    ids = as_text(source.default_ids(numbers) if signed.ids is None else signed.ids)
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


def load_of(
    sample: Sample, sources: Sequence[Source], plan: DedupPlan, growth: float = 1.0
) -> Load:
    """Return what goes through the stages of a collection so many times as large."""
    n, n_sampled = round(sample.n_documents * growth), max(1, sample.n_sampled)
    scale = n / n_sampled
    candidates = sample.candidates.expected(n)
    sizes = [source.size for source in sources]
    text_bytes = int(sample.text_bytes * scale)
    known = sum(size or 0 for size in sizes)
    largest: float = sample.largest
    if len(sources) == 1:
        # Of some files more is in more blocks, of one in larger ones.
        largest = max(largest, min(largest * growth, BLOCK_BYTES))
    return Load(
        documents=n,
        source_bytes=text_bytes if None in sizes else int(known * growth),
        text_bytes=text_bytes,
        shingles=int(sample.n_shingles * scale),
        signed_bytes=sample.signed_bytes / n_sampled,
        row_bytes=8 + 8 * plan.banding.bands + sample.filter_bytes / n_sampled,
        text_ratio=sample.text_ratio,
        largest=largest,
        tokens=int(sample.n_tokens * scale),
        candidates=candidates,
        live=min(candidates, sample.live.expected(n)),
        bands=plan.banding.bands,
        copies=int(n * sample.copies),
        order_bytes=sample.order_bytes / n_sampled,
        shingle_bytes=16 if plan.reading.weighted else 8,
        has_ids=sample.has_ids,
        has_lengths=plan.reading.with_lengths,
        is_ranked=plan.keep.rule != "first",
    )
