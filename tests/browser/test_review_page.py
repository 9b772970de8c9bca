"""The page on which pairs are judged, by its keys, and what it hands out."""

from __future__ import annotations

import csv
import io

import pytest

import neardup
from tests.browser import scripts
from tests.browser.review_pages import RECORDS, record_pairs

pytestmark = pytest.mark.browser

TITLE = "document.getElementById('card-title').textContent"
JUDGED = "document.getElementById('judged').textContent"
LISTED = "[...document.querySelectorAll('#pairs tbody tr')].map((r) => r.cells[0].textContent)"
# The bytes of the file, its name, and that nothing leads to another page.
FILE = """(async () => {
  const made = [], names = [];
  URL.createObjectURL = (blob) => { made.push(blob); return '#'; };
  HTMLAnchorElement.prototype.click = function () { names.push(this.download); };
  document.getElementById('download').click();
  return [[...new Uint8Array(await made[0].arrayBuffer())], names[0], made[0].type];
})()"""


@pytest.fixture
def page() -> str:
    return neardup.review(record_pairs(), RECORDS).html


def test_review__by_keys(browse, page):
    steps = [TITLE, "keys:Y", TITLE, JUDGED, "keys:N", "keys:U", JUDGED, "keys:Z Z", TITLE, JUDGED]
    steps += ["keys:J J J J", TITLE, "keys:K", TITLE, "keys:Right Left Left", TITLE]
    seen = browse(page, *steps).values
    assert seen == [
        "Pair 1 of 3 · similarity 0.7143",
        "Pair 2 of 3 · similarity 1.0000",
        "1 of 3 judged: 1 yes, 0 no, 0 unsure",
        "3 of 3 judged: 1 yes, 1 no, 1 unsure",
        "Pair 2 of 3 · similarity 1.0000",
        "1 of 3 judged: 1 yes, 0 no, 0 unsure",
        "Pair 3 of 3 · similarity 1.0000",
        "Pair 2 of 3 · similarity 1.0000",
        "Pair 1 of 3 · similarity 0.7143 · yes",
    ]


def test_review__is_kept_and_opened_from_the_list(browse, page):
    opened = "document.querySelector('#pairs tbody tr').click()"
    note = "document.getElementById('note').value"
    steps = [
        *("keys:Y N", "keys:E", "type:why", "keys:Escape", "go:location.reload()", JUDGED, LISTED),
        *(TITLE, note, opened, TITLE),
    ]
    seen = [value for value in browse(page, *steps).values if value is not None]
    assert seen == [
        "2 of 3 judged: 1 yes, 1 no, 0 unsure",
        ["yes", "no", ""],
        # The first open pair.
        "Pair 3 of 3 · similarity 1.0000",
        "why",
        "Pair 1 of 3 · similarity 0.7143 · yes",
    ]


def test_review__rules_hold_where_a_pair_is_judged(browse, page):
    for dark in (False, True):
        assert browse(page, "keys:Y N U K K", scripts.violations(), dark=dark).value == []


def test_review__download(browse, page):
    note = ("keys:E", 'type:"quoted", and; =1+1', "keys:Escape")
    *_, (content, called, kind) = browse(page, *note, "keys:N Y U", FILE).values
    assert (called, kind) == ("labels.csv", "text/csv")
    data = bytes(content)
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    pairs = {
        (row["id_a"], row["id_b"]): row["similarity"] for row in record_pairs().pairs.to_pylist()
    }
    assert {(row["id_a"], row["id_b"]): float(row["similarity"]) for row in rows} == pairs
    # In the order of the page, the least similar first.
    assert [row["label"] for row in rows] == ["no", "yes", "unsure"]
    assert [row["note"] for row in rows] == ['"quoted", and; =1+1', "", ""]
