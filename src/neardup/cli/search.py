"""``neardup search``: the passages of an index that are similar to queries."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.display import Display, announce_compilation, say
from neardup.cli.options import options_of
from neardup.cli.wording import counted, list_skipped, plural

if TYPE_CHECKING:
    from neardup.jobs.passages.search import SearchSummary

_EPILOG = """\b
Examples:
  neardup search idx questions.jsonl -o hits.jsonl
  neardup search idx passage.txt --threshold 0.6 -o hits.csv
  neardup search idx questions.jsonl --maximal -o spans.parquet
"""


@click.command("search", epilog=_EPILOG)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("queries", nargs=-1, required=True, metavar="QUERY...")
@options_of("search")
def command(
    folder: Path,
    queries: tuple[str, ...],
    output: Path,
    threshold: str,
    recall: str,
    maximal: bool,
    all_windows: bool,
    no_text: bool,
    tokenizer: str | None,
    text_column: str,
    id_column: str | None,
    lines: bool,
    on_error: Any,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find the passages in the index DIR that are similar to queries.

    QUERY is files, folders, globs, URLs or - for standard input, as for `neardup dedup`; every
    document of theirs is a query, and is looked for as a whole.

    Writes query_id, query_start, query_end, doc_id, doc_start, doc_end and similarity; places are
    characters of the original texts, ends exclusive. JSON lines also carry query_text and doc_text.
    """
    if maximal and all_windows:
        message = "choose either --maximal or --all-windows"
        raise click.UsageError(message)
    announce_compilation(quiet=quiet)
    from neardup.files.resolve import resolve_paths
    from neardup.jobs.passages.search import SearchOptions, search_sources
    from neardup.outputs.folder import check_apart, check_outside
    from neardup.outputs.table_files import check_table_file, write_table
    from neardup.passages.index import read_index
    from neardup.runtime.threads import count_workers

    check_outside(output, folder)
    check_table_file(output, overwrite=overwrite)
    n_workers = count_workers(workers)
    sources = resolve_paths(queries, lines=lines)
    check_apart(output, [*(source.origin for source in sources), str(folder)])
    options = SearchOptions(
        threshold=threshold,
        recall=recall,
        report="maximal" if maximal else "windows" if all_windows else "best",
        with_text=output.suffix == ".jsonl" and not no_text and not all_windows,
        text_column=text_column,
        id_column=id_column,
        on_error=on_error,
    )
    index = read_index(folder, tokenizer, n_workers)
    start = time.perf_counter()
    with Display(quiet=quiet) as display:
        table, summary = search_sources(index, sources, options, n_workers, display.report)
        write_table(table, output, overwrite=overwrite)
    seconds = time.perf_counter() - start
    if as_json:
        say(json.dumps(_as_json(summary, seconds), ensure_ascii=False))
    elif not quiet:
        say(_report(summary, index.scheme.min_tokens, output, seconds))


def _as_json(summary: SearchSummary, seconds: float) -> dict[str, object]:
    return {
        "queries": summary.n_queries,
        "found_queries": summary.n_found,
        "passages": summary.n_passages,
        "empty_queries": summary.n_empty,
        "short_queries": summary.n_short,
        "least_hits": summary.least_hits,
        "predicted_recall": summary.predicted_recall,
        "skipped_rows": list_skipped(summary.skipped),
        "seconds": round(seconds, 3),
    }


def _report(summary: SearchSummary, min_tokens: int, output: Path, seconds: float) -> str:
    lines = [
        f"{counted(summary.n_passages, 'passage')} for {summary.n_found:,} of "
        f"{counted(summary.n_queries, 'query', 'queries')}",
        f"a passage at the threshold is found with probability {summary.predicted_recall:.4f}",
    ]
    if summary.n_short:
        lines.append(
            f"warning: {counted(summary.n_short, 'query', 'queries')} "
            f"{plural(summary.n_short, 'has', 'have')} fewer tokens than the index's min-tokens "
            f"({min_tokens}); only passages of {min_tokens} tokens or more are found for "
            f"{plural(summary.n_short, 'it', 'them')}. An index of shorter ones finds more"
        )
    if summary.n_empty:
        empty = counted(summary.n_empty, "query", "queries")
        lines.append(f"{empty} without tokens, similar to nothing")
    if summary.skipped:
        lines.append(f"{counted(len(summary.skipped), 'bad row')} skipped; --json lists them")
    return "\n".join([*lines, f"written to {output} in {seconds:.1f} s"])
