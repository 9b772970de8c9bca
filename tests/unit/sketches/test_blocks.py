"""Sketches of blocks of documents, and where estimates say that they lie."""

from __future__ import annotations

import random
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.errors import (
    InvalidInputError,
    InvalidParameterError,
    SketchFormatError,
    SketchMismatchError,
)
from neardup.sketches import table_format
from neardup.stages.sketches import Sketches, read_info
from neardup.tables import Texts
from tests.each import each_of
from tests.unit.sketches.sketch_tables import KINDS, kinds, same, with_column


def blocks_of(text, size):
    """By definition: all but the last are of the size, it of half to one and a half of that."""
    starts = [0]
    while 2 * (len(text) - starts[-1]) >= 3 * size:
        starts.append(starts[-1] + size)
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


@each_of("size", [1, 2, 3, 7, 100])
@each_of("is_bytes", [False, True])
def test_cut_texts__by_definition(size, is_bytes):
    generator = random.Random(size)
    texts = ["", "a", "é漢😀", *("".join(generator.choices("ab é漢😀", k=n)) for n in range(40))]
    column = pa.array(["before", *texts, "behind"], pa.large_string()).slice(1, len(texts))
    with patch.object(table_format, "_PIECE", 5):
        found, owners, places = table_format.cut_texts(
            Texts.from_arrow(column), size, is_bytes=is_bytes
        )
    expected = []
    for number, text in enumerate(texts):
        data = text.encode() if is_bytes else text
        expected += [(number, data[a:b], a, b) for a, b in blocks_of(data, size)]
    assert owners.tolist() == [number for number, *_ in expected]
    assert places.starts.tolist() == [start for *_, start, _ in expected]
    assert places.ends.tolist() == [end for *_, end in expected]
    cut = [
        found.data[start:stop].tobytes()
        for start, stop in zip(found.offsets[:-1], found.offsets[1:], strict=True)
    ]
    assert cut == [part if is_bytes else part.encode() for _, part, *_ in expected]


def test_cut_texts__of_none():
    found, owners, places = table_format.cut_texts(
        Texts.from_arrow(pa.array([], pa.large_string())), 5, is_bytes=False
    )
    assert (len(found), len(owners), len(places)) == (0, 0, 0)


def words(generator, n):
    return [f"wö{generator.randrange(10**6)}" for _ in range(n)]


@pytest.fixture(scope="module")
def book():
    return " ".join(words(random.Random(4), 6000))


def documents(book):
    return [
        {"id": "empty", "text": ""},
        {"id": "book", "text": book},
        {"id": "other", "text": " ".join(words(random.Random(5), 2500))},
    ]


@kinds
def test_sketch__a_block_is_as_a_text_of_its_own(kind, book):
    texts = documents(book)
    options = KINDS[kind] | ({"idf": "unary"} if kind == "weighted" else {})
    found = neardup.sketch(texts, id_column="id", blocks=3000, **options)
    parts = [
        {"id": f"{row['id']} {start}", "text": row["text"][start:end]}
        for row in texts
        for start, end in blocks_of(row["text"], 3000)
    ]
    expected = neardup.sketch(parts, id_column="id", **options)
    assert len(found) == len(expected) > 20
    names = pa.array(
        [
            f"{i} {start}"
            for i, start in zip(found.ids.to_pylist(), found.blocks.starts.tolist(), strict=True)
        ],
        pa.large_string(),
    )
    whole = Sketches(found.scheme, names, found.rows)
    assert same(whole, expected)
    assert found.digests == expected.digests
    assert found.summary["documents"] == found.n_documents == 3
    assert found.summary["blocks"] == len(found)
    assert repr(found) == f"Sketches({found.kind}: 3 documents in {len(found)} blocks)"


@each_of(
    ("options", "asked"),
    [
        ({"kind": "modulo"}, {"measure": "containment", "threshold": "0.9"}),
        ({"kind": "edit", "compression": 25}, {"min_significance": 10}),
    ],
    ids=["modulo", "edit"],
)
@each_of("seed", range(5))
def test_estimate__where_a_part_lies(book, options, asked, seed):
    """A part of two and a half blocks has a whole one of them, whatever its place."""
    generator = random.Random(seed)
    start = generator.randrange(len(book) - 7500)
    part = [{"id": "part", "text": book[start : start + 7500]}]
    options = options | {"id_column": "id"}
    own = neardup.sketch(documents(book), blocks=3000, **options)
    found = neardup.estimate(own, neardup.sketch(part, **options), **asked).pairs
    assert found.column_names[:4] == ["id_a", "id_b", "start_a", "end_a"]
    rows = [row for row in found.to_pylist() if row["start_a"] >= start - 1500]
    assert set(found["id_a"].to_pylist()) == {"book"}
    inside = [a for a, b in blocks_of(book, 3000) if start <= a and b <= start + 7500]
    assert inside
    assert set(inside) <= {row["start_a"] for row in rows}
    assert all(row["end_a"] > start and row["start_a"] < start + 7500 for row in found.to_pylist())


