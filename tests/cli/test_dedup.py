"""``neardup dedup`` with every option, checked against the inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.files import parquet
from neardup.files.delimited import DelimitedSource
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.rawsource import RawSource
from tests.cli.documents import numbered
from tests.oracles.measures import MEASURES


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("threshold", ["0.55", "0.95"])
def test_dedup__measure(run, here, texts, write_texts, verify, measure, threshold):
    write_texts("a.jsonl", [*texts, *(text[: len(text) * 2 // 3] for text in texts[:20])])
    arguments = ("dedup", "a.jsonl", "-o", "out", "--measure", measure, "--threshold", threshold)
    assert run(*arguments, "--ngram", 3).code == 0
    documents = [*texts, *(text[: len(text) * 2 // 3] for text in texts[:20])]
    stays = verify(
        here / "out",
        numbered("a.jsonl", documents),
        measure=measure,
        threshold=threshold,
        ngram=3,
    )
    assert sum(stays) < len(stays)


KEEP_KEYS = {
    "first": lambda i, _: i,
    "longest": lambda i, text: (-len(text), i),
    "shortest": lambda i, text: (len(text), i),
    "max:score": lambda i, _: (-((i * 7) % 10), i),
    "min:score": lambda i, _: ((i * 7) % 10, i),
    "priority:source=b,a": lambda i, _: ({"b": 0, "a": 1}.get("cab"[i % 3], 2), i),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
@pytest.mark.parametrize("keep", KEEP_KEYS)
def test_dedup__keep(run, here, texts, write_texts, verify, keep, name):
    if name == "a.parquet":
        rows = [
            {"text": text, "score": (i * 7) % 10, "source": "cab"[i % 3]}
            for i, text in enumerate(texts)
        ]
        pq.write_table(pa.Table.from_pylist(rows), name)
    else:
        write_texts(name, texts)
    assert run("dedup", name, "-o", "out", "--keep", keep).code == 0
    verify(here / "out", numbered(name, texts))
    for row in pq.read_table("out/removed.parquet").to_pylist():
        goes, stays = (int(row[column].partition(":")[2]) - 1 for column in ("id", "kept_id"))
        key = KEEP_KEYS[keep]
        assert key(stays, texts[stays]) < key(goes, texts[goes])


def test_dedup__components_remove_chains(run, here, write_file, verify):
    # Each is similar to the next one (7/9 of 3-word shingles), the first and the last are not.
    words = [f"w{i}" for i in range(13)]
    texts = [" ".join(words[i : i + 10]) for i in range(4)]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    options = ("--ngram", 3, "--threshold", "0.7", "--recall", "0.9999999")
    assert run("dedup", "a.jsonl", "-o", "chains", "--clusters", "components", *options).code == 0
    assert run("dedup", "a.jsonl", "-o", "direct", *options).code == 0
    documents = numbered("a.jsonl", texts)
    how = {"threshold": "0.7", "ngram": 3}
    assert verify(here / "chains", documents, direct=False, **how) == [True, False, False, False]
    assert verify(here / "direct", documents, **how) == [True, False, True, False]
    summary = json.loads(Path("chains/summary.json").read_text())
    assert summary["removed_beyond_survivors"] == 1
    assert summary["clusters"] == "components"


def test_dedup__bands_and_rows(run, here, texts, write_texts, verify):
    write_texts("a.jsonl", texts)
    arguments = ("dedup", "a.jsonl", "-o", "out", "--bands", "30x4", "--json")
    summary = json.loads(run(*arguments).out)
    verify(here / "out", numbered("a.jsonl", texts))
    assert (summary["bands"], summary["rows"]) == (30, 4)
    assert summary["scheme"]["num_perm"] == 120
    assert summary["predicted_recall"] == pytest.approx(1 - (1 - 0.8**4) ** 30)


SOURCES = (JsonLinesSource, DelimitedSource, RawSource, parquet.ParquetSource)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "clusters"), [("jaccard", "survivors"), ("weighted-jaccard", "components")]
)
def test_dedup__same_bytes_for_any_workers_and_blocks(
    run, here, monkeypatch, texts, write_texts, read_tree, clusters, measure
):
    names = ["a.jsonl", "b.jsonl.gz", "c.csv.zst", "d.json.xz", "e.tsv.bz2", "f.txt"]
    for i, name in enumerate(names):
        write_texts(f"in/{name}", texts[i:] + texts[: i * 5])
    pq.write_table(pa.table({"text": texts[:70]}), "in/g.parquet")
    write_texts("other.jsonl", texts[5:15])

    def output(workers: int, block_bytes: int | None) -> dict[str, bytes | None]:
        with monkeypatch.context() as patch:
            if block_bytes is not None:
                patch.setattr(parquet, "_MIN_ROWS", 1)
                for source in SOURCES:
                    patch.setitem(source.__init__.__kwdefaults__, "block_bytes", block_bytes)
            target = f"out-{workers}-{block_bytes}"
            options = (
                "--workers",
                workers,
                "--document",
                "line",
                "--clusters",
                clusters,
                "--quiet",
            )
            arguments = ("in", "--against", "other.jsonl", "-o", target, "--measure", measure)
            assert run("dedup", *arguments, *options).code == 0
        files = read_tree(here / target)
        summary = json.loads(files["summary.json"])
        assert summary["workers"] == workers
        for name in ("workers", "seconds", "peak_memory_bytes", "digest"):
            del summary[name]
        return {**files, "summary.json": json.dumps(summary).encode()}

    expected = output(1, None)
    assert expected["removed.parquet"]
    for workers, block_bytes in [(2, None), (5, None), (1, 64), (2, 5000), (5, 700)]:
        found = output(workers, block_bytes)
        assert found.keys() == expected.keys()
        for name, content in expected.items():
            assert found[name] == content, (name, workers, block_bytes)


@pytest.mark.parametrize("by_pairs", [False, True])
def test_dedup__with_text(run, here, texts, write_texts, by_pairs):
    write_texts("a.jsonl", texts)
    how = ()
    if by_pairs:
        assert run("pairs", "a.jsonl", "-o", "pairs.parquet", "--threshold", "0.8").code == 0
        how = ("--pairs", "pairs.parquet")
    assert run("dedup", "a.jsonl", *how, "--with-text", "-o", "out").code == 0
    rows = pq.read_table("out/removed.parquet").to_pylist()
    assert rows
    for row in rows:
        assert row["text"] == texts[row["row"] - 1]
        assert row["kept_text"] == texts[row["kept_row"] - 1]
