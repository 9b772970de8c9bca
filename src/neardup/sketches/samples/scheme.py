"""What all schemes of samples have, and what they decide each in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.common.hashing import mix_words
from neardup.tables import Floats, Int64s, SetSketches, ShingleLists, Uint64s

# Values, errors, and the ends of intervals.
SizeEstimates = tuple[Floats, Floats, Floats, Floats]


class SetScheme(ABC):
    """A rule for which elements of a permuted set its sample holds.

    Schemes are frozen dataclasses; shingle x becomes mix64(x ^ ``permutation_key``), one to one.
    """

    size: int
    seed: int

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return all that decides the sketches of given shingles, as plain values."""

    @property
    @abstractmethod
    def sample_limit(self) -> int:
        """How many values of a union are a sample of it at most."""

    @abstractmethod
    def sample(self, shingles: ShingleLists) -> SetSketches:
        """Sample every set; see ``sampling.sketch_sets``."""

    @abstractmethod
    def check(self, sketches: SetSketches) -> None:
        """Raise SketchMismatchError if the scheme does not make sketches of these moduli, sizes."""

    @abstractmethod
    def seen(self, largest: Uint64s, moduli: Int64s) -> Floats:
        """Return the shares of unions that samples saw, from their largest values and moduli."""

    @abstractmethod
    def estimate_sizes(self, sketches: SetSketches) -> SizeEstimates:
        """Estimate numbers of elements from samples that are not whole."""

    @property
    def permutation_key(self) -> np.uint64:
        """What elements are joined with before they are mixed."""
        with np.errstate(over="ignore"):
            return mix_words(~mix_words(np.uint64(self.seed)))

    def _check_fields(self) -> None:
        if not 1 <= self.size <= 2**20:
            message = f"size must lie between 1 and 1,048,576, got {self.size}"
            raise InvalidParameterError(message)
        if not 0 <= self.seed < 2**64:
            message = f"seed must lie between 0 and 2^64 - 1, got {self.seed}"
            raise InvalidParameterError(message)


def check_rows(what: str, rows: Int64s, sketches: SetSketches) -> None:
    """Raise InvalidParameterError if a row is not there; ``what`` is the parameter's name."""
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(sketches):
        message = (
            f"{what} must be rows of {len(sketches)} sketches, got {rows.min()} to {rows.max()}"
        )
        raise InvalidParameterError(message)
