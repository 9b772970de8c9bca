"""``neardup report``: a page that shows what a job has found, and why."""

from __future__ import annotations

import click

from neardup.cli.call import Call
from neardup.cli.command import ANY_INPUTS, TableCommand, complete_paths, options_of

_EPILOG = """\b
Examples:
  neardup report clean -o clean.html
  neardup report clean -o -
  neardup report pairs.parquet products.csv --text-column title --labels right.csv -o pairs.html
  neardup report shared.jsonl 1818.jsonl --against 1831.jsonl --id-column id -o editions.html
"""


@click.command(
    "report", cls=TableCommand, epilog=_EPILOG, short_help="Show what was found, as one page."
)
@click.argument("result", metavar="RESULT", shell_complete=complete_paths)
@ANY_INPUTS
@options_of("report")
def command(call: Call) -> None:
    """Show what a job has found, and why, as one page that can be passed on.

    RESULT is the output folder of `neardup dedup` or `neardup cut`, or the table that `neardup
    pairs`, `estimate`, `align` or `search` has written. INPUT is the documents of that table, as
    they were named when it was made, or of what was cut: the page shows their texts. Folders of
    dedup have them, and need none.

    The page is one file of HTML that needs nothing else. It loads nothing from anywhere, and shows
    texts as text, whatever they hold; the same result gives the same page. With -o - its headline,
    figures and examples are printed instead, with marks around the words that differ.
    """
    from neardup.jobs.report import make_report
    from neardup.options.documents import ReportOptions
    from neardup.outputs.targets import is_standard_output

    write = call.print_page if is_standard_output(call.output) else call.write_page
    write(call.result, call.of(ReportOptions), make_report)
