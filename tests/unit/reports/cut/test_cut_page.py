"""The page of a cut: what was repeated most is what the rows say."""

from __future__ import annotations

import re

import pyarrow as pa

from neardup.outputs.table_rows import TableRows
from neardup.reports.cut import CutTable, cut_report, wanted_rows

NOTICE = "All rights reserved, whatever they are."
TEXTS = [f"One. {NOTICE}", f"{NOTICE} Two.", f"Three. {NOTICE} And on.", "Four is four is four."]
SUMMARY = {
    "documents_in": 5,
    "documents_cut": 3,
    "spans": 3,
    "characters_removed": 2 * len(NOTICE) + 8,
    "most_repeated": [{"copies": 2, "text": NOTICE}],
    "unit": "passages",
}


def cut_table(rows, *, texts=True, ids=None, summary=SUMMARY):
    """Return spans of some documents: number, start, end, then the same of what stays."""
    ids = [f"d{k}" for k in range(4)] if ids is None else ids
    own, starts, ends, kept, kept_starts, kept_ends, similarities = zip(*rows, strict=True)
    table = pa.table(
        {
            "id": [ids[k] for k in own],
            "start": starts,
            "end": ends,
            "kept_id": [ids[k] for k in kept],
            "kept_start": kept_starts,
            "kept_end": kept_ends,
            "similarity": similarities,
            "file": [f"{'ab'[k % 2]}.jsonl" for k in own],
            "row": [k + 1 for k in own],
            "kept_in": ["input"] * len(rows),
        }
    )
    known = {("input", name): text for name, text in zip(ids, TEXTS, strict=True) if texts}
    return CutTable(TableRows.of_table(table), summary, texts=known)


N = len(NOTICE)
ROWS = [(1, 0, N, 0, 5, 5 + N, 1.0), (2, 7, 7 + N, 0, 6, 4 + N, 0.9), (3, 13, 21, 3, 5, 12, 1.0)]


def make_table(rows=ROWS, **options):
    """Make a table: two copies of a notice, one of them less alike, and a repeat in one text."""
    return cut_table(rows, **options)


def rows_of(html: str) -> list[list[str]]:
    found = re.search(
        r'aria-label="Passages and how often they went".*?<tbody>(.*?)</tbody>', html, re.S
    )
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in found[1].split("</tr>")[:-1]]


def test_groups__are_by_what_stays():
    groups = make_table().groups
    assert [group.places for group in groups] == [[0, 1], [2]]
    assert [group.n_documents for group in groups] == [2, 1]
    assert [group.text for group in groups] == [NOTICE, ""]


def test_cut_report__what_was_repeated_most():
    report = cut_report(make_table(), "Name the inputs.")
    assert report.headline == "3 spans cut out of 3 of 5 documents"
    assert rows_of(report.html) == [
        ["2", "2", "2", "78", "d0", f"“{NOTICE}” "],
        ["1", "1", "1", "8", "d3", "“is four.” "],
    ]
    assert "2 copies in 2 documents; stays in d0, characters 5 to 44" in report.html
    assert "Name the inputs." not in report.html


def test_cut_report__before_and_after():
    html = cut_report(make_table(), "").html
    assert '<span class="around">Three. </span>' in html
    assert '<span class="around"> And on.</span>' in html
    assert "Among the least alike" in html


def test_cut_report__by_file():
    html = cut_report(make_table(), "").html
    assert "<title>b.jsonl: characters 47</title>" in html
    assert "<title>a.jsonl: characters 39</title>" in html
    assert re.search(r"1\. All rights[^<]*, b\.jsonl: 1</title>", html)


def test_cut_report__without_texts():
    table = make_table(texts=False)
    html = cut_report(table, "Name the inputs.").html
    assert "Name the inputs." in html
    assert NOTICE in html
    assert "Before and after" not in html
    assert wanted_rows(table) == [0, 2, 1]
