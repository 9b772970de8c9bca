"""What a name such as ``a.b[0]`` means in a row: all ways to read it, the one of longest names."""

from __future__ import annotations

from typing import Any

NOTHING = object()


def readings(name: str) -> list[list[str | int]]:
    """Return all ways to cut a name at dots and brackets, those of longer first steps before."""
    found: list[list[str | int]] = [[name]]
    for end in range(len(name) - 1, 0, -1):
        if name[end] == ".":
            found += [[name[:end], *others] for others in readings(name[end + 1 :])]
        if name[end] == "[":
            found += [[name[:end], *others] for others in _behind(name[end:])]
    return found


def _behind(rest: str) -> list[list[str | int]]:
    """Return the ways to go on behind a step, from a bracket or a dot on, or the end."""
    if not rest:
        return [[]]
    if rest[0] == ".":
        return readings(rest[1:])
    number, closed, after = rest[1:].partition("]")
    if not closed or not (number.isascii() and number.isdigit()):
        return []
    return [[int(number), *others] for others in _behind(after)]


def lookup(row: dict[str, Any], name: str) -> Any:
    """Return what a name means in a row; ``NOTHING`` where no reading of it leads anywhere."""
    for steps in readings(name):
        value: Any = row
        for step in steps:
            if value is None:
                break
            if isinstance(step, int) and isinstance(value, list):
                value = value[step] if step < len(value) else None
            elif isinstance(step, str) and isinstance(value, dict) and step in value:
                value = value[step]
            else:
                value = NOTHING
                break
        if value is not NOTHING:
            return value
    return NOTHING
