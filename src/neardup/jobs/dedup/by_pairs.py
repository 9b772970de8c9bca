"""Documents decided by pairs that were found before; no text is compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.clustering.components import SimilarPairs, choose_from_pairs, join_from_pairs
from neardup.clustering.keep import parse_keep
from neardup.files.inputs import passed_over
from neardup.jobs.counts import Groups
from neardup.jobs.dedup.decide import Assignment
from neardup.jobs.dedup.pair_table import NumberedPairs, PairSource, PairTerms
from neardup.jobs.dedup.summary import count_by_groups
from neardup.jobs.selection import complete_summary
from neardup.jobs.stages.pair_ids import READING_PAIRS
from neardup.options.choices import Clusters
from neardup.reading.catalogue import Catalogue
from neardup.results import describe_ids, describe_skipped, versions
from neardup.runtime.runner import Runner
from neardup.tables import Floats, Int64s


def decide_by_pairs(
    documents: Catalogue,
    table: PairSource,
    terms: PairTerms,
    runner: Runner,
    *,
    keep: str,
    clusters: Clusters,
) -> tuple[Assignment, dict[str, Any]]:
    """Read the pairs, decide in keep order which documents stay, and return that with a summary."""
    with runner.stage(READING_PAIRS) as note:
        numbered = table.numbered(documents, runner)
        least, is_stated = terms.least_threshold(table, numbered)
        note(pairs=len(numbered))
    threshold = least if terms.threshold is None else float(terms.threshold)
    with runner.stage("choose") as note:
        order = parse_keep(keep).order(len(documents), documents.lengths, documents.order)
        pairs = _ranked(numbered, order, are_directed=terms.are_directed)
        at_least = threshold or 0.0
        removals = survivors = choose_from_pairs(pairs, len(documents), at_least)
        if clusters == "components":
            removals = join_from_pairs(pairs, len(documents), at_least)
        note(similar=removals.n_verified)
    assignment = _assign(removals.keepers, removals.similarities, order)
    stays = assignment.stays[documents.is_document]
    about = table.about
    summary: dict[str, Any] = {
        "documents_in": len(stays),
        "documents_kept": int(stays.sum()),
        "documents_removed": int((~stays).sum()),
        "exact_copies": None,
        **describe_skipped(documents.skipped),
        "passed_over": passed_over(documents.sources),
        **describe_ids(documents.columns),
        "pairs": len(pairs),
        "pairs_at_threshold": removals.n_verified,
        "least_threshold": least,
        "least_threshold_is_stated": is_stated,
        "pairs_method": about.method if about else None,
        "predicted_recall": about.predicted_recall if about else None,
        "method": "pairs",
        "threshold": threshold,
        "measure": terms.measure,
        "keep": keep,
        "clusters": clusters,
        "scheme": dict(about.scheme) if about else None,
        "workers": runner.workers,
    }
    summary |= count_by_groups(documents, Groups.of_none("file", 0), assignment)
    complete_summary(summary, runner)
    summary["versions"] = versions()
    if clusters == "components":
        n_survivors = int(np.count_nonzero(survivors.keepers < 0))
        summary["removed_beyond_survivors"] = n_survivors - int(assignment.stays.sum())
    return assignment, summary


def _ranked(pairs: NumberedPairs, order: Int64s, *, are_directed: bool) -> SimilarPairs:
    """Return pairs with documents numbered by their places in keep order."""
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return SimilarPairs(ranks[pairs.left], ranks[pairs.right], pairs.similarities, are_directed)


def _assign(keepers: Int64s, similarities: Floats, order: Int64s) -> Assignment:
    """Return what was decided in keep order by the documents' own numbers."""
    gone = np.flatnonzero(keepers >= 0)
    by_number: Int64s = np.full(len(order), -1, np.int64)
    by_number[order[gone]] = order[keepers[gone]]
    own: Floats = np.full(len(order), np.nan)
    own[order[gone]] = similarities[gone]
    return Assignment(by_number, own, np.zeros(len(order), np.bool_), copies_are_known=False)
