"""Removals as an array with each document's keeper, as oracles give them."""

from __future__ import annotations

import numpy as np


def keepers_of(removals, n):
    """Return the keeper of each of n documents, -1 for one that stays."""
    keepers = np.full(n, -1)
    keepers[removals.documents] = removals.keepers
    return keepers.tolist()


def as_values(removals):
    """Return everything in removals, bit by bit."""
    return {name: np.asarray(each).tobytes() for name, each in vars(removals).items()}
