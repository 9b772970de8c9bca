"""The account of a cut: options, counts, what was repeated most, times, memory, versions."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.files.inputs import passed_over
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans, Gaps
from neardup.jobs.selection import complete_summary
from neardup.passages.recall import candidate_probability
from neardup.reading.catalogue import Catalogue
from neardup.results import describe_ids, describe_skipped, versions
from neardup.runtime.runner import Runner


def summarise(
    own: Catalogue,
    other: Catalogue,
    spans: CutSpans,
    gaps: Gaps,
    plan: CutJobPlan,
    most: list[dict[str, Any]],
    runner: Runner,
) -> dict[str, Any]:
    """Put together what ``summary.json`` says of a run; writing adds its time."""
    options = plan.options
    sizes = np.maximum(own.n_tokens, 0)
    summary = summarise_gaps(own, other, spans, gaps, plan, most, runner)
    summary |= {
        "empty_documents": own.count_empty(),
        "short_documents": int(((sizes > 0) & (sizes < plan.min_tokens)).sum()),
        "tokens": int(sizes.sum()),
        "unit": plan.unit,
        "exact": options.exact,
        "threshold": 1.0 if options.exact else _threshold(plan),
        "min_tokens": plan.min_tokens,
        "min_documents": options.min_documents,
        "predicted_recall": _recall(plan),
    }
    return summary


def summarise_gaps(
    own: Catalogue,
    other: Catalogue,
    spans: CutSpans,
    gaps: Gaps,
    plan: CutJobPlan,
    most: list[dict[str, Any]],
    runner: Runner,
) -> dict[str, Any]:
    """Put together what is to be said of what went, however it was found."""
    summary: dict[str, Any] = {
        "documents_in": int(own.is_document.sum()),
        "documents_cut": len(np.unique(gaps.documents)),
        "spans": len(spans),
        "characters_removed": gaps.n_characters,
        "most_repeated": most,
        **describe_skipped(own.skipped, other.skipped),
        "passed_over": passed_over(own.sources, other.sources),
        "against_documents": int(other.is_document.sum()),
        **describe_ids(own.columns, other.columns),
        "text_bytes": own.text_bytes,
        "keep": plan.options.keep,
        "replacement": plan.options.replacement,
        "workers": runner.workers,
    }
    complete_summary(summary, runner)
    summary["versions"] = versions()
    return summary


def _threshold(plan: CutJobPlan) -> float:
    if plan.units is not None:
        return float(plan.units.measure.threshold)
    assert plan.passages is not None
    return float(plan.passages.alignment.search.threshold)


def _recall(plan: CutJobPlan) -> float:
    """Return the probability that what is as similar as asked for is found."""
    if plan.options.exact:
        return 1.0
    if plan.units is not None:
        return plan.units.predicted_recall
    assert plan.passages is not None
    assert plan.scheme is not None
    search = plan.passages.alignment.search
    return candidate_probability(plan.scheme.num_perm, search.hits, search.threshold)
