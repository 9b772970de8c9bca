"""Files damaged at random."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from neardup.files.extracted import UnreadableFileError

every_seed = pytest.mark.parametrize("seed", range(3))


def damaged(whole: bytes, seed: int, number: int, most: int) -> Iterator[bytes]:
    """Yield copies of which 1 to ``most`` bytes are others, and every fifth ends early."""
    rng = random.Random(seed)
    for i in range(number):
        data = bytearray(whole)
        for place in rng.sample(range(len(data)), 1 + i % most):
            data[place] = rng.randrange(256)
        yield bytes(data[: rng.randrange(len(data))] if i % 5 == 0 else data)


def check_refused(
    text_of: Callable[[bytes], str], whole: bytes, seed: int, number: int = 100, most: int = 4
) -> None:
    """Assert that damaged copies are read or refused, by no other error, and some refused."""
    n_refused = 0
    for data in damaged(whole, seed, number, most):
        try:
            text_of(data)
        except UnreadableFileError:
            n_refused += 1
    assert n_refused
