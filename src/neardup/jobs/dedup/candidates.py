"""The stage bucket: which contents may have a near-duplicate, and by what they find each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.jobs.dedup.contents import Contents
from neardup.jobs.dedup.plan import DedupPlan
from neardup.matching.buckets import bucket_keys, list_keys
from neardup.matching.measures import Measure
from neardup.matching.prefixes import list_prefixes
from neardup.runtime.runner import Runner
from neardup.tables import BandKeys, Buckets, Int64s, KeyLists, ShingleSets, WeightedSets


@dataclass(frozen=True)
class Candidates:
    """Contents that may have a near-duplicate, by their places in keep order, ascending.

    ``keys`` are those by which they find each other; None where these are worked out of their sets.
    The first ``n_fixed`` candidates stay in any case. ``buckets`` are those of all contents, if an
    audit is going to look at them.
    """

    places: Int64s
    n_fixed: int
    keys: KeyLists | None = None
    buckets: Buckets | None = None

    def keys_of(self, sets: ShingleSets | WeightedSets, measure: Measure) -> KeyLists:
        """Return the keys by which the candidates find each other; ``sets`` are theirs."""
        if self.keys is not None:
            return self.keys
        assert isinstance(sets, ShingleSets)
        return list_prefixes(sets, measure)


def all_candidates(contents: Contents) -> Candidates:
    """Return all contents: an exact join leaves none out before it has seen the sets."""
    return Candidates(np.arange(len(contents), dtype=np.int64), contents.n_fixed)


def bucket_contents(
    keys: BandKeys, contents: Contents, plan: DedupPlan, runner: Runner
) -> Candidates:
    """Return the contents that share a bucket with another; ``keys`` are used up."""
    buckets = bucket_keys(keys, contents.order, plan.banding.bands, runner)
    if plan.options.clusters == "survivors":
        _leave_out_fixed(buckets, contents.n_fixed)
    places = np.flatnonzero((buckets.numbers >= 0).any(axis=0))
    lists = list_keys(Buckets(buckets.numbers.take(places, axis=1), buckets.sizes))
    n_fixed = int(np.searchsorted(places, contents.n_fixed))
    # Buckets take 4 bytes a content and band, which only an audit needs from here on.
    return Candidates(places, n_fixed, lists, buckets if plan.options.audit else None)


def _leave_out_fixed(buckets: Buckets, n_fixed: int) -> None:
    """Take contents that stay in any case out of the buckets that hold nothing else.

    Survivors are not compared among themselves there; components may hang together by them.
    """
    if n_fixed == 0 or not len(buckets.sizes):
        return
    is_needed = np.zeros(len(buckets.sizes), np.bool_)
    is_needed[buckets.numbers[:, n_fixed:][buckets.numbers[:, n_fixed:] >= 0]] = True
    fixed = buckets.numbers[:, :n_fixed]
    fixed[(fixed >= 0) & ~is_needed[fixed]] = -1
