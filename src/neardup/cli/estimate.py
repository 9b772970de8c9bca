"""``neardup estimate``: how similar documents are, told from sketches alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import TableCommand
from neardup.cli.display import Display, say_json
from neardup.cli.hints import hint_for_estimate
from neardup.cli.options import TargetType, options_of
from neardup.cli.page_output import PageOutput
from neardup.cli.table_output import TableOutput
from neardup.cli.wording import counted, took

if TYPE_CHECKING:
    from neardup.options.choices import EstimatedMeasure, TableFormat
    from neardup.outputs.targets import Target

_EPILOG = """\b
Examples:
  neardup estimate ours.sketches.parquet theirs.sketches.parquet --threshold 0.5 -o shared.csv
  neardup estimate quotes.parquet books.parquet --measure containment --threshold 0.8 -o in.csv
  neardup estimate corpus.sketches.parquet --pairs candidates.csv -o checked.csv
  neardup estimate corpus.sketches.parquet --threshold 0.8 -o pairs.parquet
  neardup estimate pages.sketches.parquet --clusters first --threshold 0.5 -o clusters.csv
"""


@click.command(
    "estimate", cls=TableCommand, epilog=_EPILOG, short_help="Compare documents by sketches alone."
)
@click.argument("sketches", type=TargetType(), metavar="A")
@click.argument("other", type=TargetType(), required=False, metavar="[B]")
@options_of("estimate")
def command(
    sketches: Target,
    other: Target | None,
    output: Target,
    page: Target | None,
    table_format: TableFormat | None,
    measure: EstimatedMeasure | None,
    threshold: str | None,
    min_significance: float | None,
    super_shingles: int | None,
    bands: int | None,
    rows: int | None,
    pairs: str | None,
    places: bool,
    clusters: Any,
    limit: int | None,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Estimate how similar documents are, from their sketches.

    A and B are files that `neardup sketch` has made with the same options; without B all pairs
    within A are told. Writes id_a, id_b, similarity with its standard error and 95 % interval
    (low, high), for modulo sketches both containments likewise, for edit sketches the distance with
    its interval, significance and spread. Estimates are empty where a sketch has less than 20
    samples. With --threshold no pair whose estimate reaches it is missed. For --measure containment
    a is the document that lies in b.

    With --clusters it writes id, cluster_id, cluster_size and representative_id, the first member;
    the order of the documents decides, and nothing is verified.
    """
    from neardup.jobs.estimate.estimate import estimate
    from neardup.runtime.runner import Runner

    target = TableOutput(output, table_format, overwrite=overwrite, as_json=as_json)
    report = PageOutput(page, output, overwrite=overwrite)
    read = [str(path) for path in (sketches, other, pairs) if path is not None]
    target.check_apart(read)
    report.check_apart(read)
    if clusters is not None:
        _check_alone(
            other=other,
            page=page,
            measure=measure,
            min_significance=min_significance,
            super_shingles=super_shingles,
            bands=bands,
            rows=rows,
            pairs=pairs,
            places=places or None,
            limit=limit,
            workers=workers,
        )
        _cluster(sketches, clusters, threshold, target, quiet=quiet, as_json=as_json)
        return
    with Display(quiet=quiet) as display:
        result = estimate(
            sketches,
            other,
            measure=measure,
            threshold=threshold,
            min_significance=min_significance,
            super_shingles=super_shingles,
            bands=bands,
            rows=rows,
            pairs=pairs,
            places=places,
            limit=limit,
            workers=workers,
            progress=display,
        )
    target.write(result)
    lines = report.write(result, None, Runner(workers))
    if as_json:
        say_json(result.summary)
    elif not quiet:
        target.say("\n".join([_report(result.summary, target), *lines]))


def _check_alone(**options: object) -> None:
    """Raise if an option was given that has no effect on clusters."""
    from neardup.options.option import no_effect

    for name, value in options.items():
        if value is not None:
            raise no_effect("B" if name == "other" else name, "with clusters", "leave out clusters")


def _cluster(
    sketches: Target, representative: Any, threshold: str | None, output: TableOutput, **said: bool
) -> None:
    """Write clusters, and say how many there are."""
    from neardup.jobs.estimate.clusters import cluster_sketches

    result = cluster_sketches(sketches, threshold or "0.5", representative=representative)
    output.write(result)
    summary = result.summary
    if said["as_json"]:
        say_json(summary)
    elif not said["quiet"]:
        n_alone = summary["single_documents"]
        output.say(
            f"{counted(summary['documents'][0], 'document')}, sketches of kind {summary['kind']}\n"
            f"{counted(summary['clusters'], 'cluster')} with an estimated similarity >= "
            f"{summary['threshold']:g}, {n_alone:,} of a single document, the largest of "
            f"{summary['largest_cluster']:,}\nwritten to {output} in "
            f"{took(summary['seconds'])}"
        )


def _report(summary: dict[str, Any], output: TableOutput) -> str:
    documents = " and ".join(
        counted(number, "document") + ("" if blocks is None else f" in {counted(blocks, 'block')}")
        for number, blocks in zip(summary["documents"], summary["blocks"], strict=True)
    )
    asked = [_say_threshold(summary)] if summary["threshold"] is not None else []
    if summary["min_significance"] is not None:
        asked.append(f"a significance >= {summary['min_significance']:g}")
    if summary["super_shingles"] is not None:
        asked.append(
            f"at least {summary['super_shingles']} of {summary['bands']} super-shingles in common"
        )
    condition = f" with {' and '.join(asked)}" if asked else ""
    lines = [f"{documents}, sketches of kind {summary['kind']}"]
    lines.append(f"{counted(summary['pairs'], 'pair')}{condition}")
    if summary["exact_copies"]:
        lines[-1] += f", {summary['exact_copies']:,} of exact copies"
    if summary["short_sketches"]:
        lines.append(
            f"{counted(summary['short_sketches'], 'sketch', 'sketches')} of less than 20 symbols, "
            "of which nothing is estimated: a smaller --compression tells more"
        )
    elif summary["unusable_pairs"]:
        lines.append(
            f"{counted(summary['unusable_pairs'], 'pair')} of which a sketch has less than 20 "
            "samples: not enough information; a larger --size, or a smaller --modulus or "
            "--compression, tells more"
        )
    if hint := hint_for_estimate(summary):
        lines.append(hint)
    return "\n".join([*lines, f"written to {output} in {took(summary['seconds'])}"])


def _say_threshold(summary: dict[str, Any]) -> str:
    """Say which estimates were asked for; the similarity of a kind has no other name here."""
    measure = summary["measure"]
    name = measure if "containment" in measure else "similarity"
    return f"an estimated {name} >= {summary['threshold']:g}"
