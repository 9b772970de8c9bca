"""What the lengths of texts and signatures say before any of them are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.tables import Floats


@dataclass(frozen=True)
class KnownLengths:
    """What is known of n pairs beforehand: characters of both texts, and symbols of both together.

    ``first`` is the shorter text.
    """

    neighbourhood: int
    first: Floats
    second: Floats
    symbols: Floats

    @property
    def difference(self) -> Floats:
        """Characters, and windows, that the longer text has more."""
        return self.second - self.first

    @property
    def windows(self) -> Floats:
        """Windows of both texts together."""
        return self.first + self.second - 2.0 * (self.neighbourhood - 1)

    @property
    def spacing(self) -> Floats:
        """Windows for each symbol."""
        return self.windows / self.symbols

    @property
    def isolated(self) -> Floats:
        """Symbols that one edit disturbs in both texts, on average."""
        return 2 * self.neighbourhood / self.spacing

    def bound(self, distances: Floats) -> Floats:
        """Keep distances between the difference of the lengths and the longer one."""
        return np.clip(distances, self.difference, self.second)
