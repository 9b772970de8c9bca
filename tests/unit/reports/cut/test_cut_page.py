"""The page of a cut: what was repeated most is what the rows say."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from neardup.reports.cut import CutDocument, CutTable, cut_report, wanted_rows
from neardup.reports.page import MOST_OF_NAME

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


@pytest.fixture
def make_table():
    """Make a table: two copies of a notice, one of them less alike, and a repeat in one text."""

    def make(*, with_texts=True, summary=SUMMARY):
        documents = [
            CutDocument(f"d{k}", f"{'ab'[k % 2]}.jsonl", k + 1, text if with_texts else None)
            for k, text in enumerate(TEXTS)
        ]
        n = len(NOTICE)
        rows = [(1, 0, n, 0, 5, 5 + n), (2, 7, 7 + n, 0, 6, 4 + n), (3, 13, 21, 3, 5, 12)]
        columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
        return CutTable(documents, *columns, np.array([1.0, 0.9, 1.0]), summary)

    return make


def rows_of(html: str) -> list[list[str]]:
    found = re.search(
        r'aria-label="Passages and how often they went".*?<tbody>(.*?)</tbody>', html, re.S
    )
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in found[1].split("</tr>")[:-1]]


def test_groups__are_by_what_stays(make_table):
    groups = make_table().groups
    assert [group.rows.tolist() for group in groups] == [[0, 1], [2]]
    assert [group.n_documents for group in groups] == [2, 1]
    assert [group.text for group in groups] == [NOTICE, ""]


def test_groups__are_ranked_by_copies_before_characters(make_table):
    table = make_table()
    longer = replace(table, stops=np.array([20, 30, 1013], np.int64))
    assert [group.n_characters for group in longer.groups] == [43, 1000]
    assert longer.n_groups == 2


def test_groups__have_no_text_of_another_summary(make_table):
    summary = SUMMARY | {"most_repeated": [{"copies": 7, "text": "another"}]}
    assert [group.text for group in make_table(summary=summary).groups] == ["", ""]


def test_cut_report__ids_without_end_are_shortened(make_table):
    table = make_table()
    named = [replace(each, id="y" * 5000 + each.id) for each in table.documents]
    html = cut_report(replace(table, documents=named), "Name the inputs.").html
    assert "y…" in html
    assert "y" * MOST_OF_NAME not in html


def test_cut_report__what_was_repeated_most(make_table):
    report = cut_report(make_table(), "Name the inputs.")
    assert report.headline == "3 spans cut out of 3 of 5 documents"
    assert rows_of(report.html) == [
        ["2", "2", "2", "78", "d0", f"“{NOTICE}” "],
        ["1", "1", "1", "8", "d3", "“is four.” "],
    ]
    assert "2 copies in 2 documents; stays in d0, characters 5 to 44" in report.html
    assert "Name the inputs." not in report.html


def test_cut_report__before_and_after(make_table):
    html = cut_report(make_table(), "").html
    assert '<span class="around">Three. </span>' in html
    assert '<span class="around"> And on.</span>' in html
    assert "Among the least alike" in html


def test_cut_report__by_file(make_table):
    html = cut_report(make_table(), "").html
    assert "<title>b.jsonl: characters 47</title>" in html
    assert "<title>a.jsonl: characters 39</title>" in html
    assert re.search(r"1\. All rights[^<]*, b\.jsonl: 1</title>", html)


def test_cut_report__without_texts(make_table):
    table = make_table(with_texts=False)
    html = cut_report(table, "Name the inputs.").html
    assert "Name the inputs." in html
    assert NOTICE in html
    assert "Before and after" not in html
    assert wanted_rows(table) == [0, 2, 1]


def test_cut_report__nothing_went():
    summary = SUMMARY | {"documents_cut": 0, "spans": 0, "characters_removed": 0}
    report = cut_report(CutTable.of_none(summary), "Name the inputs.")
    assert report.headline == "Nothing was repeated, and nothing was cut"
    assert "--min-tokens" in report.html
    assert "Name the inputs." not in report.html
