"""The account of a search for pairs: counts, options, times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from neardup.files.inputs import passed_over
from neardup.jobs.pairs.matches import Matches
from neardup.jobs.pairs.plan import PairPlan
from neardup.matching.measures import Hamming
from neardup.reading.catalogue import Catalogue
from neardup.results import NO_COLUMNS, describe_ids, describe_skipped
from neardup.runtime.runner import Runner


def summarise_pairs(
    catalogues: Sequence[Catalogue],
    plan: PairPlan,
    matches: Matches,
    runner: Runner,
) -> dict[str, Any]:
    """Put together what ``--json`` prints of a run."""
    options = plan.options
    other = catalogues[1].columns if len(catalogues) > 1 else NO_COLUMNS
    summary: dict[str, Any] = {
        "documents": [int(catalogue.is_document.sum()) for catalogue in catalogues],
        "empty_documents": sum(catalogue.count_empty() for catalogue in catalogues),
        "short_documents": _count_short(catalogues, plan),
        "tokens": sum(int(np.maximum(c.n_tokens, 0).sum()) for c in catalogues),
        **describe_ids(catalogues[0].columns, other),
        **describe_skipped([row for catalogue in catalogues for row in catalogue.skipped]),
        "passed_over": passed_over(*(catalogue.sources for catalogue in catalogues)),
        "distinct_records": matches.n_records,
        "pairs": matches.n_pairs,
        "filters": vars(matches.counts),
        "measure": plan.measure_name,
        "threshold": plan.threshold,
        "method": options.method,
        **_describe_method(plan, matches),
    }
    if options.top is not None:
        summary["top"], summary["per_document"] = options.top, options.per_document
    summary["scheme"] = _describe_scheme(plan)
    summary["workers"], summary["seconds"] = runner.workers, runner.seconds
    if plan.banding:
        summary["recall"] = float(options.recall_asked_for)
    if options.top is not None:
        summary["steps"] = matches.n_steps
    return summary


def _describe_method(plan: PairPlan, matches: Matches) -> dict[str, Any]:
    """Return what only this kind of measure and this method have."""
    if plan.edit:
        return {"algorithm": matches.algorithm, "max_distance": plan.edit.max_distance}
    if isinstance(plan.measure, Hamming):
        return {"algorithm": matches.algorithm, "max_distance": plan.measure.max_distance}
    if plan.banding is None or plan.measure is None:
        return {} if plan.reading.weighted else {"algorithm": matches.algorithm}
    least = float(plan.measure.least_jaccard)
    return {
        "predicted_recall": plan.banding.candidate_probability(least),
        "bands": plan.banding.bands,
        "rows": plan.banding.rows,
    }


def _describe_scheme(plan: PairPlan) -> dict[str, Any]:
    scheme: dict[str, Any] = plan.reading.shingles.describe()
    if plan.edit:
        # Strings are compared token by token.
        del scheme["ngram"], scheme["occurrences"]
    if plan.reading.weighted:
        scheme |= plan.reading.weighted.weighting.describe()
    if plan.reading.minhash:
        scheme |= plan.reading.minhash.describe()
    return scheme


def _count_short(catalogues: Sequence[Catalogue], plan: PairPlan) -> int:
    """Count the documents that have one shingle only, because they have fewer tokens than that."""
    if plan.edit:
        return 0
    ngram = plan.reading.shingles.ngram
    return sum(catalogue.count_short(ngram) for catalogue in catalogues)
