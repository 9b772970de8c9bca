"""What docs/hashing.md says is what the oracles and the package do."""

from __future__ import annotations

import json
import re
import struct
from collections import Counter

import numpy as np

import neardup
from neardup.kernels.common.hashing import hash_bytes, logarithms, mix_words
from neardup.kernels.sketch.weighted_minhash import fill_weights
from neardup.passages.windows import gather_queries, make_passage_scheme
from neardup.sketches.edit import EditScheme, edit_signatures
from neardup.sketches.minhash import MinHashScheme, _lanes, band_keys, minhash_signatures
from neardup.tables import ShingleLists, TokenLists
from neardup.text.forms import Normalisation
from neardup.text.shingles import (
    HASH_VERSION,
    digest_token_lists,
    draw_polynomial,
    make_shingle_scheme,
    shingle_lists,
)
from neardup.text.tokenizers import make_tokenizer
from neardup.text.weighting import DocumentFrequencies, term_frequencies
from tests.calls import grouped
from tests.docs.pages import hashed, page, tables, text_lists, values
from tests.kernels.test_consistent import KNOWN
from tests.oracles import broder, rabin, weighted
from tests.oracles import edit_signature as edit_oracle
from tests.oracles import hashing as oracle


def vectors(heading: str, *, table: int = 0) -> list[list]:
    """Read a table of known answers; a cell with one value stands for it, else for a list."""
    rows = tables("docs/hashing.md", heading)[table]
    cells = [[values(cell) for cell in row] for row in rows]
    return [[cell[0] if len(cell) == 1 else cell for cell in row] for row in cells]


def token_bytes(token: str | int) -> bytes:
    return token.encode() if isinstance(token, str) else token.to_bytes(8, "little", signed=True)


def token_lists(tokens: list[str]) -> TokenLists:
    return TokenLists(np.array(hashed(tokens), np.uint64), np.array([0, len(tokens)]))


def test_hashing_page__version():
    assert f"hash\nversion {HASH_VERSION}" in page("docs/hashing.md")


def test_hashing_page__constants():
    block = re.search(r"```text\n(GOLDEN.*?)```", page("docs/hashing.md"), re.DOTALL)
    constants = dict(re.findall(r"(\w+) += (0x\w+)", block[1]))
    assert len(constants) == 4
    for name, value in constants.items():
        assert int(value, 16) == getattr(oracle, name)


def test_hashing_page__mixer():
    for z, mixed in vectors("Mixer"):
        assert oracle.mix(z) == mixed
        assert mix_words(np.array([z], np.uint64)).tolist() == [mixed]


def test_hashing_page__tokens():
    rows = vectors("Tokens")
    assert {len(token_bytes(token)) for token, _ in rows} >= {0, 1, 7, 8, 9}
    for token, value in rows:
        assert oracle.hash_token(token_bytes(token)) == value
        assert hash_bytes(token_bytes(token)) == value
        given = make_tokenizer(lambda _, token=token: [token], Normalisation(casefold=False))
        assert given.hash_tokens(text_lists("")).values.tolist() == [value]


def test_hashing_page__tokens_in_kernels():
    words = make_tokenizer("words", Normalisation())
    answers = {token: value for token, value in vectors("Tokens") if str(token).isalnum()}
    assert words.hash_tokens(text_lists("Straße")).values.tolist() == [answers["strasse"]]
    for token in ("a", "hello", "漢", "abcdefgh", "abcdefghi"):
        assert words.hash_tokens(text_lists(token)).values.tolist() == [answers[token]]


def test_hashing_page__shingles():
    for tokens, value in vectors("Shingles"):
        assert oracle.hash_shingle(hashed(tokens)) == value
        for ngram in (len(tokens), len(tokens) + 1):
            found = shingle_lists(token_lists(tokens), make_shingle_scheme("bytes", ngram=ngram))
            assert found.values.tolist() == [value]


