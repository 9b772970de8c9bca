"""How much a run through sketches has missed, seen from some documents compared with all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.matching.measures import Measure
from neardup.matching.prefixes import list_prefixes
from neardup.matching.verify import overlaps_at_threshold
from neardup.reading.signed_batches import SignedBatches
from neardup.runs.runner import Runner
from neardup.sketches.intervals import wilson_intervals
from neardup.stages.contents import Contents
from neardup.stages.decide import Decision
from neardup.stages.plan import DedupPlan
from neardup.tables import (
    Bools,
    Int32s,
    Int64s,
    KeyLists,
    ShingleSets,
    Uint64s,
    WeightedSets,
    offsets_of,
)

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Audit:
    """Pairs at the threshold of some documents with all others, and how many share a bucket.

    ``n_documents`` distinct texts were drawn; ``n_similar`` of them are similar to another, in
    ``n_pairs`` pairs. ``recall`` is the share of a text's pairs that share a bucket, in the mean
    of those texts, ``low`` and ``high`` bound that of the collection with 95 % confidence; all
    three are None where no drawn text is similar to another. ``n_kept`` drawn texts stay although
    one that stays before them is similar.
    """

    n_documents: int
    n_similar: int
    n_pairs: int
    n_found: int
    recall: float | None
    low: float | None
    high: float | None
    n_kept: int

    def describe(self) -> dict[str, object]:
        """Give it as plain values for a summary."""
        return {
            "documents": self.n_documents,
            "similar_documents": self.n_similar,
            "similar_pairs": self.n_pairs,
            "found_pairs": self.n_found,
            "recall": self.recall,
            "interval": None if self.low is None else [self.low, self.high],
            "confidence": CONFIDENCE,
            "kept_although_similar": self.n_kept,
        }


def audit_contents(
    batches: SignedBatches,
    contents: Contents,
    decision: Decision,
    plan: DedupPlan,
    runner: Runner,
) -> Audit:
    """Draw contents by the seed, those that stay in any case left out, and look what was missed.

    All that is known of them is read into memory.
    """
    documents = contents.in_keep_order()
    n_contents, n_fixed = len(documents), contents.count_fixed(documents)
    n_drawn = min(plan.options.audit or 0, n_contents - n_fixed)
    generator = np.random.default_rng(plan.minhash.seed)
    drawn = np.sort(generator.choice(n_contents - n_fixed, n_drawn, replace=False)) + n_fixed
    stays = ~np.isin(documents, decision.documents)
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
) -> Audit:
    """Compare the drawn documents exactly with all, and look which pairs share a bucket.

    Parameters
    ----------
    drawn
        Documents drawn at random, numbered like the sets.
    sets
        Sets of all documents, in keep order; of plain ones none is empty.
    measure
        Of a pair the later document is the one that would go.
    band_keys
        Band keys of the same documents, of shape (n_bands, n).
    stays
        Which of them stay.

    Notes
    -----
    Exact, as a join of the drawn documents with all: candidates come from prefix tokens. Memory as
    ``list_prefixes``.
    """
    lists = list_prefixes(sets, measure)
    members, starts = _invert(lists)

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
    if not len(of_similar):
        return Audit(len(drawn), 0, 0, 0, None, None, None, n_kept)
    # Pairs of one document are found or missed together, so that documents are what is counted.
    # A mean of shares varies no more than that of as many whole ones.
    recall = float((of_similar[:, 1] / of_similar[:, 0]).mean())
    bounds = wilson_intervals(np.array([recall]), np.array([float(len(of_similar))]))
    low, high = (float(bound[0]) for bound in bounds)
    return Audit(len(drawn), len(of_similar), n_pairs, n_found, recall, low, high, n_kept)


def _invert(lists: KeyLists) -> tuple[Int32s, Int64s]:
    """List the documents of each key; those of key k are from ``starts[k]`` to the next start."""
    n_documents = len(lists.starts) - 1
    owners: Int32s = np.repeat(np.arange(n_documents, dtype=np.int32), np.diff(lists.starts))
    starts = offsets_of(lists.sizes)
    return owners[np.argsort(lists.keys, kind="stable")], starts
