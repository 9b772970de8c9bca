"""The stage records: what is joined, each once, and which documents have it.

Documents of one content (the same tokens) have one record, and so have contents whose sets of
shingles are equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.jobs.pairs.plan import PairPlan
from neardup.matching.bucket_join import BucketJoin
from neardup.matching.buckets import bucket_keys
from neardup.matching.edit_join import EditJoin
from neardup.matching.join import LEFT, RIGHT, Join
from neardup.matching.set_join import SetJoin
from neardup.reading.copies import ContentTable
from neardup.reading.first_pass import FirstPass
from neardup.reading.second_pass import read_sets, read_token_lists
from neardup.runtime.runner import Runner
from neardup.tables import BandKeys, Buckets, Bytes, Digests, Int64s, ShingleSets
from neardup.text.shingles import digest_sets


@dataclass(frozen=True)
class Records:
    """Records, as they are joined, and the record of each document, -1 for none.

    Of two collections the documents of the left one come first, ``n_left`` of them; None for a
    self-join.
    """

    join: Join
    of_documents: Int64s
    n_left: int | None

    def __len__(self) -> int:
        return len(self.join.own_scores)

    def sides(self) -> Bytes | None:
        """Return for each record whether the left collection has it, the right one, or both."""
        if self.n_left is None:
            return None
        sides: Bytes = np.zeros(len(self), np.uint8)
        left, right = self.of_documents[: self.n_left], self.of_documents[self.n_left :]
        sides[left[left >= 0]] |= LEFT
        sides[right[right >= 0]] |= RIGHT
        return sides


def read_records(found: FirstPass, plan: PairPlan, runner: Runner) -> Records:
    """Read the distinct contents again that are to be joined, as sets or as strings."""
    catalogues = found.catalogues
    n_left = None if len(catalogues) == 1 else len(catalogues[0])
    contents = found.contents
    places: Int64s = np.arange(found.n_contents, dtype=np.int64)
    buckets = None
    if plan.banding:
        buckets, places = _meet(found.keys, contents, found.n_contents, plan.banding.bands, runner)
    # From here on a document is known by the place of its content among those that are read.
    of_documents = _exchange(contents, places)
    wanted = np.split(
        _first_documents(of_documents), np.cumsum([len(each) for each in catalogues])[:-1]
    )
    if plan.edit:
        strings = read_token_lists(catalogues, wanted, plan.reading, runner)
        return Records(EditJoin(strings, plan.edit, plan.options.ngram), of_documents, n_left)
    assert plan.measure is not None
    sets = read_sets(catalogues, wanted, plan.reading, runner)
    firsts, own_set = _find_equal(sets)
    # And now by its set, of which several contents may have the same.
    of_documents, sets = _exchange(of_documents, own_set), sets.take(firsts)
    if buckets is None:
        return Records(SetJoin(sets, plan.measure, plan.algorithm), of_documents, n_left)
    buckets = Buckets(buckets.numbers.take(firsts, axis=1), buckets.sizes)
    return Records(BucketJoin(sets, plan.measure, buckets), of_documents, n_left)


def _meet(
    keys: BandKeys, contents: Int64s, n_contents: int, n_bands: int, runner: Runner
) -> tuple[Buckets, Int64s]:
    """Find the contents that may be in a pair: their buckets, and the place of each, -1 for none.

    Those that share a bucket with another, or that several documents have. ``contents`` is the
    content of each document; ``keys`` are used up.
    """
    buckets = bucket_keys(keys, np.arange(n_contents, dtype=np.int64), n_bands, runner)
    is_read = (buckets.numbers >= 0).any(axis=0)
    is_read |= np.bincount(contents[contents >= 0], minlength=n_contents) > 1
    places: Int64s = np.where(is_read, np.cumsum(is_read) - 1, -1)
    return Buckets(buckets.numbers.compress(is_read, axis=1), buckets.sizes), places


def _exchange(numbers: Int64s, others: Int64s) -> Int64s:
    """Exchange each number k for ``others[k]``; -1, which is none, stays."""
    exchanged: Int64s = np.full(len(numbers), -1, np.int64)
    filled = numbers >= 0
    exchanged[filled] = others[numbers[filled]]
    return exchanged


def _first_documents(places: Int64s) -> Int64s:
    """Leave each place to the first document that has it; -1 for all others."""
    wanted: Int64s = np.full(len(places), -1, np.int64)
    filled = np.flatnonzero(places >= 0)
    numbers, firsts = np.unique(places[filled], return_index=True)
    wanted[filled[firsts]] = numbers
    return wanted


def _find_equal(sets: ShingleSets) -> tuple[Int64s, Int64s]:
    """Find the first of equal sets, and for each set the number of its first among those."""
    digests = Digests(digest_sets(sets), np.ones(len(sets), np.bool_))
    numbers = ContentTable().number(digests).numbers
    _, firsts = np.unique(numbers, return_index=True)
    return firsts, numbers