def test_hashing_page__numbered_shingles():
    rows = vectors("Numbered shingles")
    tokens = rows[0][0]
    assert [[tokens, x] for x in (1, 2, 3)] == [row[:2] for row in rows]
    expected = {element for _, _, element in rows}
    assert oracle.number_occurrences([oracle.hash_shingle(hashed(tokens))] * 3) == expected
    # The shingle of two tokens comes three times in "a hello a hello a hello".
    scheme = make_shingle_scheme("bytes", ngram=2, occurrences="numbered")
    assert expected < set(shingle_lists(token_lists(tokens * 3), scheme).values.tolist())


def test_hashing_page__digests():
    for tokens, *digest in vectors("Digest for exact copies"):
        assert list(oracle.digest(hashed(tokens))) == digest
        assert digest_token_lists(token_lists(tokens)).tolist() == [digest]


def test_hashing_page__lane_masks():
    for seed, lane, *masks in vectors("Lanes"):
        assert list(oracle.lane_masks(seed, lane)) == masks
        assert [part[lane] for part in _lanes(MinHashScheme(lane + 1, seed))] == masks


def test_hashing_page__lane_values():
    for shingle, seed, lane, value in vectors("Lanes", table=1):
        assert oracle.lane_value(shingle, *oracle.lane_masks(seed, lane)) == value
        alone = ShingleLists(np.array([shingle], np.uint64), np.array([0, 1]))
        assert minhash_signatures(alone, MinHashScheme(lane + 1, seed))[0, lane] == value


def test_hashing_page__signatures():
    masks = [oracle.lane_masks(42, lane) for lane in range(4)]
    for tokens, ngram, signature in vectors("Signature"):
        assert oracle.signature(oracle.hash_shingles(hashed(tokens), ngram), masks) == signature
        shingles = shingle_lists(token_lists(tokens), make_shingle_scheme("bytes", ngram=ngram))
        assert minhash_signatures(shingles, MinHashScheme(4, 42)).tolist() == [signature]


def test_hashing_page__band_keys():
    for band, lanes, key in vectors("Band keys"):
        assert oracle.band_key(lanes, band) == key
        rows = len(lanes)
        signature = np.zeros((1, rows * (band + 1)), np.uint32)
        signature[0, band * rows :] = lanes
        assert band_keys(signature, band + 1, rows)[0, band] == key


def bits_of(number: float) -> int:
    return int.from_bytes(struct.pack(">d", number), "big")


def keys_of(tokens: list[str], **options: object) -> list[int]:
    lists = token_lists(tokens)
    ends = lists.offsets[:-1], lists.offsets[1:]
    queries = gather_queries(lists.values, *ends, make_passage_scheme(**options), None)
    return queries.hash(np.arange(1))[0][0].tolist()


def test_hashing_page__seeds_of_passages():
    for seed, f, value in vectors("Seeds"):
        start = oracle.mix(seed ^ oracle.GOLDEN)
        assert oracle.mix((start + (f + 1) * oracle.GOLDEN) & oracle.ALL) == value
        assert make_passage_scheme(seed=seed).seeds[f] == value


def copy_value(token: int, seed: int, x: int) -> int:
    return oracle.mix((oracle.mix(token ^ seed) + x * oracle.GOLDEN) & oracle.ALL)


def test_hashing_page__copies():
    for token, seed, x, value in vectors("Copies"):
        assert copy_value(*hashed([token]), seed, x) == value
        assert make_passage_scheme().seeds[0] == seed


def test_hashing_page__weights():
    rows = vectors("Weights")
    assert len({row[0] for row in rows}) == 4
    for tf, idf, f, n_documents, n, weight in rows:
        exact = weighted.term_frequency(tf, f) * weighted.inverse_frequency(idf, n, n_documents)
        assert weighted.scaled(exact) == weight
        known = DocumentFrequencies(
            np.array([1], np.uint64), np.array([max(n, 1)], np.int64), n_documents
        )
        inverse = known.idf_of(np.array([1 if n else 2], np.uint64), idf)
        found = np.empty(1, np.int64)
        fill_weights(np.array([f], np.int64), term_frequencies(tf, f), inverse, found)
        assert found.tolist() == [weight]


def test_hashing_page__logarithm():
    for x, expected in vectors("Logarithm"):
        number = struct.unpack(">d", x.to_bytes(8, "big"))[0]
        found = np.empty(1)
        logarithms(np.array([number]), found)
        assert bits_of(found[0]) == expected
        assert weighted.errors_in_last_bits(number, float(found[0])) < 1


