"""Sketches as tables and files: what is written is read."""

from __future__ import annotations

import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidParameterError, OutputExistsError
from neardup.stages.sketches import Sketches
from tests.unit.sketches.sketch_tables import KINDS, kinds, lists, make, same, with_column


@kinds
@pytest.mark.parametrize("n", [0, 1, 40])
def test_sketches__round_trip(kind, n, tmp_path):
    sketches = make(kind, n)
    assert len(sketches) == n
    assert same(Sketches.from_arrow(sketches.to_arrow()), sketches)
    sketches.write(tmp_path / "a.parquet")
    assert same(Sketches.read(tmp_path / "a.parquet"), sketches)
    assert same(Sketches.read(str(tmp_path / "a.parquet")), sketches)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


@kinds
def test_sketches__same_bytes_every_time(kind, tmp_path):
    for name in ("a", "b"):
        make(kind).write(tmp_path / f"{name}.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


@kinds
def test_sketches__have_no_text(kind, tmp_path):
    secret = "Rumpelstilzchen"
    sketches = neardup.sketch([f"{secret} " * 30], **KINDS[kind])
    sketches.write(tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes().lower()
    assert secret.lower().encode() not in data
    assert secret.encode() not in str(sketches.to_arrow().to_pylist()).encode()


@kinds
def test_from_arrow__sliced_and_chunked(kind):
    sketches = make(kind)
    table = sketches.to_arrow()
    chunks = pa.concat_tables([table.slice(0, 3), table.slice(3, 0), table.slice(3)])
    assert chunks["id"].num_chunks > 1
    assert same(Sketches.from_arrow(chunks), sketches)
    part = Sketches.from_arrow(table.slice(5, 9))
    assert part.to_arrow() == table.slice(5, 9)
    assert same(Sketches.from_arrow(pa.concat_tables([table.slice(5, 9)])), part)
    turned = table.take(pa.array(range(len(table) - 1, -1, -1)))
    assert Sketches.from_arrow(turned).to_arrow() == turned
    assert len(Sketches.from_arrow(table.slice(0, 0))) == 0
    no_chunks = pa.table([pa.chunked_array([], f.type) for f in table.schema], schema=table.schema)
    assert len(Sketches.from_arrow(no_chunks)) == 0


@kinds
@pytest.mark.parametrize("list_type", [pa.list_, pa.large_list])
def test_from_arrow__lists_and_numbers_of_any_width(kind, list_type):
    sketches = make(kind)
    table = with_column(sketches.to_arrow(), "id", sketches.ids.cast(pa.string()))
    table = with_column(table, "digest", table["digest"].cast(pa.binary()))
    lists = table["sketch"]
    if pa.types.is_large_binary(lists.type):
        table = with_column(table, "sketch", lists.cast(pa.binary()))
    else:
        table = with_column(table, "sketch", lists.cast(list_type(lists.type.value_type)))
    for name in set(table.column_names) - {"id", "digest", "sketch", "weight"}:
        table = with_column(table, name, table[name].cast(pa.uint32()))
    assert same(Sketches.from_arrow(table), sketches)
    part = Sketches.from_arrow(table.slice(3, 7))
    assert part.to_arrow() == sketches.to_arrow().slice(3, 7)


def test_from_arrow__more_columns_do_no_harm():
    sketches = make("minhash")
    table = sketches.to_arrow().append_column("label", pa.array(["x"] * 40))
    assert same(Sketches.from_arrow(table), sketches)


def test_from_arrow__all_that_a_sketch_may_be():
    """Full and not, whole and not, of an unknown size."""
    table = make("smallest").to_arrow().slice(0, 3)
    for name, values in (
        ("sketch", lists([[], [1, 2**64 - 1], [*range(8)]])),
        ("size", pa.array([0, 2, None])),
    ):
        table = with_column(table, name, values)
    assert Sketches.from_arrow(table).rows.sizes.tolist() == [0, 2, -1]
    table = with_column(table, "size", pa.array([0, 2, 8]))
    assert Sketches.from_arrow(table).rows.sizes.tolist() == [0, 2, 8]
    table = make("modulo").to_arrow().slice(0, 3)
    for name, values in (
        ("sketch", lists([[], [4, 8], [2**63]])),
        ("modulus", pa.array([1, 4, 2**62])),
        ("size", pa.array([0, 2, None])),
    ):
        table = with_column(table, name, values)
    assert Sketches.from_arrow(table).rows.moduli.tolist() == [1, 4, 2**62]


def test_write__refuses(tmp_path):
    sketches = make("minhash")
    with pytest.raises(InvalidParameterError, match=r"must end in \.parquet, got '.*a\.csv'$"):
        sketches.write(tmp_path / "a.csv")
    sketches.write(tmp_path / "a.parquet")
    with pytest.raises(OutputExistsError):
        sketches.write(tmp_path / "a.parquet")
    make("edit").write(tmp_path / "a.parquet", overwrite=True)
    assert Sketches.read(tmp_path / "a.parquet").kind == "edit"
    assert len(list(tmp_path.iterdir())) == 1


def test_sketches__repr():
    assert repr(make("minhash")) == "Sketches(minhash: 40 documents)"
    assert repr(neardup.estimate(make("edit", 3))) == "EstimateResult(edit: 3 pairs)"
