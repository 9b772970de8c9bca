"""Count documents per file: input, kept, removed, and the files of their keepers.

Of many files, some are listed and the others summed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from neardup.reading.catalogue import Catalogue
from neardup.stages.decide import Assignment
from neardup.tables import Bools, Int8s, Int16s, Int32s, Int64s

# Groups, and pairs of groups, that a summary lists individually.
_LISTED = 100
# Documents that are counted at once.
_AT_ONCE = 1 << 20


def _kind_for(n_groups: int) -> np.dtype[Any]:
    """Return the shortest integer type for group numbers, -1, and the number of groups."""
    for kind in (np.int8, np.int16):
        if n_groups < np.iinfo(kind).max:
            return np.dtype(kind)
    return np.dtype(np.int32)


@dataclass(frozen=True)
class Groups:
    """The file of each document, as an index into ``names``; -1 for none."""

    names: Sequence[str]
    numbers: Int64s | Int32s | Int16s | Int8s

    @classmethod
    def of_files(cls, documents: Catalogue) -> Groups:
        """Group documents by their files; documents of an index have none."""
        sources = documents.sources
        if not all(source.has_lasting_rows for source in sources) or not sources:
            return cls.of_none(len(documents))
        # A byte per document is most of a result's memory, so the type is as short as possible.
        numbers: Int8s | Int16s | Int32s = np.full(len(documents), -1, _kind_for(len(sources)))
        for place, (start, stop) in enumerate(pairwise(documents.source_starts.tolist())):
            numbers[start:stop] = place
        return cls([source.name for source in sources], numbers)

    @classmethod
    def of_none(cls, n_documents: int) -> Groups:
        """Return documents without groups."""
        return cls([], np.full(n_documents, -1, np.int8))

    def behind(self, n_documents: int) -> Groups:
        """Return these groups after ``n_documents`` documents without groups."""
        numbers = np.concatenate([np.full(n_documents, -1, self.numbers.dtype), self.numbers])
        return Groups(self.names, numbers)

    @property
    def counted_names(self) -> list[str | None]:
        """The names in the order of ``count``."""
        return [*self.names, None]

    def count(self, documents: Bools | Int64s) -> Int64s:
        """Count documents per group; documents without one come last."""
        counts: Int64s = np.zeros(len(self.names) + 1, np.int64)
        for start in range(0, len(documents), _AT_ONCE):
            some = documents[start : start + _AT_ONCE]
            numbers = self.numbers[start : start + _AT_ONCE] if some.dtype == bool else self.numbers
            counts += np.bincount(numbers[some] + 1, minlength=len(counts))
        return np.roll(counts, -1)


def count_documents(
    groups: Groups,
    is_document: Bools,
    stays: Bools,
    removed_as: Mapping[str, Bools] | None = None,
) -> dict[str, Any]:
    """Count the documents of each group that came in, stayed and were removed.

    Parameters
    ----------
    groups
        Groups of all rows.
    is_document, stays
        Masks of documents and of kept documents, over all rows.
    removed_as
        Further counts by name: a mask of the rows for each.

    Returns
    -------
    Under ``counts`` the groups, of more than a hundred those from which most went; under ``others``
    how many more there are, as ``groups``, and the sums of their counts. No others are None.
    """
    counts = {
        "documents_in": groups.count(is_document),
        "documents_kept": groups.count(is_document & stays),
        "documents_removed": groups.count(~stays),
    }
    counts |= {name: groups.count(is_such) for name, is_such in (removed_as or {}).items()}
    is_there = counts["documents_in"] > 0
    is_there[:-1] = True
    by_importance = np.lexsort((-counts["documents_in"], -counts["documents_removed"], ~is_there))
    there = by_importance[: int(is_there.sum())]
    listed, rest = np.sort(there[:_LISTED]).tolist(), there[_LISTED:]
    names = groups.counted_names
    sums = {name: int(each[rest].sum()) for name, each in counts.items()}
    return {
        "counts": [
            {"file": names[i]} | {name: int(each[i]) for name, each in counts.items()}
            for i in listed
        ],
        "others": {"groups": len(rest)} | sums if len(rest) else None,
    }


def count_pairs(own: Groups, other: Groups, gone: Int64s, keepers: Int64s) -> dict[str, Any]:
    """Count removed documents by their file and the file of their keeper.

    Parameters
    ----------
    own, other
        Groups of the documents that may be removed, and of the other collection.
    gone, keepers
        Numbers of removed documents and of their keepers; documents of the other collection are
        numbered first.

    Returns
    -------
    Under ``pairs`` at most a hundred pairs of files, frequent ones first; under ``other_pairs``
    how many more there are, as ``groups``, and the documents of these. No others are None.
    """
    sides = (other.counted_names, own.counted_names)
    # The files of both collections, each after an entry for documents without a file.
    starts = (1, len(sides[0]) + 1)
    n_kept, n_other = sum(map(len, sides)), len(other.numbers)
    kept: Int64s = np.empty(len(keepers), np.int64)
    is_own = keepers >= n_other
    kept[~is_own] = other.numbers[keepers[~is_own]].astype(np.int64) + starts[0]
    kept[is_own] = own.numbers[keepers[is_own] - n_other].astype(np.int64) + starts[1]
    keys, counts = np.unique(
        (own.numbers[gone].astype(np.int64) + 1) * n_kept + kept, return_counts=True
    )
    found = dict(zip(keys.tolist(), counts.tolist(), strict=True))
    order = sorted(found, key=lambda key: (-found[key], key))

    def named(key: int, count: int) -> dict[str, Any]:
        group, keeper = divmod(key, n_kept)
        side = int(keeper >= starts[1] - 1)
        return {
            "file": own.counted_names[group - 1],
            "kept_file": sides[side][keeper - starts[side]],
            "kept_in": ("against", "input")[side],
            "documents_removed": count,
        }

    rest = order[_LISTED:]
    others = {"groups": len(rest), "documents_removed": sum(found[key] for key in rest)}
    return {
        "pairs": [named(key, found[key]) for key in order[:_LISTED]],
        "other_pairs": others if rest else None,
    }


def count_by_file(own: Catalogue, other: Groups, assignment: Assignment) -> dict[str, Any]:
    """Count documents by file.

    Parameters
    ----------
    own
        Groups of the documents that may be removed.
    other
        Groups of the documents that the assignment numbers first.
    assignment
        The decision.
    """
    files = Groups.of_files(own)
    gone = np.flatnonzero(~assignment.stays)
    for_other = assignment.keepers < len(other.numbers)
    removed_as = {"removed_for_against": for_other & ~assignment.stays}
    if assignment.copies_are_known:
        removed_as["exact_copies"] = assignment.exact
    counts = count_documents(files, own.is_document, assignment.stays, removed_as)
    return counts | count_pairs(files, other, gone, assignment.keepers[gone])
