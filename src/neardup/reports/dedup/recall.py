"""How surely a run has found what is similar: the S-curve of its bands, and what its audit saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neardup.matching.bands import Banding
from neardup.matching.measures import make_measure

# Steps of the curve, and around the threshold where it counts.
_STEPS = 100


@dataclass(frozen=True)
class Audit:
    """Recall seen on documents that were compared with all, and bounds of it."""

    recall: float
    low: float
    high: float
    n_documents: int
    n_pairs: int
    n_found: int
    n_kept: int


@dataclass(frozen=True)
class RecallCurve:
    """The probability with which a pair shares a band, by its Jaccard similarity.

    ``at`` is the least Jaccard similarity of a pair at the threshold of the measure, and
    ``promised`` the probability there.
    """

    bands: int
    rows: int
    points: Sequence[tuple[float, float]]
    at: float
    promised: float
    audit: Audit | None


def curve_of(summary: Mapping[str, Any]) -> RecallCurve | None:
    """Return the curve that a summary speaks of; None if nothing could be missed."""
    if "bands" not in summary:
        return None
    banding = Banding(summary["bands"], summary["rows"])
    least = float(make_measure(summary["measure"], str(summary["threshold"])).least_jaccard)
    similarities = sorted({least, *(step / _STEPS for step in range(_STEPS + 1))})
    return RecallCurve(
        banding.bands,
        banding.rows,
        [(value, banding.candidate_probability(value)) for value in similarities],
        least,
        banding.candidate_probability(least),
        _audit_of(summary),
    )


def _audit_of(summary: Mapping[str, Any]) -> Audit | None:
    audit = summary.get("audit")
    if not audit or audit["recall"] is None:
        return None
    low, high = audit["interval"]
    return Audit(
        audit["recall"],
        low,
        high,
        audit["documents"],
        audit["similar_pairs"],
        audit["found_pairs"],
        audit["kept_although_similar"],
    )
