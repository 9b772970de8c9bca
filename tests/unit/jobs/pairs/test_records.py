"""Records of more elements, and pairs, than are worked on at a time: the same as of few."""

from __future__ import annotations

import neardup
from neardup.jobs.pairs import records
from tests.each import each_of

# Copies, and sets that are equal in another order, lie in different parts.
WORDS = ("a b c d e", "a b c d f", "b c d e f g", "e d c b a", "h i j", "", "i j h k", "a b c d e")
TEXTS = [f"{text} {end}" for end in ("", "", "x") for text in WORDS]


@each_of(
    ("measure", "threshold"),
    [("jaccard", "0.5"), ("containment", "0.7"), ("weighted-jaccard", "0.4"), ("edit", "0.6")],
)
def test_records__some_at_a_time(monkeypatch, measure, threshold):
    how = {"measure": measure, "threshold": threshold}
    if measure != "edit":
        how["ngram"] = 1
    at_once = neardup.find_pairs(TEXTS, **how)
    with monkeypatch.context() as patched:
        patched.setattr(records, "_AT_ONCE", 7)
        in_parts = neardup.find_pairs(TEXTS, **how)
    assert len(at_once) > 20
    assert in_parts.pairs == at_once.pairs
    assert in_parts.summary["distinct_records"] == at_once.summary["distinct_records"] < len(TEXTS)
