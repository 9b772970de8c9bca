"""Why a document stayed or went, and which rule decided between two, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.jobs.explain.documents import Document
from neardup.jobs.explain.evidence import Evidence
from neardup.jobs.explain.values import Explanation, Relation

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
