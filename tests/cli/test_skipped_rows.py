"""Bad rows of each command that writes a folder: what comes out where, from a crawl above all."""

from __future__ import annotations

import gzip
import json

import pyarrow.parquet as pq
import pytest

from tests.warcs import IMAGE, INFO, members, page

WORDS = "a harbour, a grey morning, and the boats that had come in before the storm"
PAGES = [page(f"http://{i}/", f"<p>{WORDS} {i * 'and more '}".encode(), number=i) for i in range(4)]
COPY = page("http://copy/", f"<div>{WORDS}</div>".encode(), number=5)
EMPTY = page("http://empty/", b"", number=6)
BAD = [
    page("http://latin/", b"<p>caf\xe9", number=7),
    page("http://paper/", b"%PDF-1.7 is no page", number=8),
]
RECORDS = [INFO, PAGES[0], BAD[0], IMAGE, PAGES[1], EMPTY, BAD[1], COPY, *PAGES[2:]]
KEPT = [f"urn:uuid:{number}" for number in (0, 1, 6, 2, 3)]
SKIP = ("--on-error", "skip", "--overwrite", "-o", "out")


@pytest.fixture
def crawl(here):
    (here / "crawl.warc.gz").write_bytes(members(RECORDS))
    (here / "ids.txt").write_text("urn:uuid:5\n")
    return "crawl.warc.gz"


COMMANDS = {
    "dedup": ("--threshold", "1"),
    "drop": ("--named-in", "ids.txt"),
}


@pytest.mark.parametrize("output_format", ["same", "jsonl", "parquet"])
@pytest.mark.parametrize("command", COMMANDS)
def test_crawl(run, here, crawl, command, output_format):
    outcome = run(command, crawl, *COMMANDS[command], *SKIP, "--format", output_format)
    assert (outcome.code, outcome.err) == (0, "")
    said = "\n2 bad rows skipped; see skipped/ and skipped.parquet (reasons)\n"
    assert said in outcome.out
    skipped = (here / "out/skipped/crawl.warc.gz").read_bytes()
    assert gzip.decompress(skipped) == b"".join([INFO, *BAD])
    table = pq.read_table("out/skipped.parquet").to_pylist()
    # Records count that are no pages, too.
    assert [(row["file"], row["row"]) for row in table] == [(crawl, 3), (crawl, 7)]
    assert "not valid UTF-8 at byte 7 of the page" in table[0]["reason"]
    assert "this is a file of format pdf" in table[1]["reason"]
    summary = json.loads((here / "out/summary.json").read_text())
    assert summary["skipped"] == table
    counts = [summary[f"documents_{what}"] for what in ("in", "kept", "removed")]
    assert (*counts, summary["skipped_rows"]) == (6, 5, 1, 2)
    if output_format == "same":
        kept = gzip.decompress((here / "out/kept/crawl.warc.gz").read_bytes())
        assert kept == b"".join([INFO, PAGES[0], PAGES[1], EMPTY, *PAGES[2:]])
    elif output_format == "jsonl":
        content = gzip.decompress((here / "out/kept/crawl.jsonl.gz").read_bytes())
        assert [json.loads(line)["id"] for line in content.splitlines()] == KEPT
    else:
        assert pq.read_table("out/kept/crawl.parquet")["id"].to_pylist() == KEPT
        assert pq.read_table("out/removed/crawl.parquet")["id"].to_pylist() == ["urn:uuid:5"]


ROWS = [
    b'{"id": "a", "text": "%s"}\n' % WORDS.encode(),
    b'{"id": "b", "text": 5}\n',
    b'{"id": "c", "te\n',
    b'{"id": "d", "text": "so: %s"}\n' % WORDS.encode(),
]


@pytest.mark.parametrize("output_format", ["same", "jsonl", "parquet"])
def test_cut(run, here, output_format):
    (here / "a.jsonl").write_bytes(b"".join(ROWS))
    exact = ("--exact", "--min-tokens", "5", "--format", output_format)
    summary = json.loads(run("cut", "a.jsonl", *exact, *SKIP, "--json").out)
    assert (summary["documents_in"], summary["skipped_rows"]) == (2, 2)
    assert (here / "out/skipped/a.jsonl").read_bytes() == ROWS[1] + ROWS[2]
    if output_format == "parquet":
        rows = pq.read_table("out/kept/a.parquet").to_pylist()
    else:
        rows = [json.loads(line) for line in (here / "out/kept/a.jsonl").read_text().splitlines()]
    assert [(row["id"], row["text"]) for row in rows] == [("a", WORDS), ("d", "so: ")]


def test_report_and_explanation(run, here):
    """The texts beside skipped rows are those of the documents."""
    lines = [json.dumps({"id": i, "text": f"{i // 2} {WORDS}"}) for i in range(6)]
    for place in (0, 2, 3, 7):
        lines.insert(place, '{"id": "bad"')
    (here / "a.jsonl").write_text("\n".join(lines) + "\n")
    for output_format in ("same", "parquet"):
        how = ("--id-column", "id", "--threshold", "1", "--format", output_format)
        assert run("dedup", "a.jsonl", *how, *SKIP).code == 0
        assert run("report", "out", "-o", "page.html", "--overwrite").code == 0
        page = (here / "page.html").read_text()
        assert all(f"{i} {WORDS}" in page for i in range(3))
        told = run("explain", "out", "5")
        assert (told.code, told.err) == (0, "")
        assert f"2 {WORDS}" in told.out


def test_bad_rows_of_against(run, here):
    (here / "a.jsonl").write_bytes(ROWS[0])
    (here / "b.jsonl").write_bytes(b"".join(ROWS[1:]))
    outcome = run("dedup", "a.jsonl", "--against", "b.jsonl", *SKIP)
    assert "\n2 bad rows of --against skipped; summary.json lists them\n" in outcome.out
    summary = json.loads((here / "out/summary.json").read_text())
    assert (summary["skipped_rows"], summary["against_skipped_rows"]) == (0, 2)
    assert [row["row"] for row in summary["against_skipped"]] == [1, 2]
    assert pq.read_table("out/skipped.parquet").num_rows == 0
    assert not (here / "out/skipped").exists()
