"""Audit of a deduplication: recall of its bands, from some documents compared with all."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.matching.buckets import list_prefixes
from neardup.matching.measures import Measure
from neardup.matching.verify import overlaps_at_threshold
from neardup.reading.sign import SignedBatches
from neardup.runs.runner import Runner
from neardup.sketches.kind import wilson_intervals
from neardup.stages.decide import DedupContents
from neardup.stages.options import DedupPlan
from neardup.tables import (
    Bools,
    Int64s,
    Removals,
    ShingleSets,
    Uint64s,
    WeightedSets,
    offsets_of,
)

CONFIDENCE = 0.95


def audit_contents(
    batches: SignedBatches,
    contents: DedupContents,
    removals: Removals,
    plan: DedupPlan,
    runner: Runner,
) -> dict[str, Any]:
    """Sample contents by the seed, without contents that stay in any case, and audit them.

    All contents are read into memory.
    """
    documents = contents.in_keep_order()
    n_contents, n_fixed = len(documents), contents.count_fixed(documents)
    n_drawn = min(plan.options.audit or 0, n_contents - n_fixed)
    generator = np.random.default_rng(plan.minhash.seed)
    drawn = np.sort(generator.choice(n_contents - n_fixed, n_drawn, replace=False)) + n_fixed
    stays = ~np.isin(documents, removals.documents)
    bands = ([values for _, values in batches.band(band)] for band in range(batches.n_bands))
    keys = np.stack([np.concatenate(values)[documents] for values in bands])
    sets = contents.read_comparable(documents, plan.reading, runner)
    return audit_recall(drawn, sets, plan.measure, keys, stays, runner)


def audit_recall(
    drawn: Int64s,
    sets: ShingleSets | WeightedSets,
    measure: Measure,
    band_keys: Uint64s,
    stays: Bools,
    runner: Runner,
) -> dict[str, Any]:
    """Compare the sampled documents exactly with all, and count pairs that share a bucket.

    Parameters
    ----------
    drawn
        Randomly sampled documents, numbered like the sets.
    sets
        Sets of all documents, in keep order; plain sets must not be empty.
    measure
        Measure; the later document of a pair is the removable one.
    band_keys
        Band keys of the same documents, of shape (n_bands, n).
    stays
        Mask of kept documents.

    Returns
    -------
    Entries of a summary: numbers of documents in the sample, of those similar to another, of their
    similar pairs, and of pairs that share a bucket; ``recall`` is the mean share of a document's
    pairs that share a bucket, and ``interval`` bounds the collection's recall with the
    ``confidence``, both None if no document is similar to another. Documents are
    ``kept_although_similar`` if a similar one before them stays.

    Notes
    -----
    Exact, as a join of the sampled documents with all: candidates come from prefix tokens. Memory
    as ``list_prefixes``.
    """
    lists = list_prefixes(sets, measure)
    # Documents of key k begin at ``starts[k]``.
    owners = np.repeat(np.arange(len(sets), dtype=np.int32), np.diff(lists.starts))
    members, starts = owners[np.argsort(lists.keys, kind="stable")], offsets_of(lists.sizes)

    def look(document: int) -> tuple[int, int, bool]:
        keys = lists.keys[lists.starts[document] : lists.starts[document + 1]]
        meet = [members[starts[key] : starts[key + 1]] for key in keys.tolist()]
        others = np.unique(np.concatenate([np.empty(0, np.int32), *meet])).astype(np.int64)
        others = others[others != document]
        later, earlier = np.maximum(others, document), np.minimum(others, document)
        similar = others[overlaps_at_threshold(sets, later, earlier, measure) >= 0]
        shares = (band_keys[:, similar] == band_keys[:, [document]]).any(axis=0)
        beside = bool(stays[document] and stays[similar[similar < document]].any())
        return len(similar), int(shares.sum()), beside

    looked_at = []
    for found in runner.map(look, drawn.tolist()):
        looked_at.append(found)
        runner.report("audit", len(looked_at), len(drawn))
    seen = np.array(looked_at, np.int64).reshape(-1, 3)
    n_pairs, n_found, n_kept = (int(total) for total in seen.sum(axis=0))
    of_similar = seen[seen[:, 0] > 0]
    recall, interval = None, None
    if len(of_similar):
        # Pairs of one document are found or missed together, so documents are the unit. A mean of
        # shares varies at most as much as one of as many 0 or 1 values.
        recall = float((of_similar[:, 1] / of_similar[:, 0]).mean())
        bounds = wilson_intervals(np.array([recall]), np.array([float(len(of_similar))]))
        interval = [float(bound[0]) for bound in bounds]
    return {
        "documents": len(drawn),
        "similar_documents": len(of_similar),
        "similar_pairs": n_pairs,
        "found_pairs": n_found,
        "recall": recall,
        "interval": interval,
        "confidence": CONFIDENCE,
        "kept_although_similar": n_kept,
    }
