"""Bands of documents by definition: signatures of sets of shingles, and the buckets they share."""

from __future__ import annotations

from tests.oracles.hashing import band_key, hash_shingles, hash_token, lane_masks, signature
from tests.oracles.tokens import Options, tokenize


def band_keys(text: str, ngram: int, bands: int, rows: int, seed: int) -> list[int]:
    """Give the keys of a text's words in all bands; none for a text without words."""
    hashes = [hash_token(token) for token in tokenize(text, "words", Options())]
    if not hashes:
        return []
    masks = [lane_masks(seed, lane) for lane in range(bands * rows)]
    values = signature(hash_shingles(hashes, ngram), masks)
    return [band_key(values[band * rows : (band + 1) * rows], band) for band in range(bands)]


def shared_bands(keys: list[int], others: list[int]) -> list[int]:
    """Give the bands in which two documents have the same key."""
    return [band for band, pair in enumerate(zip(keys, others, strict=False)) if len(set(pair)) < 2]
