"""Words and sentences that several commands print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unicodedata import category


def plural(number: int, one: str, many: str) -> str:
    """Choose the form of a word that goes with a number."""
    return one if number == 1 else many


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number with the noun that it counts."""
    return f"{number:,} {plural(number, one, many or one + 's')}"


def printable(text: str) -> str:
    """Return text of others so that a terminal obeys none of it: what is not shown is spelled."""
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or category(letter) == "Zs"
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


def took(stages: Mapping[str, float]) -> str:
    """Say how long the stages of a job took."""
    return f"{sum(stages.values()):.1f} s"


def list_passed_over(counts: Mapping[str, int]) -> list[str]:
    """Give a line on the files of folders that were not read, by ending, if there are any."""
    from neardup.files.formats import missing_extras
    from neardup.files.inputs import list_endings

    if not counts:
        return []
    line = f"{list_endings(counts)}; name them, or give --input-format, to have them read"
    return [line, *missing_extras(counts)]


def say_ids(summary: dict[str, Any]) -> list[str]:
    """Say where ids are from that nobody has named a column for, unless from files and rows."""
    collections = (("", "", "all inputs"), ("against_", "of OTHER ", "all files of OTHER"))
    return [
        f"ids {of_whom}are from column {summary[f'{prefix}id_column']!r}, which {who} have; "
        f"--{prefix.replace('_', '-')}id-column '' makes them <file>:<row>"
        for prefix, of_whom, who in collections
        if summary.get(f"{prefix}id_column") and summary[f"{prefix}id_column_by_default"]
    ]


def describe_bands(summary: dict[str, Any]) -> str:
    """Say how surely the bands of a run find a pair at the threshold."""
    bands = counted(summary["bands"], "band")
    return (
        f"{bands} of {counted(summary['rows'], 'row')} {plural(summary['bands'], 'finds', 'find')} "
        f"a pair at the threshold with probability {summary['predicted_recall']:.4f}"
    )


def describe_weights(scheme: Mapping[str, Any]) -> str:
    """Say what shingles weigh, if they do."""
    if "tf" not in scheme:
        return ""
    return f", weighted by tf {scheme['tf']} and idf {scheme['idf']}"


def warn_of_recall(summary: dict[str, Any]) -> list[str]:
    """Give a line where bands that the user chose give less than the recall asked for."""
    if summary.get("predicted_recall", 1) >= summary.get("recall", 1):
        return []
    return [
        f"that is less than the recall of {summary['recall']:g}; "
        "leave out --bands and --rows to have them chosen for it"
    ]
