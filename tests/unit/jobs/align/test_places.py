"""Passages with places: the same columns however they were found, and those of their texts."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest

import neardup
from neardup import PassageIndex
from tests.calls import grouped
from tests.each import each_of
from tests.oracles.places import line_and_column
from tests.spilling import spilling

RNG = random.Random(5)
SHARED = [" ".join(f"w{RNG.randrange(300)}" for _ in range(30)) for _ in range(4)]
MEASURES = {
    "jaccard": {},
    "containment": {"measure": "containment", "threshold": "0.5"},
}


def make_texts(n, name):
    def line(k):
        own = " ".join(f"{name}{k}-{RNG.randrange(99)}" for _ in range(RNG.randrange(1, 6)))
        return own + RNG.choice(["\n", "\r\n", "\r", " é🙂 ", "\n\n"])

    return [
        "".join([*(line(k) for _ in range(3)), RNG.choice(SHARED), *(line(k) for _ in range(2))])
        for k in range(n)
    ]


OWN, OTHER = make_texts(12, "a"), make_texts(9, "b")


def check(passages, queries, documents):
    """Compare places with those that the texts have by themselves."""
    assert len(passages) > 3
    for row in passages.to_pylist():
        for side, texts in (("query", queries), ("doc", documents)):
            text = texts[int(row[f"{side}_id"])]
            assert row[f"{side}_place"] == line_and_column(text, row[f"{side}_start"])


@each_of("options", MEASURES.values(), ids=MEASURES)
def test_align__lines_of_texts(options):
    """Also where some documents are bad, by which numbers of rows and of documents differ."""
    options = {"min_tokens": 12, "on_error": "skip", "places": True, **options}
    rows = [{"id": k, "text": text} for k, text in enumerate(OWN)]
    rows.insert(2, {"id": 99, "text": None})
    two = neardup.align(rows, OTHER, **grouped(**options)).passages
    check(two, OWN, OTHER)
    plain = neardup.align(rows, OTHER, **grouped(**options | {"places": False})).passages
    assert two.drop_columns(["query_place", "doc_place"]) == plain
    check(neardup.align(rows, **grouped(**options)).passages, OWN, OWN)


@pytest.fixture
def path(tmp_path):
    """A file of documents, of which many are bad rows."""
    rows = [{"id": k // 2, "text": OWN[k // 2] if k % 2 else None} for k in range(2 * len(OWN))]
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_align__within_little_memory(path):
    """Blocks of a row or two count the documents that were before them, and no bad rows."""
    options = {"min_tokens": 12, "on_error": "skip"}
    expected = neardup.align(path, OTHER, **grouped(place_marker=r"^(a\d+)-", **options))
    with spilling(400, 500):
        found = neardup.align(path, OTHER, **grouped(place_marker=r"^(a\d+)-", **options))
        check(neardup.align(path, OTHER, **grouped(places=True, **options)).passages, OWN, OTHER)
    assert found.passages == expected.passages
    assert {place[:1] for place in found.passages["query_place"].to_pylist()} == {"a"}


@pytest.fixture
def index(tmp_path):
    """An index in two segments, of which a document has gone."""
    index = PassageIndex.create(tmp_path / "index", min_tokens=12)
    rows = [{"id": k, "text": text} for k, text in enumerate(OTHER)]
    index.add(rows[:5])
    index.add(rows[5:])
    index.remove([1])
    return index


def test_index__lines_of_its_texts(index):
    check(neardup.align(OWN, index, places=True).passages, OWN, OTHER)
    found = index.search(SHARED, places=True).passages
    check(found, SHARED, OTHER)
    assert found.column_names.index("query_place") == found.column_names.index("query_end") + 1
    nothing = index.search(["nothing of the kind " * 9], places=True).passages
    assert (len(nothing), nothing.schema) == (0, found.schema)
    assert found.schema.field("doc_place").type == pa.large_string()
