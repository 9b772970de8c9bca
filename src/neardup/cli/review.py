"""``neardup review``: a page on which pairs are judged."""

from __future__ import annotations

from neardup.cli.call import Call
from neardup.cli.command import ANY_INPUTS, argument, job_command
from neardup.options.choices import Data
from neardup.options.documents import ReviewOptions
from neardup.options.groups import AgainstDataOptions, CommandOptions, OutputOptions
from neardup.options.option import but, option

_EPILOG = """\b
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


@job_command("review", ReviewCommandOptions, argument("pairs", "PAIRS"), ANY_INPUTS, epilog=_EPILOG)
def command(call: Call, pairs: str, inputs: tuple[str, ...]) -> None:
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
