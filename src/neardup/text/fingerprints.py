"""Fingerprints: by which hash, of how many bits, shingles are told apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.common.hashing import mix_words
from neardup.options import table
from neardup.options.choices import Fingerprint
from neardup.tables import ShingleLists, Uint64s


@dataclass(frozen=True)
class Fingerprints:
    """How shingles are hashed.

    Parameters
    ----------
    kind
        ``mixer``: a polynomial of the tokens' hashes that is mixed, the hash of all other jobs.
        ``rabin``: Rabin fingerprints, whose collisions are bounded whatever the texts are.
    bits
        32, 40 or 64: so many bits tell shingles apart.
    seed
        From 0 to 2^64 - 1; selects the polynomial of ``rabin``, and changes nothing otherwise.
    """

    kind: Fingerprint = "mixer"
    bits: int = 64
    seed: int = 42

    def __post_init__(self) -> None:
        table.FINGERPRINT.given(self.kind)
        table.FINGERPRINT_BITS.given(self.bits)
        if not 0 <= self.seed < 2**64:
            message = f"seed must lie between 0 and 2^64 - 1, got {self.seed}"
            raise InvalidParameterError(message, "seed")

    def describe(self) -> dict[str, object]:
        """Return what is not as usual, as plain values."""
        described: dict[str, object] = {}
        if self.kind != "mixer":
            described["fingerprint"] = self.kind
        if self.bits != 64:
            described["fingerprint_bits"] = self.bits
        return described


def shorten(lists: ShingleLists, bits: int) -> ShingleLists:
    """Tell hashes of the mixer apart by their highest bits only, which are mixed once more."""
    if bits == 64:
        return lists
    values: Uint64s = mix_words(lists.values >> np.uint64(64 - bits))
    return ShingleLists(values, lists.offsets)
