"""Sentences on a deduplication: which documents were removed, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from neardup.matching.measures import MEASURES
from neardup.reports.dedup.examples import Common, KeptPairs
from neardup.reports.page import percent
from neardup.runs.progress import counted

_UNITS = {name: name for name in ("words", "characters", "lines", "bytes")}
_UNITS["whitespace"] = "words"

_MEASURES = {
    "jaccard": "Jaccard similarity",
    "dice": "Dice similarity",
    "cosine": "cosine similarity",
    "weighted-jaccard": "weighted Jaccard similarity",
}

_KEPT = {
    "first": "the one that comes first in the input stays",
    "longest": "the longest one stays",
    "shortest": "the shortest one stays",
}


def name_shingles(scheme: Mapping[str, Any] | None) -> str:
    """Return what is counted in texts, in the plural: ``runs of 5 words``."""
    if scheme is None:
        return "pieces of text"
    unit = _UNITS.get(scheme["tokenizer"], "tokens")
    ngram = scheme.get("ngram", 1)
    return unit if ngram == 1 else f"runs of {ngram} {unit}"


def say_alike(summary: Mapping[str, Any]) -> str:
    """Return when two documents are alike, as a part of a sentence."""
    threshold = summary["threshold"]
    if threshold is None:
        return "the table of pairs names them"
    share = f"{100 * threshold:.10g} %"
    many = name_shingles(summary["scheme"])
    # Either of two documents may lie in the other one where groups are made of them.
    two = ("the removed document", "the one that stays")
    if summary["clusters"] == "components":
        two = ("one of the two", "the other")
    said = {
        "jaccard": f"of all {many} in either of the two, at least {share} are in both",
        "dice": f"of the {many} of the one and of the other, at least {share} are in both",
        "cosine": (
            f"the {many} in both are at least {share} of the geometric mean of their numbers in "
            "the one and in the other"
        ),
        "containment": (f"at least {share} of the {many} of {two[0]} are also in {two[1]}"),
        "max-containment": (
            f"at least {share} of the {many} of the shorter one are also in the other"
        ),
        "weighted-jaccard": (
            f"of the weight of all {many} in either of the two, at least {share} is in both"
        ),
    }
    alike = said.get(summary["measure"], f"their {summary['measure']} is at least {threshold:g}")
    name = _MEASURES.get(summary["measure"], summary["measure"])
    return f"{alike} (a {name} of at least {threshold:g}, the threshold)"


def say_why(summary: Mapping[str, Any]) -> str:
    """Return why a document was removed, as sentences."""
    if summary["keep"] == "none":
        return "Documents with the same tokens were removed, all of them. Each names a copy of it."
    alike = say_alike(summary)
    if summary["clusters"] == "components":
        return (
            "Documents that are alike, or that others connect which are, form a group, of which "
            f"one stays. Two are alike if {alike}."
        )
    return f"A document was removed where one that is like it stays: {alike}."


def say_weights(scheme: Mapping[str, Any] | None) -> str:
    """Return what weighs more, if something does; else nothing."""
    idf = (scheme or {}).get("idf", "unary")
    return "" if idf == "unary" else "What few documents have weighs more."


def say_kept(summary: Mapping[str, Any]) -> str:
    """Return which of documents that are alike stays, as a sentence."""
    keep = summary["keep"]
    if keep == "none":
        return "A copy that is named was removed, too, unless it is of another collection."
    rule, _, column = keep.partition(":")
    name, _, order = column.partition("=")
    kept = _KEPT.get(rule) or {
        "max": f"the one with the greatest {name} stays",
        "min": f"the one with the least {name} stays",
        "priority": f"the one whose {name} comes first in {order.replace(',', ', ')} stays",
    }.get(rule, f"{keep} decides which one stays")
    against = ""
    if summary.get("against_documents"):
        against = " Documents of the other collection always stay."
    return f"Of documents that are alike, {kept}.{against}"


def say_copies(scheme: Mapping[str, Any] | None) -> str:
    """Return what an exact copy is."""
    unit = name_shingles({**scheme, "ngram": 1} if scheme else None)
    ignored = []
    if scheme and scheme.get("casefold"):
        ignored.append("upper and lower case")
    if scheme and scheme["tokenizer"] == "words":
        ignored += ["punctuation", "symbols", "spaces"]
    elif scheme and scheme["tokenizer"] == "whitespace":
        ignored.append("the width of spaces")
    if scheme and scheme.get("strip_accents"):
        ignored.append("accents")
    *first, last = ignored or [""]
    listed = f"{', '.join(first)} and {last}" if first else last
    without = f" ({listed} do not count)" if ignored else ""
    return f"An exact copy has the same {unit} in the same order{without}."


def say_common(common: Common | None, summary: Mapping[str, Any]) -> str:
    """Return the counts behind a similarity, as a sentence and a space; nothing if not known."""
    if common is None:
        return ""
    many = name_shingles(summary["scheme"])
    if summary["measure"] == "jaccard":
        return f"{common.n_common:,} of {common.n_either:,} {many} are in both. "
    return (
        f"{common.n_common:,} {many} are in both, of {common.n_first:,} and {common.n_second:,}. "
    )


def say_title(summary: Mapping[str, Any]) -> str:
    """Return the most important counts as a title."""
    n_removed, n_in = summary["documents_removed"], summary["documents_in"]
    if not n_removed:
        return f"None of {counted(n_in, 'document')} removed" if n_in else "No document read"
    if n_in == n_removed:
        return f"All {counted(n_in, 'document')} removed"
    return f"{n_removed:,} of {counted(n_in, 'document')} removed"


def describe_kept_pairs(found: KeptPairs, summary: Mapping[str, Any]) -> str:
    """Return what comparing documents that stay has shown, as a sentence."""
    documents = counted(found.n_documents, "document")
    which = f"the first {documents}"
    if found.n_documents == summary["documents_kept"]:
        which = f"all {documents}"
    looked = f"For this page {which} that stay were compared with each other, exactly:"
    if found.n_missed:
        least = "at least " if found.is_cut else ""
        reach = "reaches" if found.n_missed == 1 else "reach"
        return f"{looked} {least}{counted(found.n_missed, 'pair')} {reach} the threshold."
    if MEASURES[summary["measure"]].is_directed:
        # One may lie in another one that comes later, and both stay by rule.
        return f"{looked} there is none that should have gone for an earlier one."
    return f"{looked} no two of them reach the threshold."


def describe_rest(summary: Mapping[str, Any], *, is_written: bool) -> Iterator[str]:
    """Yield sentences on documents that the counts above leave out."""
    if n := summary.get("filtered_rows"):
        yield f"{counted(n, 'row')} did not meet --where, and count nowhere here."
    if n := summary.get("empty_documents"):
        yield f"{counted(n, 'document')} without text stayed: what has none is like no other."
    if n := summary.get("short_documents"):
        tokens = name_shingles({**summary["scheme"], "ngram": 1})
        have, they = ("has", "it is") if n == 1 else ("have", "they are")
        yield (
            f"{counted(n, 'document')} {have} fewer than {summary['scheme']['ngram']} {tokens}; "
            f"{they} removed only for one that has the same {tokens}."
        )
    if n := summary.get("skipped_rows", 0) + summary.get("against_skipped_rows", 0):
        named = "summary.json" if is_written else "the summary"
        yield f"{counted(n, 'bad row')} could not be read; {named} names them."
    if n := summary.get("removed_beyond_survivors"):
        yield (
            f"Connected components removed {counted(n, 'document')} more than the rule of "
            "survivors would have."
        )
    if summary.get("predicted_recall", 1) < summary.get("recall", 0):
        yield (
            "The bands that were chosen find less than the recall asked for: "
            f"{percent(summary['predicted_recall'])} instead of {percent(summary['recall'])}."
        )
