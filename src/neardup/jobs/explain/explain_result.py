"""Why a document stayed or went: in sentences, as text, as plain data and as a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from neardup.jobs.explain.evidence import Evidence, Explanation, Relation
from neardup.matching.bands import Banding
from neardup.reports.charts import Chart, Curve, Measured, curves
from neardup.reports.differences import Example, say_same_words, side_by_side
from neardup.reports.page import render_page
from neardup.runs.progress import plural
from neardup.stages.decided import DENIED, NO_TEXT, Document

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
    return f"{amount} {plural(n, noun, noun + 's')}"


def place(document: Document) -> str:
    """Say where a document is."""
    if document.file is None:
        return "the index"
    return f"{shown(document.file)}, row {document.row}"


def headline(explained: Explanation) -> str:
    """Say in a sentence what became of the document, and why."""
    document, keep = explained.document, explained.options["keep"]
    own, keeper, noted = shown(document.id), shown(document.keeper), document.similarity
    evidence = explained.keeper.evidence if explained.keeper else None
    threshold = _threshold(explained)
    # The order in which documents were taken is told where it is not the usual one.
    key = explained.decisive.key if explained.decisive else None
    before = "" if keep == "first" else f" by --keep {shown(keep)}"
    if before and key == "first":
        before = f" in the input, equal by --keep {shown(keep)},"
    elif before and key not in (None, keep):
        before = f" by {shown(key)} of --keep {shown(keep)}"
    keeps = f"comes before it{before} and stays"
    if document.keeper_in == "against":
        keeps = "is of the collection compared against and stays in any case"
    elif document.keeper_in == "index":
        keeps = "is of the index compared against and stays in any case"
    elif document.keeper_in in DENIED:
        keeps = "was removed from the index and denied"
    match explained.reason:
        case "exact-copy":
            return f"{own} went: it has the same tokens as {keeper}, which {keeps}"
        case "similar":
            told = "" if noted is None else f" {number(noted)}"
            if document.keeper_in == "denied-estimated":
                told += ", by estimate"
            return (
                f"{own} went for {keeper}, which {keeps}: {explained.options['measure']} "
                f"similarity{told}, threshold {threshold}"
            )
        case "by-chain":
            told = f" ({number(evidence.similarity)})" if evidence else ""
            return (
                f"{own} went for {keeper}, the first document of its component: the two themselves "
                f"are not similar{told}, but linked by documents each of which is similar to the "
                "next"
            )
        case "texts-changed":
            told = ""
            if noted is not None and evidence is not None:
                now = number(evidence.similarity)
                told = f": a similarity of {number(noted)} was noted, and it is {now}"
            return (
                f"{own} went for {keeper}, but their texts are not those that were compared{told}; "
                "the output was changed since, so nothing of it is certain"
            )
        case "in-pairs":
            told = "" if noted is None else f": similarity {number(noted)} by the pairs"
            return f"{own} went for {keeper}, as the pairs given with --pairs decided{told}"
        case "no-tokens":
            return (
                f"{own} stayed: it has no tokens ({explained.options['tokenizer']}), and is "
                "similar to nothing"
            )
        case "nothing-similar":
            which = ""
            if explained.n_gone or (explained.closest and explained.closest.n_similar):
                which = f" that comes before it{before}"
            return f"{own} stayed: no document{which} reaches the threshold of {threshold}"
        case "similar-ones-went":
            return (
                f"{own} stayed: the documents before it that are similar went themselves, and only "
                "those that stay are compared with"
            )
        case "missed":
            assert explained.closest is not None
            relation = explained.closest.similar[0]
            similarity = relation.evidence.similarity if relation.evidence else 1.0
            why = rule_sentence(document, relation, explained)
            if relation.rule == "no-shared-bucket":
                why = (
                    "they share no bucket, so they were never compared; --method exact misses no "
                    "pair"
                )
            return (
                f"{own} stayed, although {shown(relation.other.id)}, which comes before it and "
                f"stays, is similar ({number(similarity)}): {why}"
            )
        case "not-looked-for":
            return (
                f"{own} stayed: no document that it was compared with and that stays before it "
                f"reaches the threshold of {threshold}"
            )


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


# What could not be found out, and what helps.
NOTES = {
    "keeper-text": (
        "the text of the document that stays is not in the folder; name its collection with "
        "--against to see it, and what differs"
    ),
    **{
        f"keeper-{where}": f"the document that stays is not shown: {why}"
        for where, why in NO_TEXT.items()
    },
    "others-not-read": (
        "the collection that the documents were compared against is not among those that this one "
        "was compared with here; name it with --against"
    ),
    "index-not-read": (
        "the documents were compared with an index and files at once; this one is not compared "
        "with those of the index here, and with those of the files where --against names them"
    ),
    "weights": (
        "shingles were weighed by other documents than those in the folder; name them with "
        "--against to have similarities worked out"
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
    document = explained.document
    yield headline(explained)
    sizes = ""
    if explained.n_tokens is not None and explained.size is not None:
        ngram = explained.options["ngram"]
        sizes = f"; {counted(explained.n_tokens, 'token')}, {amount_of(explained, explained.size)}"
        if 0 < explained.n_tokens < ngram:
            sizes += f" (fewer tokens than the {ngram} of a shingle: all of them are one)"
    yield f"  it is in {place(document)}{sizes}"
    if document.keeper is not None:
        found = Document(-1, None, "kept", document.keeper_file, document.keeper_row)
        is_or_was = "was" if document.keeper_in in DENIED else "is"
        yield f"  {shown(document.keeper)} {is_or_was} in {place(found)}"
    if explained.cluster_size > 1:
        size = counted(explained.cluster_size, "document")
        yield f"  cluster {explained.cluster_id}, of {size}"
    relation = explained.asked or explained.decisive
    if explained.asked is not None:
        other = explained.asked.other
        yield ""
        yield f"and {shown(other.id)} (--with)"
        yield f"  {fate_sentence(other)}; it is in {place(other)}"
        yield f"  {rule_sentence(document, explained.asked, explained)}"
    if relation is not None and relation.evidence is not None:
        if explained.asked is None:
            yield ""
        for sentence in evidence_sentences(explained, relation.evidence):
            yield f"  {sentence}"


def fate_sentence(document: Document) -> str:
    """Say what became of a document."""
    keeper = document.keeper
    return f"{shown(document.id)} {'stayed' if keeper is None else f'went for {shown(keeper)}'}"


def _difference_lines(explained: Explanation, relation: Relation) -> Iterator[str]:
    """Write two texts down with marks: {-of the document only-} and {+of the other one only+}."""
    assert relation.text is not None
    found = side_by_side(explained.text, relation.text)
    if not any(found.n_only):
        yield say_same_words(explained.text, relation.text)
        return
    words = [counted(n, "word") for n in found.n_only]
    names = shown(explained.document.id), shown(relation.other.id)
    common = counted(found.n_common, "word")
    yield f"{common} in both, {words[0]} in {names[0]} only, {words[1]} in {names[1]} only"
    for name, runs, mark in zip(names, (found.a, found.b), ("-", "+"), strict=True):
        parts = []
        for run in runs:
            text = "".join(c if c.isprintable() else " " for c in run.text)
            if run.kind == "omitted":
                text = f" […{counted(run.n_words, 'word')}…] "
            elif run.kind == "changed":
                text = f"{{{mark}{text.rstrip()}{mark}}}{' ' if text.endswith(' ') else ''}"
            parts.append(text)
        yield f"  {name}: {' '.join(''.join(parts).split())}"


def lines_after_texts(explained: Explanation) -> Iterator[str]:
    """List the documents that have to do with it."""
    if explained.chain:
        steps = " - ".join(
            f"{number(link.similarity)} - {shown(link.id)}" for link in explained.chain
        )
        yield ""
        yield f"the chain: {shown(explained.document.id)} - {steps}"
    if explained.n_gone:
        yield ""
        yield f"{counted(explained.n_gone, 'document')} went for it"
        for gone in explained.gone:
            similarity = "" if gone.similarity is None else number(gone.similarity)
            copy = ", the same tokens" if gone.exact_copy else ""
            yield f"  {similarity:>6}  {shown(gone.id)}{copy}"
        if explained.n_gone > len(explained.gone):
            yield f"  and {explained.n_gone - len(explained.gone):,} more"
    if explained.closest is not None:
        closest = explained.closest
        listed = [*closest.similar, *closest.below]
        found = "most similar"
        if not listed:
            found = "no other shares a shingle" if closest.n_similar else "none shares a shingle"
            found = f"{found} with it"
        others = counted(closest.n_compared, "other")
        yield ""
        yield f"compared with {others}, exactly{':' if not listed else ';'} {found}"
        for relation in listed:
            assert relation.evidence is not None
            name = shown(relation.other.id)
            sentence = rule_sentence(explained.document, relation, explained)
            told = sentence if sentence.startswith(f"{name} ") else f"{name}: {sentence}"
            yield f"  {number(relation.evidence.similarity):>6}  {told}"
    for note in explained.notes:
        yield ""
        yield f"note: {NOTES[note]}"


# Of a page: characters of a text that stands alone, points of the curve and pairs marked on it,
# and pairs of the most similar ones that are side by side.
_EXCERPT = 2000
_POINTS = 100
_MOST_MARKED = 8
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
    relations = [each for each in (decisive, asked, *closest) if each is not None]
    chart = _chance_to_meet(explained, relations)
    heading = f"{own} {'stayed' if document.keeper is None else 'was removed'}"
    page = {
        "heading": heading,
        "leads": [f"{headline(explained)}.", f"It is in {place(document)}."],
        "facts": _facts(explained, decisive.evidence if decisive else None),
        "excerpt": text if len(text) <= _EXCERPT else f"{text[:_EXCERPT].rstrip()} …",
        "keeper": None if decisive is None else _pair(explained, decisive),
        "asked": None if asked is None else _pair(explained, asked),
        "asked_about": [f"{sentence}." for sentence in asked_about],
        "gone": [_row(each.similarity, each) for each in explained.gone],
        "n_gone": explained.n_gone,
        "closest": [
            (
                *_row(each.evidence.similarity if each.evidence else None, each.other),
                rule_sentence(document, each, explained),
            )
            for each in closest[_MOST_PAIRS:]
        ],
        "closest_lead": closest_lead,
        "close_pairs": [pair for each in closest[:_MOST_PAIRS] if (pair := _pair(explained, each))],
        "chain": [(number(link.similarity), shown(link.id)) for link in explained.chain or ()],
        "options": [(name, str(value)) for name, value in explained.options.items()],
        "notes": [NOTES[note] for note in explained.notes],
    }
    return render_page(
        "explain.html",
        title=heading,
        contents=[
            ("asked", "The other document", asked_about),
            ("text", "What differs" if page["keeper"] else "The text"),
            ("chain", "How the two are linked", explained.chain),
            ("gone", "What went for it", explained.n_gone),
            ("closest", "Most similar documents", found is not None),
            ("buckets", "The chance to meet", chart),
            ("options", "How it was decided"),
        ],
        page=page,
        chart=chart,
    )


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


def _chance_to_meet(explained: Explanation, relations: list[Relation]) -> Chart | None:
    """Draw the chance to meet over the resemblance, with pairs; None where there are no bands."""
    options = explained.options
    if "bands" not in options:
        return None
    banding = Banding(options["bands"], options["rows"])
    resemblances = [point / _POINTS for point in range(_POINTS + 1)]
    points = [(each, banding.candidate_probability(each)) for each in resemblances]
    seen = {}
    for relation in relations:
        found = relation.evidence
        if found is not None and found.probability is not None:
            chances = (found.probability,) * 3
            name = f"with {shown(relation.other.id)}"
            seen[str(relation.other.id)] = Measured(name, found.jaccard, *chances)
    marked = None
    if options["measure"] in ("jaccard", _WEIGHTED):
        marked = options["threshold"], f"threshold {options['threshold']:g}"
    return curves(
        "bucket-chart",
        "The chance to share a bucket",
        f"{banding.bands:,} bands of {banding.rows:,} rows: two documents are compared only if "
        "they share a bucket in one band at least.",
        [Curve("two documents of this resemblance share a bucket", points)],
        x_title="resemblance of two documents",
        y_title="probability",
        marked=marked,
        measured=list(seen.values())[:_MOST_MARKED],
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
        "key": relation.key,
        "rule": relation.rule,
        "evidence": evidence,
    }
