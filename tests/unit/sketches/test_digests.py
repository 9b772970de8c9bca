"""Digests beside sketches, by which exact copies are known."""

from __future__ import annotations

from hashlib import blake2b

import pyarrow as pa

import neardup
from neardup.sketches.kind import digest_column, digest_texts, digest_tokens
from neardup.stages.sketches import Sketches
from neardup.tables import Texts
from neardup.text.shingles import digest_token_lists, make_shingle_scheme
from tests.calls import grouped
from tests.each import each_of
from tests.oracles.hashing import mix
from tests.unit.sketches.sketch_tables import KINDS, make

TEXTS = ["One two three", "one  two, three", "one two threes", "three two one", "", "...", "x" * 99]


def texts_of(strings):
    return Texts.from_arrow(pa.array(strings, pa.large_string()))


def test_digest_tokens__by_definition():
    tokens = make_shingle_scheme(ngram=1).tokenizer.hash_tokens(texts_of(TEXTS))
    plain = digest_token_lists(tokens).tolist()
    for seed in (0, 42, 2**64 - 1):
        keys = [mix(mix(seed) ^ mix(j)) for j in (1, 2)]
        expected = [[mix(half ^ key) for half, key in zip(row, keys, strict=True)] for row in plain]
        assert digest_tokens(tokens, seed).tolist() == expected


def test_digest_texts__by_definition():
    strings = ["", "é", *TEXTS, "y" * 5000]
    for seed in (0, 42, 2**64 - 1):
        key = seed.to_bytes(8, "little")
        expected = [blake2b(s.encode(), digest_size=16, key=key).digest() for s in strings]
        column = pa.array(["before", *strings], pa.large_string()).slice(1)
        assert digest_column(digest_texts(Texts.from_arrow(column), seed)).to_pylist() == expected


@each_of("kind", KINDS)
def test_estimate__exact_copies(kind):
    """Of equal tokens in one order; an empty document is a copy of none."""
    sketches = neardup.sketch(
        TEXTS,
        **grouped(**{"ngram": 1} | KINDS[kind] if KINDS[kind]["kind"] != "edit" else KINDS[kind]),
    )
    result = neardup.estimate(sketches)
    is_edit = sketches.kind == "edit"
    for row in result.pairs.to_pylist():
        a, b = int(row["id_a"]), int(row["id_b"])
        assert row["exact_copy"] == (not is_edit and {a, b} == {0, 1})
    assert result.summary["exact_copies"] == (not is_edit)
    again = neardup.sketch(
        TEXTS, **grouped(**{"ngram": 1} | KINDS[kind] if not is_edit else KINDS[kind])
    )
    crossed = neardup.estimate(sketches, again).pairs.to_pylist()
    # "..." is empty as words.
    expected = {(0, 0), (1, 1), (2, 2), (3, 3), (6, 6)} | (
        {(5, 5)} if is_edit else {(0, 1), (1, 0)}
    )
    copies = {(int(row["id_a"]), int(row["id_b"])) for row in crossed if row["exact_copy"]}
    assert copies == expected


def test_estimate__nearly_identical_is_told_apart():
    """One changed character, of which a sketch sees nothing."""
    text = " ".join(f"w{i * i}" for i in range(3000))
    changed = text[:9000] + "-" + text[9001:]
    for kind in ("edit", "modulo"):
        own = neardup.sketch([text], kind=kind)
        other = neardup.sketch([changed, text], kind=kind)
        first, second = neardup.estimate(own, other).pairs.to_pylist()
        assert (first["similarity"] > 0.99, first["exact_copy"]) == (True, False)
        assert (second["similarity"], second["exact_copy"]) == (1, True)


def test_sketches__without_digests():
    own = make("smallest", 5)
    bare = Sketches(own.scheme, own.ids, own.rows)
    assert bare.digests.null_count == 5
    assert Sketches.from_arrow(bare.to_arrow()).digests == bare.digests
    result = neardup.estimate(bare, own)
    assert result.pairs["exact_copy"].null_count == 25
    assert result.summary["exact_copies"] == 0
