"""What a summary says of a deduplication by groups of documents, such as their files."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.jobs.counts import Groups, count_documents, count_pairs
from neardup.jobs.dedup.decide import Assignment
from neardup.reading.catalogue import Catalogue


def count_by_groups(own: Catalogue, other: Groups, assignment: Assignment) -> dict[str, Any]:
    """Count documents by file, and by value of a column if the catalogue has them.

    Parameters
    ----------
    own
        The documents that may go.
    other
        Files of the documents that the assignment numbers first.
    assignment
        What was decided.
    """
    described = {"by_file": _count(own, Groups.of_files(own), other, assignment)}
    if own.values is not None:
        values = Groups.of_values(own.values)
        none = Groups.of_none(values.label, len(other.numbers))
        counts = _count(own, values, none, assignment)
        described["by"] = {"column": own.values.column, **counts}
    return described


def _count(
    documents: Catalogue, own: Groups, other: Groups, assignment: Assignment
) -> dict[str, Any]:
    gone = np.flatnonzero(~assignment.stays)
    for_other = assignment.keepers < len(other.numbers)
    removed_as = {"removed_for_against": for_other & ~assignment.stays}
    if assignment.copies_are_known:
        removed_as["exact_copies"] = assignment.exact
    counts = count_documents(own, documents.is_document, assignment.stays, removed_as)
    return counts | count_pairs(own, other, gone, assignment.keepers[gone])
