"""What an alignment takes no notice of: text that templates or prompts have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neardup.files.passes import ReadingPass
from neardup.files.rows import Source
from neardup.jobs.passages.other import NewDocuments, Other
from neardup.passages.align import make_window_scheme
from neardup.passages.documents import ReadOptions, read_documents
from neardup.passages.hidden import HiddenText
from neardup.passages.ignored import least_run, runs_of
from neardup.runtime.runner import Runner


def read_templates(
    templates: Sequence[Source],
    other: Other,
    read: ReadOptions,
    min_tokens: int | None,
    runner: Runner,
) -> HiddenText:
    """Read the templates as the texts of an alignment are read, ids apart.

    Raises
    ------
    InvalidInputError, ReadError
        For a bad row, or a file that cannot be read.
    """
    if isinstance(other, NewDocuments):
        scheme = make_window_scheme(other.min_tokens, **other.scheme)
    else:
        scheme = other.view(runner).scheme
    length = least_run(scheme.min_tokens if min_tokens is None else min_tokens)
    read = replace(read, columns=read.columns.only_text())
    with runner.stage("ignore") as note:
        reading = ReadingPass("ignore", templates, runner)
        blocks = read_documents(templates, scheme.tokenizer, read, reading)
        runs = runs_of((block.tokens for block in blocks), scheme.count_shingles(length))
        note(runs=sum(len(hashes) for _, hashes in runs.hashes))
    return HiddenText(runs, scheme.tokenizer)


def ignoring(other: Other, hidden: HiddenText) -> Other:
    """Return a collection whose text is read without what is hidden; an index keeps its text."""
    if not isinstance(other, NewDocuments):
        return other
    return replace(other, read=replace(other.read, ignored=hidden.runs))
