"""What is explained of a document as plain values, and the rules that decide between two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from neardup.jobs.explain.documents import Document, Place
from neardup.jobs.explain.evidence import Evidence

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
    there, or no shingles have decided.
    """

    other: Document
    rule: Rule
    comes_first: bool
    evidence: Evidence | None
    text: str | None


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
