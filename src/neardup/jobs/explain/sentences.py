"""Why a document stayed or went, and which rule decided between two, in sentences and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neardup.jobs.explain.documents import Document
from neardup.jobs.explain.evidence import Evidence
from neardup.jobs.explain.values import Closest, Explanation, Relation
from neardup.reports.differences import Run, side_by_side

# Characters of an id that are shown.
_LONGEST_NAME = 100


def shown(value: object) -> str:
    """Write an id or a text down without what a terminal would obey, or nobody would see."""
    text = str(value)
    if len(text) > _LONGEST_NAME:
        text = f"{text[: _LONGEST_NAME - 1]}…"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def number(value: float) -> str:
    """Write a similarity so that it is 0 or 1 only if it is that exactly."""
    return f"{min(max(value, 0.0001), 0.9999):.4f}" if 0 < value < 1 else f"{value:.0f}"


def share(value: float) -> str:
    """Write a probability as a percentage that is 0 % or 100 % only if it is that exactly."""
    if 0 < value < 0.001:
        return "below 0.1 %"
    if 0.999 < value < 1:
        return "above 99.9 %"
    return f"{100 * value:.1f} %" if 0 < value < 1 else f"{100 * value:.0f} %"


def counted(n: float, noun: str) -> str:
    """Write a number with its noun."""
    amount = f"{n:,.0f}" if n == int(n) else f"{n:,.2f}"
    return f"{amount} {noun}{'' if n == 1 else 's'}"


def place(document: Document) -> str:
    """Say where a document is."""
    if document.file is None:
        return "in the index"
    return f"{shown(document.file)}, row {document.row}"


def headline(explained: Explanation) -> str:
    """Say in a sentence what became of the document, and why."""
    return _WHY[explained.reason](explained)


def _went(explained: Explanation) -> tuple[str, str]:
    return shown(explained.document.id), shown(explained.document.keeper)


def _exact_copy(explained: Explanation) -> str:
    own, keeper = _went(explained)
    return f"{own} went: it has the same tokens as {keeper}, which {_keeps(explained)}"


def _similar(explained: Explanation) -> str:
    own, keeper = _went(explained)
    similarity = explained.document.similarity
    told = "" if similarity is None else f" {number(similarity)}"
    return (
        f"{own} went for {keeper}, which {_keeps(explained)}: {explained.options['measure']} "
        f"similarity{told}, threshold {_threshold(explained)}"
    )


def _keeps(explained: Explanation) -> str:
    """Say why the keeper stays."""
    if explained.document.keeper_in == "against":
        return "is of the collection compared against and stays in any case"
    return f"comes before it{_order(explained)} and stays"


def _order(explained: Explanation) -> str:
    """Say in which order documents were taken, where that is not the usual one."""
    keep = explained.options["keep"]
    return "" if keep == "first" else f" by --keep {shown(keep)}"


def _by_chain(explained: Explanation) -> str:
    own, keeper = _went(explained)
    evidence = explained.keeper.evidence if explained.keeper else None
    told = f" ({number(evidence.similarity)})" if evidence else ""
    return (
        f"{own} went for {keeper}, the first document of its component: the two themselves are not "
        f"similar{told}, but linked by documents each of which is similar to the next"
    )


def _texts_changed(explained: Explanation) -> str:
    own, keeper = _went(explained)
    noted = explained.document.similarity
    evidence = explained.keeper.evidence if explained.keeper else None
    told = (
        ""
        if noted is None or evidence is None
        else (
            f": a similarity of {number(noted)} was noted, and it is {number(evidence.similarity)}"
        )
    )
    return (
        f"{own} went for {keeper}, but their texts are not those that were compared{told}; the "
        "output was changed since, so nothing of it is certain"
    )


def _in_pairs(explained: Explanation) -> str:
    own, keeper = _went(explained)
    similarity = explained.document.similarity
    told = "" if similarity is None else f": similarity {number(similarity)} by the pairs"
    return f"{own} went for {keeper}, as the pairs given with --pairs decided{told}"


def _no_tokens(explained: Explanation) -> str:
    return (
        f"{shown(explained.document.id)} stayed: it has no tokens "
        f"({explained.options['tokenizer']}), and is similar to nothing"
    )


def _nothing_similar(explained: Explanation) -> str:
    own = shown(explained.document.id)
    if explained.n_gone or (explained.closest and explained.closest.n_similar):
        return (
            f"{own} stayed: no document that comes before it{_order(explained)} reaches the "
            f"threshold of {_threshold(explained)}"
        )
    return f"{own} stayed: no document reaches the threshold of {_threshold(explained)}"


def _similar_ones_went(explained: Explanation) -> str:
    return (
        f"{shown(explained.document.id)} stayed: the documents before it that are similar went "
        "themselves, and only those that stay are compared with"
    )


def _missed(explained: Explanation) -> str:
    assert explained.closest is not None
    relation = explained.closest.similar[0]
    similarity = relation.evidence.similarity if relation.evidence else 1.0
    why = rule_sentence(explained.document, relation, explained)
    if relation.rule == "no-shared-bucket":
        why = "they share no bucket, so they were never compared; --method exact misses no pair"
    return (
        f"{shown(explained.document.id)} stayed, although {shown(relation.other.id)}, which comes "
        f"before it and stays, is similar ({number(similarity)}): {why}"
    )


def _not_looked_for(explained: Explanation) -> str:
    return (
        f"{shown(explained.document.id)} stayed: no document that it was compared with and that "
        f"stays before it reaches the threshold of {_threshold(explained)}"
    )


_WHY = {
    "exact-copy": _exact_copy,
    "similar": _similar,
    "by-chain": _by_chain,
    "texts-changed": _texts_changed,
    "in-pairs": _in_pairs,
    "no-tokens": _no_tokens,
    "nothing-similar": _nothing_similar,
    "similar-ones-went": _similar_ones_went,
    "missed": _missed,
    "not-looked-for": _not_looked_for,
}


def _threshold(explained: Explanation) -> str:
    threshold = explained.options["threshold"]
    return "none" if threshold is None else f"{threshold:g}"


def rule_sentence(own: Document, relation: Relation, explained: Explanation) -> str:
    """Say which rule decided between a document and another one."""
    other, evidence = relation.other, relation.evidence
    first, second = (other, own) if relation.comes_first else (own, other)
    names = {"first": shown(first.id), "second": shown(second.id)}
    names |= {"keeper": shown(second.keeper), "threshold": _threshold(explained)}
    names |= {"first_keeper": shown(first.keeper), "measure": explained.options["measure"]}
    if evidence is not None:
        names["similarity"] = number(evidence.similarity)
        names["reverse"] = number(evidence.reverse or 0)
        names["missed"] = share(1 - (evidence.probability or 0))
    if second.similarity is not None:
        names["chosen"] = number(second.similarity)
    sentence = _RULES[relation.rule]
    if relation.rule == "closer-keeper" and (second.similarity is None or evidence is None):
        sentence = "{second} went for {keeper}"
    elif relation.rule == "closer-keeper" and names["chosen"] == names.get("similarity"):
        sentence = "{second} went for {keeper}, which is as similar ({chosen}) and comes first"
    elif relation.rule == "no-tokens":
        sizes = evidence.sizes if evidence is not None else (0.0, 0.0)
        empty = second if not sizes[0] else first
        sentence = f"{shown(empty.id)} has no tokens, and is similar to nothing"
    return sentence.format(**names)


_RULES = {
    "went-for-it": "{second} went for {first}",
    "same-keeper": "both went for {keeper}, which stands for either of them",
    "no-tokens": "",
    "below-threshold": "similarity {similarity}, below the threshold of {threshold}",
    "one-sided": (
        "{measure} is one-sided: {similarity} of {second}, which could go, is in {first}, below "
        "the threshold of {threshold}; {reverse} of {first} is in {second}, but {first} comes "
        "first and does not go for it"
    ),
    "no-shared-bucket": (
        "similarity {similarity} reaches the threshold, but the two share no bucket and were never "
        "compared; that befalls {missed} of pairs that are this alike: --method exact misses none, "
        "a higher --recall fewer"
    ),
    "went-before": (
        "{first} went for {first_keeper}, and documents are compared only with those that stay"
    ),
    "closer-keeper": "{second} went for {keeper}, which is more similar ({chosen})",
    "copy-went-before": (
        "a document with the same tokens as {second} comes before {first} and went for {keeper}; "
        "copies follow the first of them"
    ),
    "first-of-component": (
        "{second} is in one component with {keeper} as well, and a component goes for its first "
        "document"
    ),
    "not-in-pairs": (
        "similarity {similarity} reaches the threshold, but the pairs given with --pairs do not "
        "have this one"
    ),
    "unexplained": (
        "by similarity {similarity} and buckets {second} should have gone for {first}: the texts "
        "or tables have changed since, or {second} was in the index already (--add)"
    ),
    "unknown": "the pairs given with --pairs decided, and their shingles are not known here",
}


def evidence_sentences(explained: Explanation, evidence: Evidence) -> Iterator[str]:
    """Say how similar two documents are, and in how many buckets they met."""
    measure = explained.options["measure"]
    sizes = " and ".join(f"{size:,.2f}".removesuffix(".00") for size in evidence.sizes)
    common = amount_of(explained, evidence.common)
    yield f"{measure} {number(evidence.similarity)}: {common} in common, of {sizes}"
    if evidence.reverse is not None:
        yield f"the other way round {number(evidence.reverse)}"
    if evidence.jaccard != evidence.similarity:
        yield f"jaccard {number(evidence.jaccard)}, which is what bands see"
    if evidence.n_bands is not None and evidence.shared_bands is not None:
        n, probability = len(evidence.shared_bands), share(evidence.probability or 0)
        of = counted(evidence.n_bands, "band")
        met = f"a bucket shared in {n:,} of {of}" if n else f"no bucket shared in any of {of}"
        yield f"{met}; pairs this alike share one with a probability of {probability}"


def amount_of(explained: Explanation, size: float) -> str:
    """Write a number of shingles down, or what they weigh."""
    if explained.options["measure"] == "weighted-jaccard":
        return f"shingles of weight {size:,.2f}"
    return counted(size, "shingle")


def say_note(note: str) -> str:
    """Say what could not be found out, and what helps."""
    return _NOTES[note]


_NOTES = {
    "keeper-text": (
        "the text of the document that stays is not in the folder; name its collection with "
        "--against to see it, and what differs"
    ),
    "others-not-read": (
        "the collection that the documents were compared against is not among those that this one "
        "was compared with here; name it with --against"
    ),
    "weights": (
        "shingles were weighed by other documents than those in the folder; name them with "
        "--against, or --idf-from, whichever it was, to have similarities worked out"
    ),
    "other-similarity": ("the similarity that was noted is another one: texts have changed since"),
    "long-chain": "the component is too large to look for the chain that links the two",
}


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
