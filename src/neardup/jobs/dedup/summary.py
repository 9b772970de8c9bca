"""The account of a deduplication: options, counts, times, memory, versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.files.inputs import passed_over
from neardup.options.choices import Engine
from neardup.reading.where import describe_filtered
from neardup.results import describe_ids, describe_skipped, versions
from neardup.runs.runner import Runner
from neardup.stages.contents import Contents
from neardup.stages.counts import Groups, count_by_groups
from neardup.stages.decide import Assignment, Decision, MethodChoice
from neardup.stages.hints import Beginnings, Remedies, hints_of_documents
from neardup.stages.options import describe_inputs, describe_reading
from neardup.stages.plan import DedupPlan
from neardup.stages.selection import complete_summary

if TYPE_CHECKING:
    from neardup.jobs.dedup.audit import Audit


def summarise(
    contents: Contents,
    decision: Decision,
    assignment: Assignment,
    plan: DedupPlan,
    runner: Runner,
    *,
    method: str = "minhash",
    choice: MethodChoice | None = None,
    audit: Audit | None = None,
    n_against: int | None = None,
    has_index: bool = False,
    engine: Engine = "threads",
    workers: int | None = None,
) -> dict[str, Any]:
    """Put together what ``summary.json`` says of a run; writing adds its time.

    ``n_against`` documents were compared against; None: those of the other collection. An index
    has decided what hints would name.
    """
    own, other = contents.own, contents.other
    n_documents = int(own.is_document.sum())
    n_removed = int((~assignment.stays).sum())
    # Documents of the other collection are numbered first.
    n_for_other = int((assignment.keepers[~assignment.stays] < contents.n_others).sum())
    if n_against is None:
        n_against = int(other.is_document.sum())
    summary: dict[str, Any] = {
        "documents_in": n_documents,
        "documents_kept": n_documents - n_removed,
        "documents_removed": n_removed,
        "exact_copies": int(assignment.exact.sum()),
        "empty_documents": own.count_empty(),
        **({"empty_left_out": int(own.is_left_out.sum())} if plan.options.no_empty else {}),
        "short_documents": own.count_short(plan.reading.shingles.ngram),
        **describe_skipped(own.skipped, other.skipped),
        **describe_filtered(own.sources),
        "passed_over": passed_over(own.sources, other.sources),
        "against_documents": n_against,
        "removed_for_against": n_for_other,
        "removed_within": n_removed - n_for_other,
        **describe_ids(own.columns, other.columns),
        "distinct_texts": contents.count(),
        "text_bytes": own.text_bytes,
        "tokens": int(np.maximum(own.n_tokens, 0).sum()),
        "candidates": decision.n_compared,
        "verified_pairs": decision.n_verified,
        "method": method,
        "predicted_recall": plan.predicted_recall if method == "minhash" else 1.0,
        "threshold": float(plan.measure.threshold),
        "measure": plan.measure.name,
        "keep": plan.options.keep,
        "clusters": plan.options.clusters,
        **plan.options.describe_preset(),
        "scheme": plan.reading.shingles.describe(),
        "engine": engine,
        "workers": runner.workers if workers is None else workers,
    }
    if method == "minhash":
        summary["recall"] = float(plan.recall)
        summary["bands"], summary["rows"] = plan.banding.bands, plan.banding.rows
        summary["scheme"] |= plan.minhash.describe()
    if plan.reading.weighted:
        summary["scheme"] |= plan.reading.weighted.describe()
    # Of an index only ids are known, and files are none.
    others = Groups.of_files(other).behind(contents.n_others - len(other))
    summary |= count_by_groups(own, others, assignment)
    summary |= describe_inputs(own.sources, other.sources)
    summary |= describe_reading(plan.options, own)
    complete_summary(summary, runner)
    summary["versions"] = versions()
    if choice:
        summary["method_choice"] = choice.describe()
    if audit:
        summary["audit"] = audit.describe()
    if plan.options.clusters == "components":
        summary["removed_beyond_survivors"] = decision.n_beyond
    summary["hints"] = []
    if not has_index:
        summary["hints"] = hints_of_documents(
            Remedies.of(plan.options),
            Beginnings(own.sources, own.columns),
            n_documents=n_documents,
            n_short=summary["short_documents"],
            shingles=plan.reading.shingles,
        )
    return summary
