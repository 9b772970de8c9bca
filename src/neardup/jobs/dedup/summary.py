"""The account of a run: options, counts, times, memory, versions."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.runtime.progress import StageClock
from neardup.tables import Removals
from neardup.version import __version__

if TYPE_CHECKING:
    from neardup.jobs.dedup.options import Plan
    from neardup.jobs.dedup.result import Assignment
    from neardup.reading.first_pass import Catalogue

# Skipped rows that are listed one by one; all are counted.
_LISTED = 100


def summarise(
    plan: Plan,
    own: Catalogue,
    other: Catalogue,
    assignment: Assignment,
    removals: Removals,
    n_contents: int,
    method: str,
    clock: StageClock,
) -> dict[str, Any]:
    """Put together what ``summary.json`` says of a run; times and memory are filled in later."""
    n_skipped = int((own.n_tokens < 0).sum())
    stays = assignment.stays
    ngram = plan.sketch.shingles.ngram
    summary: dict[str, Any] = {
        "documents_in": len(own) - n_skipped,
        "documents_kept": int(stays.sum()) - n_skipped,
        "documents_removed": int((~stays).sum()),
        "exact_copies": int(assignment.exact.sum()),
        "empty_documents": int((own.n_tokens == 0).sum()),
        "short_documents": int(((own.n_tokens > 0) & (own.n_tokens < ngram)).sum()),
        "skipped_rows": len(own.skipped) + len(other.skipped),
        "against_documents": len(other),
        "distinct_texts": n_contents,
        "text_bytes": own.text_bytes,
        "tokens": int(np.maximum(own.n_tokens, 0).sum()),
        "candidates": removals.n_compared,
        "verified_pairs": removals.n_verified,
        "method": method,
        "predicted_recall": plan.predicted_recall if method == "minhash" else 1.0,
        "threshold": float(plan.measure.threshold),
        "measure": plan.measure.name,
        "keep": plan.options.keep,
        "clusters": plan.options.clusters,
        "scheme": plan.sketch.shingles.describe(),
        "workers": plan.workers,
    }
    if method == "minhash":
        summary["recall"] = float(plan.recall)
        summary["bands"], summary["rows"] = plan.banding.bands, plan.banding.rows
        summary["scheme"] |= plan.minhash.describe()
    if plan.sketch.weighted:
        summary["scheme"] |= plan.sketch.weighted.weighting.describe()
    summary |= list_skipped(other, own)
    complete_summary(summary, clock)
    summary["versions"] = {
        "neardup": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "pyarrow")},
    }
    return summary


def list_skipped(*catalogues: Catalogue) -> dict[str, Any]:
    """List the first skipped rows; nothing where there are none."""
    skipped = [row for catalogue in catalogues for row in catalogue.skipped][:_LISTED]
    rows = [{"file": file, "row": row, "reason": reason} for file, row, reason in skipped]
    return {"skipped": rows} if rows else {}


def complete_summary(summary: dict[str, Any], clock: StageClock) -> None:
    """Bring times and peak memory up to date."""
    summary["seconds"] = {name: round(seconds, 3) for name, seconds in clock.seconds.items()}
    summary["peak_memory_bytes"] = peak_memory_bytes()


def peak_memory_bytes() -> int | None:
    """Give the largest resident memory of this process so far; None where it cannot be told."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
