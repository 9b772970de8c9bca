"""``neardup review``: a page on which pairs are judged."""

from __future__ import annotations

import click

from neardup.cli.call import Call
from neardup.cli.command import ANY_INPUTS, TableCommand, complete_paths, options_of

_EPILOG = """\b
Examples:
  neardup review pairs.parquet products.csv -o judge.html
  neardup review links.parquet ours.csv --against theirs.csv --labels labels.csv -o more.html
"""


@click.command(
    "review", cls=TableCommand, epilog=_EPILOG, short_help="Make a page on which pairs are judged."
)
@click.argument("pairs", metavar="PAIRS", shell_complete=complete_paths)
@ANY_INPUTS
@options_of("review")
def command(call: Call) -> None:
    """Make a page on which people judge pairs: the same, not the same, unsure.

    PAIRS is the table that `neardup pairs`, `estimate` or `search` has written, INPUT the
    documents of that table, as they were named when it was made: the page shows their columns side
    by side, with differences marked. Pairs are judged by keys, the least certain first. Judgements
    stay in the browser until they are downloaded as a CSV file, which --labels of this command and
    of `neardup report` take.

    The page is one file of HTML that loads nothing and sends nothing.
    """
    from neardup.jobs.review import make_review
    from neardup.options.documents import ReviewOptions

    call.write_page(call.pairs, call.of(ReviewOptions), make_review)
