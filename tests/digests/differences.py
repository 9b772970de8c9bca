"""What differs between two recordings, by command, step and file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_WIDTH = 300


def find_differences(before: Any, after: Any, place: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield a text for each value that differs, is gone, or is new."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            inner = (*place, str(key))
            if key not in after:
                yield f"{_name(inner)}: only before: {_shorten(before[key])}"
            elif key not in before:
                yield f"{_name(inner)}: only after: {_shorten(after[key])}"
            else:
                yield from find_differences(before[key], after[key], inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True), 1):
            yield from find_differences(old, new, (*place, f"step {number}"))
    elif before != after:
        yield f"{_name(place)}:\n    before {_shorten(before)}\n    after  {_shorten(after)}"


def _name(place: tuple[str, ...]) -> str:
    return " | ".join(place)


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}..."
