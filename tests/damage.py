"""Files damaged at random."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

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


# What a value of JSON is changed to, beside that it is not there any more.
OTHER_VALUES: tuple[Any, ...] = (
    *(None, True, 0, 2, -1, 0.5, 1e308, float("nan"), 10**30, 10**400, "", "x", "\ud800"),
    *([], {}, [[[[[]]]]], {"a": 1}),
)


def changed_json(whole: Any) -> Iterator[tuple[str, Any]]:
    """Yield copies of a JSON value, each with one value in it dropped or another."""
    spelled = json.dumps(whole)
    for path in _paths(whole):
        for value in (..., *OTHER_VALUES):
            copy = json.loads(spelled)
            inner = copy
            for key in path[:-1]:
                inner = inner[key]
            if value is ...:
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            if json.dumps(copy) != spelled:
                yield f"{'/'.join(map(str, path))}: {str(value)[:20]!r}", copy


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each value in another one; of lists to the first two."""
    if isinstance(value, dict):
        items: list[tuple[Any, Any]] = list(value.items())
    else:
        items = list(enumerate(value[:2])) if isinstance(value, list) else []
    for key, inner in items:
        yield (*path, key)
        yield from _paths(inner, (*path, key))


def flipped(whole: bytes, rng: random.Random) -> bytes:
    """Return bytes of which one bit is another, or now and then without their end."""
    data = bytearray(whole)
    place = rng.randrange(len(data))
    if rng.random() < 0.1:
        return bytes(data[:place])
    data[place] ^= 1 << rng.randrange(8)
    return bytes(data)
