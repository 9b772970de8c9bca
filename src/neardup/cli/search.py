"""``neardup search``: the passages of an index that are similar to queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import notes
from neardup.cli.command import TableCommand
from neardup.cli.completion import complete_paths
from neardup.cli.display import Display, announce_compilation, say_json
from neardup.cli.hints import hint_for_search
from neardup.cli.options import options_of
from neardup.cli.table_output import TableOutput
from neardup.cli.wording import counted, list_passed_over, say_ids, took

if TYPE_CHECKING:
    from neardup.options.choices import TableFormat
    from neardup.outputs.targets import Target

_EPILOG = """\b
Examples:
  neardup search idx questions.jsonl -o hits.jsonl
  neardup search idx passage.txt --threshold 0.6 -o hits.csv
  neardup search idx questions.jsonl --maximal -o spans.parquet
"""


@click.command("search", cls=TableCommand, epilog=_EPILOG)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument(
    "queries", nargs=-1, required=True, metavar="QUERY...", shell_complete=complete_paths
)
@options_of("search")
def command(
    folder: Path,
    queries: tuple[str, ...],
    output: Target,
    table_format: TableFormat | None,
    threshold: str,
    recall: str,
    maximal: bool,
    all_windows: bool,
    no_text: bool,
    tokenizer: str | None,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
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
    from neardup.passages.handle import PassageHandle
    from neardup.runtime.runner import Runner

    target = TableOutput(output, table_format, overwrite=overwrite, as_json=as_json)
    options = SearchOptions(
        threshold=threshold,
        recall=recall,
        report="maximal" if maximal else "windows" if all_windows else "best",
        with_text=target.is_json_lines and not no_text and not all_windows,
        **reading,
    )
    sources = resolve_paths(queries, options)
    target.check_apart([*(source.origin for source in sources), str(folder)], folder)
    with Display(quiet=quiet) as display:
        runner = Runner(workers, display)
        index = PassageHandle(folder, tokenizer).view(runner)
        seconds = runner.stopwatch()
        result = search_sources(index, sources, options, runner)
    target.write(result)
    if as_json:
        say_json(result.summary)
    elif not quiet:
        stages = {"all": seconds(), "compile": runner.compile_seconds}
        target.say(_report(result.summary, index.scheme.min_tokens, target, took(stages)))


def _report(summary: dict[str, Any], min_tokens: int, output: TableOutput, duration: str) -> str:
    n_short, n_empty = summary["short_queries"], summary["empty_queries"]
    lines = [
        f"{counted(summary['passages'], 'passage')} for {summary['found_queries']:,} of "
        f"{counted(summary['queries'], 'query', 'queries')}",
        f"a passage at the threshold is found with probability {summary['predicted_recall']:.4f}",
    ]
    lines += say_ids(summary)
    if n_short:
        lines.append(
            f"{counted(n_short, 'query', 'queries')} shorter than {min_tokens} tokens, for which "
            f"only passages of {min_tokens} or more are found; an index of a smaller --min-tokens "
            "finds shorter ones"
        )
    lines += notes.lines(
        notes.note_empty(n_empty, "similar to nothing", "query", "queries"),
        notes.note_skipped(len(summary["skipped_rows"]), "--json"),
        hint_for_search(summary),
    )
    lines += list_passed_over(summary["passed_over"])
    return "\n".join([*lines, f"written to {output} in {duration}"])
