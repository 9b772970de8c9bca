"""``neardup sketch``: documents as a few bytes each, to be compared elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from neardup.cli import wording
from neardup.cli.call import Call, hold
from neardup.cli.command import INPUTS, job_command
from neardup.cli.wording import describe_ids, list_passed_over
from neardup.options.groups import CommandOptions, OutputOptions
from neardup.options.option import but
from neardup.options.sketches import SketchOptions
from neardup.runs.progress import counted

if TYPE_CHECKING:
    from neardup.files.destinations import Target

_EPILOG = """\b
Examples:
  neardup sketch corpus/*.jsonl.zst -o corpus.sketches.parquet
  neardup sketch pages/ --kind modulo --ngram 3 -o pages.sketches.parquet
"""


class SketchCommandOptions(SketchOptions, OutputOptions, CommandOptions):
    """Options of ``neardup sketch``."""

    differs = but(output={"help": "File or URL to create, ending in .parquet."})


@job_command("sketch", SketchCommandOptions, INPUTS, epilog=_EPILOG)
def command(call: Call, inputs: tuple[str, ...]) -> None:
    """Make sketches: a few bytes per document that estimate similarities.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`. The output
    has one row per document with its id and its sketch, and no text. `neardup estimate` compares
    sketches of one scheme. Sketches reveal similarities, and the presence of a document that the
    reader owns.
    """
    from neardup.files.destinations import check_apart, size_of
    from neardup.files.inputs import origins_of, resolve_paths
    from neardup.jobs.sketch import write_sketches
    from neardup.outputs.tables import check_table_file
    from neardup.reading.where import rows_where
    from neardup.sketches.registry import make_maker
    from neardup.stages.sketches import check_sketch_name

    given: SketchCommandOptions = call.options
    options, output = given.part(SketchOptions), given.output
    make_maker(options)
    check_sketch_name(output)
    check_table_file(output, overwrite=given.overwrite)
    hold(output, overwrite=given.overwrite)
    sources = rows_where(resolve_paths(inputs, options), options.where)
    counted_files: Any = options.idf_from
    weighing = resolve_paths(counted_files, options) if counted_files else None
    check_apart(output, origins_of(sources, weighing or ()))
    with call.display:
        summary = write_sketches(
            sources,
            options,
            output,
            overwrite=given.overwrite,
            idf_sources=weighing,
            runner=call.runner,
        )
    size = size_of(output)
    counts = (
        *("empty_documents", "single_shingle_documents", "skipped_rows", "skipped"),
        *("where", "filtered_rows", "hints"),
    )
    facts = {
        "path": str(output),
        "documents": summary["documents"],
        "bytes": size,
        **{name: value for name, value in summary.items() if name in counts},
        "passed_over": summary["passed_over"],
        "id_column": summary["id_column"],
        "id_column_by_default": summary["id_column_by_default"],
        "scheme": summary["scheme"],
    }
    call.print_result(facts, *_report(summary, output, size))


def _report(summary: Mapping[str, Any], output: Target, size: int) -> list[str]:
    n = summary["documents"]
    each = f", {size / n:,.0f} a document" if n else ""
    lines = [f"{counted(n, 'sketch', 'sketches')} of kind {summary['kind']}"]
    ngram = summary["scheme"].get("ngram", 1)
    lines += describe_ids(summary)
    lines += wording.lines(
        wording.note_empty(summary["empty_documents"], "similar to nothing"),
        wording.note_single(summary["single_shingle_documents"], ngram),
        wording.note_skipped(summary),
        *wording.hints(summary),
    )
    lines += list_passed_over(summary["passed_over"])
    return [*lines, f"written to {output}, {size:,} bytes{each}"]
