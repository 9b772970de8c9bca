"""Finding documents by their ids."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.kernels.common import strings
from neardup.tables import Bools, Int64s, Texts, Uint64s


class IdTable:
    """Finds the rows of ids, which are large strings without nulls.

    Memory 16 bytes a row; making it takes the time of sorting as many numbers.
    """

    def __init__(self, ids: pa.Array) -> None:
        hashes = hash_ids(ids)
        self._ids = ids
        self._rows: Int64s = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._rows]

    def find(self, wanted: pa.Array) -> Int64s:
        """Return the first row of each wanted id, -1 where there is none."""
        hashes = hash_ids(wanted)
        found: Int64s = np.full(len(wanted), -1, np.int64)
        places = np.searchsorted(self._hashes, hashes)
        sought = np.arange(len(wanted))
        # Different ids may have one hash: one that is not there yet may be the next one.
        while len(sought):
            may_be = places < len(self._hashes)
            may_be[may_be] = self._hashes[places[may_be]] == hashes[sought[may_be]]
            sought, places = sought[may_be], places[may_be]
            rows = self._rows[places]
            is_same = _equal(self._ids.take(pa.array(rows)), wanted.take(pa.array(sought)))
            found[sought[is_same]] = rows[is_same]
            sought, places = sought[~is_same], places[~is_same] + 1
        return found


def hash_ids(ids: pa.Array) -> Uint64s:
    """Hash ids, which are large strings; a null has the hash of an empty one."""
    texts = Texts.from_arrow(ids)
    hashes: Uint64s = np.empty(len(texts), np.uint64)
    strings.hash_strings(texts.data, texts.offsets, hashes)
    return hashes


# A whole word in front of an id, so that its second hash starts elsewhere.
_OTHER_START = "another "


def digest_ids(ids: pa.Array) -> tuple[Uint64s, Uint64s]:
    """Return two hashes of each id, which are large strings; only equal ids have both alike.

    128 bits: among a billion ids the probability of an error is below 1e-20.
    """
    start, nothing = pa.array([_OTHER_START, ""], pa.large_string())
    return hash_ids(ids), hash_ids(pc.binary_join_element_wise(start, ids, nothing))


def hash_id(identifier: str) -> int:
    """Hash one id."""
    data = np.frombuffer(identifier.encode(), np.uint8)
    hashes: Uint64s = np.empty(1, np.uint64)
    strings.hash_strings(data, np.array([0, len(data)], np.int64), hashes)
    return int(hashes[0])


def _equal(ids: pa.Array, others: pa.Array) -> Bools:
    equal: Bools = pc.equal(ids, others).to_numpy(zero_copy_only=False)
    return equal
