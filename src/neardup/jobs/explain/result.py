"""An explanation as text, as plain data and as a page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from neardup.jobs.explain.sentences import headline
from neardup.jobs.explain.values import Explanation, Relation
from neardup.jobs.explain.wording import lines

if TYPE_CHECKING:
    from neardup.jobs.explain.documents import Document


@dataclass(frozen=True, repr=False)
class ExplainResult(Explanation):
    """Why a document stayed or went.

    ``print`` shows it; ``to_dict`` returns plain values, ``html`` a page.
    """

    def __repr__(self) -> str:
        """Return the class and what became of the document."""
        return f"{type(self).__name__}({headline(self)})"

    def __str__(self) -> str:
        """Say why, and what differs; as ``to_text``."""
        return self.to_text()

    def to_text(self) -> str:
        """Say what became of the document and why, what differs, and what is similar."""
        return "\n".join(lines(self))

    def html(self) -> str:
        """Return one page with texts side by side, differences marked.

        It loads nothing from anywhere; texts are shown as text, whatever they hold.
        """
        from neardup.jobs.explain.page import explanation_page

        return explanation_page(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the texts as plain values; what ``--json`` prints."""
        closest = None
        if self.closest is not None:
            closest = {
                "compared_documents": self.closest.n_compared,
                "similar_documents": self.closest.n_similar,
                "similar": [_relation(each) for each in self.closest.similar],
                "below": [_relation(each) for each in self.closest.below],
            }
        return {
            **_document(self.document),
            "reason": self.reason,
            "why": headline(self),
            "tokens": self.n_tokens,
            "shingles": self.size,
            "keeper": None if self.keeper is None else _relation(self.keeper),
            "documents_gone_for_it": self.n_gone,
            "gone_for_it": [_document(each) for each in self.gone],
            "cluster_id": self.cluster_id,
            "cluster_size": self.cluster_size,
            "closest": closest,
            "with": None if self.asked is None else _relation(self.asked),
            "chain": None if self.chain is None else [asdict(link) for link in self.chain],
            "options": self.options,
            "notes": list(self.notes),
        }


def _document(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "is_in": document.side,
        "file": document.file,
        "row": document.row,
        "kept_id": document.keeper,
        "similarity": document.similarity,
        "exact_copy": document.exact_copy,
    }


def _relation(relation: Relation) -> dict[str, Any]:
    evidence = None
    if relation.evidence is not None:
        found = relation.evidence
        evidence = {
            "similarity": found.similarity,
            "reaches_threshold": found.reaches,
            "common_shingles": found.common,
            "shingles": list(found.sizes),
            "jaccard": found.jaccard,
            "same_tokens": found.are_copies,
            "shared_bands": None if found.shared_bands is None else list(found.shared_bands),
            "bands": found.n_bands,
            "probability": found.probability,
            "other_way_round": found.reverse,
        }
    return {
        "document": _document(relation.other),
        "comes_first": relation.comes_first,
        "rule": relation.rule,
        "evidence": evidence,
    }
