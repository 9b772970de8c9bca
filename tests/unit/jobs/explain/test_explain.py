"""What is explained of every document of small collections is true, by definition."""

from __future__ import annotations

from fractions import Fraction

import pytest

import neardup
from neardup.errors import InvalidParameterError
from tests.each import each_of
from tests.oracles.curve import candidate_probability
from tests.oracles.measures import MEASURES
from tests.oracles.signing import band_keys, shared_bands
from tests.unit.jobs.explain.texts import make_texts, reaches, sets_of, similarity

EVERY = 10_000


def decide(texts, **options):
    """Deduplicate texts by bands that miss a good part of what is similar."""
    defaults = {"ngram": 2, "threshold": "0.5", "bands": 3, "rows": 3, "seed": 7}
    if options.get("method") == "exact":
        defaults = {"ngram": 2, "threshold": "0.5"}
    return neardup.deduplicate(texts, **(defaults | options))


def relations(result, texts):
    """Yield each document's explanation with everything that it says of others."""
    for d in range(len(texts)):
        explained = result.explain(str(d), closest=EVERY)
        found = [*explained.closest.similar, *explained.closest.below]
        found += [explained.keeper] if explained.keeper else []
        yield d, explained, found


@pytest.mark.slow
@each_of("occurrences", ["set", "numbered"])
@each_of("measure", MEASURES)
def test_evidence__as_defined(measure, occurrences):
    texts = make_texts(1)
    sets = sets_of(texts, 2, occurrences)
    result = decide(texts, measure=measure, occurrences=occurrences)
    n_seen = 0
    for d, _, found in relations(result, texts):
        for relation in found:
            other = int(relation.other.id)
            goes, stays = (d, other) if other < d else (other, d)
            x, y = sets[goes], sets[stays]
            evidence = relation.evidence
            assert relation.comes_first == (other < d)
            assert evidence.common == len(x & y)
            assert evidence.sizes == (len(x), len(y))
            assert evidence.similarity == pytest.approx(similarity(measure, x, y), abs=1e-15)
            assert evidence.reaches == reaches(measure, x, y, Fraction(1, 2))
            jaccard = Fraction(len(x & y), len(x | y))
            assert evidence.jaccard == pytest.approx(float(jaccard), abs=1e-15)
            expected = candidate_probability(jaccard, 3, 3)
            assert evidence.probability == pytest.approx(float(expected), abs=1e-14)
            n_seen += 1
    assert n_seen > 200


@pytest.mark.slow
def test_evidence__buckets_by_definition():
    texts = make_texts(2)
    result = decide(texts)
    keys = [band_keys(text, 2, 3, 3, 7) for text in texts]
    counts = set()
    for d, _, found in relations(result, texts):
        for relation in found:
            shared = shared_bands(keys[d], keys[int(relation.other.id)])
            assert list(relation.evidence.shared_bands) == shared
            counts.add(len(shared))
    assert counts == {0, 1, 2, 3}


