"""``neardup pairs``: all pairs of similar documents, exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from neardup.cli.display import Display, announce_compilation, counted, say
from neardup.cli.options import MEASURES, input_options, run_options, text_options

_EPILOG = """\b
Examples:
  neardup pairs records.csv --text-column title --tokenizer characters --ngram 3 -o pairs.csv
  neardup pairs new.jsonl --against old.jsonl --threshold 0.6 -o pairs.parquet
"""


@click.command("pairs", epilog=_EPILOG, short_help="Find all pairs of similar documents.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="File to create: .parquet, .csv or .jsonl.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="OTHER",
    help="Pairs of one document of INPUT and one of these files; may be given several times.",
)
@click.option(
    "--measure",
    type=click.Choice([*MEASURES, "overlap"]),
    default="jaccard",
    show_default=True,
    help="Similarity of two documents.",
)
@click.option(
    "--threshold",
    default="0.8",
    show_default=True,
    metavar="T",
    help="Least similarity, in (0, 1], an exact decimal; for overlap a number of shingles.",
)
@click.option(
    "--algorithm",
    type=click.Choice(["allpairs", "ppjoin", "ppjoin+"]),
    default="ppjoin+",
    show_default=True,
    help="Filters to use; the pairs are the same.",
)
@click.option("--limit", type=int, metavar="N", help="End with an error at more than N pairs.")
@text_options
@input_options
@click.option("--stats", is_flag=True, help="Print what each filter did.")
@click.option("--overwrite", is_flag=True, help="Replace the output file if it exists.")
@run_options
def command(
    inputs: tuple[str, ...],
    output: Path,
    against: tuple[str, ...],
    stats: bool,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    lines: bool,
    **options: Any,
) -> None:
    """Find all pairs of similar documents, none missed.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`.

    Writes id_a, id_b, similarity and overlap, the number of common shingles; in the order of the
    input, a before b within one collection. For containment a is the document that lies in b.
    """
    announce_compilation(quiet=quiet)
    from neardup.files.resolve import resolve_paths
    from neardup.outputs.folder import check_apart
    from neardup.outputs.tables import check_table_file, write_table
    from neardup.pipelines.pairs import PairOptions, find_pairs_in_sources, make_pair_plan

    plan = make_pair_plan(PairOptions(**options), workers)
    check_table_file(output, overwrite=overwrite)
    left = resolve_paths(inputs, lines=lines)
    right = resolve_paths(against, lines=lines) if against else None
    check_apart(output, (source.origin for source in [*left, *(right or [])]))
    with Display(quiet=quiet) as display:
        result = find_pairs_in_sources(left, right, plan, display.report)
        write_table(result.pairs, output, overwrite=overwrite)
    if as_json:
        say(json.dumps(result.summary, ensure_ascii=False))
    elif not quiet:
        say(_report(result.summary, output))
        if stats:
            say(_statistics(result.summary["filters"]))


def _report(summary: dict[str, Any], output: Path) -> str:
    documents = " and ".join(counted(number, "document") for number in summary["documents"])
    seconds = sum(summary["seconds"].values())
    return (
        f"{documents}: {counted(summary['pairs'], 'pair')} with {summary['measure']} >= "
        f"{summary['threshold']:g}\nwritten to {output} in {seconds:.1f} s"
    )


def _statistics(filters: dict[str, int]) -> str:
    labels = {
        "hits": "postings met",
        "after_size": "left by size and order",
        "after_position": "left by position",
        "after_suffix": "left by suffix",
        "verified": "pairs verified",
        "results": "pairs of distinct sets",
    }
    return "\n".join(f"{labels[name]:<24}{number:>16,}" for name, number in filters.items())
