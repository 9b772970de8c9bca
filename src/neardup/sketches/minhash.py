"""The kind minhash: signatures of sets, and the keys of their bands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.common.hashing import mix_words
from neardup.kernels.sketch import minhash
from neardup.sketches.kind import TextScheme
from neardup.sketches.signatures import SignatureKind
from neardup.tables import ShingleLists, Signatures, Texts, Uint32s, Uint64s
from neardup.text.shingles import shingle_set_sizes, shingle_texts

# The kernel handles whole vectors of lanes; a few lanes more cost nothing and are dropped.
_LANES_TOGETHER = 16


@dataclass(frozen=True)
class MinHashScheme:
    """A family of hash functions.

    Parameters
    ----------
    num_perm
        Number of functions, from 1 to 65,536.
    seed
        From 0 to 2^64 - 1; selects the functions.
    """

    num_perm: int = 128
    seed: int = 42

    def __post_init__(self) -> None:
        if not 1 <= self.num_perm <= 65536:
            message = f"num_perm must lie between 1 and 65536, got {self.num_perm}"
            raise InvalidParameterError(message)
        if not 0 <= self.seed < 2**64:
            message = f"seed must lie between 0 and 2^64 - 1, got {self.seed}"
            raise InvalidParameterError(message)

    def describe(self) -> dict[str, Any]:
        """Return all settings that decide the functions, as plain values."""
        return {"kind": "minhash", "num_perm": self.num_perm, "seed": self.seed}


def minhash_signatures(shingles: ShingleLists, scheme: MinHashScheme) -> Uint32s:
    """Summarise every shingle set by its smallest value under each hash function.

    The share of equal positions of two signatures estimates the Jaccard similarity J of the sets
    without bias; its variance is J (1 - J) / num_perm. Values have 32 bits: two sets of n elements
    each that share nothing agree in a position with probability about n / 2^33.

    Parameters
    ----------
    shingles
        n lists of shingle hashes in any order; repeats change nothing.
    scheme
        Number of hash functions and seed.

    Returns
    -------
    Array of shape (n, num_perm). The row of an empty list is all ones.

    Notes
    -----
    Time O(shingles * num_perm), about 0.08 nanoseconds for each shingle and function.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, section 3.
    """
    masks, even_masks = _lanes(scheme)
    signatures: Uint32s = np.empty((len(shingles), len(masks)), np.uint32)
    minhash.minhash_signatures(shingles.values, shingles.offsets, masks, even_masks, signatures)
    return signatures[:, : scheme.num_perm]


def band_keys(signatures: Uint32s, bands: int, rows: int) -> Uint64s:
    """Hash each band of ``rows`` consecutive positions to a key, shape (n, bands).

    Two sets agree in a key with probability J^rows, in at least one with 1 - (1 - J^rows)^bands.
    """
    if bands < 1 or rows < 1 or bands * rows > signatures.shape[1]:
        message = (
            f"bands * rows must lie between 1 and the signature's {signatures.shape[1]} positions, "
            f"got {bands} * {rows}"
        )
        raise InvalidParameterError(message)
    keys: Uint64s = np.empty((len(signatures), bands), np.uint64)
    minhash.band_keys(np.ascontiguousarray(signatures), bands, rows, keys)
    return keys


class MinHashKind(SignatureKind[MinHashScheme]):
    """Signatures of a fixed number of positions, for Jaccard similarity."""

    name = "minhash"
    measures = ("jaccard",)
    scheme_type = MinHashScheme

    def make(self, texts: Texts, how: TextScheme) -> Signatures:
        """Sign the set of shingles of each text."""
        lists = shingle_texts(texts, how.shingles)
        # Lanes that were dropped leave gaps, which other kernels do not take.
        values = np.ascontiguousarray(minhash_signatures(lists, self.scheme))
        return Signatures(values, shingle_set_sizes(lists))


@lru_cache(maxsize=8)
def _lanes(scheme: MinHashScheme) -> tuple[Uint32s, Uint32s]:
    """Draw the two masks of every lane from the mixer; lane k depends only on seed and k."""
    n_lanes = -(-scheme.num_perm // _LANES_TOGETHER) * _LANES_TOGETHER
    with np.errstate(over="ignore"):
        start = mix_words(np.uint64(scheme.seed))
        drawn = mix_words(start ^ mix_words(np.arange(1, n_lanes + 1, dtype=np.uint64)))
    masks = (drawn >> np.uint64(32)).astype(np.uint32)
    return masks, drawn.astype(np.uint32) & np.uint32(0xFFFFFFFE)
