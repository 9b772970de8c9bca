"""``neardup explain``: why a document stayed or went."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from neardup.cli.call import Call, print_output
from neardup.cli.command import TableCommand, complete_paths, options_of

if TYPE_CHECKING:
    from neardup.jobs.explain.explain_result import ExplainResult

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
def command(call: Call) -> None:
    """Say why a document stayed or went.

    FOLDER is one that `neardup dedup` has written, ID that of a document in its tables.

    Everything is worked out anew from the texts in FOLDER: how similar the document and the one it
    went for are, what differs, in which buckets they met, which others went for it, and which are
    most similar of all others.
    """
    from neardup.jobs.explain.explain import Question, explain_document
    from neardup.outputs.folder import check_apart, check_outside
    from neardup.reports.page import check_page_file, write_page
    from neardup.stages.decided import FolderDocuments, open_against
    from neardup.stages.output import open_output

    html, against = call.html, call.against or ()
    if html is not None:
        check_page_file(html, overwrite=call.overwrite)
        check_outside(html, call.folder, "folder")
        check_apart(html, against)
    output = open_output(call.folder)
    columns = call.against_text_column, call.against_id_column
    others = open_against(output.summary, against, *columns, call.tokenizer)
    question = Question(call.identifier, call.other, call.closest)
    with call.display:
        found = explain_document(
            FolderDocuments(output),
            question,
            call.runner,
            against=others,
            tokenizer=call.tokenizer,
        )
    if html is not None:
        write_page(found.html(), html, overwrite=call.overwrite)
    if call.as_json:
        call.tell(found.to_dict())
    elif not call.quiet:
        _print(found)
        if html is not None:
            print_output(f"\nwritten to {html}")


def _print(found: ExplainResult) -> None:
    """Print what was found, on a terminal with texts beside each other."""
    from neardup.cli.side_by_side import console_of_output, print_texts
    from neardup.jobs.explain.explain_result import (
        lines_after_texts,
        lines_before_texts,
        shown,
        shown_relation,
    )

    console, relation = console_of_output(), shown_relation(found)
    if relation is None or not console.is_terminal:
        print_output(found.to_text())
        return
    print_output("\n".join([*lines_before_texts(found), ""]))
    names = shown(found.document.id), shown(relation.other.id)
    print_texts(console, names, (found.text, relation.text), "the text is not there")
    for line in lines_after_texts(found):
        print_output(line)
