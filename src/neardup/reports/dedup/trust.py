"""Answers to what a reader asks before documents are deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from neardup.matching.measures import MEASURES
from neardup.reports.dedup.examples import KeptPairs
from neardup.reports.dedup.model import Audit, Similarities, curve_of
from neardup.reports.dedup.wording import name_shingles
from neardup.reports.page import percent
from neardup.runs.progress import counted


@dataclass(frozen=True)
class Answer:
    """A question, the answer in a word, and what it rests on."""

    question: str
    short: str
    sentences: list[str]


def answer(
    summary: Mapping[str, Any],
    similarities: Similarities,
    kept_pairs: KeptPairs | str,
    *,
    is_written: bool,
) -> Iterator[Answer]:
    """Return the answers, as far as a run allows them; ``is_written`` if all are in a folder."""
    if summary["documents_removed"]:
        yield _of_removals(summary, similarities)
    if summary["documents_in"] > 1:
        yield _of_misses(summary, kept_pairs)
    if summary["documents_removed"]:
        yield Answer(
            "Is the threshold right for these texts?",
            "Look at the examples.",
            [
                "Only someone who knows the texts can say. The examples begin with the least "
                "similar documents that went, and end with pairs that just stayed."
            ],
        )
    yield _of_rows(summary, is_written)
    if notes := list(_notes(summary, is_written=is_written)):
        yield Answer("What else happened?", "", notes)


def _of_removals(summary: Mapping[str, Any], similarities: Similarities) -> Answer:
    if summary["keep"] == "none":
        return Answer(
            "Is every removed document a copy of the one that is named for it?",
            "Yes.",
            ["Both have the same tokens in the same order."],
        )
    question = "Is every removed document like the one that stays for it?"
    if summary["method"] == "pairs":
        found = ["Removals were decided by a table of pairs that were found before."]
        if similarities.n_unknown:
            found.append(
                f"{counted(similarities.n_unknown, 'removed document')} went without a similarity "
                "to the one that stays: others connect the two."
            )
        return Answer(question, "As the table of pairs says.", found)
    if similarities.n_below:
        said = f"{counted(similarities.n_below, 'removed document')} went for one that is less "
        said += "similar than the threshold: "
        if MEASURES[summary["measure"]].is_directed:
            said += "that one lies in the removed one instead, or "
        said += (
            "other documents connect the two, as clusters of connected components allow. Clusters "
            "of survivors allow it for none."
        )
        return Answer(question, "No, not all.", [said])
    if n := summary.get("documents_denied", {}).get("estimated"):
        said = (
            f"{counted(n, 'removed document')} went for one that was denied, of which the index "
            "has no text: by an estimate, which takes a document below the threshold for such a "
            "one with a probability of less than 1 in 1,000. All others were compared with the one "
            "that stays, text with text, or have the same tokens as one that was denied."
        )
        return Answer(question, "Yes, but for an estimate.", [said])
    return Answer(
        question,
        "Yes.",
        [
            "Each one was compared with the one that stays, text with text; no estimate decided. "
            "All reach the threshold, by exact arithmetic."
        ],
    )


def _of_misses(summary: Mapping[str, Any], kept_pairs: KeptPairs | str) -> Answer:
    question = "Did documents stay that are alike?"
    sentences: list[str] = []
    if summary["method"] == "exact":
        short = "No."
    elif summary["method"] == "pairs":
        short = "None of the pairs in the table."
    else:
        short = "A few may have."
    if isinstance(kept_pairs, KeptPairs) and kept_pairs.n_documents > 1:
        sentences.append(say_kept_pairs(kept_pairs, summary))
        if kept_pairs.n_missed:
            short = "Yes, some did."
        elif kept_pairs.n_documents == summary["documents_kept"] and not summary.get(
            "against_documents"
        ):
            # Nobody has compared them with documents of the other collection once more.
            short = "No."
    if summary["method"] == "exact":
        sentences.append("All pairs at the threshold were found: the method was exact.")
    elif curve := curve_of(summary):
        sentences.append(
            "A fast filter over sketches, short fingerprints of the texts, proposes pairs, and "
            "each proposed pair is checked on its full texts. The filter overlooks few: it "
            "proposes two documents just at the threshold with a probability of "
            f"{percent(curve.promised)}, more similar ones more surely."
        )
        sentences += _of_audit(summary, curve.audit)
    return Answer(question, short, sentences)


def say_kept_pairs(found: KeptPairs, summary: Mapping[str, Any]) -> str:
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


def _of_audit(summary: Mapping[str, Any], audit: Audit | None) -> Iterator[str]:
    if audit:
        yield (
            f"An audit of {counted(audit.n_documents, 'document')} met "
            f"{counted(audit.n_pairs, 'similar pair')}, of which {audit.n_found:,} had been found. "
            f"Where each document counts once, that is {percent(audit.recall)}; for all documents "
            f"it is {percent(audit.low)} to {percent(audit.high)}, with 95 % confidence."
        )
    elif "audit" in summary:
        yield "An audit met no similar pair, so it says nothing."
    else:
        yield "No audit was asked for; --audit 1000 would measure it."


def _of_rows(summary: Mapping[str, Any], is_written: bool) -> Answer:
    question = "Can it be undone?"
    rows = counted(summary["documents_in"], "document")
    folder = "kept/ and removed/ of the output folder"
    if not summary["input_files"]:
        where = f"{folder} list the ids" if is_written else "the result lists the ids"
        text = f"Only ids of the {rows} are known: {where}, and no document was touched."
    elif is_written and summary["output_format"] is None:
        text = "Tables alone were written, and the input was not touched."
    elif is_written and summary["output_format"] == "same":
        text = f"All {rows} are unchanged in {folder}; the input was not touched."
    elif is_written:
        text = (
            f"All {rows} are in {folder}, written as {summary['output_format']}; the input was not "
            "touched."
        )
    else:
        text = "The input was not touched; rows are written only where the result is."
    return Answer(question, "Yes.", [text])


def _notes(summary: Mapping[str, Any], *, is_written: bool) -> Iterator[str]:
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
