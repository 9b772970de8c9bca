"""One document compared with all others, exactly: which are similar, and which come close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np

from neardup.jobs.explain.documents import Batch, Documents
from neardup.jobs.explain.evidence import compare_with_all
from neardup.jobs.explain.keep_order import come_first
from neardup.jobs.explain.scheme import DecidingScheme
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s, Texts


@dataclass(frozen=True)
class Neighbour:
    """A document, how similar it is, and what that means.

    ``is_rival`` says that it stays and comes first, so that the other one should have gone.
    """

    similarity: float
    is_rival: bool
    document: Batch

    @property
    def rank(self) -> tuple[bool, float, int]:
        """By what the most important ones are listed first."""
        return self.is_rival, self.similarity, -int(self.document.numbers[0])


@dataclass(frozen=True)
class Neighbours:
    """What a comparison with many documents has found.

    ``n_compared`` documents; ``n_similar`` at the threshold, ``n_rivals`` of which come first and
    stay, and ``n_before`` come first and went. The most important ones are listed.
    """

    n_compared: int = 0
    n_similar: int = 0
    n_rivals: int = 0
    n_before: int = 0
    similar: Sequence[Neighbour] = ()
    below: Sequence[Neighbour] = ()

    def joined(self, other: Neighbours, count: int) -> Neighbours:
        """Return what both have found, so many of either kind listed."""
        return Neighbours(
            self.n_compared + other.n_compared,
            self.n_similar + other.n_similar,
            self.n_rivals + other.n_rivals,
            self.n_before + other.n_before,
            nlargest(count, [*self.similar, *other.similar], key=lambda each: each.rank),
            nlargest(count, [*self.below, *other.below], key=lambda each: each.rank),
        )


def find_neighbours(
    own: Batch,
    collections: Sequence[Documents],
    scheme: DecidingScheme,
    count: int,
    left_out: Int64s,
    runner: Runner,
    *,
    stays: bool,
    total: int | None = None,
) -> Neighbours:
    """Compare a document with all of some collections.

    Parameters
    ----------
    own
        The document.
    collections
        It may be in one of them.
    scheme
        What has decided.
    count
        How many similar ones, and how many below the threshold, are listed.
    left_out
        Numbers of documents that are compared, and not listed.
    runner
        A batch of documents is a block of its work.
    stays
        Whether the document stays, so that one that should have made it go comes first.
    total
        How many documents there are, for progress; None where that is not known.

    Notes
    -----
    All texts are read once. Memory that of a few batches.
    """
    own_sets = scheme.sets_of(Texts.from_arrow(own.texts))
    own_keys = own.keys(by_length=scheme.keep.by_length)

    def compare(item: tuple[Documents, Batch]) -> Neighbours:
        documents, batch = item
        is_other: Bools = batch.numbers != own.numbers[0]
        before = come_first(scheme.keep, batch.keys(by_length=scheme.keep.by_length), own_keys)
        sets = scheme.sets_of(Texts.from_arrow(batch.texts))
        found = compare_with_all(own_sets, sets, scheme, before)
        similar = found.reach & is_other
        stay = documents.stay(batch.numbers)
        is_listed = is_other & ~np.isin(batch.numbers, left_out)
        rivals = similar & before & stay & is_listed & stays

        def best(mask: Bools) -> list[Neighbour]:
            rows = np.flatnonzero(mask)
            order = np.lexsort((rows, -found.similarities[rows], ~rivals[rows]))[:count]
            return [
                Neighbour(float(found.similarities[row]), bool(rivals[row]), batch.take(int(row)))
                for row in rows[order]
            ]

        return Neighbours(
            int(is_other.sum()),
            int(similar.sum()),
            int(rivals.sum()),
            int((similar & before & ~stay).sum()),
            best(similar & is_listed),
            best(~found.reach & (found.similarities > 0) & is_listed),
        )

    every = ((documents, batch) for documents in collections for batch in documents.batches())
    done, neighbours = runner.counter("closest", total), Neighbours()
    for part in runner.map(compare, every):
        neighbours = neighbours.joined(part, count)
        done(part.n_compared)
    return neighbours
