from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.measuring import paired
from benchmarks.measuring.environments import REPOSITORY

OLD = Path("old")


@pytest.mark.slow
def test_compare__runs_both_in_turn_and_leaves_the_first_round_out(monkeypatch):
    ran = []
    times = {OLD: [9.0, 0.004, 0.002], REPOSITORY: [9.0, 0.001, 0.002]}

    def report(checkout, module, corpus):
        assert (module, corpus) == ("kernels.passes", Path("corpus.jsonl"))
        ran.append(checkout)
        extra = {"of one alone": [1.0]} if checkout == OLD else {}
        return {"seconds": {"fold": [times[checkout].pop(0)], **extra}}

    monkeypatch.setattr(paired, "report", report)
    found = paired.compare(OLD, "kernels.passes", Path("corpus.jsonl"), 2)
    assert ran == [REPOSITORY, OLD, OLD, REPOSITORY, REPOSITORY, OLD]
    header, _, row = found.splitlines()
    assert header.count("|") == row.count("|")
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        *("fold", "3.00", "2.00", "1.50", "1.00", "2.00", "2.00")
    ]
