"""``neardup report`` makes a page of a result, ``neardup review`` one to judge pairs."""

from __future__ import annotations

from neardup.cli.call import Call
from neardup.cli.command import ANY_INPUTS, argument, job_command
from neardup.options.choices import Data
from neardup.options.documents import ReportOptions, ReviewOptions
from neardup.options.groups import AgainstDataOptions, CommandOptions, OutputOptions
from neardup.options.option import but, option

_EPILOG = """\b
Examples:
  neardup report clean -o clean.html
  neardup report clean -o -
  neardup report pairs.parquet products.csv --text-column title --labels right.csv -o pairs.html
  neardup report shared.jsonl 1818.jsonl --against 1831.jsonl --id-column id -o editions.html
"""


class ReportCommandOptions(ReportOptions, AgainstDataOptions, OutputOptions, CommandOptions):
    """Options of ``neardup report``."""

    heading = "Input"

    labels: Data | None = option(
        "Pairs that are right, for precision and recall.",
        default=None,
        more="A table with id_a and id_b, or a file that a page of `neardup review` has handed "
        "out.",
        metavar="FILE",
    )
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

    given: ReportCommandOptions = call.options
    write = call.print_page if is_standard_output(given.output) else call.write_page
    write(result, inputs, given.part(ReportOptions), make_report)


_REVIEW_EPILOG = """\b
Examples:
  neardup review pairs.parquet products.csv -o judge.html
  neardup review links.parquet ours.csv --against theirs.csv --labels labels.csv -o more.html
"""


class ReviewCommandOptions(ReviewOptions, AgainstDataOptions, OutputOptions, CommandOptions):
    """Options of ``neardup review``."""

    heading = "Input"

    labels: Data | None = option(
        "Pairs that were judged before; the page begins with them.",
        default=None,
        more="A file that a page has handed out. The pairs nearest to their best threshold come "
        "first.",
        metavar="FILE",
    )
    differs = but(
        output={"help": "HTML page to create."},
        against={"help": "The second collection, if the job had one."},
    )


@job_command(
    "review", ReviewCommandOptions, argument("pairs", "PAIRS"), ANY_INPUTS, epilog=_REVIEW_EPILOG
)
def review(call: Call, pairs: str, inputs: tuple[str, ...]) -> None:
    """Make a page on which people judge pairs: the same, not the same, unsure.

    PAIRS is the table that `neardup pairs`, `estimate` or `search` has written, INPUT the
    documents of that table, as they were named when it was made: the page shows their columns side
    by side, with differences marked. Pairs are judged by keys, the least certain first. Judgements
    stay in the browser until they are downloaded as a CSV file, which --labels of this command and
    of `neardup report` take.

    The page is one file of HTML that loads nothing and sends nothing.
    """
    from neardup.jobs.review import make_review

    given: ReviewCommandOptions = call.options
    call.write_page(pairs, inputs, given.part(ReviewOptions), make_review)
