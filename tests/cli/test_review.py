"""``neardup review``: the page of pairs."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from tests.docs.pages import ROOT, section

OURS = "id,title,year\ns1,The LHAM access method,2000\ns2,Wavelet histograms,1998\n"
THEIRS = "id,title,year\no1,Wavelet-based histograms,1998\no2,The LHAM data access method,1998\n"


@pytest.fixture(autouse=True)
def files(run, here):
    (here / "ours.csv").write_text(OURS)
    (here / "theirs.csv").write_text(THEIRS)
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
    again = run(*command, "--overwrite", "--json")
    facts = {"headline": "2 pairs to judge", "page": "page.html"}
    assert json.loads(again.out) == facts | {"bytes": (here / "page.html").stat().st_size}
    one = run(*command, "--overwrite", "--limit", 1, "--columns", "year,title")
    assert one.out.startswith("1 pair to judge\n")
    assert "LHAM" not in (here / "page.html").read_text()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("pairs.parquet -o page.csv", "page.csv"),
        ("pairs.parquet -o page.html --columns year", "--columns has no effect without"),
        ("pairs.parquet ours.csv --columns what -o page.html", "no column 'what'"),
        ("ours.csv -o page.html", "neardup did not write this table"),
    ],
)
def test_review__refuses(run, here, command, why):
    outcome = run("review", *command.split())
    assert outcome.code == 1
    assert why in outcome.err
    assert not (here / "page.html").exists()


@pytest.mark.parametrize("command", ["report", "review"])
def test_review__of_other_documents(run, here, command):
    swapped = ("pairs.parquet", "ours.csv", "--against", "ours.csv", "-o", "page.html")
    outcome = run(command, *swapped, "--text-column", "title")
    assert outcome.code == 1
    assert "the table names documents that --against does not have, such as " in outcome.err
    assert not (here / "page.html").exists()


def test_review__as_the_page_says(run, here):
    """The commands of the page of docs."""
    judging = section("docs/records.md", "Judge pairs, and label them")
    (here / "examples").symlink_to(ROOT / "examples")
    for block in re.findall(r"(?s)```(?:sh|console)\n(.*?)```", judging):
        for command in re.findall(r"(?m)^(?:\$ )?neardup (.*)$", block.replace("\\\n", " ")):
            outcome = run(*shlex.split(command))
            assert outcome.code == 0, outcome.err
    assert "BRONT" in (here / "judge.html").read_text().upper()
