"""``neardup sketch`` makes sketches, ``neardup estimate`` compares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neardup.cli.call import Call, TableOutput, footer, hold
from neardup.cli.command import INPUTS, TargetType, argument, job_command
from neardup.options.document_options import EstimateOptions, SketchOptions
from neardup.options.groups import CommandOptions, OutputOptions, TableOptions
from neardup.options.option import but, no_effect, option
from neardup.runs.progress import counted

_EPILOG = """\b
Examples:
  neardup sketch corpus/*.jsonl.zst -o corpus.sketches.parquet
  neardup sketch pages/ --kind modulo --ngram 3 -o pages.sketches.parquet
"""


class SketchCommandOptions(SketchOptions, OutputOptions, CommandOptions):
    """Options of ``neardup sketch``."""

    differs = but(output={"help": "File or URL to create, ending in .parquet."})


@job_command("sketch", SketchCommandOptions, INPUTS, epilog=_EPILOG)
def sketch(call: Call, inputs: tuple[str, ...]) -> None:
    """Make sketches: a few bytes per document that estimate similarities.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`. The output
    has one row per document with its id and its sketch, and no text. `neardup estimate` compares
    sketches of one scheme. Sketches reveal similarities, and the presence of a document that the
    reader owns.
    """
    from neardup.files.destinations import check_apart, size_of
    from neardup.files.inputs import origins_of
    from neardup.jobs.sketch import write_sketches
    from neardup.outputs.output_tables import check_table_file
    from neardup.sketches.kind import make_maker
    from neardup.stages.sketches import check_sketch_name

    given: SketchCommandOptions = call.options
    options, output = given.part(SketchOptions), given.output
    make_maker(options)
    check_sketch_name(output)
    check_table_file(output, overwrite=given.overwrite)
    hold(output, overwrite=given.overwrite)
    sources = call.sources(inputs, options)
    check_apart(output, origins_of(sources))
    with call.display:
        summary = write_sketches(
            sources, options, output, overwrite=given.overwrite, runner=call.runner
        )
    size = size_of(output)
    each = f", {size / n:,.0f} a document" if (n := summary["documents"]) else ""
    call.print_result(
        {"path": str(output), "bytes": size, **summary},
        f"{counted(n, 'sketch', 'sketches')} of kind {summary['kind']}",
        *footer(summary),
        f"written to {output}, {size:,} bytes{each}",
    )


_ESTIMATE_EPILOG = """\b
Examples:
  neardup estimate ours.sketches.parquet theirs.sketches.parquet --threshold 0.5 -o shared.csv
  neardup estimate quotes.parquet books.parquet --measure containment --threshold 0.8 -o in.csv
  neardup estimate corpus.sketches.parquet --threshold 0.8 -o pairs.parquet
  neardup estimate pages.sketches.parquet --clusters --threshold 0.5 -o clusters.csv
"""


class EstimateCommandOptions(EstimateOptions, TableOptions, CommandOptions):
    """Options of ``neardup estimate``."""

    clusters: bool = option(
        "smallest, modulo: write clusters of A instead of pairs.",
        default=False,
        more="Each document joins the cluster whose first member it resembles most.",
    )


@job_command(
    "estimate",
    EstimateCommandOptions,
    argument("sketches", "A", type=TargetType()),
    argument("other", "[B]", type=TargetType(), required=False),
    epilog=_ESTIMATE_EPILOG,
)
def estimate(call: Call, sketches: Any, other: Any) -> None:
    """Estimate the similarity of documents from their sketches.

    A and B are files of `neardup sketch`, made with the same options; without B the pairs are those
    within A. Writes id_a, id_b, similarity with its standard error and 95 % interval (low, high);
    for modulo sketches both containments; for edit sketches the distance with its interval and
    significance. An estimate is empty if a sketch has fewer than 20 samples. With --threshold every
    pair whose estimate reaches it is written. For --measure containment a is contained in b.

    With --clusters it writes id, cluster_id, cluster_size and representative_id, the first member.
    The order of the documents decides; no pair is verified.
    """
    from neardup.engine.opening import memory_budget
    from neardup.jobs.estimate import cluster_files, estimate_files

    given: EstimateCommandOptions = call.options
    output, budget = TableOutput(call), memory_budget(given.memory)
    output.check_apart([str(path) for path in (sketches, other) if path is not None])
    if not given.clusters:
        with call.display:
            options = given.part(EstimateOptions)
            result = estimate_files(sketches, other, options, call.runner, budget)
        output.write(result)
        lines = [*_report_estimates(result.summary), *footer(result.summary, output)]
        output.print_result(result.summary, *lines)
        return
    if other is not None:
        raise no_effect("B", "with clusters", "leave out clusters", "clusters")
    unused = {*EstimateOptions.known, "workers"} - {"threshold", "memory"}
    given.check_left_out(sorted(unused), "with clusters", "leave out clusters", "clusters")
    with call.display:
        clusters = cluster_files(sketches, given.threshold or "0.5", call.runner, budget)
    output.write(clusters)
    summary = clusters.summary
    output.print_result(
        summary,
        f"{counted(summary['documents'][0], 'document')}, sketches of kind {summary['kind']}",
        f"{counted(summary['clusters'], 'cluster')} with an estimated similarity >= "
        f"{summary['threshold']:g}, {summary['single_documents']:,} of a single document, the "
        f"largest of {summary['largest_cluster']:,}",
        *footer(summary, output),
    )


def _report_estimates(summary: Mapping[str, Any]) -> list[str]:
    documents = " and ".join(counted(number, "document") for number in summary["documents"])
    asked = []
    if summary["threshold"] is not None:
        # The similarity of a kind has no other name here.
        name = summary["measure"] if "containment" in summary["measure"] else "similarity"
        asked.append(f"an estimated {name} >= {summary['threshold']:g}")
    if summary["super_shingles"] is not None:
        asked.append(f"at least {summary['super_shingles']} super-shingles in common")
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
    return lines
