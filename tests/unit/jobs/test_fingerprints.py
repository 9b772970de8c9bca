"""Jobs with other fingerprints of shingles: the same answers, but for collisions."""

from __future__ import annotations

import random

import pytest

import neardup
from neardup.errors import InvalidParameterError

HOW = {
    "rabin": {"fingerprint": "rabin"},
    "rabin of another seed": {"fingerprint": "rabin", "seed": 7},
    "40 bits": {"fingerprint_bits": 40},
    "rabin of 32 bits": {"fingerprint": "rabin", "fingerprint_bits": 32},
}
every_way = pytest.mark.parametrize("how", HOW.values(), ids=HOW)


@pytest.fixture(scope="module")
def texts():
    generator = random.Random(1)
    words = [f"w{i}" for i in range(60)]
    drawn = [" ".join(generator.choices(words, k=30)) for _ in range(40)]
    # Some copies with a word or two changed.
    return [*drawn, *(" ".join([*text.split()[: 30 - i % 3], "x"]) for i, text in enumerate(drawn))]


@every_way
@pytest.mark.parametrize("method", ["exact", "minhash"])
def test_deduplicate__same_documents_go(texts, how, method):
    usual = neardup.deduplicate(texts, ngram=2, threshold="0.7", method=method)
    found = neardup.deduplicate(texts, ngram=2, threshold="0.7", method=method, **how)
    assert len(usual.removed) > 20
    # Band keys, and so candidates, are drawn by other hashes.
    if method == "exact":
        assert found.removed.equals(usual.removed)
    else:
        assert abs(len(found.removed) - len(usual.removed)) <= 2
    assert {name: found.summary["scheme"].get(name) for name in how if name != "seed"} == {
        name: value for name, value in how.items() if name != "seed"
    }


@every_way
@pytest.mark.parametrize("tokenizer", ["words", "bytes", "lines"])
@pytest.mark.parametrize("occurrences", ["set", "numbered"])
def test_find_pairs__same_pairs(texts, how, tokenizer, occurrences):
    options = {"ngram": 2, "tokenizer": tokenizer, "occurrences": occurrences, "threshold": "0.8"}
    if tokenizer == "lines":
        texts = [text.replace(" ", "\n") for text in texts]
    usual = neardup.find_pairs(texts, **options)
    assert len(usual.pairs) > 5
    assert neardup.find_pairs(texts, **options, **how).pairs.equals(usual.pairs)


@every_way
def test_document_index__keeps_how(texts, how, tmp_path):
    index = neardup.DocumentIndex.create(tmp_path / "index", ngram=2, threshold="0.7", **how)
    index.add(texts[:40])
    reopened = neardup.DocumentIndex.open(tmp_path / "index")
    found = reopened.search(texts[40:]).matches
    assert len(set(found["query_id"].to_pylist())) > 20
    assert reopened.query(texts[3])[0].similarity == 1
    other = "rabin" if "fingerprint" not in how else "mixer"
    with pytest.raises(InvalidParameterError, match="the index was made with fingerprint"):
        neardup.deduplicate(texts, against=reopened, fingerprint=other)


@pytest.mark.parametrize(("name", "value"), [("fingerprint", "rabin"), ("fingerprint_bits", 32)])
def test_jobs__of_characters_have_no_fingerprints(name, value):
    with pytest.raises(InvalidParameterError, match=f"{name} has no effect on edit distances"):
        neardup.find_pairs(["a"], max_distance=1, **{name: value})
    with pytest.raises(InvalidParameterError, match=f"{name} has no effect on sketches of kind"):
        neardup.sketch(["a"], kind="edit", **{name: value})


def test_deduplicate__seed_of_an_exact_run(texts):
    with pytest.raises(InvalidParameterError, match="seed has no effect with method exact"):
        neardup.deduplicate(texts, method="exact", seed=1)
    with pytest.raises(InvalidParameterError, match="recall has no effect with method exact"):
        neardup.deduplicate(texts, method="exact", fingerprint="rabin", recall="0.9")
