"""The page on which pairs are judged, by its keys, and what it hands out, read back."""

from __future__ import annotations

import csv
import io

import openpyxl
import pyarrow as pa
import pytest

import neardup
from neardup.cli import run
from tests.browser import scripts
from tests.browser.review_pages import RECORDS, record_pairs
from tests.service.conftest import PATIENT, start_service

pytestmark = pytest.mark.browser

TITLE = "document.getElementById('card-title').textContent"
JUDGED = "document.getElementById('judged').textContent"
COUNT = "document.getElementById('count').textContent"
# The bytes of the file, its name, and that nothing leads to another page.
FILE = """(async (button) => {
  const made = [], names = [];
  URL.createObjectURL = (blob) => { made.push(blob); return '#'; };
  HTMLAnchorElement.prototype.click = function () { names.push(this.download); };
  document.getElementById(button).click();
  return [[...new Uint8Array(await made[0].arrayBuffer())], names[0], made[0].type];
})"""
AS_CSV, AS_SHEET = f"{FILE}('download')", f"{FILE}('download-sheet')"


def put(name: str, value: str, event: str = "input") -> str:
    """Return a step that fills in a control."""
    return (
        f"(() => {{ const e = document.getElementById({name!r}); e.value = {value!r}; "
        f"e.dispatchEvent(new Event({event!r})); }})()"
    )


@pytest.fixture
def page() -> str:
    return neardup.review(record_pairs(), RECORDS, order="similar").html


def test_review__by_keys(browse, page):
    steps = [TITLE, "keys:Y", TITLE, JUDGED, "keys:N", "keys:U", JUDGED, "keys:Z Z", TITLE, JUDGED]
    steps += ["keys:J J J J", TITLE, "keys:K", TITLE, "keys:Right Left Left", TITLE]
    seen = browse(page, *steps).values
    assert seen == [
        "Pair 1 of 3 · similarity 1.0000",
        "Pair 2 of 3 · similarity 1.0000",
        "1 of 3 judged: 1 yes, 0 no, 0 unsure",
        "3 of 3 judged: 1 yes, 1 no, 1 unsure",
        "Pair 2 of 3 · similarity 1.0000",
        "1 of 3 judged: 1 yes, 0 no, 0 unsure",
        "Pair 3 of 3 · similarity 0.7143",
        "Pair 2 of 3 · similarity 1.0000",
        "Pair 1 of 3 · similarity 1.0000yes",
    ]


def test_review__keys_write_in_a_note_and_can_be_turned_off(browse, page):
    note = "document.getElementById('note').value"
    off = "document.getElementById('keys').click()"
    steps = ("keys:E", "type:n y?", "keys:Escape", JUDGED, "keys:J K", note, off, "keys:Y", JUDGED)
    assert browse(page, *steps).values == [
        "0 of 3 judged: 0 yes, 0 no, 0 unsure",
        "n y?",
        None,
        "0 of 3 judged: 0 yes, 0 no, 0 unsure",
    ]


def test_review__is_kept_and_filtered(browse, page):
    noted = put("shown", "noted", "change")
    steps = [
        *("keys:Y N", "keys:E", "type:why", "keys:Escape", "go:location.reload()", JUDGED, COUNT),
        *(TITLE, put("shown", "judged", "change"), COUNT, TITLE, noted, COUNT),
        *(put("shown", "all", "change"), put("words", "WAVELET matias"), COUNT),
        *(put("words", ""), put("greatest", "0.8"), COUNT, put("least", "0.75"), COUNT),
    ]
    seen = [value for value in browse(page, *steps).values if value is not None]
    assert seen == [
        "2 of 3 judged: 1 yes, 1 no, 0 unsure",
        "1 of 3 pairs.",
        "Pair 1 of 1 · similarity 0.7143",
        "2 of 3 pairs.",
        "Pair 1 of 2 · similarity 1.0000yes",
        "1 of 3 pairs.",
        "1 of 3 pairs.",
        "1 of 3 pairs.",
        "None of 3 pairs is so.",
    ]


def test_review__rules_hold_where_a_pair_is_judged(browse, page):
    for dark in (False, True):
        assert browse(page, "keys:Y N U K K", scripts.violations(), dark=dark).value == []


