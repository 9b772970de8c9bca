from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import OutputExistsError

TEXTS = ["the cat sat on the mat", "a dog", "the cat sat on a mat"]


@pytest.fixture
def result():
    return neardup.find_pairs(TEXTS, threshold="0.8", text=neardup.TextOptions(ngram=1))


def test_repr__counts_of_each_collection(result):
    assert repr(result) == "PairResult(3 documents: 1 pair)"
    two = neardup.find_pairs(
        TEXTS * 400, TEXTS[:1], threshold="0.8", text=neardup.TextOptions(ngram=1)
    )
    assert repr(two) == "PairResult(1,200 documents and 1 document: 800 pairs)"


def test_write__a_table_that_is_never_replaced_unasked(result, tmp_path):
    target = tmp_path / "pairs.parquet"
    result.write(target)
    assert pq.read_table(target).equals(result.pairs)
    with pytest.raises(OutputExistsError):
        result.write(target)
    result.write(target, overwrite=True)


def test_find_pairs__strings_of_a_list_are_texts_whatever_they_name(tmp_path):
    """Also those of a class of their own, as arrays have them, and if they name an index."""
    folder = str(tmp_path / "index")
    neardup.DocumentIndex.create(folder).add(["one two three four five"])
    given = [np.str_(folder), "one two three four five"]
    found = neardup.find_pairs(["one two three four five"], given)
    assert found.pairs["id_b"].to_pylist() == ["1"]
