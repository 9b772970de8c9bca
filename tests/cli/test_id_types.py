"""Ids keep the type of their column in every table: whole numbers stay whole numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup

TEXTS = ["one two three four five six", "another text, quite other words in it", ""]
SAME = [*TEXTS, *TEXTS]
IDS = [10, 20, 30, 40, 50, 60]
COLUMN = ["--id-column", "id"]


@pytest.fixture
def numbered(here) -> pa.Table:
    table = pa.table({"id": pa.array(IDS, pa.int32()), "text": SAME})
    pq.write_table(table, "a.parquet")
    return table


def types_of(name: str) -> dict[str, pa.DataType]:
    schema = pq.read_schema(name)
    return {field.name: field.type for field in schema if field.name.endswith("id")}


def test_dedup(run, numbered):
    assert run("dedup", "a.parquet", *COLUMN, "-o", "out").code == 0
    ids = {"id": pa.int32(), "kept_id": pa.int32()}
    assert types_of("out/removed.parquet") == ids
    clusters = types_of("out/clusters.parquet")
    assert clusters.pop("cluster_id") == pa.int64()
    assert set(clusters.values()) == {pa.int32()}
    # What the type is for: joins with the input.
    removed = pq.read_table("out/removed.parquet")
    joined = numbered.join(removed, "id", join_type="inner")
    assert sorted(joined["kept_id"].to_pylist()) == [10, 20]
    frame = numbered.to_pandas().merge(removed.to_pandas(), on="id")
    assert frame["kept_id"].tolist() == [10, 20]


@pytest.mark.parametrize(
    ("other", "kind"), [([1, 2, 3], pa.int32()), ([1, 20, 3], pa.large_string())]
)
def test_dedup_against__ids_that_are_taken_are_text(run, numbered, other, kind):
    table = pa.table({"id": pa.array(other, pa.int32()), "text": TEXTS})
    pq.write_table(table, "b.parquet")
    run("dedup", "a.parquet", "--against", "b.parquet", *COLUMN, "-o", "out")
    removed = pq.read_table("out/removed.parquet")
    assert (removed["id"].type, removed["kept_id"].type) == (pa.int32(), kind)
    expected = [1, 2, 1, 2] if other[1] == 2 else ["1", "against/20"] * 2
    assert removed["kept_id"].to_pylist() == expected


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_pairs(run, numbered, suffix):
    assert run("pairs", "a.parquet", *COLUMN, "-o", f"p.{suffix}").code == 0
    rows = {
        "parquet": lambda: pq.read_table("p.parquet").to_pylist(),
        "csv": lambda: pandas.read_csv("p.csv").to_dict("records"),
        "jsonl": lambda: [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()],
    }[suffix]()
    assert [(row["id_a"], row["id_b"]) for row in rows] == [(10, 40), (20, 50)]


def test_index(run, numbered):
    """Stored ids come back as what they were, until other ones are added."""
    assert run("index", "build", "idx", "a.parquet", *COLUMN, "--min-tokens", "5").code == 0
    assert run("search", "idx", "a.parquet", *COLUMN, "-o", "hits.parquet").code == 0
    assert types_of("hits.parquet") == {"query_id": pa.int32(), "doc_id": pa.int32()}
    assert run("align", "a.parquet", "--against", "idx", *COLUMN, "-o", "same.parquet").code == 0
    assert types_of("same.parquet") == {"query_id": pa.int32(), "doc_id": pa.int32()}

    index = neardup.PassageIndex.open("idx")
    assert index.remove([30]).n_removed == 1
    index.compact()
    found = index.search(TEXTS[0]).passages
    assert found.select(["query_id", "doc_id"]).to_pylist() == [
        {"query_id": "0", "doc_id": 10},
        {"query_id": "0", "doc_id": 40},
    ]
    index.add(
        pa.table({"id": pa.array([2**40]), "text": TEXTS[:1]}),
        read=neardup.ReadOptions(id_column="id"),
    )
    assert index.search(TEXTS[0]).passages["doc_id"].type == pa.int64()
    index.add([{"id": "007", "text": TEXTS[0]}], read=neardup.ReadOptions(id_column="id"))
    index.compact()
    found = neardup.PassageIndex.open("idx").search(TEXTS[0]).passages["doc_id"]
    assert found.to_pylist() == ["10", "40", "1099511627776", "007"]


def test_drop__by_numbers(run, numbered):
    """A number in a table means the same number, as a string too."""
    for name, table in (
        ("n.parquet", pa.table({"doc_id": pa.array([40], pa.uint64())})),
        ("t.parquet", pa.table({"doc_id": ["40"]})),
    ):
        pq.write_table(table, name)
        assert run("drop", "a.parquet", *COLUMN, "--named-in", name, "-o", f"{name}-out").code == 0
        assert types_of(f"{name}-out/removed.parquet") == {"id": pa.int32()}
        assert pq.read_table(f"{name}-out/removed.parquet")["id"].to_pylist() == [40]
