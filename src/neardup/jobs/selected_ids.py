"""Ids of documents of an index, as users give them."""

from __future__ import annotations

from collections.abc import Iterable

from neardup.errors import InvalidParameterError


def as_list_of_ids(ids: Iterable[str | int]) -> list[str | int]:
    """Return ids as a list."""
    if isinstance(ids, str | int):
        message = f"ids must be a list of ids, got {ids!r}; write [{ids!r}]"
        raise InvalidParameterError(message)
    if not isinstance(ids, Iterable):
        message = f"ids must be a list of ids, got {type(ids).__name__}"
        raise InvalidParameterError(message)
    return list(ids)
