"""Documents with weights, and what deduplication makes of them by the definitions."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest

import neardup
from tests.calls import grouped
from tests.each import INVERSE_FREQUENCIES, TERM_FREQUENCIES
from tests.oracles import components, hashing, survivors, weighted
from tests.oracles.measures import WEIGHTED
from tests.oracles.shingles import shingle_tuples
from tests.oracles.tokens import Options as TokenOptions
from tests.oracles.tokens import tokenize

# Bands of one row: a pair at the least threshold here, 1/5, is missed with probability
# (4/5)^512 < 10^-49, so that all similar pairs are compared.
SURE = {"num_perm": 512, "bands": (512, 1)}
ALL = list(product(TERM_FREQUENCIES, INVERSE_FREQUENCIES))
SCHEMA = pa.schema([("id", "string"), ("text", "string"), ("score", "int64")])
ORDERS = {
    "first": lambda row: 0,
    "longest": lambda row: -len(row["text"]),
    "shortest": lambda row: len(row["text"]),
    "max:score": lambda row: -row["score"],
}


def make_rows(strings, prefix="d"):
    return [
        {"id": f"{prefix}{i}", "text": text, "score": 7 * i % 4} for i, text in enumerate(strings)
    ]


def words_of(row):
    return tuple(tokenize(row["text"], "words", TokenOptions()))


def weigh(sequences, collection, tf, idf, ngram):
    """Weigh the shingles of some token sequences as those of a collection of sequences."""
    counts = weighted.document_frequencies([shingle_tuples(s, ngram) for s in collection])
    return [
        weighted.weigh(shingle_tuples(sequence, ngram), tf, idf, counts, len(collection))
        for sequence in sequences
    ]


def band_keys(weights, bands, rows, seed):
    """Give a document's band keys, none if it is empty."""
    hashed = {
        hashing.hash_shingle([hashing.hash_token(token) for token in shingle]): weight
        for shingle, weight in weights.items()
    }
    if not hashed:
        return []
    values = [
        weighted.minimum(each, hashed) >> 32 for each in weighted.function_seeds(seed, bands * rows)
    ]
    return [hashing.band_key(values[b * rows : (b + 1) * rows], b) for b in range(bands)]


def expected_result(
    rows,
    others=(),
    *,
    threshold,
    tf,
    idf,
    ngram=1,
    keep="first",
    clusters="survivors",
    bands=None,
):
    """Give kept id, similarity and whether it is a copy for each removed id, and comparisons.

    Copies of a token sequence collapse to the first in keep order; then the rule is applied to one
    document of each, those of ``others`` first. Weights are those of all documents. ``bands`` are
    number, rows and seed; without them all pairs are compared.
    """
    ranked = [*others, *sorted(rows, key=ORDERS[keep])]
    firsts: dict[tuple[bytes, ...], str] = {}
    for row in ranked:
        if words_of(row):
            firsts.setdefault(words_of(row), row["id"])
    sets = weigh(firsts, [words_of(row) for row in ranked], tf, idf, ngram)
    ids = list(firsts.values())
    n_fixed = len({words_of(row) for row in others} - {()})
    meet = survivors.all_pairs
    if bands:
        keys = [set(band_keys(weights, *bands)) for weights in sets]

        def meet(d, other):
            return bool(keys[d] & keys[other])

    rule = survivors.choose if clusters == "survivors" else components.choose
    keepers = rule(sets, WEIGHTED, Fraction(threshold), n_fixed=n_fixed, are_candidates=meet)
    removed = {}
    for row in rows:
        if not words_of(row):
            continue
        place = ids.index(firsts[words_of(row)])
        keeper = keepers[place]
        if keeper >= 0:
            exact = float(weighted.weighted_jaccard(sets[place], sets[keeper]))
            removed[row["id"]] = (ids[keeper], exact, False)
        elif row["id"] != ids[place]:
            removed[row["id"]] = (ids[place], 1.0, True)
    n_compared = sum(
        meet(d, other) for d in range(n_fixed, len(ids)) for other in range(d) if keepers[other] < 0
    )
    return removed, n_compared


def check(result, rows, expected):
    removed = {row["id"]: row for row in result.removed.to_pylist()}
    assert {i: (row["kept_id"], row["exact_copy"]) for i, row in removed.items()} == {
        i: (kept, is_exact) for i, (kept, _, is_exact) in expected.items()
    }
    for identifier, (_, similarity, _) in expected.items():
        found = removed[identifier]["similarity"]
        assert found == pytest.approx(similarity, rel=4 * 2.0**-53, abs=0)
    assert result.kept.to_pylist() == [row for row in rows if row["id"] not in expected]
    assert result.summary["documents_removed"] == len(expected)


def run(rows, others=None, /, **options):
    return neardup.deduplicate(
        pa.Table.from_pylist(rows, SCHEMA),
        **grouped(
            id_column="id",
            workers=1,
            against=None if others is None else pa.Table.from_pylist(others, SCHEMA),
            measure=WEIGHTED,
            **options,
        ),
    )


def passages(seed, n):
    """Give texts that overlap in many ways, copies, empty and short ones among them."""
    generator = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(40)]
    found = ["", "w1", "!", "the", "the the"]
    while len(found) < n:
        words = ["the", *generator.choices(vocabulary, k=generator.randint(1, 40))]
        found.append(" ".join(words))
        for _ in range(generator.randrange(4)):
            changed = [
                w if generator.random() < 0.93 else generator.choice(vocabulary) for w in words
            ]
            found.append(" ".join(changed))
    generator.shuffle(found)
    return found[:n]
