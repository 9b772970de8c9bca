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
