"""Ids in the tables of a deduplication: of documents that go, and of those that stay for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from neardup.files.ids import as_text, common_id_type
from neardup.reading.catalogue import Catalogue
from neardup.reading.texts import IdLookup
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa


class KeeperIds:
    """Ids of documents for which others go, of either collection.

    One of the other collection that the first has, too, gets ``against/`` in front. Ids are text
    where one does, or where the collections have ids of different types.

    Parameters
    ----------
    own, other
        The collections; documents of ``other`` are numbered first.
    keepers
        Numbers of the documents for which others go; -1 is none.
    shares_ids
        Whether equal ids in both mean the same document, and none gets anything in front.
    """

    def __init__(
        self, own: Catalogue, other: Catalogue, keepers: Int64s, *, shares_ids: bool = False
    ) -> None:
        import pyarrow as pa

        self._numbers = np.unique(keepers[keepers >= 0])
        n_of_other = int(np.searchsorted(self._numbers, len(other)))
        own_ids = IdLookup(own).take(self._numbers[n_of_other:] - len(other))
        other_ids = IdLookup(other).take(self._numbers[:n_of_other])
        types = [each.id_type for each in (own, other) if len(each)]
        prefixed = None if shares_ids else _with_prefix(other_ids, own)
        if prefixed is not None:
            other_ids, types = prefixed, [pa.large_string()]
        self.type = common_id_type(types)
        self._ids = pa.concat_arrays([other_ids.cast(self.type), own_ids.cast(self.type)])

    def take(self, keepers: Int64s) -> pa.Array:
        """Return the ids of documents for which others go."""
        import pyarrow as pa

        return self._ids.take(pa.array(np.searchsorted(self._numbers, keepers)))


def _with_prefix(ids: pa.Array, own: Catalogue) -> pa.Array | None:
    """Return ids as text, prefixed where the first collection has them; None if it has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = as_text(ids)
    taken = [names.slice(0, 0)]
    if len(names):
        taken += (
            known.filter(pc.is_in(known, value_set=names))
            for _, part in own.id_slices()
            for known in [as_text(part)]
        )
    is_taken = pc.is_in(names, value_set=pa.concat_arrays(taken))
    if not pc.any(is_taken).as_py():
        return None
    prefix, nothing = pa.array(["against/", ""], pa.large_string())
    prefixed = pc.binary_join_element_wise(prefix, names, nothing)
    return pc.if_else(is_taken, prefixed, names)
