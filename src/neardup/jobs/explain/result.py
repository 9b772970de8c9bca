"""An explanation as text, as plain data and as a page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from neardup.jobs.explain.documents import Document
from neardup.jobs.explain.evidence import Evidence
from neardup.jobs.explain.sentences import (
    NOTES,
    counted,
    evidence_sentences,
    fate_sentence,
    headline,
    lines,
    number,
    place,
    rule_sentence,
    share,
    shown,
)
from neardup.jobs.explain.values import Explanation, Relation
from neardup.matching.bands import Banding
from neardup.reports.differences import Example, side_by_side
from neardup.reports.explain import BandCurve, ExplainPage, SeenPair, render_explanation

# Characters of a text that stands alone, points of the curve, and pairs of the most similar ones
# that are shown side by side.
_EXCERPT = 2000
_POINTS = 100
_MOST_PAIRS = 4


_WEIGHTED = "weighted-jaccard"


def explanation_page(explained: Explanation) -> str:
    """Write an explanation as a page that needs nothing else."""
    document, decisive, asked = explained.document, explained.decisive, explained.asked
    own, text = shown(document.id), explained.text
    # The decisive one of the most similar documents stands alone.
    found, closest_lead = explained.closest, None
    closest: list[Relation] = []
    if found is not None:
        closest = [each for each in (*found.similar, *found.below) if each is not decisive]
        others = counted(found.n_compared, "other document")
        told = "these are most similar"
        if not closest:
            told = f"none{' but those above' if found.n_similar else ''} shares a shingle with it"
        closest_lead = f"It was compared with {others}, exactly; {told}."
    asked_about: list[str] = []
    if asked is not None:
        asked_about = [fate_sentence(asked.other), rule_sentence(document, asked, explained)]
        if asked.evidence is not None:
            asked_about += evidence_sentences(explained, asked.evidence)
    page = ExplainPage(
        heading=f"{own} {'stayed' if document.keeper is None else 'was removed'}",
        leads=[f"{headline(explained)}.", f"It is in {place(document)}."],
        facts=_facts(explained, decisive.evidence if decisive else None),
        excerpt=text if len(text) <= _EXCERPT else f"{text[:_EXCERPT].rstrip()} …",
        keeper=None if decisive is None else _pair(explained, decisive),
        asked=None if asked is None else _pair(explained, asked),
        asked_about=[f"{sentence}." for sentence in asked_about],
        gone=[_row(each.similarity, each) for each in explained.gone],
        n_gone=explained.n_gone,
        closest=[
            (
                *_row(each.evidence.similarity if each.evidence else None, each.other),
                rule_sentence(document, each, explained),
            )
            for each in closest[_MOST_PAIRS:]
        ],
        closest_lead=closest_lead,
        close_pairs=[pair for each in closest[:_MOST_PAIRS] if (pair := _pair(explained, each))],
        curve=_curve(explained, [each for each in (decisive, asked, *closest) if each is not None]),
        chain=[(number(link.similarity), shown(link.id)) for link in explained.chain or ()],
        options=[(name, str(value)) for name, value in explained.options.items()],
        notes=[NOTES[note] for note in explained.notes],
    )
    return render_explanation(page)


def _facts(explained: Explanation, evidence: Evidence | None) -> list[tuple[str, str]]:
    measure = explained.options["measure"]
    facts: list[tuple[str, str]] = []
    if evidence is not None:
        what = "common weight" if measure == _WEIGHTED else "shingles in common"
        facts = [
            (number(evidence.similarity), f"{measure} similarity"),
            (f"{evidence.common:,.10g}", what),
            (" and ".join(f"{size:,.10g}" for size in evidence.sizes), "of those of the two"),
        ]
        if evidence.n_bands is not None and evidence.shared_bands is not None:
            met = f"{len(evidence.shared_bands):,} of {evidence.n_bands:,}"
            facts.append((met, "bands with a bucket in common"))
        if evidence.probability is not None:
            facts.append((share(evidence.probability), "chance of such a pair to meet"))
    elif explained.n_tokens is not None and explained.size is not None:
        what = "weight of its shingles" if measure == _WEIGHTED else "shingles"
        facts = [(f"{explained.n_tokens:,}", "tokens"), (f"{explained.size:,.10g}", what)]
    if explained.cluster_size > 1:
        facts.append((f"{explained.cluster_size:,}", "documents in its group"))
    return facts


def _pair(explained: Explanation, relation: Relation) -> Example | None:
    """Return the document and another one side by side, None where that one's text is not there."""
    if relation.text is None:
        return None
    both = explained.document, relation.other
    names = [shown(each.id) for each in both]
    places = [f"{place(each)}, {'stays' if each.keeper is None else 'removed'}" for each in both]
    return Example(
        title=" and ".join(names),
        note=rule_sentence(explained.document, relation, explained),
        name_a=names[0],
        name_b=names[1],
        place_a=places[0],
        place_b=places[1],
        differences=side_by_side(explained.text, relation.text),
    )


def _row(similarity: float | None, document: Document) -> tuple[object, ...]:
    told = "not known" if similarity is None else number(similarity)
    row = "" if document.row is None else document.row
    return told, shown(document.id), shown(document.file or "index"), row


def _curve(explained: Explanation, relations: list[Relation]) -> BandCurve | None:
    """Return the curve with the pairs that are explained on it."""
    options = explained.options
    if "bands" not in options:
        return None
    banding = Banding(options["bands"], options["rows"])
    shares = (point / _POINTS for point in range(_POINTS + 1))
    seen = {
        str(relation.other.id): SeenPair(
            f"with {shown(relation.other.id)}",
            relation.evidence.jaccard,
            relation.evidence.probability,
        )
        for relation in relations
        if relation.evidence is not None and relation.evidence.probability is not None
    }
    is_seen = options["measure"] in ("jaccard", _WEIGHTED)
    return BandCurve(
        banding.bands,
        banding.rows,
        [(s, banding.candidate_probability(s)) for s in shares],
        list(seen.values()),
        (options["threshold"], f"threshold {options['threshold']:g}") if is_seen else None,
    )


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
