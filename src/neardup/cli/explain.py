"""``neardup explain``: why a document stayed or went."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from neardup.cli.command import TableCommand
from neardup.cli.display import Display, say, say_json
from neardup.cli.options import complete_paths, options_of

if TYPE_CHECKING:
    from neardup.jobs.explain.result import ExplainResult
    from neardup.outputs.targets import Target

_EPILOG = """\b
Examples:
  neardup explain clean essay-17
  neardup explain clean essay-17 --with essay-3
  neardup explain clean essay-17 --closest 10 --html essay-17.html
  neardup explain clean essay-17 --against test.parquet --json
"""


@click.command("explain", cls=TableCommand, epilog=_EPILOG)
@click.argument("folder", metavar="FOLDER", shell_complete=complete_paths)
@click.argument("identifier", metavar="ID")
@options_of("explain")
def command(
    folder: str,
    identifier: str,
    other: str | None,
    closest: int,
    against: tuple[str, ...],
    against_text_column: str | tuple[str, ...] | None,
    against_id_column: str | None,
    tokenizer: str | None,
    idf_from: tuple[str, ...],
    trust: bool,
    html: Target | None,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Say why a document stayed or went.

    FOLDER is one that `neardup dedup` has written, ID that of a document in its tables.

    Everything is worked out anew from the texts in FOLDER: how similar the document and the one it
    went for are, what differs, in which buckets they met, which others went for it, and which are
    most similar of all others.
    """
    from neardup.jobs.dedup.explained import FolderDocuments, open_against, open_counted
    from neardup.jobs.dedup.output import open_output
    from neardup.jobs.explain.explain import Question, explain_document
    from neardup.outputs.folder import check_apart, check_outside
    from neardup.reports.page import check_page_file, write_page
    from neardup.runtime.runner import Runner

    display = Display(quiet=quiet)
    runner = Runner(workers, display)
    if html is not None:
        check_page_file(html, overwrite=overwrite)
        check_outside(html, folder, "folder")
        check_apart(html, [*against, *idf_from])
    output = open_output(folder, trust=trust)
    columns = against_text_column, against_id_column
    others = open_against(output.summary, against, *columns, tokenizer)
    counted = open_counted(output.summary, idf_from)
    question = Question(identifier, other, closest)
    with display:
        found = explain_document(
            FolderDocuments(output),
            question,
            runner,
            against=others,
            counted=counted,
            tokenizer=tokenizer,
        )
    if html is not None:
        write_page(found.html(), html, overwrite=overwrite)
    if as_json:
        say_json(found.to_dict())
    elif not quiet:
        _print(found)
        if html is not None:
            say(f"\nwritten to {html}")


def _print(found: ExplainResult) -> None:
    """Print what was found, on a terminal with texts beside each other."""
    from neardup.cli.side_by_side import console_of_output, print_texts
    from neardup.jobs.explain.sentences import (
        lines_after_texts,
        lines_before_texts,
        shown,
        shown_relation,
    )

    console, relation = console_of_output(), shown_relation(found)
    if relation is None or not console.is_terminal:
        say(found.to_text())
        return
    say("\n".join([*lines_before_texts(found), ""]))
    names = shown(found.document.id), shown(relation.other.id)
    print_texts(console, names, (found.text, relation.text), "the text is not there")
    for line in lines_after_texts(found):
        say(line)
