"""Documents at the threshold of an index are found with the recall that it was made for."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from neardup import DocumentIndex, ReadOptions, TextOptions

pytestmark = pytest.mark.statistics

SIGMAS = 3.5
N_PAIRS = 1500


def pair(generator, similarity, size=40):
    """Give two texts of a Jaccard similarity, as sets of random words."""
    overlap = round(2 * size * similarity / (1 + similarity))
    assert Fraction(overlap, 2 * size - overlap) == similarity
    words = [f"w{generator.getrandbits(48)}" for _ in range(2 * size - overlap)]
    return " ".join(words[:size]), " ".join(words[size - overlap :])


@pytest.mark.parametrize("recall", ["0.5", "0.9", "0.99"])
@pytest.mark.parametrize(("threshold", "size"), [("0.6", 40), ("0.8", 45)])
@pytest.mark.parametrize("way", ["insert", "add"])
def test_query__finds_what_is_at_the_threshold(tmp_path, recall, threshold, size, way):
    generator = random.Random(f"{recall} {threshold}")
    pairs = [pair(generator, Fraction(threshold), size) for _ in range(N_PAIRS)]
    index = DocumentIndex.create(
        tmp_path / "index",
        threshold=threshold,
        recall=recall,
        text=TextOptions(ngram=1, tokenizer="whitespace"),
    )
    rows = [{"id": number, "text": text} for number, (text, _) in enumerate(pairs)]
    if way == "add":
        index.add(rows, read=ReadOptions(id_column="id"))
    else:
        for row in rows:
            index.insert(**row)
    found = index.search([text for _, text in pairs]).matches.to_pylist()
    assert {row["similarity"] for row in found} == {float(Fraction(threshold))}
    promised = float(recall)
    error = math.sqrt(promised * (1 - promised) / N_PAIRS)
    assert len(found) / N_PAIRS >= promised - SIGMAS * error
    # Exactly the same text is always found.
    assert [match.id for match in index.query(pairs[5][0], threshold=1)] == [5]
    index.close()
