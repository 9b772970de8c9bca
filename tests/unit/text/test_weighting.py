from __future__ import annotations

import math
import random
from decimal import Decimal
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import InvalidParameterError
from neardup.kernels.text import weights
from neardup.tables import TokenLists
from neardup.text.weighting import (
    INVERSE_FREQUENCIES,
    TERM_FREQUENCIES,
    DocumentFrequencies,
    Weighting,
    count_documents,
    term_frequencies,
)
from tests.arrays import as_uint64, ragged, random_words
from tests.each import each_of
from tests.oracles import weighted as oracle

ALL = list(product(TERM_FREQUENCIES, INVERSE_FREQUENCIES))


def frequencies_of(counts, n_documents):
    hashes = sorted(counts)
    return DocumentFrequencies(
        as_uint64(hashes), np.array([counts[h] for h in hashes], np.int64), n_documents
    )


def as_dict(frequencies):
    return dict(zip(frequencies.hashes.tolist(), frequencies.counts.tolist(), strict=True))


@each_of(("tf", "idf"), ALL)
def test_weighting__counts_only(tf, idf):
    weighting = Weighting(tf, idf)
    assert weighting.counts_only == ((tf, idf) in {("raw", "unary"), ("binary", "unary")})
    assert weighting.describe() == {"tf": tf, "idf": idf}
    assert weighting == Weighting(tf, idf)


def test_weighting__counts_by_default():
    assert Weighting() == Weighting("raw", "unary")


def test_weighting__unknown_names():
    with pytest.raises(InvalidParameterError, match=r"^tf must be one of binary, raw, .*'rwa'$"):
        Weighting("rwa")
    with pytest.raises(InvalidParameterError, match=r"^idf must be one of unary, .*got 'none'$"):
        Weighting("raw", "none")
    with pytest.raises(InvalidParameterError, match=r"^tf must be one of .*got 'none'$"):
        term_frequencies("none", 3)
    with pytest.raises(InvalidParameterError, match=r"^idf must be one of .*got 'none'$"):
        frequencies_of({}, 0).idf_of(as_uint64([]), "none")
    with pytest.raises(InvalidParameterError, match=r"^highest must not be negative, got -1$"):
        term_frequencies("raw", -1)


def test_term_frequencies__by_hand():
    assert term_frequencies("binary", 3).tolist() == [0, 1, 1, 1]
    assert term_frequencies("raw", 3).tolist() == [0, 1, 2, 3]
    assert term_frequencies("squared", 3).tolist() == [0, 1, 4, 9]
    assert term_frequencies("log", 1).tolist() == [0, 0.6931471805599453]
    assert term_frequencies("saturating", 2).tolist() == pytest.approx([0, 1, 1.375])


@each_of("tf", TERM_FREQUENCIES)
def test_term_frequencies__as_oracle(tf):
    table = term_frequencies(tf, 3000)
    assert table.dtype == np.float64
    assert len(table) == 3001
    assert table[0] == 0
    assert (np.diff(table) >= 0).all()
    for f in (1, 2, 3, 10, 99, 1000, 2999, 3000):
        assert abs(Decimal(float(table[f])) / oracle.term_frequency(tf, f) - 1) < Decimal("1e-15")
    assert term_frequencies(tf, 0).tolist() == [0]


