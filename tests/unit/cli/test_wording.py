from __future__ import annotations

import pytest

from neardup.cli.dedup import _audit
from neardup.cli.wording import counted, describe_bands, plural, printable, warn_of_recall
from tests.each import each_of


def test_counted():
    assert [counted(n, "copy", "copies") for n in (0, 1, 1000)] == [
        "0 copies",
        "1 copy",
        "1,000 copies",
    ]
    assert counted(2, "pair") == "2 pairs"
    assert plural(1, "finds", "find") == "finds"


@pytest.mark.parametrize(
    ("bands", "rows", "start"),
    [(1, 5, "1 band of 5 rows finds a pair"), (9, 1, "9 bands of 1 row find a pair")],
)
def test_describe_bands(bands, rows, start):
    summary = {"bands": bands, "rows": rows, "predicted_recall": 0.5}
    assert describe_bands(summary) == f"{start} at the threshold with probability 0.5000"


@each_of(
    ("summary", "n_lines"),
    [
        ({"predicted_recall": 0.98, "recall": 0.99}, 1),
        ({"predicted_recall": 0.99, "recall": 0.99}, 0),
        ({"predicted_recall": 1.0}, 0),
        ({}, 0),
    ],
)
def test_warn_of_recall(summary, n_lines):
    assert len(warn_of_recall(summary)) == n_lines


@pytest.mark.parametrize(
    ("found", "words"), [(1, "1 of 2 similar pairs shares"), (2, "2 of 2 similar pairs share")]
)
def test_audit__grammar(found, words):
    audit = {
        "documents": 1,
        "found_pairs": found,
        "similar_pairs": 2,
        "similar_documents": 1,
        "recall": found / 2,
        "interval": [0.1, 0.9],
        "kept_although_similar": 0,
    }
    text = _audit(audit)
    assert text.startswith(f"audit of 1 distinct text: {words} a band; in the mean of 1 text the ")


@each_of(
    ("text", "shown"),
    [
        ("plain text, with an umläut and 漢字", None),
        ("no-break\u00a0space and \u3000 wide", None),
        ("\x1b[31m red \x07", "\\x1b[31m red \\x07"),
        ("\u202edrawkcab", "\\u202edrawkcab"),
        ("two\nlines\r", "two\\nlines\\r"),
        ("\ud800 alone", "\\ud800 alone"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == (text if shown is None else shown)
