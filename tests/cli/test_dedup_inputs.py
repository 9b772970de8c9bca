"""``neardup dedup`` on every kind of input: rows come out as they went in."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from tests.cli.documents import numbered

COMPRESSIONS = ["", ".gz", ".zst", ".xz", ".bz2"]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_dedup__one_document_a_line(run, here, texts, write_texts, read_content, verify, suffix):
    name = f"a.txt{suffix}"
    lines = [" ".join(text.split()) for text in texts if text.strip()]
    rows = write_texts(name, lines)
    assert run("dedup", "--document", "line", name, "-o", "out", "--quiet").code == 0
    stays = verify(here / "out", numbered(name, lines))
    assert read_content(here / "out/kept" / name) == rows.content(stays)
    assert read_content(here / "out/removed" / name) == rows.content([not s for s in stays])


@pytest.mark.slow
def test_dedup__one_document_a_file(run, here, texts, write_file, read_content, verify):
    names = [f"{'xy'[i % 2]}/{i:03}.txt{COMPRESSIONS[i % 5]}" for i in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        write_file(f"in/{name}", text)
    assert run("dedup", "in", "-o", "out").code == 0
    documents = dict(sorted(zip(names, texts, strict=True)))
    stays = verify(here / "out", documents)
    for (name, text), stay in zip(documents.items(), stays, strict=True):
        path = here / "out" / ("kept" if stay else "removed") / name
        other = here / "out" / ("removed" if stay else "kept") / name
        assert read_content(path) == text.encode()
        assert not other.exists() or read_content(other) == b""


@pytest.mark.parametrize("lines", [False, True])
def test_dedup__standard_input(
    run, here, monkeypatch, texts, write_texts, read_content, verify, lines
):
    name = "stdin.txt" if lines else "stdin.jsonl"
    texts = [" ".join(text.split()) for text in texts if text.strip()]
    rows = write_texts(f"source/{name}", texts)
    data = (here / "source" / name).read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert run("dedup", "-", *["--document", "line"][: 2 * lines], "-o", "out").code == 0
    stays = verify(here / "out", numbered(name, texts))
    assert read_content(here / "out/kept" / name) == rows.content(stays)
    assert read_content(here / "out/removed" / name) == rows.content([not s for s in stays])


@pytest.mark.parametrize("argument", ["in", "in/**/*.*", "{here}/in"])
def test_dedup__many_files(run, here, texts, write_texts, read_content, verify, argument):
    names = ["a.jsonl", "b/a.csv.gz", "b/c/a.jsonl.zst", "d.json"]
    files = {}
    documents = {}
    for i, name in enumerate(names):
        part = texts[i::4]
        files[name] = write_texts(f"in/{name}", part)
        documents |= numbered(name, part)
    assert run("dedup", argument.format(here=here), "-o", "out").code == 0
    stays = verify(here / "out", documents)
    for name, rows in files.items():
        here_stays, stays = stays[: len(rows.rows)], stays[len(rows.rows) :]
        assert read_content(here / "out/kept" / name) == rows.content(here_stays)
        gone = [not stay for stay in here_stays]
        assert read_content(here / "out/removed" / name) == rows.content(gone)