def test_hashing_page__consistent_weighted_sampling():
    rows = vectors("Consistent weighted sampling")
    assert set(map(tuple, rows)) <= set(KNOWN)
    for token, seed, weight, order, identity in rows:
        [[_, ln_a, expected]] = weighted.active(token, seed, [weight])
        assert expected == identity
        bits = bits_of(float(ln_a))
        # Forty digits and the formula in floats may differ in the last bit.
        assert abs((bits ^ (oracle.ALL if bits >> 63 else 1 << 63)) - order) <= 4


def test_hashing_page__min_hashes_of_passages():
    rows = vectors("Min-hashes of passages")
    assert {row[1] for row in rows} == {"binary", "raw", "log", "squared"}
    for tokens, tf, *identities in rows:
        assert keys_of(tokens, tf=tf)[:2] == identities
        counts = Counter(hashed(tokens))
        for seed, identity in zip(
            make_passage_scheme().seeds[:2].tolist(), identities, strict=True
        ):
            if tf in ("binary", "raw"):
                values = [
                    copy_value(token, seed, x)
                    for token, count in counts.items()
                    for x in range(1, (count if tf == "raw" else 1) + 1)
                ]
                assert oracle.mix(min(values)) == identity
            else:
                scaled = {
                    token: weighted.scaled(weighted.term_frequency(tf, count))
                    for token, count in counts.items()
                }
                assert weighted.minimum(seed, scaled) == identity


def test_hashing_page__rabin_polynomials():
    for seed, polynomial in vectors("Rabin fingerprints"):
        drawn = next(p for p in rabin.candidates(seed, 64) if rabin.is_irreducible(p))
        assert drawn == draw_polynomial(seed) == polynomial


def test_hashing_page__rabin_fingerprints():
    polynomial = draw_polynomial(42)
    scheme = make_shingle_scheme("words", ngram=99, fingerprint="rabin")
    for given, remainder, shingle in vectors("Rabin fingerprints", table=1):
        string = b"".join(token.to_bytes(8, "big") for token in hashed(given))
        assert rabin.fingerprint(string, polynomial) == remainder
        assert oracle.mix(remainder) == shingle
        assert shingle_lists(token_lists(given), scheme).values.tolist() == [shingle]


def test_hashing_page__samples_of_sets():
    rows = vectors("Permutation and samples")
    assert {row[0] for row in rows} == {"smallest", "modulo"}
    assert {row[3] for row in rows} == {"mixer", "rabin"}
    polynomial = draw_polynomial(42)
    for kind, size, modulus, fingerprint, text, m, found in rows:
        expected = found if isinstance(found, list) else [found]
        tokens = hashed(text.split())
        if fingerprint == "mixer":
            shingles = oracle.hash_shingles(tokens, 2)
        else:
            parts = [token.to_bytes(8, "big") for token in tokens]
            shingles = rabin.shingles(parts, 2, polynomial)
        permuted = broder.permute(shingles, 42)
        if kind == "smallest":
            assert broder.smallest(permuted, size) == expected
        else:
            assert m == (modulus or broder.fitting_modulus(len(permuted), size))
            assert broder.multiples(permuted, m) == expected
        options = {"size": size, "modulus": modulus, "fingerprint": fingerprint}
        sketches = neardup.sketch([text], **grouped(ngram=2, kind=kind, **options))
        assert sketches.rows.values.tolist() == expected
        assert sketches.rows.moduli.tolist() == [m]


def test_hashing_page__edit_signatures():
    rows = vectors("Edit signatures")
    shown = re.search(r"`(\".*\")`, compression (\d+), seed 42", page("docs/hashing.md"))
    text, compression = (json.loads(value) for value in shown.groups())
    for positions, symbols in rows:
        signed = edit_oracle.sign(text, compression, 12)
        assert signed == list(zip(positions, symbols, strict=True))
        scheme = EditScheme(compression)
        assert edit_signatures(text_lists(text), scheme).symbols.tolist() == symbols
