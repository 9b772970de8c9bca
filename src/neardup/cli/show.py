"""``neardup show``: examples of what was found, text beside text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from neardup.cli.call import Call, print_output
from neardup.cli.command import ANY_INPUTS, TableCommand, complete_paths, options_of
from neardup.cli.wording import printable
from neardup.runs.progress import counted

if TYPE_CHECKING:
    from neardup.jobs.show import Example, Examples
    from neardup.reports.dedup.examples import Document

_EPILOG = """\b
Examples:
  neardup show clean
  neardup show clean --least -n 5
  neardup show clean --against test.parquet
  neardup show pairs.parquet products.csv --text-column title --most
"""


@click.command(
    "show", cls=TableCommand, epilog=_EPILOG, short_help="Show examples of what was found."
)
@click.argument("result", metavar="RESULT", shell_complete=complete_paths)
@ANY_INPUTS
@options_of("show")
def command(call: Call) -> None:
    """Show examples of what was found, text beside text, with the words that differ marked.

    RESULT is the output folder of `neardup dedup`, or the table that `neardup pairs`, `estimate`,
    `align` or `search` has written. INPUT is the documents of that table, as they were named when
    it was made; a folder has them, and a table with texts needs none.

    Examples are of all similarities that there are: at equal distances from the least similar pair
    to the most similar one, exact copies only where nothing else was found.
    """
    from neardup.jobs.show import find_examples
    from neardup.options.documents import ShowOptions

    options = call.of(ShowOptions)
    with call.display:
        against = call.against or ()
        found = find_examples(call.result, call.inputs, against, options, call.runner)
    if call.as_json:
        call.tell(found.describe())
    elif not call.quiet:
        _print(found, is_most=options.most)


def _print(found: Examples, *, is_most: bool) -> None:
    from neardup.cli.side_by_side import console_of_output, print_texts

    n_shown = len(found.examples)
    if not n_shown:
        print_output("nothing was found, so there is nothing to show")
        return
    first = "most" if is_most else "least"
    print_output(f"{n_shown:,} of {counted(found.n_rows, *found.row)}, the {first} similar first")
    console = console_of_output()
    for number, example in enumerate(found.examples, start=1):
        print_output("")
        print_output(f"{number}. {_similarity(example)}")
        spans = example.spans or (None, None)
        headings = [
            f"{name} {_heading(document, span, cited)}"
            for name, document, span, cited in zip(
                found.names, (example.first, example.second), spans, example.cited, strict=True
            )
        ]
        texts = (example.first.text, example.second.text)
        print_texts(console, headings, texts, example.lacking)


def _similarity(example: Example) -> str:
    if example.is_copy:
        return "the same tokens in the same order"
    if example.similarity is None:
        return "similarity not known"
    return f"similarity {example.similarity:.4f}"


def _heading(document: Document, span: tuple[int, int] | None, cited: str | None) -> str:
    """Write where a document is, and which passage of it is shown."""
    heading = printable(document.id)
    place = None if document.file is None else f"{document.file}:{document.row}"
    if place is not None and place != document.id:
        heading += f" ({printable(document.file or '')}, row {document.row:,})"
    if document.by is not None:
        heading += f", {printable(document.by)}"
    if cited:
        heading += f", {printable(cited)}"
    return heading if span is None else f"{heading}, characters {span[0]:,} to {span[1]:,}"