@pytest.mark.slow
@each_of("keep", ["first", "longest", "shortest"])
@each_of("measure", ["jaccard", "containment"])
@each_of("seed", range(2))
def test_rules__hold_for_every_pair(seed, measure, keep):
    """Each rule is checked against what it says; no pair is left unexplained."""
    texts = make_texts(seed)
    sets = sets_of(texts, 2)
    keys = [band_keys(text, 2, 3, 3, 7) for text in texts]
    result = decide(texts, measure=measure, keep=keep)
    keeper_of = {int(row["id"]): int(row["kept_id"]) for row in result.removed.to_pylist()}
    lengths = {"first": 0, "longest": -1, "shortest": 1}
    order = sorted(range(len(texts)), key=lambda d: (lengths[keep] * len(texts[d]), d))
    place = {d: order.index(d) for d in order}
    seen = set()
    for d, _, found in relations(result, texts):
        for relation in found:
            other = int(relation.other.id)
            second, first = sorted((d, other), key=place.get, reverse=True)
            assert relation.comes_first == (first == other)
            x, y = sets[second], sets[first]
            is_similar = reaches(measure, x, y, Fraction(1, 2))
            met = bool(shared_bands(keys[second], keys[first]))
            value = similarity(measure, x, y)
            chosen = keeper_of.get(second)
            seen.add(relation.rule)
            match relation.rule:
                case "went-for-it":
                    assert chosen == first
                case "same-keeper":
                    assert chosen is not None
                    assert chosen == keeper_of.get(first)
                case "below-threshold":
                    assert not is_similar
                case "one-sided":
                    assert not is_similar
                    assert reaches(measure, y, x, Fraction(1, 2))
                case "no-shared-bucket":
                    assert is_similar
                    assert not met
                    assert first not in keeper_of
                case "went-before":
                    assert is_similar
                    assert first in keeper_of
                case "closer-keeper":
                    assert first not in keeper_of
                    assert met
                    best = similarity(measure, x, sets[chosen])
                    assert best > value or (best == value and place[chosen] < place[first])
                case "copy-went-before":
                    own = words(texts[second])
                    copies = [copy for copy, text in enumerate(texts) if words(text) == own]
                    assert min(map(place.get, copies)) < place[first]
                case rule:
                    raise AssertionError(rule)
    assert {"went-for-it", "below-threshold", "no-shared-bucket"} <= seen


def words(text):
    return text.casefold().replace(",", "").replace(".", "").split()


def test_rules__copy_follows_the_first_of_them():
    texts = ["a b c d e f", "a b c d x y", "b d x y q", "A, b c d x y!"]
    result = neardup.deduplicate(texts, ngram=1, threshold="0.4", method="exact")
    gone = {row["id"]: row["kept_id"] for row in result.removed.to_pylist()}
    assert gone == {"1": "0", "3": "0"}
    explained = result.explain("3", other="2")
    # It is more similar to 2, but was decided with 1, before 2 was there.
    assert explained.asked.evidence.similarity > explained.keeper.evidence.similarity
    assert explained.asked.rule == "copy-went-before"
    assert "a document with the same tokens as 3 comes before 2 and went for 0" in str(explained)


@pytest.mark.slow
@each_of("method", ["minhash", "exact"])
@each_of("seed", range(3))
def test_reason__as_decided(seed, method):
    texts = make_texts(seed)
    sets = sets_of(texts, 2)
    result = decide(texts, method=method)
    gone = {int(row["id"]): row for row in result.removed.to_pylist()}
    reasons = set()
    for d, explained, _ in relations(result, texts):
        before = [o for o in range(d) if reaches("jaccard", sets[d], sets[o], Fraction(1, 2))]
        stay = [o for o in before if o not in gone]
        if d in gone:
            expected = "exact-copy" if gone[d]["exact_copy"] else "similar"
        elif not sets[d]:
            expected = "no-tokens"
        elif stay:
            expected = "missed"
        else:
            expected = "similar-ones-went" if before else "nothing-similar"
        assert explained.reason == expected
        reasons.add(expected)
        assert explained.n_gone == sum(int(row["kept_id"]) == d for row in gone.values())
        assert {int(each.id) for each in explained.gone} == {
            g for g, row in gone.items() if int(row["kept_id"]) == d
        }
    assert ("missed" in reasons) == (method == "minhash")


@pytest.mark.slow
def test_closest__all_compared_and_the_most_similar_ones_listed():
    texts = make_texts(3)
    sets = sets_of(texts, 2)
    result = decide(texts)
    for d in range(len(texts)):
        explained = result.explain(str(d), closest=4)
        closest, left_out = explained.closest, {int(each.id) for each in explained.gone}
        left_out |= {int(explained.keeper.other.id)} if explained.keeper else set()
        assert closest.n_compared == len(texts) - 1
        values = {o: similarity("jaccard", sets[d], sets[o]) for o in range(len(texts)) if o != d}
        assert closest.n_similar == sum(value >= 0.5 for value in values.values())
        below = {o: value for o, value in values.items() if 0 < value < 0.5}
        best = sorted(below, key=lambda o: (-below[o], o))[:4]
        assert [int(relation.other.id) for relation in closest.below] == best
        listed = {o for o, value in values.items() if value >= 0.5} - left_out
        assert len(closest.similar) == min(4, len(listed))
        assert {int(relation.other.id) for relation in closest.similar} <= listed


