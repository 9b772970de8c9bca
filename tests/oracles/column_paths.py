"""What a name such as ``a.b`` means in a row: all ways to read it, the one of longest names."""

from __future__ import annotations

from typing import Any

NOTHING = object()


def readings(name: str) -> list[list[str]]:
    """Return all ways to cut a name at dots, those of longer first steps before."""
    found = [[name]]
    for end in range(len(name) - 1, 0, -1):
        if name[end] == ".":
            found += [[name[:end], *others] for others in readings(name[end + 1 :])]
    return found


def lookup(row: dict[str, Any], name: str) -> Any:
    """Return what a name means in a row; ``NOTHING`` where no reading of it leads anywhere."""
    for steps in readings(name):
        value: Any = row
        for step in steps:
            if value is None:
                break
            if isinstance(value, dict) and step in value:
                value = value[step]
            else:
                value = NOTHING
                break
        if value is not NOTHING:
            return value
    return NOTHING
