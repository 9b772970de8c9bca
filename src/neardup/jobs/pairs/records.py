"""The stage records: what is joined, each once, and which documents have it.

Documents of one content (the same tokens) have one record, and so have contents whose sets of
shingles are equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.jobs.pairs.contents import sides_of
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.record_join import digest_of, find_equal
from neardup.matching.algorithms import choose_algorithm
from neardup.matching.edit_join import EditJoin
from neardup.matching.hamming_join import HammingJoin
from neardup.matching.join import Join
from neardup.matching.measures import Hamming
from neardup.matching.salting import salt_sets
from neardup.matching.set_join import SetJoin
from neardup.options.choices import Algorithm
from neardup.reading.first_pass import FirstPass
from neardup.reading.second_pass import read_comparable, read_token_lists
from neardup.runtime.runner import Runner
from neardup.tables import Bytes, Int64s, ScoredPairs, ShingleSets, Uint64s, WeightedSets


@dataclass(frozen=True)
class Records:
    """Records, as they are joined, and the record of each document, -1 for none.

    Of two collections the documents of the left one come first, ``n_left`` of them; None for a
    self-join. ``algorithm`` is the one by which they are joined, if there are several.
    """

    join: Join
    of_documents: Int64s
    n_left: int | None
    algorithm: Algorithm | None

    def __len__(self) -> int:
        return len(self.join.own_scores)

    def sides(self) -> Bytes | None:
        """Return for each record whether the left collection has it, the right one, or both."""
        return sides_of(self.of_documents, self.n_left, len(self))

    def of_pairs(self, pairs: ScoredPairs) -> ScoredPairs:
        """Return the pairs of records of pairs of documents."""
        of_documents = self.of_documents
        return ScoredPairs(of_documents[pairs.left], of_documents[pairs.right], pairs.scores)


def read_records(found: FirstPass, plan: PairPlan, runner: Runner) -> Records:
    """Read the distinct contents again that are to be joined, as sets or as strings."""
    catalogues = found.catalogues
    n_left = None if len(catalogues) == 1 else len(catalogues[0])
    # A document is known by the number of its content.
    of_documents = found.contents
    places = _first_documents(of_documents)
    wanted = np.split(places, np.cumsum([len(each) for each in catalogues])[:-1])
    keys = _keys_by_place(found.blocking_keys, places)
    if plan.edit:
        strings = read_token_lists(catalogues, wanted, plan.reading, runner)
        # There is nothing to choose by: for strings ``auto`` is one of the others.
        of_strings: Algorithm = "ppjoin+" if plan.algorithm == "auto" else plan.algorithm
        of_edits = EditJoin(strings, plan.edit, plan.options.ngram, of_strings, keys)
        return Records(of_edits, of_documents, n_left, of_strings)
    sets = read_comparable(catalogues, wanted, plan.reading, runner)
    if keys is not None:
        sets = salt_sets(sets, keys)
    firsts, own_set = find_equal(digest_of(sets), sets.sizes)
    # And now by its set, of which several contents may have the same.
    of_documents, sets = _exchange(of_documents, own_set), sets.take(firsts)
    if isinstance(sets, WeightedSets):
        # Its kernels are for few jobs.
        from neardup.matching.weighted_join import WeightedJoin

        return Records(WeightedJoin(sets, plan.measure_of_sets), of_documents, n_left, None)
    algorithm = plan.algorithm
    # With the most similar pairs thresholds fall, and each chooses anew.
    if algorithm == "auto" and plan.options.top is None:
        algorithm = choose_algorithm(sets.sizes[sets.sizes > 0], plan.measure_of_sets)
    own_keys = None if keys is None else keys[firsts]
    return Records(_join_of(sets, plan, algorithm, own_keys), of_documents, n_left, algorithm)


def _join_of(sets: ShingleSets, plan: PairPlan, algorithm: Algorithm, keys: Uint64s | None) -> Join:
    if isinstance(plan.measure, Hamming):
        return HammingJoin(sets, plan.measure, algorithm, keys)
    return SetJoin(sets, plan.measure_of_sets, algorithm)


def _keys_by_place(keys: Uint64s | None, places: Int64s) -> Uint64s | None:
    """Return the blocking keys of the documents that have a place, in the order of places."""
    if keys is None:
        return None
    wanted = np.flatnonzero(places >= 0)
    by_place: Uint64s = np.empty(len(wanted), np.uint64)
    by_place[places[wanted]] = keys[wanted]
    return by_place


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
