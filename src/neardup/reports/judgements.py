"""The reader of pair judgements for all jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.documents import as_text
from neardup.tables import Bools

# The column of judgements, its values, and their meaning. An unsure pair is not a label.
LABEL, NOTE = "label", "note"
YES, NO, UNSURE = "yes", "no", "unsure"
UNJUDGED = ""
_MEANING = dict.fromkeys(("1", "1.0", "true", YES), YES)
_MEANING |= dict.fromkeys(("0", "0.0", "false", NO), NO)
_MEANING[UNSURE] = UNSURE

# Other columns of a table of pairs: ids, values, and columns of both documents.
_OF_PAIRS = frozenset(("id_a", "id_b", "similarity", "overlap", "distance", "low", "high"))
_OF_BOTH = ("_a", "_b")


@dataclass(frozen=True)
class Labels:
    """Judged pairs with ids, and whether they are the same.

    ``is_right`` is None if all pairs are the same. Every other pair is then wrong.
    """

    ids_a: pa.Array
    ids_b: pa.Array
    is_right: Bools | None


@dataclass(frozen=True)
class Judgements:
    """Judgements of pairs, with ids, words and notes.

    ``words`` are ``yes``, ``no``, ``unsure``, or empty if open; None if all are right.
    """

    ids_a: pa.Array
    ids_b: pa.Array
    words: Sequence[str] | None
    notes: Sequence[str]

    def pairs(self) -> list[tuple[str, str]]:
        """Return the ids of both documents of each pair."""
        return list(zip(self.ids_a.to_pylist(), self.ids_b.to_pylist(), strict=True))

    def decided(self) -> Labels:
        """Return the pairs judged yes or no."""
        if self.words is None:
            return Labels(self.ids_a, self.ids_b, None)
        words = np.array(self.words, np.str_)
        is_sure = pa.array(np.isin(words, [YES, NO]))
        ids_a, ids_b = (ids.filter(is_sure) for ids in (self.ids_a, self.ids_b))
        return Labels(ids_a, ids_b, words[is_sure.to_numpy(zero_copy_only=False)] == YES)


def read_judgements(table: pa.Table, given: Any = None) -> Judgements:
    """Read judgements from a table, named ``given`` in errors.

    InvalidInputError if it is not a table of pairs, may have lost its labels, or contradicts
    itself.
    """
    path = str(given) if isinstance(given, str | Path) else None
    names = table.column_names
    for name in ("id_a", "id_b"):
        if name not in names:
            message = (
                f"labels have no column {name!r}; they are pairs, id_a and id_b, and perhaps "
                f"label, 1 for the same and 0 for different; columns are {_listed(names)}"
            )
            raise InvalidInputError(message, path=path)
    ids_a, ids_b = (as_text(table[name]).combine_chunks() for name in ("id_a", "id_b"))
    notes = _texts(table[NOTE]) if NOTE in names else [""] * len(table)
    called = path or "labels"
    words = None
    if LABEL in names:
        words = _meanings(table[LABEL], called)
        if words and not any(words):
            message = (
                f"column {LABEL!r} is empty in every row, so that no pair is judged; write {YES}, "
                f"{NO} or {UNSURE} there, or leave the column out if all of these pairs are the "
                "same"
            )
            raise InvalidInputError(message, path=called)
    elif any(not _is_of_pairs(name) for name in names):
        # Without the column every pair would count as right.
        message = (
            f"labels have no column {LABEL!r}, yes or no; columns are {_listed(names)}. If one of "
            f"these says so, call it {LABEL!r}; if all of these pairs are the same, leave it out"
        )
        raise InvalidInputError(message, path=path)
    found = Judgements(ids_a, ids_b, words, notes)
    _check_agrees_with_itself(found, called)
    return found


def _texts(column: pa.ChunkedArray) -> list[str]:
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _is_of_pairs(name: str) -> bool:
    return name in _OF_PAIRS or name.endswith(_OF_BOTH)


def _word(value: Any) -> str:
    return UNJUDGED if value is None else str(value).strip().lower()


def _meanings(column: pa.ChunkedArray, name: str) -> list[str]:
    words = [_word(value) for value in column.to_pylist()]
    for number, word in enumerate(words, 1):
        if word and word not in _MEANING:
            message = f"label must be one of {', '.join(_MEANING)}; got {word!r}"
            raise InvalidInputError(message, path=name, row=number)
    return [_MEANING.get(word, UNJUDGED) for word in words]


def _check_agrees_with_itself(judged: Judgements, name: str) -> None:
    known: dict[tuple[str, str], str] = {}
    for pair, word in zip(judged.pairs(), judged.words or (), strict=False):
        if word and known.setdefault(pair, word) != word:
            message = f"the pair {pair[0]!r}, {pair[1]!r} is there as {known[pair]} and as {word}"
            raise InvalidInputError(message, path=name)