@each_of("idf", INVERSE_FREQUENCIES)
@each_of("total", [1, 2, 3, 10, 1000, 2**40])
def test_idf_of__as_oracle(idf, total):
    counts = {7 * n + 1: n for n in range(1, 11) if n <= total} | {2**64 - 1: total}
    if total > 1:
        counts |= {2: total // 2, 3: total - 1, 4: (total + 1) // 2}
    found = frequencies_of(counts, total).idf_of(as_uint64(counts), idf)
    assert found.dtype == np.float64
    for value, n in zip(found.tolist(), counts.values(), strict=True):
        assert value >= 0
        exact = oracle.inverse_frequency(idf, n, total)
        # A quotient rounded near 1 shows up in the logarithm at its full size.
        assert abs(Decimal(value) - exact) <= Decimal("2.3e-16") * (1 + exact), (n, total)


def test_idf_of__by_hand():
    tokens = as_uint64([10, 20, 30, 40])
    frequencies = frequencies_of({10: 4, 20: 2, 30: 1}, 4)
    # All of four documents have the first, none the last, which counts as one.
    ln2, ln3, ln4, ln5 = (math.log(x) for x in (2, 3, 4, 5))
    approx = pytest.approx
    assert frequencies.idf_of(tokens, "unary").tolist() == [1, 1, 1, 1]
    assert frequencies.idf_of(tokens, "standard").tolist() == approx([0, ln2, ln4, ln4])
    assert frequencies.idf_of(tokens, "smooth").tolist() == approx(
        [1 + ln2, 1 + ln3, 1 + ln5, 1 + ln5]
    )
    assert frequencies.idf_of(tokens, "probabilistic").tolist() == approx([0, 0, ln3, ln3])
    assert frequencies.idf_of(as_uint64([]), "smooth").tolist() == []


@each_of(("idf", "expected"), [("unary", 1), ("standard", 0), ("smooth", 1), ("probabilistic", 0)])
def test_idf_of__no_documents(idf, expected):
    assert count_documents([]).idf_of(as_uint64([5, 5]), idf).tolist() == [expected] * 2


def test_counts_of__known_and_unknown_tokens():
    frequencies = frequencies_of({5: 2, 9: 3, 2**64 - 1: 1}, 3)
    tokens = as_uint64([0, 5, 6, 9, 9, 10, 2**64 - 1])
    assert frequencies.counts_of(tokens).tolist() == [0, 2, 0, 3, 3, 0, 1]
    assert len(frequencies) == 3


def blocks_of(documents, cuts, lead=0):
    bounds = [0, *sorted(cuts), len(documents)]
    for start, stop in pairwise(bounds):
        values, offsets = ragged(documents[start:stop], lead=lead)
        values.flags.writeable = False
        yield TokenLists(values, offsets)


@given(
    documents=st.lists(st.lists(st.integers(0, 12) | st.just(2**64 - 1), max_size=8), max_size=12),
    cuts=st.lists(st.integers(0, 12), max_size=8),
    lead=st.integers(0, 3),
)
def test_count_documents__as_oracle_however_they_are_cut(documents, cuts, lead):
    cuts = [min(cut, len(documents)) for cut in cuts]
    frequencies = count_documents(blocks_of(documents, cuts, lead))
    assert as_dict(frequencies) == oracle.document_frequencies(documents)
    assert frequencies.hashes.tolist() == sorted(set(frequencies.hashes.tolist()))
    assert frequencies.n_documents == len(documents)
    assert (frequencies.hashes.dtype, frequencies.counts.dtype) == (np.uint64, np.int64)


def test_count_documents__long_documents_in_many_blocks():
    generator = random.Random(4)
    words = random_words(generator, 400)
    documents = [generator.choices(words, k=generator.randint(0, 200)) for _ in range(120)]
    frequencies = count_documents(blocks_of(documents, range(0, 120, 3)))
    assert as_dict(frequencies) == oracle.document_frequencies(documents)


def test_count_documents__leaves_the_tokens_as_they_are():
    values, offsets = ragged([[9, 3, 9], [1]])
    count_documents([TokenLists(values, offsets)])
    assert values.tolist() == [9, 3, 9, 1]


@each_of(("tf", "idf"), ALL)
def test_weights__as_oracle(tf, idf):
    """All together: from documents to whole weights, at every count."""
    total, highest = 1000, 60
    counts = {n: n for n in (1, 2, 3, 250, 499, 500, 501, 999, 1000)}
    tokens = [*counts, 12345]
    inverses = frequencies_of(counts, total).idf_of(as_uint64(tokens), idf)
    table = term_frequencies(tf, highest)
    for f in (1, 2, 3, 17, highest):
        found = np.empty(len(tokens), np.int64)
        weights.fill_weights(np.full(len(tokens), f), table, inverses, found)
        for token, weight in zip(tokens, found.tolist(), strict=True):
            inverse = oracle.inverse_frequency(idf, counts.get(token, 0), total)
            exact = oracle.term_frequency(tf, f) * inverse
            # Next to half a unit floating point may fall on either side.
            is_half = abs(exact * 2**20 % 1 - Decimal("0.5")) < Decimal("1e-6")
            assert abs(weight - oracle.scaled(exact)) <= int(is_half)
