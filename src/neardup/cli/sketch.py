"""``neardup sketch``: documents as a few bytes each, to be compared elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.display import Display, announce_compilation, say
from neardup.cli.options import (
    INVERSE_FREQUENCIES,
    TERM_FREQUENCIES,
    input_options,
    run_options,
    text_options,
)
from neardup.cli.wording import counted

if TYPE_CHECKING:
    from neardup.jobs.sketch.sketches import Sketches

_EPILOG = """\b
Examples:
  neardup sketch corpus/*.jsonl.zst -o corpus.sketches.parquet
  neardup sketch pages/ --kind modulo --ngram 3 -o pages.sketches.parquet
  neardup sketch --info corpus.sketches.parquet
"""


@click.command("sketch", epilog=_EPILOG, short_help="Make sketches that can be compared elsewhere.")
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File to create, ending in .parquet."
)
@click.option(
    "--info",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Tell what a file of sketches holds, instead of making one.",
)
@click.option(
    "--kind",
    type=click.Choice(["minhash", "weighted", "smallest", "modulo", "edit"]),
    default="minhash",
    show_default=True,
    help="For Jaccard similarity (minhash; smallest: with less error), weighted Jaccard "
    "similarity, containment too (modulo), or edit distance.",
)
@click.option(
    "--num-perm", type=int, help="minhash, weighted: hash functions, 4 bytes each.  [default: 128]"
)
@click.option(
    "--size",
    type=int,
    help="smallest, modulo: hashes kept, 8 bytes each; of modulo once to twice as many.  "
    "[default: 256; 100 for modulo]",
)
@click.option(
    "--modulus", type=int, help="modulo: one for all documents.  [default: by each one's size]"
)
@click.option(
    "--fingerprint",
    type=click.Choice(["mixer", "rabin"]),
    help="smallest, modulo: how shingles are hashed.  [default: mixer]",
)
@click.option(
    "--tf",
    type=click.Choice(TERM_FREQUENCIES),
    help="weighted: what a shingle weighs by how often a document has it.  [default: raw]",
)
@click.option(
    "--idf",
    type=click.Choice(INVERSE_FREQUENCIES),
    help="weighted: what it weighs by how few documents have it.  [default: unary]",
)
@click.option(
    "--idf-from",
    multiple=True,
    metavar="OTHER",
    help="weighted: count the documents of these files instead of INPUT's; may be given several "
    "times.",
)
@click.option(
    "--compression", type=int, help="edit: characters for a symbol of 4 bytes.  [default: 100]"
)
@click.option("--neighbourhood", type=int, help="edit: characters in a window.  [default: 12]")
@click.option(
    "--hash",
    type=click.Choice(["mixed", "sum"]),
    help="edit: windows are hashed, or their characters' codes added up as in the paper.  "
    "[default: mixed]",
)
@click.option(
    "--letters", type=int, help="edit: different symbols; 2 take a bit each.  [default: 2^32]"
)
@click.option(
    "--residue", type=int, help="edit, sum: which rest a sum has that counts.  [default: 0]"
)
@click.option("--seed", type=int, help="Selects the hash functions.  [default: 42]")
@text_options("words; none for edit", "5; 1 for weighted")
@input_options
@click.option("--overwrite", is_flag=True, help="Replace the output file if it exists.")
@run_options
def command(
    inputs: tuple[str, ...],
    output: Path | None,
    info: Path | None,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    lines: bool,
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
    announce_compilation(quiet=quiet)
    from neardup.files.resolve import resolve_paths
    from neardup.jobs.sketch.sketch import SketchOptions, make_maker, sketch_sources
    from neardup.jobs.sketch.sketches import check_sketch_name
    from neardup.outputs.folder import check_apart
    from neardup.outputs.table_files import check_table_file

    chosen = SketchOptions(**options, idf_from=idf_from or None)
    make_maker(chosen)
    check_sketch_name(output)
    check_table_file(output, overwrite=overwrite)
    sources = resolve_paths(inputs, lines=lines)
    idf_sources = resolve_paths(idf_from, lines=lines) if idf_from else None
    check_apart(output, (source.origin for source in [*sources, *(idf_sources or [])]))
    with Display(quiet=quiet) as display:
        sketches = sketch_sources(
            sources, chosen, idf_sources=idf_sources, workers=workers, progress=display.report
        )
        sketches.write(output, overwrite=overwrite)
    if as_json:
        say(json.dumps(_facts(sketches, output), ensure_ascii=False))
    elif not quiet:
        say(_report(sketches, output))


def _tell(
    info: Path, inputs: tuple[str, ...], output: Path | None, *, quiet: bool, as_json: bool
) -> None:
    """Print what a file of sketches says of itself."""
    if inputs or output is not None:
        message = "--info goes with neither INPUT nor --output."
        raise click.UsageError(message)
    from neardup.jobs.sketch.sketches import read_info

    facts = read_info(info)
    if as_json:
        say(json.dumps(facts, ensure_ascii=False))
    elif not quiet:
        lines = [
            f"{counted(facts['documents'], 'document')}, {facts['bytes']:,} bytes, made by neardup "
            f"{facts['neardup']}",
            *(f"  {name:<16} {_shown(value)}" for name, value in facts["scheme"].items()),
        ]
        say("\n".join(lines))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


def _facts(sketches: Sketches, output: Path) -> dict[str, Any]:
    return {
        "path": str(output),
        "documents": len(sketches),
        "bytes": output.stat().st_size,
        "skipped_rows": len(sketches.skipped),
        "scheme": sketches.scheme,
    }


def _report(sketches: Sketches, output: Path) -> str:
    size = output.stat().st_size
    each = f", {size / len(sketches):,.0f} a document" if len(sketches) else ""
    lines = [f"{counted(len(sketches), 'sketch', 'sketches')} of kind {sketches.kind}"]
    if sketches.skipped:
        lines.append(f"{counted(len(sketches.skipped), 'bad row')} skipped")
    return "\n".join([*lines, f"written to {output}, {size:,} bytes{each}"])
