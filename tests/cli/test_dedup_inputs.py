"""``neardup dedup`` on every kind of input: rows come out as they went in."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.documents import numbered

COMPRESSIONS = ["", ".gz", ".zst", ".xz", ".bz2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *(f"a.jsonl{suffix}" for suffix in COMPRESSIONS),
        *(f"a.csv{suffix}" for suffix in COMPRESSIONS),
        "a.ndjson",
        "a.json",
        "a.json.gz",
        "a.tsv",
        "a.tsv.zst",
    ],
)
def test_dedup__rows_come_out_as_they_went_in(
    run, here, texts, write_texts, read_content, verify, name
):
    rows = write_texts(name, texts)
    outcome = run("dedup", name, "-o", "out")
    assert (outcome.code, outcome.err) == (0, "")
    stays = verify(here / "out", numbered(name, texts))
    assert 0 < sum(stays) < len(stays)
    assert [path.name for path in Path("out/kept").iterdir()] == [name]
    assert [path.name for path in Path("out/removed").iterdir()] == [name]
    assert read_content(here / "out/kept" / name) == rows.content(stays)
    assert read_content(here / "out/removed" / name) == rows.content([not s for s in stays])
    removed = pq.read_table("out/removed.parquet")
    assert set(removed["file"].to_pylist()) == {name}
    assert removed["row"].to_pylist() == [i for i, stay in enumerate(stays, 1) if not stay]


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


def test_dedup__parquet(run, here, texts, verify):
    metadata = {b"made by": b"a test", b"pandas": b"{}"}
    schema = pa.schema(
        [
            pa.field("text", pa.large_string(), metadata={b"language": b"none"}),
            pa.field("tags", pa.list_(pa.int16())),
            pa.field("when", pa.timestamp("ns", "Europe/Berlin")),
            pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
        ],
        metadata,
    )
    table = pa.table(
        {
            "text": texts,
            "tags": [[i, None] if i % 3 else None for i in range(len(texts))],
            "when": [i * 10**15 for i in range(len(texts))],
            "kind": pa.array(["a", "b", None, "c"] * len(texts)).dictionary_encode()[: len(texts)],
        },
        schema,
    )
    pq.write_table(table, "a.parquet", row_group_size=30)
    assert run("dedup", "a.parquet", "-o", "out").code == 0
    stays = pa.array(verify(here / "out", numbered("a.parquet", texts)))
    kept, removed = pq.read_table("out/kept/a.parquet"), pq.read_table("out/removed/a.parquet")
    assert kept.schema.equals(pq.read_table("a.parquet").schema, check_metadata=True)
    assert removed.schema.equals(kept.schema, check_metadata=True)
    assert kept.equals(table.filter(stays))
    assert removed.equals(table.filter(pa.compute.invert(stays)))


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
