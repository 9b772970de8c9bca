"""The last lines of a report: documents that were left out, or that can hardly be found, and why.

Each is one line, and there only if it concerns a document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neardup.cli.wording import counted

# What compares texts that have fewer tokens than a shingle.
SHORTER_SHINGLES = "a smaller --ngram or --tokenizer characters compares short texts"
SHORT_TEXTS_OF_PAIRS = (
    "a smaller --ngram, --tokenizer characters or --max-distance compares short texts"
)


def note_empty(n_documents: int, fate: str, one: str = "document", many: str | None = None) -> str:
    """Say how many documents have no token, and what that means; empty if none has."""
    return f"{counted(n_documents, one, many)} without tokens, {fate}" if n_documents else ""


def note_short(n_short: int, n_documents: int, ngram: int, remedy: str = SHORTER_SHINGLES) -> str:
    """Say how many of some documents are shorter than a shingle; if most are, what to do."""
    if not n_short:
        return ""
    note = f"{counted(n_short, 'document')} shorter than {ngram} tokens, similar only to equal ones"
    return f"{note}; {remedy}" if are_most(n_short, n_documents) else note


def note_single(n_single: int, n_documents: int, ngram: int) -> str:
    """Say how many sketches are of a single shingle; if most are, what to do."""
    if not n_single:
        return ""
    note = (
        f"{counted(n_single, 'document')} of a single shingle, {ngram} tokens or fewer, similar "
        "only to equal ones"
    )
    return f"{note}; {SHORTER_SHINGLES}" if are_most(n_single, n_documents) else note


def note_outside(n_documents: int, columns: Sequence[str]) -> str:
    """Say how many documents lack a value in the columns that limit pairs to blocks."""
    if not n_documents:
        return ""
    named = " or ".join(columns)
    return f"{counted(n_documents, 'document')} without a value in {named}, compared with none"


def note_unjudged(summary: Mapping[str, Any]) -> list[str]:
    """Say for each column of a condition how many pairs it could not judge, and what they did."""
    keeps = summary.get("also_missing") == "keep"
    fate = (
        "not judged by it; --also-missing drop leaves them out"
        if keeps
        else "left out; --also-missing keep keeps them"
    )
    return [
        f"{counted(n['documents'], 'document')} in a pair without a value in {column}, "
        f"{counted(n['pairs'], 'pair')} {fate}"
        for column, n in summary.get("without_value", {}).items()
        if n["pairs"]
    ]


def are_most(n_some: int, n_all: int) -> bool:
    """Return whether some documents are more than half of all."""
    return 2 * n_some > n_all


def note_skipped(summary: Mapping[str, Any], *, has_folder: bool = False) -> str:
    """Say how many bad rows were skipped, and what names them: files of a folder, or the JSON."""
    n_own, n_against = summary["skipped_rows"], summary.get("against_skipped_rows", 0)
    said = []
    if n_own:
        where = "skipped/ has them, skipped.parquet says why" if has_folder else "--json lists them"
        said.append(f"{counted(n_own, 'bad row')} skipped; {where}")
    if n_against:
        said.append(
            f"{counted(n_against, 'bad row')} of --against skipped; summary.json lists them"
        )
    return "\n".join(said)


def lines(*notes: str) -> list[str]:
    """Return the notes that say something."""
    return [note for note in notes if note]
