"""How alike two documents are, whether bands could see it, and which rule decided between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from neardup.matching.measures import Jaccard, WeightedJaccard
from neardup.matching.verify import overlaps_at_threshold
from neardup.stages.decided import Document, Place
from neardup.stages.scheme import DecidingScheme, SignedDocuments
from neardup.tables import Bools, Floats, Int64s, ShingleSets, WeightedSets

# Weights are whole numbers of this.
WEIGHT_UNIT = 2.0**-20


@dataclass(frozen=True)
class Evidence:
    """How alike two documents are: the first one is the one that would go.

    Parameters
    ----------
    common, sizes
        Numbers of shingles, or sums of weights: common ones, and those of each document.
    similarity, reaches
        The value of the measure, and whether it is at the threshold at least; decided exactly.
    jaccard
        The resemblance that bands see: Jaccard similarity of the same sets.
    are_copies
        Whether both have the same tokens.
    shared_bands
        Bands, from 0, in which both are in one bucket; None where there are no bands.
    n_bands, probability
        Number of bands, and the probability that two documents of this resemblance share a bucket;
        None where there are none.
    reverse, reverse_reaches
        Of a one-sided measure, its value and whether that reaches the threshold if the second
        document were the one to go; None of others.
    """

    common: float
    sizes: tuple[float, float]
    similarity: float
    reaches: bool
    jaccard: float
    are_copies: bool
    shared_bands: tuple[int, ...] | None = None
    n_bands: int | None = None
    probability: float | None = None
    reverse: float | None = None
    reverse_reaches: bool | None = None

    @property
    def were_compared(self) -> bool:
        """Whether the two met: in a bucket, or because all documents did."""
        return self.shared_bands is None or bool(self.shared_bands)


@dataclass(frozen=True)
class Overlaps:
    """One document beside many: common elements, similarities, and which reach the threshold."""

    common: Int64s
    similarities: Floats
    reach: Bools
    jaccards: Floats


def find_evidence(
    signed: SignedDocuments, goes: int, stays: int, scheme: DecidingScheme
) -> Evidence:
    """Compare two of some signed documents: the one that would go, and the one that stays."""
    one, other = (signed.sets.take(np.array([row])) for row in (goes, stays))
    forth = compare_with_all(one, other, scheme, np.ones(1, np.bool_))
    back = None
    if scheme.measure.is_directed:
        back = compare_with_all(one, other, scheme, np.zeros(1, np.bool_))
    unit = WEIGHT_UNIT if scheme.weighted else 1
    are_copies = signed.are_copies(goes, stays)
    bands = signed.shared_bands(goes, stays)
    jaccard = 1.0 if are_copies else float(forth.jaccards[0])
    return Evidence(
        common=int(forth.common[0]) * unit,
        sizes=(sizes_of(one).item() * unit, sizes_of(other).item() * unit),
        similarity=1.0 if are_copies else float(forth.similarities[0]),
        reaches=are_copies or bool(forth.reach[0]),
        jaccard=jaccard,
        are_copies=are_copies,
        shared_bands=bands,
        n_bands=None if scheme.banding is None else scheme.banding.bands,
        probability=_probability(signed, (goes, stays), jaccard, scheme),
        reverse=None if back is None else float(back.similarities[0]),
        reverse_reaches=None if back is None else bool(back.reach[0]),
    )


def _probability(
    signed: SignedDocuments, pair: tuple[int, int], jaccard: float, scheme: DecidingScheme
) -> float | None:
    if scheme.banding is None:
        return None
    if min(signed.n_tokens[row] for row in pair) == 0:
        return 0.0
    return scheme.banding.candidate_probability(jaccard)


def compare_with_all(
    own: ShingleSets | WeightedSets,
    others: ShingleSets | WeightedSets,
    scheme: DecidingScheme,
    own_goes: Bools,
) -> Overlaps:
    """Compare one set with many, exactly.

    Parameters
    ----------
    own
        One set.
    others
        Those that it is compared with.
    scheme
        Whose measure counts.
    own_goes
        For each of the others whether the one set is that of the document that would go.

    Notes
    -----
    An empty set is similar to nothing. Time that of going through all sets.
    """
    n, measure = len(others), scheme.measure
    sets = _joined(own, others)
    sizes = sizes_of(sets)
    rows = np.flatnonzero((sizes[1:] > 0) & (sizes[0] > 0)).astype(np.int64)
    goes = own_goes[rows]
    left: Int64s = np.where(goes, 0, rows + 1).astype(np.int64)
    right: Int64s = np.where(goes, rows + 1, 0).astype(np.int64)
    counted = overlaps_at_threshold(sets, left, right, type(measure).lowest())
    met = counted > 0
    rows, left, right, counted = rows[met], left[met], right[met], counted[met]
    common: Int64s = np.zeros(n, np.int64)
    common[rows] = counted
    x, y = sizes[left], sizes[right]
    found: Floats = np.zeros(n)
    found[rows] = measure.similarities(counted, x, y)
    jaccards: Floats = np.zeros(n)
    of_bands = WeightedJaccard if measure.is_weighted else Jaccard
    jaccards[rows] = of_bands.lowest().similarities(counted, x, y)
    reach: Bools = np.zeros(n, np.bool_)
    reach[rows] = overlaps_at_threshold(sets, left, right, measure) >= 0
    return Overlaps(common, found, reach, jaccards)


def sizes_of(sets: ShingleSets | WeightedSets) -> Int64s:
    """Return what measures take as sizes: numbers of shingles, or sums of weights."""
    return sets.totals if isinstance(sets, WeightedSets) else sets.sizes


def _joined(
    own: ShingleSets | WeightedSets, others: ShingleSets | WeightedSets
) -> ShingleSets | WeightedSets:
    """Put one set in front of others; values that it does not have itself are left behind."""
    start, size = int(own.starts[0]), int(own.sizes[0])
    here = slice(start, start + size)
    values = np.concatenate([own.values[here], others.values])
    starts = np.concatenate([[0], others.starts + size]).astype(np.int64)
    sizes = np.concatenate([own.sizes, others.sizes])
    if isinstance(own, WeightedSets) and isinstance(others, WeightedSets):
        weights = np.concatenate([own.weights[here], others.weights])
        totals = np.concatenate([own.totals, others.totals])
        return WeightedSets(values, weights, starts, sizes, totals)
    return ShingleSets(values, starts, sizes)


Rule = Literal[
    "went-for-it",
    "same-keeper",
    "no-tokens",
    "below-threshold",
    "one-sided",
    "no-shared-bucket",
    "went-before",
    "closer-keeper",
    "copy-went-before",
    "first-of-component",
    "not-in-pairs",
    "unexplained",
    "unknown",
]


@dataclass(frozen=True)
class Fate:
    """What became of a document: ``keeper`` is the place of the one that it went for, if any."""

    place: Place
    keeper: Place | None = None
    is_empty: bool = False


@dataclass(frozen=True)
class Terms:
    """How it was decided: by ``survivors`` or ``components``, and whether by pairs of a table."""

    clusters: str = "survivors"
    by_pairs: bool = False


def decide_rule(
    first: Fate,
    second: Fate,
    evidence: Evidence,
    terms: Terms,
    with_keeper: Callable[[], Evidence | None],
    copy_went_before: Callable[[], bool],
) -> Rule:
    """Return the rule that decided between two documents.

    Parameters
    ----------
    first, second
        In keep order; the second may go for the first, never the other way round.
    evidence
        How alike they are, the second as the one that would go.
    terms
        How it was decided.
    with_keeper
        Returns how alike the second one and its keeper are; None if that is not known.
    copy_went_before
        Returns whether an exact copy of the second one, earlier than the first one, went.
    """
    first_went, by_components = first.keeper is not None, terms.clusters == "components"
    if second.keeper == first.place:
        return "went-for-it"
    if first.is_empty or second.is_empty:
        return "no-tokens"
    if first_went and first.keeper == second.keeper:
        return "same-keeper"
    if not evidence.reaches and not (by_components and evidence.reverse_reaches):
        return "one-sided" if evidence.reverse_reaches else "below-threshold"
    if first_went and not by_components:
        return "went-before"
    if terms.by_pairs:
        return "not-in-pairs" if second.keeper is None else "closer-keeper"
    if not evidence.were_compared:
        return "no-shared-bucket"
    if by_components:
        # Of documents that stay in any case only the first is that of a component.
        return "unexplained" if first_went or second.keeper is None else "first-of-component"
    if second.keeper is None:
        return "unexplained"
    chosen = with_keeper()
    if chosen is None or chosen.are_copies or chosen.similarity >= evidence.similarity:
        return "closer-keeper"
    return "copy-went-before" if copy_went_before() else "unexplained"


Reason = Literal[
    "exact-copy",
    "similar",
    "by-chain",
    "texts-changed",
    "in-pairs",
    "no-tokens",
    "nothing-similar",
    "similar-ones-went",
    "missed",
    "not-looked-for",
]


@dataclass(frozen=True)
class Relation:
    """What is between a document and another one.

    ``comes_first`` says whether the other one comes before it in keep order. ``evidence`` takes the
    later one as that which would go, and is None where it cannot be worked out: the text is not
    there, or no shingles have decided. ``key`` is the first key of the keep policy by which the two
    differ, ``first`` where it is the input order, and None where that is not looked at.
    """

    other: Document
    rule: Rule
    comes_first: bool
    evidence: Evidence | None
    text: str | None
    key: str | None = None


@dataclass(frozen=True)
class Closest:
    """The documents that are most similar to one, found by comparing it with all, exactly.

    ``n_compared`` documents were compared; ``n_similar`` of them reach the threshold. ``similar``
    are the most similar of those, those left out that went for the document and the one that it
    went for; ``below`` the most similar ones below the threshold.
    """

    n_compared: int
    n_similar: int
    similar: Sequence[Relation]
    below: Sequence[Relation]


@dataclass(frozen=True)
class Link:
    """One step of a chain of similar documents, to the document of this id."""

    id: Any
    similarity: float


@dataclass(frozen=True)
class Explanation:
    """Why a document stayed or went.

    Parameters
    ----------
    document, text
        The document.
    reason
        Why, in a word.
    n_tokens, size
        Of the document: tokens, and shingles or the sum of their weights; None where no shingles
        have decided.
    keeper
        The one that it went for.
    gone, n_gone
        Documents that went for it, the first ones, and how many there are.
    cluster_id, cluster_size
        Its cluster.
    closest
        The most similar documents; None where none was looked for.
    asked
        What is between it and the document that was asked about, None if none was.
    chain
        Of components: similar documents that lead to the one that it went for, that one last.
    options
        What has decided: measure, threshold, method, keep order, bands and so on.
    notes
        What could not be found out, and what helps.
    """

    document: Document
    text: str
    reason: Reason
    n_tokens: int | None
    size: float | None
    keeper: Relation | None
    gone: Sequence[Document]
    n_gone: int
    cluster_id: int
    cluster_size: int
    closest: Closest | None
    asked: Relation | None
    chain: Sequence[Link] | None
    options: dict[str, Any]
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def decisive(self) -> Relation | None:
        """What is between it and the document that it went for, or should have gone for."""
        if self.reason == "missed" and self.closest is not None:
            return self.closest.similar[0]
        return self.keeper
