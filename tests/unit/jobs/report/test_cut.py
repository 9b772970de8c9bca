"""The report of a cut, from its folder and in memory."""

from __future__ import annotations

import re

import pytest

import neardup

NOTICE = "All rights reserved, and no part of this may be copied by anybody without our leave."
DATA = [
    {"id": "one", "text": f"One is here. {NOTICE}"},
    {"id": "two", "text": f"{NOTICE} Two is there."},
    {"id": "three", "text": f"And three. {NOTICE} The end of it."},
]


def report_of_cut(folder, inputs=None, against=None):
    return neardup.report(folder, inputs, against=against)


@pytest.fixture
def folder(tmp_path):
    neardup.cut(DATA, min_tokens=8, exact=True).write(tmp_path / "cut")
    return tmp_path / "cut"


def test_report_of_cut__with_the_texts_as_they_were(folder):
    html = report_of_cut(folder, DATA).html
    assert "neardup report FOLDER INPUT" not in html
    assert re.search(r'class="around">\.? *Two is there.</span>', html)
    assert "characters 13 to 96" in html


def test_report_of_cut__against_documents_of_the_same_ids(tmp_path):
    other = [{"id": "one", "text": f"Somebody else says: {NOTICE}"}]
    neardup.cut(DATA, against=other, min_tokens=8, exact=True).write(tmp_path / "cut")
    html = report_of_cut(tmp_path / "cut", DATA, other).html
    assert "against/one" in html
    assert "characters 20 to 103" in html
    assert "<del>" not in html
