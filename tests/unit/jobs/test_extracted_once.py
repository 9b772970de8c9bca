"""Jobs that read pages several times take the text out of each once, and find the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import neardup
from neardup.files import html
from tests.calls import grouped
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


def run_dedup(folder: Path, output: Path) -> dict[str, bytes]:
    """Count shingles, sign, compare, and write texts: four passes."""
    result = neardup.deduplicate(
        folder, **grouped(idf="smooth", tf="raw", measure="weighted-jaccard")
    )
    result.write(output, format="jsonl")
    assert 0 < result.summary["documents_removed"] < N_PAGES
    return {path.name: path.read_bytes() for path in output.rglob("*.jsonl")} | {
        "removed": str(result.removed.to_pylist()).encode()
    }


def run_pairs(folder: Path, output: Path) -> dict[str, bytes]:
    pairs = neardup.find_pairs(folder, **grouped(threshold="0.6", method="minhash"))
    table = pa.table(pairs.pairs)
    assert len(table)
    return {"pairs": str(table.to_pylist()).encode()}


def run_align(folder: Path, output: Path) -> dict[str, bytes]:
    found = neardup.align(folder, **grouped(min_tokens=30))
    assert len(found.passages)
    return {"passages": str(found.passages.to_pylist()).encode()}


def run_sketch(folder: Path, output: Path) -> dict[str, bytes]:
    found = neardup.sketch(folder, **grouped(idf="smooth", kind="weighted"))
    return {"table": str(pa.table(found).to_pylist()).encode()}


@pytest.mark.parametrize(
    ("run", "write"),
    [
        (run_dedup, write_warc),
        (run_dedup, write_files),
        (run_pairs, write_warc),
        (run_align, write_files),
        (run_sketch, write_warc),
    ],
)
def test_each_text_comes_out_once(tmp_path, monkeypatch, run, write):
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder)
    counts: Counter[bytes] = Counter()
    take = html.visible_text

    def counted(data):
        counts[data.encode()] += 1
        return take(data)

    monkeypatch.setattr(html, "visible_text", counted)
    found = run(folder, tmp_path / "out")
    assert counts == dict.fromkeys(PAGES, 1)
    # As from an engine that keeps nothing.
    for name in ("dedup.run", "pairs.find_pairs", "align", "sketch"):
        monkeypatch.setattr(f"neardup.jobs.{name}.keep_extracted", lambda *_: None)
    assert run(folder, tmp_path / "again") == found
    assert min(counts.values()) > 1
