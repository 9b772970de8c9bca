"""Explanations of real texts: buckets, probabilities and similarities as defined.

Always on the licence texts in ``examples/``. Other files can be named in the environment variable
NEARDUP_REAL_TEXTS, as for ``test_real_joins.py``.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import neardup
from tests.oracles.curve import candidate_probability
from tests.oracles.signing import band_keys, shared_bands
from tests.statistics.test_real_joins import EXAMPLE, MORE, read_records
from tests.unit.jobs.explain.texts import reaches, sets_of, similarity

pytestmark = pytest.mark.statistics

THRESHOLD, NGRAM, BANDS, ROWS, SEED = "0.6", 3, 6, 4, 9
N_TEXTS, N_EXPLAINED, MOST_CHARACTERS = 1500, 60, 3000


@pytest.fixture(scope="module", params=[EXAMPLE, *MORE], ids=lambda path: path.name)
def texts(request):
    return [text[:MOST_CHARACTERS] for text in read_records(request.param)[:N_TEXTS]]


@pytest.fixture(scope="module", params=["jaccard", "containment"])
def measure(request):
    return request.param


@pytest.fixture(scope="module")
def result(texts, measure):
    options = {"ngram": NGRAM, "bands": BANDS, "rows": ROWS, "seed": SEED}
    return neardup.deduplicate(texts, measure=measure, threshold=THRESHOLD, **options)


def test_explanations__are_true(texts, measure, result):
    """Of removed documents, of those that stay and were missed, and of any others."""
    rng = random.Random(3)
    gone = [int(row["id"]) for row in result.removed.to_pylist() if not row["exact_copy"]]
    chosen = rng.sample(gone, min(len(gone), N_EXPLAINED // 2))
    chosen += rng.sample(range(len(texts)), min(len(texts), N_EXPLAINED // 2))
    explained = {d: result.explain(str(d), closest=5) for d in chosen}
    relations = [
        (d, relation)
        for d, found in explained.items()
        for relation in (found.keeper, *found.closest.similar, *found.closest.below)
        if relation is not None
    ]
    used = sorted({d for d, _ in relations} | {int(each.other.id) for _, each in relations})
    sets = dict(zip(used, sets_of([texts[d] for d in used], NGRAM), strict=True))
    keys = {d: band_keys(texts[d], NGRAM, BANDS, ROWS, SEED) for d in used}
    threshold = Fraction(THRESHOLD)
    seen = set()
    for d, relation in relations:
        other = int(relation.other.id)
        second, first = max(d, other), min(d, other)
        x, y, evidence = sets[second], sets[first], relation.evidence
        assert evidence.common == len(x & y)
        assert evidence.sizes == (len(x), len(y))
        assert evidence.similarity == pytest.approx(similarity(measure, x, y), abs=1e-15)
        assert evidence.reaches == reaches(measure, x, y, threshold)
        assert list(evidence.shared_bands) == shared_bands(keys[second], keys[first])
        jaccard = Fraction(len(x & y), len(x | y))
        expected = candidate_probability(jaccard, BANDS, ROWS)
        assert evidence.probability == pytest.approx(float(expected), abs=1e-13)
        assert relation.rule != "unexplained"
        seen.add(relation.rule)
    assert len(relations) > len(chosen)
    assert "below-threshold" in seen


def test_reasons__are_those_of_all_pairs(texts, measure, result):
    """A sample of documents that stay: which were missed, and which had nothing similar before."""
    sets = sets_of(texts, NGRAM)
    gone = {int(row["id"]) for row in result.removed.to_pylist()}
    stay = [d for d in range(len(texts)) if d not in gone and sets[d]]
    for d in random.Random(4).sample(stay, min(len(stay), N_EXPLAINED)):
        before = [o for o in range(d) if reaches(measure, sets[d], sets[o], Fraction(THRESHOLD))]
        expected = "similar-ones-went" if before else "nothing-similar"
        if set(before) - gone:
            expected = "missed"
        assert result.explain(str(d)).reason == expected


def test_misses__as_often_as_the_curve_says(texts, result):
    """Of the pairs at the threshold that are explained, about so many share a bucket."""
    pairs = neardup.find_pairs(texts, ngram=NGRAM, threshold="0.4").pairs.to_pylist()
    pairs = [row for row in pairs if row["similarity"] < 1]
    chosen = random.Random(5).sample(pairs, min(len(pairs), 300))
    expected = variance = n_shared = 0.0
    for row in chosen:
        evidence = result.explain(row["id_b"], other=row["id_a"], closest=0).asked.evidence
        expected += evidence.probability
        variance += evidence.probability * (1 - evidence.probability)
        n_shared += bool(evidence.shared_bands)
    # Pairs have documents in common, so that their deviations add up.
    assert abs(n_shared - expected) < 6 * variance**0.5 + 3
