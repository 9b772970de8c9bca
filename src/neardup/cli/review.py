"""``neardup review``: a page on which pairs are judged, and the labels of several reviewers."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.call import Call, TableOutput
from neardup.cli.command import ANY_INPUTS, TableCommand, complete_paths, options_of
from neardup.options.option import no_effect

_EPILOG = """\b
Examples:
  neardup review pairs.parquet products.csv -o judge.html
  neardup review links.parquet ours.csv --against theirs.csv --labels anna.csv -o more.html
  neardup review --merge anna.csv ben.csv -o merged.csv
"""


@click.command(
    "review",
    cls=TableCommand,
    epilog=_EPILOG,
    short_help="Make a page on which pairs are judged, or merge labels.",
)
@click.argument("pairs", metavar="PAIRS", shell_complete=complete_paths)
@ANY_INPUTS
@options_of("review")
def command(call: Call) -> None:
    """Make a page on which people judge pairs: the same, not the same, unsure.

    PAIRS is the table that `neardup pairs`, `estimate` or `search` has written, INPUT the
    documents of that table, as they were named when it was made: the page shows their columns side
    by side, with differences marked. Pairs are judged by keys, the least certain first. What is
    said stays in the browser, and is handed out as a CSV file, which --labels of this command and
    of `neardup report` take.

    With --merge PAIRS and INPUT are such files, of two or more reviewers: the labels of all of
    them are put together, agreement is counted, and pairs on which they disagree are `disagreed`,
    to be judged again.

    The page is one file of HTML that loads nothing and sends nothing.
    """
    if call.merge:
        _merge(call)
        return
    from neardup.jobs.review.review import make_review
    from neardup.options.documents import ReviewOptions

    if call.table_format is not None:
        raise no_effect("output_format", "on a page", "give merge", "merge")
    call.write_page(call.pairs, call.of(ReviewOptions), make_review)


def _merge(call: Call) -> None:
    from neardup.jobs.review.merge import merge
    from neardup.options.documents import ReviewOptions

    options = call.of(ReviewOptions)
    given = [
        each.name for each in options.known.values() if getattr(options, each.name) != each.default
    ]
    given += [name for name in ("against", "labels") if getattr(call, name)]
    if given:
        raise no_effect(given[0], "with merge", "leave out merge", "merge")
    reviews = [call.pairs, *call.inputs]
    output = TableOutput(call)
    output.check_apart(reviews)
    with call.display:
        merged = merge(reviews, call.runner)
    lines = output.write(merged)
    agreed = map(_agreement, merged.summary["agreement"])
    output.tell(merged.summary, merged.headline(), *agreed, *lines, f"written to {output}")


def _agreement(found: dict[str, Any]) -> str:
    who = " and ".join(found["reviewers"])
    if not found["pairs"]:
        return f"{who} have judged no pair both"
    kappa = found["kappa"]
    said = "no kappa, for both say one word only" if kappa is None else f"kappa {kappa:.3f}"
    return f"{who} agree on {found['agreed']:,} of {found['pairs']:,} pairs, {said}"
