"""Sketches as tables and files: what is written is read."""

from __future__ import annotations

import pyarrow as pa
import pytest

import neardup
from neardup.stages.sketches import Sketches
from tests.calls import grouped
from tests.unit.sketches.sketch_tables import KINDS, kinds, make, same, with_column


@kinds
def test_sketches__have_no_text(kind, tmp_path):
    secret = "Rumpelstilzchen"
    sketches = neardup.sketch([f"{secret} " * 30], **grouped(**KINDS[kind]))
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
    table = with_column(table, "sketch", lists.cast(list_type(lists.type.value_type)))
    for name in set(table.column_names) - {"id", "digest", "sketch", "weight"}:
        table = with_column(table, name, table[name].cast(pa.uint32()))
    assert same(Sketches.from_arrow(table), sketches)
    part = Sketches.from_arrow(table.slice(3, 7))
    assert part.to_arrow() == sketches.to_arrow().slice(3, 7)
