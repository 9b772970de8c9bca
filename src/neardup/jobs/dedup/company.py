"""How many documents of a collection share a bucket with another, judged by some blocks of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.jobs.dedup.choose import sieve_candidates
from neardup.jobs.dedup.plan import DedupPlan
from neardup.jobs.stages.exchange import Candidates
from neardup.kernels.common.union_find import find_roots, union_edges
from neardup.matching.buckets import star_edges
from neardup.matching.sieve import join_filters
from neardup.reading.sign import SignedBlock
from neardup.reading.signed_batches import take_filters
from neardup.tables import Filters, Int64s, Uint64s

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
