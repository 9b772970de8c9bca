"""The error for an id that comes twice, which names both rows."""

from __future__ import annotations

from neardup.errors import InvalidInputError


def repeated_id(
    identifier: str, place: tuple[str, int], earlier: tuple[str, int]
) -> InvalidInputError:
    """Return the error for a document at ``place`` (file, row) with the id of an earlier one."""
    file, row = earlier
    message = f"id {identifier!r} was used before, in {file}, row {row}; ids must differ"
    return InvalidInputError(message, path=place[0], row=place[1])