def test_review__marks_what_differs(browse, page):
    marks = "[...document.querySelectorAll('.fields mark')].map((e) => e.textContent)"
    rows = "[...document.querySelectorAll('.fields tbody tr')].map((e) => e.innerText)"
    steps = (put("words", "lham"), marks, rows, "document.querySelectorAll('.lacks').length")
    _, found, lines, n_lacking = browse(page, *steps).values
    assert found == ["design of the", "1998"]
    assert [line.split("\t")[0] for line in lines] == ["title", "authors", "year"]
    assert n_lacking == 1


def test_review__round_trip(browse, page, tmp_path, monkeypatch, capsys):
    """What is judged by keys is read by report, review, choose and dedup as it was handed out."""
    monkeypatch.chdir(tmp_path)
    order = put("order", "file", "change")
    note = ("keys:E", 'type:"quoted", and; =1+1', "keys:Escape")
    name = put("reviewer", "Anna B.", "change")
    *_, (content, called, kind) = browse(page, order, *note, "keys:N Y U", name, AS_CSV).values
    assert (called, kind) == ("Anna-B-.csv", "text/csv")
    data = bytes(content)
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    pairs = record_pairs().pairs
    assert [(row["id_a"], row["id_b"]) for row in rows] == list(
        zip(pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist(), strict=True)
    )
    assert [float(row["similarity"]) for row in rows] == pairs["similarity"].to_pylist()
    assert [row["label"] for row in rows] == ["no", "yes", "unsure"]
    assert [row["note"] for row in rows] == ['"quoted", and; =1+1', "", ""]

    (tmp_path / "anna.csv").write_bytes(data)
    record_pairs().write("pairs.parquet")
    report = neardup.report("pairs.parquet", labels="anna.csv")
    assert "2 labelled pairs of the table were judged, 1 of them right" in report.html
    again = neardup.review("pairs.parquet", RECORDS, labels="anna.csv").html
    assert browse(again, JUDGED).value == "3 of 3 judged: 1 yes, 1 no, 1 unsure"
    chosen = neardup.choose("anna.csv", RECORDS, text_column="title", measure="jaccard")
    assert chosen.removed["id"].to_pylist() == [rows[1]["id_b"]]
    ben = data.replace(b'"unsure"', b'"yes"')
    (tmp_path / "ben.csv").write_bytes(ben)
    assert run(["review", "--merge", "anna.csv", "ben.csv", "-o", "merged.csv"]) == 0
    assert "anna and ben agree on 2 of 3 pairs, kappa 0.500" in capsys.readouterr().out
    merged = neardup.review("pairs.parquet", RECORDS, labels="merged.csv").html
    assert browse(merged, COUNT, TITLE).values == [
        "1 of 3 pairs.", "Pair 1 of 1 · similarity 1.0000disagreed",
    ]  # fmt: skip


@pytest.mark.slow
def test_review__of_many_pairs_has_no_pauses(browse):
    n = 30_000
    rows = [{"id": f"d{k}", "title": f"title {k % 97} of record {k}", "year": k} for k in range(n)]
    pairs = pa.table(
        {
            "id_a": [f"d{k}" for k in range(n)],
            "id_b": [f"d{(k * 7 + 1) % n}" for k in range(n)],
            "similarity": [k / n for k in range(n)],
        }
    )
    page = neardup.review(pairs, rows, limit=n).html
    timed = """(() => {
      const before = performance.now();
      %s;
      return performance.now() - before;
    })()"""
    key = "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'y'}))"
    steps = [scripts.USABLE, *(timed % step for step in (key, put("words", "97 record"))), JUDGED]
    usable, judged, filtered, said = browse(page, *steps).values
    assert said == f"1 of {n:,} judged: 1 yes, 0 no, 0 unsure"
    assert usable < 4000
    assert judged < 300
    assert filtered < 1500
    assert browse(page, scripts.pauses("#list")).value["longest"] < 1000


def test_review__as_a_spreadsheet(browse, page, tmp_path):
    """The sheet has what the CSV has, whatever a note holds, and is read wherever labels are."""
    odd = 'a < b & c > "d" _x0041_ =1+1 \u00fc \U0001f600'
    steps = (put("order", "file", "change"), put("note", odd, "change"), "keys:N Y U")
    *_, (content, called, kind) = browse(page, *steps, AS_SHEET).values
    assert (called, kind.rpartition(".")[2]) == ("review.xlsx", "sheet")
    (tmp_path / "review.xlsx").write_bytes(bytes(content))
    # As in all spreadsheets of ours, headers are for people.
    header = next(openpyxl.load_workbook(tmp_path / "review.xlsx").active.values)
    assert list(header) == ["first document", "second document", "label", "similarity", "note"]
    merged = neardup.merge_reviews([tmp_path / "review.xlsx", tmp_path / "review.xlsx"])
    assert merged.labels["label"].to_pylist() == ["no", "yes", "unsure"]
    assert merged.labels["note"].to_pylist() == [odd, "", ""]
    assert merged.labels["id_a"].to_pylist() == record_pairs().pairs["id_a"].to_pylist()
    assert merged.labels["similarity"].to_pylist() == record_pairs().pairs["similarity"].to_pylist()


