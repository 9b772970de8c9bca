"""``neardup review``: the page of pairs, and labels that come back."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from tests.docs.pages import ROOT, section

OURS = "id,title,year\ns1,The LHAM access method,2000\ns2,Wavelet histograms,1998\n"
THEIRS = "id,title,year\no1,Wavelet-based histograms,1998\no2,The LHAM data access method,1998\n"
# As a page hands it out: with a byte order mark, quotes, and ends of lines of spreadsheets.
ANNA = (
    '\ufeff"id_a","id_b","label","similarity","note"\r\n'
    '"s1","o2","no","0.8","other ""year"", see"\r\n'
    '"s2","o1","yes","0.6666666666666666",""\r\n'
)


@pytest.fixture(autouse=True)
def files(run, here):
    (here / "ours.csv").write_text(OURS)
    (here / "theirs.csv").write_text(THEIRS)
    (here / "anna.csv").write_bytes(ANNA.encode())
    (here / "ben.csv").write_bytes(ANNA.replace('"no"', '"unsure"').encode())
    found = ("pairs", "ours.csv", "--against", "theirs.csv", "--text-column", "title")
    assert run(*found, "--ngram", 1, "--threshold", 0.5, "-o", "pairs.parquet").code == 0


def test_review__writes_a_page(run, here):
    command = ("review", "pairs.parquet", "ours.csv", "--against", "theirs.csv", "-o", "page.html")
    outcome = run(*command)
    assert outcome.code == 0
    [headline, where] = outcome.out.splitlines()
    assert headline == "2 pairs to judge"
    page = (here / "page.html").read_text()
    assert "LHAM" in page
    assert "Content-Security-Policy" in page
    assert where == f"written to page.html, {len(page.encode()) / 1e6:.1f} MB"
    assert "page.html exists" in run(*command).err
    again = run(*command, "--overwrite", "--json", "--labels", "anna.csv")
    facts = {"headline": "2 pairs judged, 0 to judge", "page": "page.html"}
    assert json.loads(again.out) == facts | {"bytes": (here / "page.html").stat().st_size}
    one = run(*command, "--overwrite", "--limit", 1, "--columns", "year")
    assert one.out.startswith("1 pair to judge\n")
    assert "LHAM" not in (here / "page.html").read_text()


def test_review__labels_are_read_by_report(run, here):
    report = ("report", "pairs.parquet", "-o", "report.html")
    assert run(*report, "--labels", "anna.csv").code == 0
    assert (
        "2 labelled pairs of the table were judged, 1 of them right"
        in (here / "report.html").read_text()
    )
    # Of a pair of which somebody is unsure labels say nothing.
    assert run(*report, "--labels", "ben.csv", "--overwrite").code == 0
    assert (
        "1 labelled pairs of the table were judged, 1 of them right"
        in (here / "report.html").read_text()
    )


@pytest.mark.parametrize(
    "command",
    [
        "report pairs.parquet --labels bad.csv -o p.html",
        "review pairs.parquet --labels bad.csv -o p.html",
    ],
)
def test_labels__of_another_column_are_refused(run, here, command):
    """Else every pair would count as right."""
    for other in ("lable", "Label", "verdict"):
        (here / "bad.csv").write_text(ANNA.replace('"label"', f'"{other}"'), encoding="utf-8")
        outcome = run(*command.split())
        assert outcome.code != 0
        assert "bad.csv: labels have no column 'label', yes or no; columns are" in outcome.err
        assert f"'{other}'" in outcome.err
    (here / "bad.csv").write_text(ANNA.replace('"no"', '"noo"'), encoding="utf-8")
    assert "bad.csv, row 1: label must be one of 1, 1.0, true, yes" in run(*command.split()).err


def test_labels__of_a_spreadsheet_in_german(run, here):
    """Separated by semicolons, numbers with a comma."""
    (here / "anna.csv").write_text(
        "\ufeffid_a;id_b;label;similarity;note\r\ns1;o2;no;0,8;see\r\ns2;o1;Yes;0,66;\r\n",
        encoding="utf-8",
    )
    report = ("report", "pairs.parquet", "-o", "report.html", "--labels", "anna.csv")
    assert run(*report).code == 0
    assert "2 labelled pairs" in (here / "report.html").read_text()
    # Any table of ours is read so.
    (here / "again.csv").write_text("id_a;id_b;similarity\ns2;o1;0,6\n")
    assert run("report", "again.csv", "-o", "again.html").code == 0


def test_labels__of_documents_that_are_not_there(run, here):
    with (here / "anna.csv").open("a") as file:
        file.write('"s1","o99","yes","1",""\r\n"s1","o98","no","1",""\r\n')
    said = "2 labels name a document that is in no pair of the table, such as 'o99'"
    outcome = run("report", "pairs.parquet", "-o", "report.html", "--labels", "anna.csv")
    assert said in outcome.out
    assert said.partition(",")[0] in (here / "report.html").read_text()
    assert said in run("review", "pairs.parquet", "-o", "p.html", "--labels", "anna.csv").out
    (here / "none.csv").write_text("id_a,id_b,label\nx,y,yes\n")
    for command in ("report", "review"):
        outcome = run(command, "pairs.parquet", "-o", "none.html", "--labels", "none.csv")
        assert "labels and pairs have no document in common" in outcome.err


def test_labels__that_say_two_things_of_a_pair(run, here):
    (here / "own.csv").write_text("id,title\ns1,The LHAM method\no2,The LHAM access method\n")
    found = ("pairs", "own.csv", "--text-column", "title", "--ngram", 1, "--threshold", 0.5)
    assert run(*found, "-o", "own.parquet").code == 0
    for second, why in (
        ("s1,o2,no", "two.csv: the pair 's1', 'o2' is there as yes and as no"),
        ("o2,s1,no", "as yes and, the other way round, as no"),
    ):
        (here / "two.csv").write_text(f"id_a,id_b,label\ns1,o2,yes\n{second}\n")
        for command in ("report", "review"):
            outcome = run(command, "own.parquet", "-o", "p.html", "--labels", "two.csv")
            assert why in outcome.err


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("pairs.parquet -o page.csv", "page.csv"),
        ("pairs.parquet -o page.html --columns year", "--columns has no effect without"),
        ("pairs.parquet ours.csv --columns what -o page.html", "no column 'what'"),
        ("ours.csv -o page.html", "no job of neardup has written this table"),
    ],
)
def test_review__refuses(run, here, command, why):
    outcome = run("review", *command.split())
    assert outcome.code == 1
    assert why in outcome.err
    assert not (here / "page.html").exists()


def test_review__as_the_page_says(run, here):
    """The commands of the page, from pairs to a threshold by labels."""
    judging = section("docs/records.md", "Judge pairs, and label them")
    [labels] = re.findall(r"(?s)```none\n(.*?)```", judging)
    (here / "labels.csv").write_text(labels)
    (here / "examples").symlink_to(ROOT / "examples")
    for block in re.findall(r"(?s)```(?:sh|console)\n(.*?)```", judging):
        for command in re.findall(r"(?m)^(?:\$ )?neardup (.*)$", block.replace("\\\n", " ")):
            outcome = run(*shlex.split(command))
            assert outcome.code == 0, outcome.err
    page = (here / "links.html").read_text()
    assert "3 labelled pairs of the table were judged, 2 of them right" in page
