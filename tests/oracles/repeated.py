"""What was repeated most, by putting spans together one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any


def repeated(rows: Sequence[dict[str, Any]], most: int) -> tuple[int, list[tuple[Any, ...]]]:
    """Return how many different passages went, and those with most copies, then characters.

    Of each: its rows, how many documents lost it, its characters, and its copies by file. Spans
    that stay are the same passage if they overlap in one document, or others join them; what nobody
    has said to stay is a passage of its own.
    """
    groups: list[list[int]] = []
    for number, row in enumerate(rows):
        joined = [number]
        if row["kept_id"] is not None:
            for group in groups[:]:
                if any(_overlap(rows[other], row) for other in group):
                    joined += group
                    groups.remove(group)
        groups.append(sorted(joined))
    found = []
    for group in groups:
        mine = [rows[number] for number in group]
        found.append(
            (
                group,
                len({row["id"] for row in mine}),
                sum(row["end"] - row["start"] for row in mine),
                dict(Counter(row["file"] for row in mine)),
            )
        )
    found.sort(key=lambda each: (-len(each[0]), -each[2], each[0][0]))
    return len(groups), found[:most]


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if one["kept_id"] is None:
        return False
    same = ("kept_in", "kept_id")
    return all(one[name] == other[name] for name in same) and (
        max(one["kept_start"], other["kept_start"]) < min(one["kept_end"], other["kept_end"])
    )
