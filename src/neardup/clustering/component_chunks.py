"""Components of documents whose sets do not all fit into memory, chunk by chunk of keep order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from neardup.clustering.components import Joining, find_roots
from neardup.clustering.shelf import SetReader, Shelf
from neardup.kernels.bucket import survivors
from neardup.matching.buckets import list_full_keys
from neardup.matching.measures import Measure
from neardup.matching.verify import score_pairs
from neardup.tables import Int32s, Int64s, KeyLists, Removals, Uint64s


def join_in_chunks(
    keys: Uint64s,
    sizes: Int64s,
    read_sets: SetReader,
    measure: Measure,
    chosen: Removals,
    *,
    components: Int64s | None = None,
    n_fixed: int = 0,
    capacity: int,
    progress: Callable[[int], None] | None = None,
) -> Removals:
    """Remove what ``join_components`` removes, with some of the sets in memory at a time.

    Arguments as for ``choose_in_chunks``; ``chosen`` is what that one returns for the same
    documents.

    Returns
    -------
    Keepers and similarities of ``join_components``. Counts are those of ``chosen``: how many more
    pairs are compared depends on the order in which they meet.

    Notes
    -----
    Documents that went for the same survivor are joined already, so that only keys are looked at
    that bring together documents of several survivors, and only documents with such a key are
    read; and at the end those that go, and those that stay for them. Memory beside sets: up to 44
    bytes a document and band, and 100 a document.
    """
    n_documents = len(sizes)
    joined = np.where(chosen.keepers >= 0, chosen.keepers, np.arange(n_documents))
    lists = _keys_between(list_full_keys(keys, components), joined)
    joining = Joining(lists, measure, joined)
    everyone = _everyone(lists)
    shelf = Shelf(sizes, read_sets, capacity, is_weighted=measure.is_weighted)
    marks: Int32s = np.full(n_documents, -1, np.int32)
    listed: Int32s = np.empty(n_documents, np.int32)
    entered: Int64s = np.empty(0, np.int64)
    start = 0
    for chunk in shelf.chunks(np.flatnonzero(lists.n_probed)):
        stop = int(chunk[-1]) + 1
        shared = np.unique(lists.keys[lists.starts[start] : lists.starts[stop]]).astype(np.int64)
        found = listed[: survivors.list_members(shared, everyone, start, marks, listed)]
        for earlier in shelf.slices(np.sort(found[found < chunk[0]]).astype(np.int64)):
            joining.replace_members(entered, earlier)
            joining.go_through(start, stop, shelf.measured, enters=False)
            entered = earlier
        joining.replace_members(entered, entered[:0])
        joining.go_through(start, stop, shelf.measured, progress=progress)
        entered, start = chunk, stop
    joining.go_through(start, n_documents, shelf.measured, progress=progress)

    keepers = joining.keepers(n_fixed)
    similarities = np.full(n_documents, np.nan)
    for gone in shelf.chunks(np.flatnonzero(keepers >= 0)):
        of_gone = keepers[gone]
        for kept in shelf.slices(np.unique(of_gone)):
            pairs = (of_gone >= kept[0]) & (of_gone <= kept[-1])
            similarities[gone[pairs]] = score_pairs(
                shelf.table, gone[pairs], of_gone[pairs], measure
            )
    return replace(chosen, keepers=keepers, similarities=similarities)


def _keys_between(lists: KeyLists, joined: Int64s) -> KeyLists:
    """Leave out the keys under which all documents are joined already."""
    roots = np.repeat(find_roots(joined), np.diff(lists.starts))
    least = np.full(len(lists.sizes), len(joined), np.int64)
    most = np.full(len(lists.sizes), -1, np.int64)
    np.minimum.at(least, lists.keys, roots)
    np.maximum.at(most, lists.keys, roots)
    is_needed = (least < most)[lists.keys]
    starts: Int64s = np.concatenate([[0], np.cumsum(is_needed)])[lists.starts].astype(np.int64)
    kept = lists.keys[is_needed]
    return KeyLists(starts, kept, np.diff(starts), np.bincount(kept, minlength=len(lists.sizes)))


def _everyone(lists: KeyLists) -> survivors.Members:
    """List all documents under each of their keys, in keep order."""
    owners = np.repeat(np.arange(len(lists.n_probed), dtype=np.int32), lists.n_probed)
    return survivors.Members(
        starts=np.cumsum(lists.sizes) - lists.sizes,
        sizes=lists.sizes,
        documents=owners[np.argsort(lists.keys, kind="stable")],
    )
