"""``neardup sketch``: documents as a few bytes each, to be compared elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from neardup.cli import wording
from neardup.cli.command import TableCommand
from neardup.cli.display import Display, say, say_json
from neardup.cli.options import complete_paths, options_of
from neardup.cli.wording import counted, list_passed_over, say_ids

if TYPE_CHECKING:
    from neardup.jobs.sketch.sketches import Sketches
    from neardup.outputs.targets import Target

_EPILOG = """\b
Examples:
  neardup sketch corpus/*.jsonl.zst -o corpus.sketches.parquet
  neardup sketch pages/ --kind modulo --ngram 3 -o pages.sketches.parquet
  neardup sketch --info corpus.sketches.parquet
"""


@click.command(
    "sketch",
    cls=TableCommand,
    epilog=_EPILOG,
    short_help="Make sketches that can be compared elsewhere.",
)
@click.argument("inputs", nargs=-1, metavar="INPUT...", shell_complete=complete_paths)
@options_of("sketch")
def command(
    inputs: tuple[str, ...],
    output: Target | None,
    info: Target | None,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    idf_from: tuple[str, ...],
    **options: Any,
) -> None:
    """Make sketches: a few bytes a document, from which similarities are estimated.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`. The file
    written has a row a document, its id and its sketch, and no text. `neardup estimate` compares
    sketches of one scheme; who has them learns how similar documents are, and can tell whether a
    document that he has himself is among them.
    """
    if info is not None:
        _tell(info, inputs, output, quiet=quiet, as_json=as_json)
        return
    if not inputs or output is None:
        missing = "INPUT..." if not inputs else "--output"
        message = f"Missing {missing}; give INPUT and --output, or --info FILE."
        raise click.UsageError(message)
    from neardup.files.resolve import resolve_paths
    from neardup.jobs.sketch.options import make_maker
    from neardup.jobs.sketch.sketch import sketch_sources
    from neardup.jobs.sketch.sketches import check_sketch_name
    from neardup.options.jobs import SketchOptions
    from neardup.outputs.folder import check_apart
    from neardup.outputs.table_files import check_table_file
    from neardup.runtime.runner import Runner

    chosen = SketchOptions(**options, idf_from=idf_from or None)
    make_maker(chosen)
    check_sketch_name(output)
    check_table_file(output, overwrite=overwrite)
    sources = resolve_paths(inputs, chosen)
    idf_sources = resolve_paths(idf_from, chosen) if idf_from else None
    check_apart(output, (source.origin for source in [*sources, *(idf_sources or [])]))
    with Display(quiet=quiet) as display:
        runner = Runner(workers, display)
        sketches = sketch_sources(sources, chosen, idf_sources=idf_sources, runner=runner)
        sketches.write(output, overwrite=overwrite)
    if as_json:
        say_json(_facts(sketches, output))
    elif not quiet:
        say(_report(sketches, output))


def _tell(
    info: Target, inputs: tuple[str, ...], output: Target | None, *, quiet: bool, as_json: bool
) -> None:
    """Print what a file of sketches says of itself."""
    if inputs or output is not None:
        message = "--info goes with neither INPUT nor --output."
        raise click.UsageError(message)
    from neardup.jobs.sketch.sketches import read_info

    facts = read_info(info)
    if as_json:
        say_json(facts)
    elif not quiet:
        lines = [
            f"{_contents(facts)}, {facts['bytes']:,} bytes, made by neardup {facts['neardup']}",
            *(f"  {name:<16} {_shown(value)}" for name, value in facts["scheme"].items()),
        ]
        say("\n".join(lines))


def _contents(facts: dict[str, Any]) -> str:
    documents = counted(facts["documents"], "document")
    if facts["blocks"] is None:
        return documents
    size = f"{facts['block_size']:,} characters"
    return f"{documents} in {counted(facts['blocks'], 'block')} of {size}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


def _facts(sketches: Sketches, output: Target) -> dict[str, Any]:
    from neardup.outputs.table_files import size_of

    summary = sketches.summary
    counts = ("empty_documents", "single_shingle_documents", "skipped_rows", "skipped")
    return {
        "path": str(output),
        "documents": sketches.n_documents,
        "blocks": summary["blocks"],
        "bytes": size_of(output),
        **{name: summary[name] for name in counts if name in summary},
        "passed_over": sketches.passed_over,
        **{name: summary[name] for name in ("id_column", "id_column_by_default")},
        "scheme": sketches.scheme,
    }


def _report(sketches: Sketches, output: Target) -> str:
    from neardup.outputs.table_files import size_of

    size = size_of(output)
    unit = "document" if sketches.blocks is None else "block"
    each = f", {size / len(sketches):,.0f} a {unit}" if len(sketches) else ""
    lines = [f"{counted(len(sketches), 'sketch', 'sketches')} of kind {sketches.kind}"]
    if sketches.blocks is not None:
        lines[0] += f": blocks of {counted(sketches.n_documents, 'document')}"
    lines += say_ids(sketches.summary)
    summary, ngram = sketches.summary, sketches.scheme.get("ngram", 1)
    lines += wording.lines(
        wording.note_empty(summary["empty_documents"], "similar to nothing"),
        wording.note_single(summary["single_shingle_documents"], len(sketches), ngram),
        wording.note_skipped(sketches.summary),
    )
    lines += list_passed_over(sketches.passed_over)
    return "\n".join([*lines, f"written to {output}, {size:,} bytes{each}"])