def test_closest__none_looked_for():
    result = decide(make_texts(3))
    explained = result.explain("0", closest=0)
    assert explained.closest is None
    assert explained.reason == "not-looked-for"
    assert "stays before it reaches the threshold" in str(explained)


def test_unknown_id__similar_ones_named():
    documents = [{"id": name, "text": name} for name in ("essay-17", "essay-18", "poem")]
    result = neardup.deduplicate(documents)
    with pytest.raises(InvalidParameterError, match=r"'essay-71'; there is 'essay-17', 'essay-18'"):
        result.explain("essay-71")
    with pytest.raises(InvalidParameterError, match="'poem' is the document itself; name another"):
        result.explain("poem", other="poem")


def test_other__numbers_as_ids():
    documents = [{"id": number, "text": "one two three"} for number in (7, 8)]
    result = neardup.deduplicate(documents)
    for key in (8, "8"):
        explained = result.explain(key, other=7)
        assert explained.reason == "exact-copy"
        assert explained.asked.rule == "went-for-it"
        assert explained.to_dict()["kept_id"] == 7


@pytest.mark.slow
def test_weighted__recounted():
    texts = make_texts(5)
    options = {"measure": "weighted-jaccard", "ngram": 1}
    result = decide(texts, **options)
    table = neardup.find_pairs(texts, measure="weighted-jaccard", threshold="0.000001").pairs
    expected = {(row["id_a"], row["id_b"]): row["similarity"] for row in table.to_pylist()}
    n_seen = 0
    for d, explained, found in relations(result, texts):
        assert not explained.notes
        for relation in found:
            pair = tuple(sorted((str(d), relation.other.id), key=int))
            assert relation.evidence.similarity == pytest.approx(expected[pair])
            assert relation.rule != "unexplained"
            n_seen += 1
    assert n_seen > 200


def test_against__keeper_of_the_other_collection():
    texts = make_texts(6, 40)
    result = decide(texts[20:], against=texts[:20])
    gone = [row for row in result.removed.to_pylist() if row["kept_in"] == "against"]
    assert gone
    for row in gone:
        explained = result.explain(row["id"])
        assert explained.keeper.other.side == "against"
        assert explained.keeper.rule == "went-for-it"
        listed = [*explained.closest.similar, *explained.closest.below]
        assert explained.keeper.other.number not in {each.other.number for each in listed}
        assert explained.keeper.text == texts[row["kept_row"] - 1]
        assert explained.keeper.evidence.similarity == pytest.approx(row["similarity"])
        assert explained.closest.n_compared == len(texts) - 1
        assert "compared against and stays in any case" in str(explained)
        assert all(each.rule != "unexplained" for each in explained.closest.similar)


def test_components__chain_to_the_one_that_stays():
    base = [f"w{number}" for number in range(20)]
    texts = [" ".join(base[start : start + 10]) for start in range(8)]
    result = decide(texts, threshold="0.6", clusters="components", method="exact")
    last = result.explain("7")
    assert last.reason == "by-chain"
    assert [link.id for link in last.chain][-1] == "0"
    assert all(link.similarity >= 0.6 for link in last.chain)
    assert "the chain: 7 - " in str(last)
    assert result.explain("1").chain is None


def test_rethreshold__decided_by_pairs():
    texts = make_texts(8, 30)
    result = decide(texts, method="exact")
    pairs = neardup.find_pairs(texts, ngram=2, threshold="0.5")
    again = result.rethreshold("0.7", pairs)
    gone = again.removed.to_pylist()[0]
    explained = again.explain(gone["id"])
    assert explained.reason == "in-pairs"
    assert explained.keeper.evidence.similarity == pytest.approx(gone["similarity"])


def test_explain__decided_by_pairs():
    texts = ["a b c d e f", "a b c d e f g"]
    result = neardup.choose(neardup.find_pairs(texts, ngram=1, threshold="0.5"), texts)
    assert "against_documents" not in result.summary
    assert result.explain("1").keeper.other.id == "0"
