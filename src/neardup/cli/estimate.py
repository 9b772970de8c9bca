"""``neardup estimate``: how similar documents are, told from sketches alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from neardup.cli.display import Display, announce_compilation, say
from neardup.cli.options import run_options
from neardup.cli.wording import counted

_EPILOG = """\b
Examples:
  neardup estimate ours.sketches.parquet theirs.sketches.parquet --threshold 0.5 -o shared.csv
  neardup estimate corpus.sketches.parquet --threshold 0.8 -o pairs.parquet
"""


@click.command("estimate", epilog=_EPILOG, short_help="Compare documents by sketches alone.")
@click.argument("sketches", type=click.Path(path_type=Path), metavar="A")
@click.argument("other", type=click.Path(path_type=Path), required=False, metavar="[B]")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="File to create: .parquet, .csv or .jsonl.",
)
@click.option(
    "--threshold",
    metavar="T",
    help="Only pairs whose estimated similarity is at least T, in (0, 1]; an exact decimal.  "
    "[default: all pairs]",
)
@click.option("--limit", type=int, metavar="N", help="End with an error at more than N pairs.")
@click.option("--overwrite", is_flag=True, help="Replace the output file if it exists.")
@run_options
def command(
    sketches: Path,
    other: Path | None,
    output: Path,
    threshold: str | None,
    limit: int | None,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Estimate how similar documents are, from their sketches.

    A and B are files that `neardup sketch` has made with the same options; without B all pairs
    within A are told. Writes id_a, id_b, similarity with its standard error and 95 % interval
    (low, high), for modulo sketches both containments, for edit sketches the distance with its
    interval, significance and spread. Estimates are empty where a sketch has less than 20 samples.
    With --threshold no pair whose estimate reaches it is missed.
    """
    announce_compilation(quiet=quiet)
    from neardup.outputs.folder import check_apart
    from neardup.outputs.tables import check_table_file, write_table
    from neardup.pipelines.estimate import estimate

    check_table_file(output, overwrite=overwrite)
    check_apart(output, [str(path) for path in (sketches, other) if path is not None])
    with Display(quiet=quiet) as display:
        result = estimate(
            sketches,
            other,
            threshold=threshold,
            limit=limit,
            workers=workers,
            progress=display.report,
        )
        write_table(result.pairs, output, overwrite=overwrite)
    if as_json:
        say(json.dumps(result.summary, ensure_ascii=False))
    elif not quiet:
        say(_report(result.summary, output))


def _report(summary: dict[str, Any], output: Path) -> str:
    documents = " and ".join(counted(number, "document") for number in summary["documents"])
    condition = ""
    if summary["threshold"] is not None:
        condition = f" with an estimated similarity >= {summary['threshold']:g}"
    lines = [f"{documents}, sketches of kind {summary['kind']}"]
    lines.append(f"{counted(summary['pairs'], 'pair')}{condition}")
    if summary["unusable_pairs"]:
        lines.append(
            f"{counted(summary['unusable_pairs'], 'pair')} of which a sketch has less than 20 "
            "samples: not enough information; larger sketches (--size, --compression) tell more"
        )
    seconds = sum(summary["seconds"].values())
    return "\n".join([*lines, f"written to {output} in {seconds:.1f} s"])