def test_estimate__places_are_those_in_the_document(book):
    part = [{"id": "part", "text": book[20000:24000]}]
    options = {"kind": "edit", "id_column": "id", "compression": 10}
    own, other = (
        neardup.sketch(documents(book), blocks=12000, **options),
        neardup.sketch(part, **options),
    )
    for pair in ((own, other), (other, own)):
        rows = neardup.estimate(*pair, min_significance=20, places=True).pairs.to_pylist()
        [row] = [row for row in rows if row["place_share"] > 0.9]
        assert abs(row["place_start"] - 20000) < 600
        assert abs(row["place_end"] - 24000) < 600


def test_estimate__no_block_with_another_of_its_document(book):
    twice = [{"id": "a", "text": book[:9000] + book[:9000]}, {"id": "b", "text": book[:3000]}]
    sketches = neardup.sketch(twice, id_column="id", blocks=3000)
    for asked in ({}, {"threshold": "0.5"}):
        rows = neardup.estimate(sketches, **asked).pairs.to_pylist()
        assert {(row["id_a"], row["id_b"]) for row in rows} == {("a", "b")}
        alike = [row["start_a"] for row in rows if row["similarity"] > 0.9]
        assert alike == [0, 9000]
        assert {(row["start_b"], row["end_b"]) for row in rows} == {(0, 3000)}


@kinds
def test_sketches__of_blocks_are_taken_and_put_together(kind, book, tmp_path):
    whole = neardup.sketch(documents(book), id_column="id", blocks=3000, **KINDS[kind])
    path = tmp_path / "s.parquet"
    whole.write(path)
    read = Sketches.read(path)
    assert same(read, whole)
    for found in (
        read,
        Sketches.concat([whole.select(["empty", "book"]), whole.select(["other"])]),
    ):
        assert same(found, whole)
        assert found.blocks.size == 3000
        assert found.blocks.starts.tolist() == whole.blocks.starts.tolist()
        assert found.blocks.ends.tolist() == whole.blocks.ends.tolist()
    turned = whole.select(["other", "empty"])
    assert turned.ids.unique().to_pylist() == ["other", "empty"]
    assert turned.blocks.starts.tolist()[:2] == [0, 3000]
    assert whole[3].blocks.starts.tolist() == [6000]
    info = read_info(path)
    assert (info["documents"], info["blocks"], info["block_size"]) == (3, len(whole), 3000)


def test_sketches__of_blocks_refuse(book):
    whole = neardup.sketch(documents(book), id_column="id", ngram=1)
    cut = neardup.sketch(documents(book), id_column="id", ngram=1, blocks=3000)
    with pytest.raises(SketchMismatchError, match=r"blocks None and 3000"):
        whole.append(cut)
    with pytest.raises(InvalidInputError, match=r"id 'empty' is in more than one of them"):
        cut.append(cut)
    for one, other in ((cut, whole), (whole, cut)):
        with pytest.raises(
            InvalidParameterError, match=r"^merge needs sketches of whole documents"
        ):
            one.merge(other)
    with pytest.raises(
        InvalidParameterError, match=r"^pairs needs sketches of whole documents, got"
    ):
        neardup.estimate(whole, cut, pairs=[{"id_a": "book", "id_b": "book"}])
    samples = neardup.sketch(documents(book), id_column="id", kind="smallest", blocks=3000)
    with pytest.raises(InvalidParameterError, match=r"^clusters needs sketches of whole documents"):
        neardup.cluster_sketches(samples)


def test_from_arrow__blocks_that_cannot_be(book):
    table = neardup.sketch(documents(book), id_column="id", ngram=1, blocks=3000).to_arrow()
    n = len(table)
    for name, values in (("start", [-1] * n), ("start", [10**9] * n), ("end", [None] * n)):
        with pytest.raises(SketchFormatError):
            Sketches.from_arrow(with_column(table, name, pa.array(values, pa.int64())))
    with pytest.raises(SketchFormatError):
        Sketches.from_arrow(table.drop_columns(["start"]))


def test_sketch__of_blocks_of_bytes(tmp_path):
    data = np.random.default_rng(3).integers(0, 256, 5000, np.uint8).tobytes()
    (tmp_path / "a.bin").write_bytes(data)
    found = neardup.sketch(tmp_path / "a.bin", input_format="bytes", kind="edit", blocks=1000)
    assert found.blocks.starts.tolist() == [0, 1000, 2000, 3000, 4000]
    assert found.rows.lengths.tolist() == [1000] * 5
