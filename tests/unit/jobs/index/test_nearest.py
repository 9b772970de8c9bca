"""The most similar below the threshold, against their definition."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from neardup import DocumentIndex, InvalidParameterError
from tests.calls import grouped
from tests.each import each_of
from tests.oracles.signing import band_keys, shared_bands

BANDS, ROWS, SEED = 8, 2, 7
SCHEME = {
    "ngram": 1,
    "threshold": "0.8",
    "num_perm": 16,
    "bands": (BANDS, ROWS),
    "seed": SEED,
}
WORDS = [f"w{number}" for number in range(30)]


def make_texts(n, seed):
    """Give texts that share more or fewer words with each other."""
    generator = random.Random(seed)
    return [" ".join(generator.sample(WORDS, generator.randint(1, 20))) for _ in range(n)]


TEXTS = [*make_texts(60, 1), make_texts(60, 1)[5]]
QUERIES = [*make_texts(25, 2), TEXTS[5], "none of these at all"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Make an index of a segment, of a tail, and of what waits for a commit."""
    folder = tmp_path_factory.mktemp("nearest") / "idx"
    made = DocumentIndex.create(folder, **grouped(**SCHEME))
    made.add([{"id": number, "text": text} for number, text in enumerate(TEXTS[:40])])
    for number in range(40, 60):
        made.insert(number, TEXTS[number])
        if number == 50:
            made.commit()
    made.insert(60, TEXTS[60])
    return made


def nearest(text, numbers):
    """Give those that share a band with a text, with their similarities, the most similar first."""
    keys = band_keys(text, 1, BANDS, ROWS, SEED)
    found = []
    for number in numbers:
        if shared_bands(keys, band_keys(TEXTS[number], 1, BANDS, ROWS, SEED)):
            own, other = set(text.split()), set(TEXTS[number].split())
            found.append((number, Fraction(len(own & other), len(own | other))))
    return sorted(((n, s) for n, s in found if s), key=lambda pair: (-pair[1], pair[0]))


@pytest.mark.slow
@each_of("text", QUERIES)
def test_query__the_nearest_below_the_threshold(index, text):
    expected = nearest(text, range(61))
    for top in (1, 3, 100):
        found = index.query(text, top=top)
        assert found == [(n, float(similarity)) for n, similarity in expected[:top]]
        near = [(n, float(s)) for n, s in expected[:top] if s >= Fraction(3, 10)]
        assert index.query(text, top=top, threshold="0.3") == near
    assert index.query(text) == [(n, float(s)) for n, s in expected if s >= Fraction(4, 5)]


def test_query__below_the_threshold_needs_top(index):
    with pytest.raises(InvalidParameterError, match=r"threshold must be at least 0\.8"):
        index.query("a", threshold="0.5", limit=1)
    for call in (index.query, index.search):
        with pytest.raises(InvalidParameterError, match="choose either limit, which"):
            call("a", limit=1, top=1)


@pytest.mark.slow
@pytest.mark.parametrize("top", [1, 3, 100])
@pytest.mark.parametrize("threshold", [None, "0.3"])
def test_search__the_nearest(index, top, threshold):
    """Of each of many texts, and what is said of those that are missed."""
    found = index.search([*QUERIES, ""], threshold, top=top)
    least = Fraction(threshold or 0)
    rows = [
        (str(place), str(n), float(similarity))
        for place, text in enumerate(QUERIES)
        for n, similarity in [row for row in nearest(text, range(61)) if row[1] >= least][:top]
    ]
    assert [(*map(str, row[:2]), row[2]) for row in rows_of(found.matches)] == rows
    summary = found.summary
    assert (summary["top"], summary["threshold"]) == (top, float(least))
    promised = math.floor(min(row[2] for row in rows) * 1000) / 1000
    assert summary["least_similarity"] == promised
    missed = (1 - promised**ROWS) ** BANDS
    assert summary["predicted_recall"] == pytest.approx(1 - missed)
    assert (summary["queries"], summary["empty_queries"]) == (len(QUERIES) + 1, 1)
    full = min(top, 61)
    n_found = [sum(row[0] == str(place) for row in rows) for place in range(len(QUERIES))]
    assert summary["incomplete_queries"] == sum(n < full for n in n_found)


def rows_of(table):
    return [tuple(row.values()) for row in table.to_pylist()]
