"""Of components: the chain of similar documents between one that went and the one that stays."""

from __future__ import annotations

from collections import deque

import numpy as np
import pyarrow as pa

from neardup.jobs.explain.documents import Batch
from neardup.jobs.explain.evidence import compare_with_all
from neardup.jobs.explain.scheme import DecidingScheme, SignedDocuments
from neardup.jobs.explain.values import Link
from neardup.tables import Bools, Floats, Texts, with_wide_offsets


def find_chain(
    own: Batch, keeper: Batch, members: list[Batch], scheme: DecidingScheme
) -> list[Link] | None:
    """Find a shortest chain of similar documents that share buckets; None if there is none.

    Parameters
    ----------
    own, keeper
        Where it begins and ends.
    members
        The other documents of the cluster.
    scheme
        What has decided.

    Returns
    -------
    Each document after the first one, with its similarity to the one before it.
    """
    batches = [own, keeper, *members]
    ids = [batch.describe(row).id for batch in batches for row in range(len(batch.numbers))]
    texts = pa.concat_arrays([with_wide_offsets(batch.texts) for batch in batches])
    signed = scheme.sign(Texts.from_arrow(texts))
    before: dict[int, tuple[int, float]] = {0: (-1, 1.0)}
    waiting = deque([0])
    while waiting and 1 not in before:
        place = waiting.popleft()
        are_linked, similarities = _links_of(signed, place, scheme)
        for other in np.flatnonzero(are_linked).tolist():
            if other not in before:
                before[other] = place, float(similarities[other])
                waiting.append(other)
    if 1 not in before:
        return None
    links, place = [], 1
    while place:
        previous, similarity = before[place]
        links.append(Link(ids[place], similarity))
        place = previous
    return links[::-1]


def _links_of(signed: SignedDocuments, place: int, scheme: DecidingScheme) -> tuple[Bools, Floats]:
    """Return which documents are linked to one, and how similar they are in a direction that is."""
    own = signed.sets.take(np.array([place]))
    forth = compare_with_all(own, signed.sets, scheme, np.ones(len(signed), np.bool_))
    back = compare_with_all(own, signed.sets, scheme, np.zeros(len(signed), np.bool_))
    same = (signed.digests == signed.digests[place]).all(axis=1) & (signed.n_tokens > 0)
    are_linked: Bools = forth.reach | back.reach | same
    if signed.keys is not None:
        are_linked &= (signed.keys == signed.keys[place]).any(axis=1)
    similarities = np.maximum(forth.similarities, back.similarities)
    return are_linked, np.where(same, 1.0, similarities)
