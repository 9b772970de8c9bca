"""Id columns of a table of pairs, and the table's description of its search.

The description is in the metadata of the schema, so that the pairs can deduplicate documents later:
Parquet and Arrow tables keep it, but CSV, JSON lines and data frames lose it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from neardup.errors import InvalidInputError

METADATA_KEY = b"neardup.pairs"

_FORMAT_VERSION = 1

# Keys of the summary that go into the table, if the run has them.
_KEYS = (
    *("measure", "threshold", "max_distance", "top", "per_document", "method", "recall"),
    *("predicted_recall", "bands", "rows", "documents", "pairs", "scheme"),
    *("one_to_one", "similar_pairs", "blocking", "unblocked", "also", "pairs_before_also"),
)


@dataclass(frozen=True)
class AboutPairs:
    """Description of a table's pairs; the names are as in the summary.

    ``threshold`` is None if only ``max_distance`` or ``top`` limited the pairs. ``documents`` has
    two numbers for pairs of two collections. No two ``one_to_one`` pairs have a document in common.
    A table with another number of rows than ``pairs`` was changed; None is not checked.
    """

    measure: str
    threshold: float | None
    max_distance: int | None
    top: int | None
    method: str
    predicted_recall: float
    documents: tuple[int, ...]
    pairs: int | None
    scheme: Mapping[str, Any]
    one_to_one: bool = False


def metadata_of(summary: Mapping[str, Any]) -> dict[bytes, bytes]:
    """Return the metadata of a schema from the summary of a search for pairs."""
    found = {name: summary[name] for name in _KEYS if name in summary}
    return {METADATA_KEY: json.dumps({"format": _FORMAT_VERSION, **found}).encode()}


def read_about(metadata: Mapping[bytes, bytes]) -> AboutPairs | None:
    """Restore the description; None if it is missing or from another version."""
    try:
        found = json.loads(metadata[METADATA_KEY])
        if found["format"] != _FORMAT_VERSION:
            return None
        return AboutPairs(
            measure=str(found["measure"]),
            threshold=found["threshold"],
            max_distance=found.get("max_distance"),
            top=found.get("top"),
            method=str(found["method"]),
            predicted_recall=float(found.get("predicted_recall", 1.0)),
            documents=tuple(found["documents"]),
            pairs=int(found["pairs"]),
            scheme=dict(found["scheme"]),
            one_to_one=bool(found.get("one_to_one", False)),
        )
    except (KeyError, TypeError, ValueError):
        return None


ID_COLUMNS = ("id_a", "id_b")
READING_PAIRS = "pairs"
"""Stage in which pairs are read, or looked up."""


def check_columns(table: pa.Table, names: Sequence[str], of: str) -> None:
    """Raise unless a table has each column exactly once; ``of`` is its name in messages."""
    for name in names:
        if table.column_names.count(name) != 1:
            columns = ", ".join(map(repr, table.column_names))
            wanted = f"{', '.join(names[:-1])} and {names[-1]}"
            message = (
                f"{of} has no column {name!r}, or several; pairs are {wanted}, as "
                f"`neardup pairs` writes them, and not {columns}"
            )
            raise InvalidInputError(message)


def read_ids(table: pa.Table, name: str, of: str) -> pa.Array:
    """Return a column of ids as one array."""
    ids = pa.concat_arrays(table[name].chunks) if len(table) else pa.array([], pa.string())
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    is_text = pa.types.is_large_string(ids.type) or pa.types.is_string(ids.type)
    if ids.null_count or not (is_text or pa.types.is_integer(ids.type)):
        message = (
            f"{of}: column {name!r} holds {ids.type} values, or nulls; ids are strings or whole "
            "numbers"
        )
        raise InvalidInputError(message)
    return ids
