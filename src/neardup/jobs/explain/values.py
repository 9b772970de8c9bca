"""What is explained of a document, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from neardup.jobs.explain.documents import Document
from neardup.jobs.explain.evidence import Evidence
from neardup.jobs.explain.rules import Rule

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
