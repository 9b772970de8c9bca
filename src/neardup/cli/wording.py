"""Words and sentences that several commands print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import category

from neardup.runs.progress import counted, plural


def printable(text: str) -> str:
    """Return text with control characters spelled out for terminals."""
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or category(letter) == "Zs"
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


def written(summary: Mapping[str, Any], output: object) -> str:
    """Describe a result's location and the time of all stages."""
    return f"written to {output} in {sum(summary['seconds'].values()):.1f} s"


def list_passed_over(counts: Mapping[str, int]) -> list[str]:
    """Return a line on skipped files by ending, or none."""
    from neardup.files.formats import missing_extras
    from neardup.files.inputs import list_endings

    if not counts:
        return []
    line = f"{list_endings(counts)}; name them, or give --input-format, to have them read"
    return [line, *missing_extras(counts)]


def describe_ids(summary: Mapping[str, Any]) -> list[str]:
    """Describe the column of ids unless the user named it."""
    collections = (("", "", "all inputs"), ("against_", "of OTHER ", "all files of OTHER"))
    return [
        f"ids {of_whom}are from column {summary[f'{prefix}id_column']!r}, which {who} have; "
        f"--{prefix.replace('_', '-')}id-column '' makes them <file>:<row>"
        for prefix, of_whom, who in collections
        if summary.get(f"{prefix}id_column") and summary[f"{prefix}id_column_by_default"]
    ]


def describe_preset(summary: Mapping[str, Any]) -> list[str]:
    """List the options that a preset has chosen."""
    preset = summary.get("preset")
    if preset is None:
        return []
    flags = _as_flags(preset["chosen"])
    return [f"for {preset['name']}: {', '.join(flags) or 'nothing chosen'}"]


def _as_flags(options: Mapping[str, Any]) -> list[str]:
    return [
        f"--{name.replace('_', '-')}{'' if value is True else f' {value}'}"
        for name, value in options.items()
    ]


def describe_bands(summary: Mapping[str, Any]) -> str:
    """Describe the probability that bands find a threshold pair."""
    bands = counted(summary["bands"], "band")
    return (
        f"{bands} of {counted(summary['rows'], 'row')} {plural(summary['bands'], 'finds', 'find')} "
        f"a pair at the threshold with probability {summary['predicted_recall']:.4f}"
    )


def describe_weights(scheme: Mapping[str, Any]) -> str:
    """Describe the weights of shingles."""
    if "tf" not in scheme:
        return ""
    return f", weighted by tf {scheme['tf']} and idf {scheme['idf']}"


def describe_recall(summary: Mapping[str, Any]) -> str:
    """Describe the predicted recall."""
    recall = summary["predicted_recall"]
    return " for certain" if recall == 1 else f" with probability {recall:.4f}"


def warn_of_recall(summary: Mapping[str, Any]) -> list[str]:
    """Warn if the user's bands miss the recall."""
    if summary.get("predicted_recall", 1) >= summary.get("recall", 1):
        return []
    return [
        f"that is less than the recall of {summary['recall']:g}; "
        "leave out --bands to have it chosen for it"
    ]


# Counts by groups of documents, such as their files, as a small table.

# Groups that a terminal is shown.
_SHOWN = 10
# Of longer names the end.
_NAME_WIDTH = 60

_HEADINGS = {
    "documents_in": "in",
    "documents_kept": "kept",
    "documents_removed": "removed",
    "removed_for_against": "for OTHER",
    "exact_copies": "exact copies",
}


def table_by_file(summary: Mapping[str, Any]) -> list[str]:
    """Return a table of the files with most removals."""
    by_file = summary["by_file"]
    every, others = by_file["counts"], by_file["others"]
    if len(every) + (others["groups"] if others else 0) < 2:
        return []
    order = sorted(range(len(every)), key=lambda i: -every[i]["documents_removed"])
    shown = [every[i] for i in sorted(order[:_SHOWN])]
    wanted = [name for name in _HEADINGS if name in every[0]]
    if not any(row.get("removed_for_against") for row in every):
        wanted = [name for name in wanted if name != "removed_for_against"]
    cells = [[_HEADINGS[name] for name in wanted]]
    cells += [[f"{row[name]:,}" for name in wanted] for row in shown]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    names = ["file", *(_shown(row["file"]) for row in shown)]
    lines = [
        "  ".join(["", *(cell.rjust(width) for cell, width in zip(row, widths, strict=True)), name])
        for row, name in zip(cells, names, strict=True)
    ]
    n_more = len(every) - len(shown) + (others["groups"] if others else 0)
    if n_more:
        lines.append(f"  and {n_more:,} more")
    return lines


