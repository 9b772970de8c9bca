"""Tables of pairs that come in several blocks."""

from __future__ import annotations

import pyarrow as pa
import pytest

from neardup.errors import InvalidInputError
from neardup.files.memory import MemorySource
from neardup.reading.catalogue import Catalogue
from neardup.runs.runner import Runner
from neardup.stages.by_pairs import PairTable

PAIRS = [("a", "z", 0.9), ("a", "b", 0.8), ("b", "y", 0.7), ("b", "z", 1.0)]


def table_of(pairs, block_rows=1):
    columns = zip(*pairs, strict=True)
    table = pa.table(dict(zip(("id_a", "id_b", "similarity"), map(list, columns), strict=True)))
    return PairTable("it", [MemorySource(table, block_rows=block_rows)], None)


@pytest.mark.parametrize("block_rows", [1, 3, 9])
def test_ids__of_the_left_column_first(block_rows):
    ids = table_of(PAIRS, block_rows).ids(Runner(2))
    assert ids.to_pylist() == ["a", "b", "z", "y"]


@pytest.mark.parametrize("block_rows", [1, 3, 9])
def test_numbered__in_the_order_of_the_table(block_rows):
    documents = Catalogue.of_ids(pa.array(["z", "y", "b", "x", "a"]))
    found = table_of(PAIRS, block_rows).numbered(documents, Runner(2))
    assert found.left.tolist() == [4, 4, 2, 2]
    assert found.right.tolist() == [0, 2, 1, 0]
    assert found.similarities.tolist() == [0.9, 0.8, 0.7, 1.0]


def test_numbered__refuses_what_comes_late():
    documents = Catalogue.of_ids(pa.array(["a", "b", "z"]))
    with pytest.raises(
        InvalidInputError, match=r"^it names a document that the input does not hav"
    ):
        table_of(PAIRS).numbered(documents, Runner(1))
    with pytest.raises(InvalidInputError, match=r"^it, row 5: similarity 7 is not between 0 and 1"):
        table_of([*PAIRS, ("a", "b", 7.0)]).numbered(documents, Runner(1))


def test_numbered__no_documents():
    nothing = Catalogue.of_none()
    assert len(table_of([("a", "b", 0.5)]).ids(Runner(1))) == 2
    with pytest.raises(InvalidInputError, match=r"^it names 2 documents"):
        table_of([("a", "b", 0.5)]).numbered(nothing, Runner(1))
