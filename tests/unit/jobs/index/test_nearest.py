"""The most similar below the threshold, and queries by a sketch, against their definitions."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from unittest.mock import patch

import pytest

import neardup
from neardup import DocumentIndex, InvalidParameterError, SketchMismatchError
from tests.calls import grouped
from tests.each import each_of
from tests.oracles.hashing import hash_shingles, hash_token, lane_masks, signature
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


@pytest.fixture(scope="module", params=[True, False], ids=["with text", "without"])
def index(request, tmp_path_factory):
    """Make an index of a segment, of a tail, and of what waits for a commit."""
    folder = tmp_path_factory.mktemp("nearest") / "idx"
    made = DocumentIndex.create(folder, **grouped(with_text=request.param, **SCHEME))
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
    for limit in (1, 3, 100):
        found = index.query(text, threshold=None, limit=limit)
        assert found == [(n, float(similarity)) for n, similarity in expected[:limit]]
        assert index.query(text, top=limit) == found
        near = [(n, float(s)) for n, s in expected[:limit] if s >= Fraction(3, 10)]
        assert index.query(text, top=limit, threshold="0.3") == near
    assert index.query(text) == [(n, float(s)) for n, s in expected if s >= Fraction(4, 5)]


def test_query__no_threshold_needs_a_limit(index):
    with pytest.raises(InvalidParameterError, match="None, which is none, needs a limit"):
        index.query("a", threshold=None)
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


@pytest.mark.parametrize("options", [{}, {"top": 2}, {"limit": 1}, {"top": 2, "threshold": "0.4"}])
def test_search__by_sketches(index, options):
    """Of each what a query by it finds, with the error and the interval that ``estimate`` has."""
    texts = [*QUERIES, "", TEXTS[5]]
    sketches = neardup.sketch(texts, num_perm=64, text=neardup.TextOptions(ngram=1, seed=SEED))

    def one_sketch(text):
        return neardup.sketch([text], num_perm=64, text=neardup.TextOptions(ngram=1, seed=SEED))

    with patch("neardup.jobs.search._SKETCHES_AT_ONCE", 4):
        found = index.search(sketches, **options)
    expected = [
        (str(place), str(match.id), match.similarity)
        for place in range(len(texts))
        for match in index.query(sketch=one_sketch(texts[place]), **options)
    ]
    assert expected
    rows = rows_of(found.matches)
    assert [(query, str(doc), similarity) for query, doc, similarity, *_ in rows] == expected
    assert found.summary["estimated"] is True
    assert (found.summary["queries"], found.summary["empty_queries"]) == (len(texts), 1)
    own = neardup.sketch(TEXTS, num_perm=64, text=neardup.TextOptions(ngram=1, seed=SEED))
    estimates = {(row[0], row[1]): row[2:] for row in rows_of(estimated(sketches, own))}
    for query, doc, *values in rows:
        assert tuple(values) == estimates[query, str(doc)]


def estimated(sketches, own):
    names = ["id_a", "id_b", "similarity", "error", "low", "high"]
    return neardup.estimate(sketches, own).pairs.select(names)


def rows_of(table):
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.mark.slow
@pytest.mark.parametrize("num_perm", [16, 40])
@each_of("text", QUERIES)
def test_query__by_a_sketch(index, text, num_perm):
    """Estimates are shares of equal positions; the bands are those of the text."""
    sketch = neardup.sketch([text], num_perm=num_perm, text=neardup.TextOptions(ngram=1, seed=SEED))
    masks = [lane_masks(SEED, lane) for lane in range(num_perm)]

    def sign(given):
        return signature(hash_shingles([hash_token(w.encode()) for w in given.split()], 1), masks)

    own = sign(text)
    expected = [
        (n, Fraction(sum(a == b for a, b in zip(own, sign(TEXTS[n]), strict=True)), num_perm))
        for n, _ in nearest(text, range(61))
    ]
    expected.sort(key=lambda pair: (-pair[1], pair[0]))
    as_found = [(n, float(share)) for n, share in expected]
    with patch("neardup.documents.lookup._SIGNED_AT_ONCE", 7):
        # Those that share no word are no hits of the text, but may agree by accident.
        assert index.query(sketch=sketch, threshold=None, limit=100) == as_found
        assert index.query(sketch=sketch, threshold=None, limit=2) == as_found[:2]
        reached = [(n, float(share)) for n, share in expected if share >= Fraction(4, 5)]
        assert index.query(sketch=sketch) == reached


def test_query__sketches_that_do_not_go_with_the_index(index, tmp_path):
    good = neardup.sketch(["w1 w2"], num_perm=16, text=neardup.TextOptions(ngram=1, seed=SEED))
    for changed in ({"seed": 8}, {"ngram": 2}, {"tokenizer": "whitespace"}):
        options = {"ngram": 1, "num_perm": 16, "seed": SEED} | changed
        for call in (lambda sketch: index.query(sketch=sketch), index.search):
            with pytest.raises(SketchMismatchError, match=next(iter(changed))):
                call(neardup.sketch(["w1 w2"], **grouped(**options)))
    with pytest.raises(InvalidParameterError, match="must have 16 values or more"):
        index.query(
            sketch=neardup.sketch(
                ["w1 w2"], num_perm=15, text=neardup.TextOptions(ngram=1, seed=SEED)
            )
        )
    for wrong in (
        neardup.sketch(["w1", "w2"], num_perm=16, text=neardup.TextOptions(ngram=1, seed=SEED)),
        neardup.sketch(["w1 w2"], kind="smallest", text=neardup.TextOptions(ngram=1)),
    ):
        with pytest.raises(InvalidParameterError, match="sketch must be"):
            index.query(sketch=wrong)
    with pytest.raises(InvalidParameterError, match="queries must be of kind minhash"):
        index.search(neardup.sketch(["w1 w2"], kind="smallest", text=neardup.TextOptions(ngram=1)))
    with pytest.raises(InvalidParameterError, match="text_column has no effect on sketches"):
        index.search(good, read=neardup.ReadOptions(text_column="body"))
    with pytest.raises(InvalidParameterError, match="give one of text, tokens and sketch"):
        index.query("w1 w2", sketch=good)
    with pytest.raises(InvalidParameterError, match="give one of text, tokens and sketch"):
        index.query()
    for measure in ("cosine", "weighted-jaccard"):
        other = DocumentIndex.create(
            tmp_path / measure, measure=measure, text=neardup.TextOptions(ngram=1)
        )
        with pytest.raises(InvalidParameterError, match=f"jaccard, and .* made with {measure}"):
            other.query(sketch=good)
        with pytest.raises(InvalidParameterError, match=f"jaccard, and .* made with {measure}"):
            other.search(good)
    empty = neardup.sketch([""], num_perm=16, text=neardup.TextOptions(ngram=1, seed=SEED))
    assert index.query(sketch=empty, threshold=None, limit=5) == []
