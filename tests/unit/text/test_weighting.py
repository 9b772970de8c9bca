from __future__ import annotations

from decimal import Decimal
from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.sketch import weighted_minhash
from neardup.tables import TokenLists
from neardup.text.weighting import (
    DocumentFrequencies,
    Weighting,
    count_documents,
    term_frequencies,
)
from tests.arrays import as_uint64, ragged
from tests.each import INVERSE_FREQUENCIES, TERM_FREQUENCIES, each_of
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
        weighted_minhash.fill_weights(np.full(len(tokens), f), table, inverses, found)
        for token, weight in zip(tokens, found.tolist(), strict=True):
            inverse = oracle.inverse_frequency(idf, counts.get(token, 0), total)
            exact = oracle.term_frequency(tf, f) * inverse
            # Next to half a unit floating point may fall on either side.
            is_half = abs(exact * 2**20 % 1 - Decimal("0.5")) < Decimal("1e-6")
            assert abs(weight - oracle.scaled(exact)) <= int(is_half)
