"""``neardup report``: a page that shows what a job has found, and why."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.call import Call
from neardup.cli.command import ANY_INPUTS, TableCommand, complete_paths, options_of

if TYPE_CHECKING:
    pass

_EPILOG = """\b
Examples:
  neardup report clean -o clean.html
  neardup report clean --by source -o clean.html
  neardup report seen -o seen.html
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
    pairs`, `estimate`, `align` or `search` has written, or an index, whose page shows what came,
    went and stayed by addition. INPUT is the documents of that table, as
    they were named when it was made, or of what was cut: the page shows their texts. Folders of
    dedup have them, and need none.

    The page is one file of HTML that needs nothing else. It loads nothing from anywhere, and shows
    texts as text, whatever they hold; the same result gives the same page.
    """
    from neardup.documents.other import resolve_against
    from neardup.files.resolve import resolve_paths
    from neardup.jobs.report.report import make_report
    from neardup.options.documents import ReportOptions
    from neardup.outputs.folder import check_apart, check_outside
    from neardup.reports.page import check_page_file

    options, output, labels = call.of(ReportOptions), call.output, call.labels
    inputs, against = call.inputs, call.against or ()
    check_page_file(output, overwrite=call.overwrite)
    check_outside(output, call.result, "result")
    check_apart(output, [call.result, *inputs, *against, *([labels] if labels else [])])
    own = resolve_paths(inputs, options) if inputs else None
    other = None
    if against:
        named = [Path(each) for each in against]
        resolve = partial(resolve_paths, against, options)
        other = resolve_against(
            named[0] if len(named) == 1 else named, lambda _: resolve(), options
        )
    with call.display:
        report = make_report(call.result, own, other, labels, options, call.runner)
    report.write(output, overwrite=call.overwrite)
    n_bytes = len(report.html.encode())
    facts = {"headline": report.headline, "page": str(output), "bytes": n_bytes}
    call.tell(facts, report.headline, f"written to {output}, {n_bytes / 1e6:.1f} MB")
