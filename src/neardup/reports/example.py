"""An example: two texts side by side, as all pages show them."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.reports.differences import SideBySide


@dataclass(frozen=True)
class Example:
    """Two texts beside each other; ``side_by_side`` of ``parts.html`` shows them.

    ``place_a`` and ``place_b`` say where they stand, and may be empty. With ``both_stay`` neither
    went for the other, and differences are marked alike on both sides.
    """

    title: str
    note: str
    name_a: str
    name_b: str
    place_a: str
    place_b: str
    differences: SideBySide
    both_stay: bool = False