def _shown(name: str | None) -> str:
    text = "(none)" if name is None else printable(name)
    return text if len(text) <= _NAME_WIDTH else f"...{text[3 - _NAME_WIDTH :]}"


# The last lines of a report: documents that were left out, or that can hardly be found, and why.
#
# Each is one line, and there only if it concerns a document.


def note_empty(n_documents: int, fate: str, one: str = "document", many: str | None = None) -> str:
    """Describe documents without tokens and their ``fate``, if any."""
    return f"{counted(n_documents, one, many)} without tokens, {fate}" if n_documents else ""


def note_short(n_short: int, ngram: int) -> str:
    """Describe documents that are shorter than a shingle."""
    if not n_short:
        return ""
    return f"{counted(n_short, 'document')} shorter than {ngram} tokens, similar only to equal ones"


def note_single(n_single: int, ngram: int) -> str:
    """Describe sketches of a single shingle."""
    if not n_single:
        return ""
    return (
        f"{counted(n_single, 'document')} of a single shingle, {ngram} tokens or fewer, similar "
        "only to equal ones"
    )


def hints(summary: Mapping[str, Any]) -> list[str]:
    """Return the hints of a summary with the command's options."""
    notes = []
    for hint in summary.get("hints", ()):
        ways = (" ".join(_as_flags(way)) for way in hint["try"])
        where = "an index with " if hint["index"] else ""
        notes.append(f"hint: {hint['message']}; try {where}{' or '.join(ways)}")
    return notes


def note_marked(summary: Mapping[str, Any]) -> str:
    """Describe places without a marker, if any."""
    counts = summary.get("marked_places", ())
    if all(count == summary["passages"] for count in counts):
        return ""
    first, second = (f"{count:,} of {counted(summary['passages'], 'place')}" for count in counts)
    return (
        f"--place-marker matched for {first} on the first side, {second} on the second; the others "
        "are lines, or pages, paragraphs and chapters of files that have them"
    )


def note_outside(n_documents: int, columns: Sequence[str]) -> str:
    """Describe documents without a value in the blocking columns."""
    if not n_documents:
        return ""
    named = " or ".join(columns)
    return f"{counted(n_documents, 'document')} without a value in {named}, compared with none"


def note_nothing(summary: Mapping[str, Any], n_documents: int, n_found: int, remedy: str) -> str:
    """Describe an empty result and its remedy."""
    if n_found or n_documents == 1:
        return ""
    if n_documents:
        return remedy
    is_left_out = summary["skipped_rows"] or summary.get("filtered_rows")
    return "" if is_left_out else "INPUT has no rows, so there was nothing to compare"


def note_skipped(summary: Mapping[str, Any], *, has_folder: bool = False) -> str:
    """Describe rows left out by --where or as bad.

    The lines name the place that lists bad rows: files of the folder, or the JSON.
    """
    n_own, n_against = summary["skipped_rows"], summary.get("against_skipped_rows", 0)
    notes = []
    if "filtered_rows" in summary:
        n_rows = summary["filtered_rows"]
        meet = "does not meet" if n_rows == 1 else "do not meet"
        notes.append(f"{counted(n_rows, 'row')} {meet} --where")
    if n_own:
        where = "skipped/ has them, skipped.parquet says why" if has_folder else "--json lists them"
        notes.append(f"{counted(n_own, 'bad row')} skipped; {where}")
    if n_against:
        notes.append(
            f"{counted(n_against, 'bad row')} of --against skipped; summary.json lists them"
        )
    return "\n".join(notes)


def ending(
    summary: Mapping[str, Any], *notes: str, nothing: str = "", has_folder: bool = False
) -> list[str]:
    """Return the last lines on documents, with notes and hints.

    ``nothing`` is the note of an empty result; bad rows are listed in a folder with ``has_folder``.
    """
    skipped = note_skipped(summary, has_folder=has_folder)
    every = (*notes, skipped, note_marked(summary), nothing, *hints(summary))
    return [*filter(None, every), *list_passed_over(summary["passed_over"])]
