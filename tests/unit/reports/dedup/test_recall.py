"""The S-curve of a summary, and its audit."""

from __future__ import annotations

import pytest

import neardup
from neardup.reports.dedup.model import curve_of
from tests.each import each_of

_TEXTS = [f"one two three four five six seven eight nine {n}" for n in range(30)]


@each_of("measure", ["jaccard", "cosine", "containment", "weighted-jaccard"])
def test_curve_of__has_what_the_summary_promises(measure: str) -> None:
    result = neardup.deduplicate(_TEXTS, measure=measure, threshold="0.6", audit=10)  # type: ignore[arg-type]
    summary = result.summary
    curve = curve_of(summary)
    assert curve is not None
    assert (curve.bands, curve.rows) == (summary["bands"], summary["rows"])
    assert curve.promised == pytest.approx(summary["predicted_recall"], abs=1e-12)
    assert curve.promised >= summary["recall"] == 0.99
    assert (curve.at, curve.promised) in curve.points
    assert [y for _, y in curve.points] == sorted(y for _, y in curve.points)
    for x, y in curve.points:
        assert y == pytest.approx(1 - (1 - x**curve.rows) ** curve.bands, abs=1e-12)
    assert curve.audit is not None
    assert curve.audit.n_documents == 10
    assert curve.audit.low <= curve.audit.recall <= curve.audit.high
