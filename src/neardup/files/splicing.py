"""Ranges of bytes exchanged for other bytes, and what that moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.tables import Int64s, Texts


@dataclass(frozen=True)
class Splices:
    """Ranges of bytes, ascending and disjoint, and the piece that comes in the place of each.

    Parameters
    ----------
    starts, stops
        Positions of the bytes, stops exclusive (n,).
    pieces
        What is put in.
    which
        The number of its piece for each range (n,).
    """

    starts: Int64s
    stops: Int64s
    pieces: Texts
    which: Int64s

    def apply(self, data: bytes | memoryview | npt.NDArray[np.uint8]) -> memoryview:
        """Return the bytes with the ranges exchanged."""
        from neardup.kernels.file import rawrows

        array = np.frombuffer(data, np.uint8)
        spliced = np.empty(len(array) + int(self._growth.sum()), np.uint8)
        rawrows.splice(
            array,
            self.starts,
            self.stops,
            self.pieces.data,
            self.pieces.offsets,
            self.which,
            spliced,
        )
        return spliced.data

    def moved(self, positions: Int64s) -> Int64s:
        """Return where positions are afterwards that lie within no range: at an edge, or outside.

        One at both the end of a range and the start of the next lies between the two.
        """
        shifts = np.concatenate([np.zeros(1, np.int64), np.cumsum(self._growth)])
        moved: Int64s = positions + shifts[np.searchsorted(self.stops, positions, side="right")]
        return moved

    @classmethod
    def merge(cls, parts: Sequence[Splices]) -> Splices:
        """Put together what is disjoint and has the same pieces."""
        starts = np.concatenate([part.starts for part in parts])
        order = np.argsort(starts)
        stops = np.concatenate([part.stops for part in parts])[order]
        which = np.concatenate([part.which for part in parts])[order]
        return cls(starts[order], stops, parts[0].pieces, which)

    @property
    def _growth(self) -> Int64s:
        growth: Int64s = np.diff(self.pieces.offsets)[self.which] - (self.stops - self.starts)
        return growth
