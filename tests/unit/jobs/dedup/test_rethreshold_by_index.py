"""``DeduplicationResult.rethreshold`` by an index of the documents."""

from __future__ import annotations

import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError
from tests.calls import grouped

TEXTS = ["the cat sat on the mat", "the cat sat on a mat", "the cat sat on a hat", "a dog", " . "]
ROWS = [{"id": name, "text": text} for name, text in zip("abcde", TEXTS, strict=True)]


@pytest.fixture
def make_index(tmp_path):
    def make(rows=ROWS, **options):
        index = neardup.DocumentIndex.create(
            tmp_path / "index", **grouped(**{"threshold": "0.5", "ngram": 1} | options)
        )
        index.add(rows)
        return index

    return make


def told(result):
    columns = ["id", "kept_id", "similarity"]
    return [tuple(row.values()) for row in result.removed.select(columns).to_pylist()]


@pytest.mark.parametrize("keep", ["first", "shortest"])
@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_rethreshold__as_by_pairs(make_index, keep, measure):
    """Whatever else is in the index."""
    index = make_index([{"id": "x", "text": TEXTS[0]}, *reversed(ROWS)], measure=measure)
    options = {"measure": measure, "ngram": 1, "keep": keep}
    before = neardup.deduplicate(ROWS, **grouped(threshold="0.9", **options))
    pairs = neardup.find_pairs(
        ROWS, measure=measure, threshold="0.5", text=neardup.TextOptions(ngram=1)
    )
    for threshold in ("0.5", "0.7", "0.8", "1"):
        again = before.rethreshold(threshold, index)
        assert told(again) == told(before.rethreshold(threshold, pairs))
        assert again.summary["pairs_method"] == "minhash"
        assert again.summary["least_threshold"] == 0.5
        assert again.summary["least_threshold_is_stated"]
    assert told(before.rethreshold("0.5", index))


def test_rethreshold__refuses(make_index, tmp_path):
    before = neardup.deduplicate(ROWS, threshold="0.9", text=neardup.TextOptions(ngram=1))
    index = make_index(ROWS[1:])
    with pytest.raises(InvalidInputError) as caught:
        before.rethreshold("0.8", index)
    advice = "add all of them to an index, or give pairs"
    folder = tmp_path / "index"
    assert str(caught.value) == (
        f"the index {folder} does not have 1 of the documents, such as 'a'; {advice}"
    )
    index.insert("a", "something else")
    index.commit()
    with pytest.raises(InvalidInputError) as caught:
        before.rethreshold("0.8", index)
    assert str(caught.value) == (
        f"the index {folder} has another text of 1 of the documents, such as 'a'; {advice}"
    )
    with pytest.raises(InvalidParameterError):
        before.rethreshold("0.4", index)
    with pytest.raises(InvalidInputError, match="are of other shingles: ngram 1, not 5"):
        neardup.deduplicate(ROWS).rethreshold("0.8", index)
    with pytest.raises(InvalidParameterError, match="are by jaccard, got measure dice"):
        neardup.deduplicate(ROWS, measure="dice", text=neardup.TextOptions(ngram=1)).rethreshold(
            "0.8", index
        )
