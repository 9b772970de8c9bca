"""Who stays among documents whose sets do not all fit into memory, chunk by chunk of keep order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.clustering.shelf import SetReader, Shelf
from neardup.clustering.survivors import Choice
from neardup.kernels.bucket import survivors
from neardup.matching.buckets import list_full_keys
from neardup.matching.measures import Measure
from neardup.tables import EarlierKeepers, Int32s, Int64s, Removals, Uint64s


def choose_in_chunks(
    keys: Uint64s,
    sizes: Int64s,
    read_sets: SetReader,
    measure: Measure,
    *,
    components: Int64s | None = None,
    n_fixed: int = 0,
    earlier: EarlierKeepers | None = None,
    capacity: int,
    progress: Callable[[int], None] | None = None,
) -> Removals:
    """Decide who stays as ``choose_survivors`` does, with some of the sets in memory at a time.

    Parameters
    ----------
    keys
        Keys of all 64 bits in each band, shape (n_documents, n_bands), in keep order.
    sizes
        About how many elements the set of each document has.
    read_sets
        Gives the sets of some documents, by their numbers, which ascend; called more than once for
        a document.
    components
        Where it is given, documents share keys only with those of the same number.
    measure, n_fixed, earlier, progress
        As for ``choose_survivors``.
    capacity
        So many elements may be in memory at once. A chunk has one document at least, and so has
        what it is compared with at a time, however large they are.

    Returns
    -------
    What ``choose_survivors`` returns for the same keys and sets, counts included.

    Notes
    -----
    Each chunk is compared with those earlier survivors that share a key with it, which are read a
    slice at a time, and then with itself. Where documents share keys with few others, as versions
    do, sets are read a few times each, whatever their number; where all share one key, each chunk
    reads all survivors. What shares no key is never read. Memory beside sets: up to 20 bytes a
    document and band, and 90 a document.
    """
    n_documents = len(sizes)
    lists = list_full_keys(keys, components)
    choice = Choice(lists, measure, n_fixed, earlier)
    members = choice.members
    shelf = Shelf(sizes, read_sets, capacity, is_weighted=measure.is_weighted)
    choice.go_through(0, n_fixed, shelf.measured, progress=progress)
    marks: Int32s = np.full(n_documents, -1, np.int32)
    listed: Int32s = np.empty(n_documents, np.int32)
    has_keys = np.diff(lists.starts) > 0
    start = n_fixed
    for chunk in shelf.chunks(n_fixed + np.flatnonzero(has_keys[n_fixed:])):
        stop = int(chunk[-1]) + 1
        shared = np.unique(lists.keys[lists.starts[start] : lists.starts[stop]]).astype(np.int64)
        n_earlier = survivors.list_members(shared, members, start, marks, listed)
        starts = members.starts[shared]
        ends = starts + members.sizes[shared]
        members.sizes[shared] = 0
        for shown in shelf.slices(np.sort(listed[:n_earlier]).astype(np.int64)):
            survivors.show_next(shared, ends, int(shown[-1]) + 1, members)
            choice.go_through(start, stop, shelf.measured, decides=False)

        # Survivors of the chunk itself come behind the earlier ones.
        members.starts[shared], members.sizes[shared] = ends, 0
        choice.go_through(start, stop, shelf.measured, progress=progress)
        members.sizes[shared] += ends - starts
        members.starts[shared] = starts
        start = stop
    choice.go_through(start, n_documents, shelf.measured, progress=progress)
    return choice.removals
