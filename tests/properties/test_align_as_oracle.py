"""Alignment of small collections against brute force: every passage, its ends, its similarity."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

import neardup
from neardup.options.presets import passages_for
from neardup.passages.aligner import window_length
from tests.calls import grouped
from tests.cutting import collections, make_text, no_waiting
from tests.examples import examples
from tests.oracles import alignment
from tests.oracles.hashing import hash_token


@given(
    collections() | collections(n_words=5),
    st.sampled_from([4, 6, 9]),
    st.sampled_from(["0.5", "0.7", "0.8", "1"]),
    st.booleans(),
    st.sampled_from(["quotations", None]),
    st.sampled_from([{}, {"recall": "0.9"}]),
)
# What is found is too short but by the ends that make it most similar.
@example([[0] * 8 + [1] + [0] * 7], 4, "0.7", True, "quotations", {"recall": "0.9"})
@examples(80)
def test_align__as_oracle(documents, min_tokens, threshold, within, preset, how):
    texts = [make_text(document) for document in documents]
    with no_waiting():
        found = neardup.align(
            texts,
            **grouped(
                workers=1,
                within=within,
                threshold=threshold,
                min_tokens=min_tokens,
                preset=preset,
                **how,
            ),
        )
    length = window_length(min_tokens)
    plan = alignment.Plan(
        *(min_tokens, length, Fraction(threshold)),
        gap=passages_for(preset).gap,
        of_windows=Fraction(found.summary["window_threshold"]).limit_denominator(1000)
        if "recall" in how
        else None,
    )
    hashes = [tuple(hash_token(word.encode()) for word in text.split()) for text in texts]
    expected = [
        (
            str(a),
            *characters(texts[a], *match[:2]),
            str(b),
            *characters(texts[b], *match[2:]),
            float(s),
        )
        for a in range(len(texts))
        for b in range(a if within else a + 1, len(texts))
        for match, s in alignment.align(hashes[a], hashes[b], plan, is_own=a == b)
    ]
    columns = "query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end", "similarity"
    rows = [tuple(row[name] for name in columns) for row in found.passages.to_pylist()]
    assert sorted(rows) == sorted(expected)


def characters(text, start, stop):
    """Where words of a text stand that are parted by single spaces."""
    words = text.split()
    first = sum(len(word) + 1 for word in words[:start])
    return first, first + len(" ".join(words[start:stop]))
