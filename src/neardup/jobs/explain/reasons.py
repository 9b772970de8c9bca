"""Why a document stayed or went, in a word, and what tables alone say of two documents."""

from __future__ import annotations

from neardup.jobs.explain.closest import Neighbours
from neardup.jobs.explain.documents import Batch, Document
from neardup.jobs.explain.rules import Fate, Rule
from neardup.jobs.explain.values import Reason, Relation


def relate_by_tables(own: Document, other: Batch) -> Relation:
    """Return what is known without comparing texts: for what they went."""
    described = other.describe(0)
    fates = [Fate(each.place, each.keeper_place) for each in (own, described)]
    rule: Rule = "unknown"
    if fates[0].went_for(fates[1]) or fates[1].went_for(fates[0]):
        rule = "went-for-it"
    elif not fates[0].stays and fates[0].keeper == fates[1].keeper:
        rule = "same-keeper"
    comes_first = fates[0].went_for(fates[1])
    return Relation(described, rule, comes_first, None, other.text)


def find_reason(
    document: Document,
    keeper: Relation | None,
    neighbours: Neighbours | None,
    n_tokens: int | None,
    *,
    may_be_linked: bool,
) -> Reason:
    """Return in a word why a document stayed or went.

    Only where documents ``may_be_linked`` by others does one go for one that is not similar.
    """
    if keeper is not None:
        if document.exact_copy is None:
            return "in-pairs"
        if document.exact_copy:
            return "exact-copy"
        evidence = keeper.evidence
        is_similar = evidence is None or evidence.reaches or evidence.reverse_reaches
        if is_similar:
            return "similar"
        return "by-chain" if may_be_linked else "texts-changed"
    if n_tokens == 0:
        return "no-tokens"
    if neighbours is None:
        return "not-looked-for"
    if neighbours.n_rivals:
        return "missed"
    return "similar-ones-went" if neighbours.n_before else "nothing-similar"
