"""Jobs that read pages several times take the text out of each once, and find the same."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import neardup
from neardup.files import html
from neardup.files import plain as kept
from tests.calls import grouped
from tests.files import compress
from tests.warcs import INFO, members, page

pytest.importorskip("resiliparse")

N_PAGES = 24


def page_of(number: int) -> bytes:
    """Make one of several frames; every third page is nearly the one before, some are copies."""
    subject = number - 1 if number % 3 == 2 else number
    words = " ".join(f"w{subject}x{i}" for i in range(80)) + f" end{number}" * (number % 7 > 0)
    return (
        (
            f"<title>t{number}</title><nav>n{number}</nav><article><p>{words}</article>"
            f"<footer><!-- {number} --></footer>"
        )
        .replace(f"n{number}</nav>", "</nav>")
        .encode()
    )


PAGES = [page_of(number) for number in range(N_PAGES)]


def write_warc(folder: Path) -> None:
    records = [page(f"http://a/{i}", each, number=i) for i, each in enumerate(PAGES)]
    (folder / "a.warc.gz").write_bytes(members([INFO, *records]))


def write_files(folder: Path) -> None:
    for i, each in enumerate(PAGES):
        (folder / f"{i:02d}.html").write_bytes(each)


def write_columns(folder: Path) -> None:
    rows = [json.dumps({"id": f"{i}", "text": each.decode()}) for i, each in enumerate(PAGES)]
    (folder / "a.jsonl").write_bytes(compress("a.jsonl", "\n".join(rows).encode()))


def run_dedup(folder: Path, output: Path, **options) -> dict[str, bytes]:
    """Count shingles, sign, compare, and write texts: four passes."""
    result = neardup.deduplicate(
        folder, **grouped(idf="smooth", tf="raw", measure="weighted-jaccard", **options)
    )
    result.write(output, format="jsonl")
    assert 0 < result.summary["documents_removed"] < N_PAGES
    return {path.name: path.read_bytes() for path in output.rglob("*.jsonl")} | {
        "removed": str(result.removed.to_pylist()).encode()
    }


def run_pairs(folder: Path, output: Path, **options) -> dict[str, bytes]:
    pairs = neardup.find_pairs(folder, **grouped(threshold="0.6", method="minhash", **options))
    table = pa.table(pairs.pairs)
    assert len(table)
    return {"pairs": str(table.to_pylist()).encode()}


def run_align(folder: Path, output: Path, **options) -> dict[str, bytes]:
    found = neardup.align(folder, **grouped(min_tokens=30, **options))
    assert len(found.passages)
    return {"passages": str(found.passages.to_pylist()).encode()}


def run_sketch(folder: Path, output: Path, **options) -> dict[str, bytes]:
    found = neardup.sketch(folder, **grouped(idf="smooth", kind="weighted", **options))
    return {"table": str(pa.table(found).to_pylist()).encode()}


@pytest.mark.parametrize(
    ("run", "write", "options", "share"),
    [
        (run_dedup, write_warc, {}, 0.1),
        (run_dedup, write_files, {}, 0),
        (run_dedup, write_columns, {"input_format": "html"}, 0),
        (run_pairs, write_warc, {}, 0),
        (run_align, write_files, {}, 0.1),
        (run_sketch, write_columns, {"input_format": "html"}, 0.1),
    ],
)
def test_each_text_comes_out_once(tmp_path, monkeypatch, run, write, options, share):
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder)
    counts: Counter[bytes] = Counter()
    take = html.html_text

    def counted(data, given):
        counts[data.encode()] += 1
        return take(data, given)

    monkeypatch.setattr(kept, "_SHARE", share)
    monkeypatch.setattr(html, "html_text", counted)
    found = run(folder, tmp_path / "out", **options)
    assert counts == dict.fromkeys(PAGES, 1)
    # As from an engine that keeps nothing.
    for name in ("dedup.run", "pairs.find_pairs", "align", "sketch"):
        monkeypatch.setattr(f"neardup.jobs.{name}.keep_extracted", lambda *_: None)
    assert run(folder, tmp_path / "again", **options) == found
    assert min(counts.values()) > 1
