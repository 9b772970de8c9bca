"""Which segments are put together after an addition, so that there are never many."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from neardup.documents.compaction import merge_segments
from neardup.documents.handle import DocumentHandle
from neardup.errors import NeardupError
from neardup.runtime.runner import Runner

_log = logging.getLogger(__name__)

# So many segments of a size become one of the next. Each document is written again as often as it
# goes up; a look-up goes through one less at most for each size.
FANOUT = 8
_LEAST = 1024


def merge_tiers(handle: DocumentHandle, runner: Runner) -> None:
    """Put segments together, in a block of ``handle.changing``, as long as there are too many.

    An error is logged and not raised: what was added before is there, and the next addition tries
    again.
    """
    try:
        while True:
            files = handle.reopen(runner)
            sizes = [record.n_documents for record in files.manifest.segments]
            n = count_to_merge(sizes)
            if not n:
                return
            merge_segments(handle, files, len(sizes) - n, len(sizes), runner)
    except NeardupError as error:
        _log.warning("%s: segments were not put together: %s", handle.folder, error)


def count_to_merge(sizes: Sequence[int]) -> int:
    """Count the last segments that are to become one, by their numbers of documents; 0 for none.

    Only neighbours, because documents keep their order. So a small segment in front of a larger one
    goes with that.
    """
    tiers = [_tier(size) for size in sizes]
    for place in range(len(tiers) - 2, -1, -1):
        tiers[place] = max(tiers[place], tiers[place + 1])
    for tier in sorted(set(tiers)):
        if tiers.count(tier) >= FANOUT:
            return len(tiers) - tiers.index(tier)
    return 0


def _tier(size: int) -> int:
    tier = 0
    while size > _LEAST * FANOUT**tier:
        tier += 1
    return tier
