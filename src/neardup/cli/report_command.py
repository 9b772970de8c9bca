"""Commands ``neardup report`` and ``neardup review`` for pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.cli.call import Call, hold
from neardup.cli.command import ANY_INPUTS, argument, job_command
from neardup.options.document_options import ReviewOptions
from neardup.options.groups import AgainstDataOptions, AgainstOptions, CommandOptions, OutputOptions
from neardup.options.option import but

if TYPE_CHECKING:
    from neardup.files.inputs import Inputs
    from neardup.reports.page import Report

_EPILOG = """\b
Examples:
  neardup report clean -o clean.html
  neardup report clean -o -
  neardup report pairs.parquet products.csv --text-column title -o pairs.html
  neardup report shared.jsonl 1818.jsonl --against 1831.jsonl --id-column id -o editions.html
"""


class ReportCommandOptions(AgainstOptions, AgainstDataOptions, OutputOptions, CommandOptions):
    """Options of ``neardup report``."""

    heading = "Input"

    differs = but(
        output={"help": "HTML page to create; - prints its examples."},
        against={"help": "The second collection, if the job had one."},
    )


@job_command(
    "report", ReportCommandOptions, argument("result", "RESULT"), ANY_INPUTS, epilog=_EPILOG
)
def report(call: Call, result: str, inputs: tuple[str, ...]) -> None:
    """Show a result and its reasons as one HTML page.

    RESULT is the output folder of `neardup dedup` or `neardup cut`, or the table of `neardup
    pairs`, `estimate`, `align` or `search`. INPUT is the documents of that table or cut, as named
    in that run; the page shows their texts. A folder of dedup has them, and needs no INPUT.

    The page is one file of HTML that loads nothing. It shows texts as text, and the same result
    gives the same page. With -o - headline, figures and examples are printed instead, with marks
    around different words.
    """
    from neardup.files.destinations import is_standard_output
    from neardup.jobs.report import make_report

    if not is_standard_output(call.options.output):
        _check_page(call, result, inputs)
    options = call.options.part(AgainstOptions)
    own, other = _sources_of(call, inputs, options)
    with call.display:
        page = make_report(result, own, other, options, call.runner)
    if not is_standard_output(call.options.output):
        _write_page(call, page)
        return
    text = page.to_text()
    call.print_result({"headline": page.headline, "text": text}, text)


_REVIEW_EPILOG = """\b
Examples:
  neardup review pairs.parquet products.csv -o judge.html
  neardup review links.parquet ours.csv --against theirs.csv -o judge.html
"""


class ReviewCommandOptions(ReviewOptions, ReportCommandOptions):
    """Options of ``neardup review``."""

    differs = but(output={"help": "HTML page to create."})


@job_command(
    "review", ReviewCommandOptions, argument("pairs", "PAIRS"), ANY_INPUTS, epilog=_REVIEW_EPILOG
)
def review(call: Call, pairs: str, inputs: tuple[str, ...]) -> None:
    """Make a page on which people judge pairs.

    PAIRS is the table that `neardup pairs`, `estimate` or `search` has written, INPUT the documents
    of that table, as they were named when it was made: the page shows their columns side by side,
    with differences marked. Pairs are judged by keys (the same, not the same, unsure), the least
    similar first. Judgements stay in the browser until they are downloaded as a CSV file.

    The page is one file of HTML that loads nothing and sends nothing.
    """
    from neardup.jobs.report import make_review

    _check_page(call, pairs, inputs)
    options = call.options.part(ReviewOptions)
    own, other = _sources_of(call, inputs, options)
    with call.display:
        page = make_review(pairs, own, other, options, call.runner)
    _write_page(call, page)


# Steps of both commands.


def _check_page(call: Call, table: str, inputs: tuple[str, ...]) -> None:
    from neardup.files.destinations import check_apart, check_outside
    from neardup.reports.page import check_page_file

    given = call.options
    check_page_file(given.output, overwrite=given.overwrite)
    hold(given.output, overwrite=given.overwrite)
    check_outside(given.output, table, "result")
    check_apart(given.output, [table, *inputs, *(given.against or ())])


def _sources_of(
    call: Call, inputs: tuple[str, ...], options: AgainstOptions
) -> tuple[Inputs | None, Inputs | None]:
    from neardup.files.inputs import resolve_paths

    own = resolve_paths(inputs, options) if inputs else None
    return own, call.other_sources(options)


def _write_page(call: Call, page: Report) -> None:
    output = call.options.output
    page.write(output, overwrite=call.options.overwrite)
    n_bytes = len(page.html.encode())
    facts = {"headline": page.headline, "page": str(output), "bytes": n_bytes}
    written = f"written to {output}, {n_bytes / 1e6:.1f} MB"
    call.print_result(facts, page.headline, written)
