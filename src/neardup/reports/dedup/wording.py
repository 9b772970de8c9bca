"""What a summary means, in plain words: what went, why, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neardup.reports.dedup.examples import Common
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