def test_review__shows_what_each_has_said(browse):
    pairs = record_pairs().pairs
    ids = {"id_a": pairs["id_a"][:1], "id_b": pairs["id_b"][:1]}
    anna, ben = (pa.table({**ids, "label": [word]}) for word in ("yes", "no"))
    merged = neardup.merge_reviews([anna, ben])
    page = neardup.review(record_pairs(), RECORDS, labels=merged).html
    said = "document.getElementById('card-said').textContent"
    assert browse(page, said, "keys:J", said).values == ["1: yes · 2: no", ""]


@pytest.fixture
def served(tmp_path):
    neardup.review(record_pairs(), RECORDS, order="file").write(tmp_path / "judge.html")
    for running in start_service([], PATIENT, review=[tmp_path / "judge.html"]):
        yield f"{running.url}/reviews/judge"


# Judgements reach the service one after the other.
SETTLED = "new Promise((resolve) => setTimeout(() => resolve(true), 1000))"


def test_review__served_keeps_each_reviewers_labels(browse, served, tmp_path):
    disabled = "document.querySelector('[data-verdict]').disabled"
    anna, ben = put("reviewer", "anna", "change"), put("reviewer", "ben", "change")
    focus = "document.activeElement.id"
    everything = put("shown", "all", "change")
    steps = (disabled, "keys:Y", focus, JUDGED, anna, SETTLED, disabled)
    assert browse(served, *steps).values == [
        *(True, "reviewer", "0 of 3 judged: 0 yes, 0 no, 0 unsure"),
        *(None, True, False),
    ]
    writing = ("keys:E", 'type:"quoted"', "keys:Escape", "keys:Y N", SETTLED)
    browse(served, anna, SETTLED, *writing)
    browse(served, ben, SETTLED, "keys:N", SETTLED)
    # Each sees their own alone, in any browser.
    shown = (SETTLED, everything, "document.getElementById('note').value", JUDGED)
    assert browse(served, anna, *shown).values[-2:] == [
        '"quoted"',
        "2 of 3 judged: 1 yes, 1 no, 0 unsure",
    ]
    assert browse(served, ben, *shown).values[-2:] == ["", "1 of 3 judged: 0 yes, 1 no, 0 unsure"]
    text = (tmp_path / "judge.labels.csv").read_text(encoding="utf-8")
    labels = csv.DictReader(io.StringIO(text))
    assert [(row["label"], row["label_anna"], row["label_ben"]) for row in labels] == [
        ("disagreed", "yes", "no"),
        ("no", "no", ""),
    ]


def test_review__served_tells_what_is_not_kept(browse, served):
    told = "document.getElementById('storage').textContent"
    failing = "fetch = () => Promise.reject(new Error('no connection'))"
    anna = put("reviewer", "anna", "change")
    steps = (anna, SETTLED, f"void ({failing})", "keys:Y N", SETTLED, told, scripts.violations())
    *_, said, violations = browse(served, *steps).values
    assert said.startswith("2 judgements are not kept yet (no connection).")
    assert violations == []


def test_review__served_keeps_what_waits_under_the_name_it_was_said_by(browse, served, tmp_path):
    failing = (
        "void (window.real = fetch, window.fetch = (where, options) =>"
        " options.method ? Promise.reject(new Error('no connection')) : real(where, options))"
    )
    anna, ben = put("reviewer", "anna", "change"), put("reviewer", "ben", "change")
    steps = (anna, SETTLED, failing, "keys:Y", ben, SETTLED, "void (window.fetch = real)")
    browse(served, *steps, "keys:N", SETTLED)
    text = (tmp_path / "judge.labels.csv").read_text(encoding="utf-8")
    labels = csv.DictReader(io.StringIO(text))
    assert [(row["label_anna"], row["label_ben"]) for row in labels] == [("yes", "no")]
