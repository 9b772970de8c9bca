"""Files damaged at random."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

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
