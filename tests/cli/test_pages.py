"""Web pages from the command line: files, columns, crawls; what is compared and what is written."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.warcs import IMAGE, INFO, members, page

TEXT = "once upon a midnight dreary while I pondered weak and weary"
BUILT = (
    f"<html><head><title>t</title></head><body><div>{TEXT.replace('I', '<b>I</b>')}</div></body>"
)
WRITTEN = f"<p>{TEXT.replace(' ', chr(10), 3)}<script>f()</script>"
OTHER = "<p>something else entirely is written down in this one here"


@pytest.fixture
def run_json(run):
    """Run a command, which may not fail, and return its summary."""

    def run_command(*arguments):
        outcome = run(*arguments, "--json")
        assert outcome.code == 0, outcome.err
        return json.loads(outcome.out)

    return run_command


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.html").write_text(BUILT)
    (folder / "sub" / "b.htm.gz").write_bytes(gzip.compress(WRITTEN.encode()))
    (folder / "c.xhtml").write_text(OTHER)
    return folder


def test_pages__files_are_compared_by_what_is_visible(run_json, site, tmp_path):
    summary = run_json("dedup", site, "-o", tmp_path / "out")
    assert (summary["documents_in"], summary["exact_copies"]) == (3, 1)
    assert (tmp_path / "out/kept/a.html").read_text() == BUILT
    removed = tmp_path / "out/removed/sub/b.htm.gz"
    assert gzip.decompress(removed.read_bytes()) == WRITTEN.encode()


def test_pages__texts_are_written_as_json_lines(run_json, site, tmp_path):
    run_json("dedup", site, "-o", tmp_path / "out", "--format", "jsonl")
    assert json.loads((tmp_path / "out/kept/a.jsonl").read_text()) == {"text": TEXT}


def test_pages__offsets_point_into_the_text(run_json, site, tmp_path):
    (tmp_path / "b.txt").write_text(f"before {TEXT}")
    command = ["align", site / "a.html", tmp_path / "b.txt", "-o", tmp_path / "p.jsonl"]
    run_json(*command, "--min-tokens", "5", "--with-text")
    [row] = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert row["query_text"] == TEXT[row["query_start"] : row["query_end"]]


def test_pages__column(run_json, tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"id": i, "body": body} for i, body in enumerate([BUILT, WRITTEN, OTHER])]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ["--text-column", "body", "--input-format", "html", "-o", tmp_path / "out"]
    assert run_json("dedup", path, *options)["exact_copies"] == 1
    kept = (tmp_path / "out/kept/a.jsonl").read_text().splitlines()
    assert kept == [path.read_text().splitlines()[0], path.read_text().splitlines()[2]]


def test_pages__crawl(run_json, tmp_path):
    pages = [
        page(f"http://{i}/", text.encode(), number=i) for i, text in enumerate([BUILT, WRITTEN])
    ]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(members([INFO, IMAGE, *pages]))
    assert run_json("dedup", path, "-o", tmp_path / "out")["exact_copies"] == 1
    assert gzip.decompress((tmp_path / "out/kept/a.warc.gz").read_bytes()) == INFO + pages[0]


def test_pages__bad_ones_are_skipped(run_json, site, tmp_path):
    (site / "d.html").write_bytes(b"<p>caf\xe9")
    (site / "e.html").write_bytes(b"<div>" * 100_000)
    (site / "f.html").write_bytes(b"%PDF-1.7 no page")
    summary = run_json("dedup", site, "-o", tmp_path / "out", "--on-error", "skip")
    assert (summary["documents_in"], summary["skipped_rows"]) == (3, 3)
    for name in "def":
        skipped = tmp_path / f"out/skipped/{name}.html"
        assert skipped.read_bytes() == (site / f"{name}.html").read_bytes()
        assert not (tmp_path / f"out/kept/{name}.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cut"], "error: a.html: text cannot be cut out of an HTML page, which"),
        (["dedup", "--lines"], "--lines has no effect where no input is text"),
    ],
)
def test_pages__refusals(run, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.html").write_text(BUILT)
    command, *options = arguments
    result = run(command, "a.html", "-o", "out", *options)
    assert result.code == 1
    assert said in result.err


def test_pages__not_utf8_names_the_option(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.html").write_bytes(b"<p>caf\xe9")
    result = run("dedup", "a.html", "-o", "out")
    assert "a.html, row 1: not valid UTF-8 at byte 7 of the page, which says no" in result.err
    assert run("dedup", "a.html", "-o", "out", "--encoding", "cp1252").code == 0
