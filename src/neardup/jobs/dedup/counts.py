"""What a summary says of a deduplication by groups of documents, such as their files."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.jobs.counts import Groups, count_documents, count_pairs
from neardup.jobs.dedup.decide import Assignment
from neardup.tables import Bools


def count_removals(
    own: Groups, other: Groups, is_document: Bools, assignment: Assignment
) -> dict[str, Any]:
    """Count the documents of each group that came in, stayed and went, and for which they did.

    ``other`` are those of documents that an assignment numbers first; ``is_document`` says which
    rows of the others are documents.
    """
    gone = np.flatnonzero(~assignment.stays)
    for_other = assignment.keepers < len(other.numbers)
    removed_as = {"removed_for_against": for_other & ~assignment.stays}
    if assignment.copies_are_known:
        removed_as["exact_copies"] = assignment.exact
    counts = count_documents(own, is_document, assignment.stays, removed_as)
    return counts | count_pairs(own, other, gone, assignment.keepers[gone])
