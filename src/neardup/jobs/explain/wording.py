"""An explanation as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neardup.jobs.explain.documents import Document
from neardup.jobs.explain.evidence import Evidence
from neardup.jobs.explain.sentences import (
    amount_of,
    counted,
    evidence_sentences,
    headline,
    number,
    place,
    rule_sentence,
    say_note,
    shown,
)
from neardup.jobs.explain.values import Closest, Explanation, Relation
from neardup.reports.differences import Run, side_by_side


def lines(explained: Explanation) -> Iterator[str]:
    """Write an explanation down, what matters most first."""
    yield from lines_before_texts(explained)
    relation = shown_relation(explained)
    if relation is not None:
        yield ""
        yield from _difference_lines(explained, relation)
    yield from lines_after_texts(explained)


def shown_relation(explained: Explanation) -> Relation | None:
    """Return what is between the document and the one whose text is shown beside it."""
    relation = explained.asked or explained.decisive
    return None if relation is None or relation.text is None else relation


def lines_before_texts(explained: Explanation) -> Iterator[str]:
    """Say why, and how similar the two are whose texts are shown."""
    yield headline(explained)
    yield from _facts(explained)
    relation = explained.asked or explained.decisive
    if explained.asked is not None:
        yield ""
        yield f"and {shown(explained.asked.other.id)} (--with)"
        yield from _relation_lines(explained, explained.asked)
    elif relation is not None and relation.evidence is not None:
        yield ""
        yield from _evidence_lines(explained, relation.evidence)


def lines_after_texts(explained: Explanation) -> Iterator[str]:
    """List the documents that have to do with it."""
    yield from _chain_lines(explained)
    yield from _gone_lines(explained)
    if explained.closest is not None:
        yield from _closest_lines(explained, explained.closest)
    for note in explained.notes:
        yield ""
        yield f"note: {say_note(note)}"


def _facts(explained: Explanation) -> Iterator[str]:
    yield f"  it is in {place(explained.document)}{_sizes(explained)}"
    if explained.document.keeper is not None:
        document = explained.document
        found = Document(-1, None, "kept", document.keeper_file, document.keeper_row)
        yield f"  {shown(document.keeper)} is in {place(found)}"
    if explained.cluster_size > 1:
        size = counted(explained.cluster_size, "document")
        yield f"  cluster {explained.cluster_id}, of {size}"


def _sizes(explained: Explanation) -> str:
    if explained.n_tokens is None or explained.size is None:
        return ""
    told = f"; {counted(explained.n_tokens, 'token')}, {amount_of(explained, explained.size)}"
    ngram = explained.options["ngram"]
    if 0 < explained.n_tokens < ngram:
        told += f" (fewer tokens than the {ngram} of a shingle: all of them are one)"
    return told


def _relation_lines(explained: Explanation, relation: Relation) -> Iterator[str]:
    other = relation.other
    fate = "stayed" if other.keeper is None else f"went for {shown(other.keeper)}"
    yield f"  {shown(other.id)} {fate}; it is in {place(other)}"
    yield f"  {rule_sentence(explained.document, relation, explained)}"
    if relation.evidence is not None:
        yield from _evidence_lines(explained, relation.evidence)


def _evidence_lines(explained: Explanation, evidence: Evidence) -> Iterator[str]:
    for sentence in evidence_sentences(explained, evidence):
        yield f"  {sentence}"


def _difference_lines(explained: Explanation, relation: Relation) -> Iterator[str]:
    """Write two texts down with marks: {-of the document only-} and {+of the other one only+}."""
    assert relation.text is not None
    found = side_by_side(explained.text, relation.text)
    if not any(found.n_only):
        yield "no word differs"
        return
    words = [counted(n, "word") for n in found.n_only]
    names = shown(explained.document.id), shown(relation.other.id)
    common = counted(found.n_common, "word")
    yield f"{common} in both, {words[0]} in {names[0]} only, {words[1]} in {names[1]} only"
    for name, runs, marks in zip(names, (found.a, found.b), ("-", "+"), strict=True):
        yield f"  {name}: {_marked(runs, marks)}"


def _marked(runs: Sequence[Run], mark: str) -> str:
    parts = []
    for run in runs:
        if run.kind == "omitted":
            parts.append(f" […{counted(run.n_words, 'word')}…] ")
        elif run.kind == "changed":
            text = _printable(run.text)
            parts.append(f"{{{mark}{text.rstrip()}{mark}}}{' ' if text.endswith(' ') else ''}")
        else:
            parts.append(_printable(run.text))
    return " ".join("".join(parts).split())


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _chain_lines(explained: Explanation) -> Iterator[str]:
    if explained.chain:
        steps = " - ".join(
            f"{number(link.similarity)} - {shown(link.id)}" for link in explained.chain
        )
        yield ""
        yield f"the chain: {shown(explained.document.id)} - {steps}"


def _gone_lines(explained: Explanation) -> Iterator[str]:
    if not explained.n_gone:
        return
    yield ""
    yield f"{counted(explained.n_gone, 'document')} went for it"
    for gone in explained.gone:
        similarity = "      " if gone.similarity is None else f"{number(gone.similarity):>6}"
        copy = ", an exact copy" if gone.exact_copy else ""
        yield f"  {similarity}  {shown(gone.id)}{copy}"
    if explained.n_gone > len(explained.gone):
        yield f"  and {explained.n_gone - len(explained.gone):,} more"


def _closest_lines(explained: Explanation, closest: Closest) -> Iterator[str]:
    yield ""
    others = counted(closest.n_compared, "other")
    if not closest.similar and not closest.below:
        shares = "no other shares a shingle" if closest.n_similar else "none shares a shingle"
        yield f"compared with {others}, exactly: {shares} with it"
        return
    yield f"compared with {others}, exactly; most similar"
    for relation in [*closest.similar, *closest.below]:
        assert relation.evidence is not None
        name = shown(relation.other.id)
        sentence = rule_sentence(explained.document, relation, explained)
        told = sentence if sentence.startswith(f"{name} ") else f"{name}: {sentence}"
        yield f"  {number(relation.evidence.similarity):>6}  {told}"
