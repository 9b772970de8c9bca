"""``neardup search``: the passages or documents of an index that are similar to queries."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from neardup.cli import wording
from neardup.cli.command import TableCommand
from neardup.cli.display import Display, say_json
from neardup.cli.hints import hint_for_search
from neardup.cli.options import complete_paths, options_of
from neardup.cli.page_output import PageOutput
from neardup.cli.table_output import TableOutput
from neardup.cli.wording import counted, list_passed_over, say_ids
from neardup.options.option import no_effect

if TYPE_CHECKING:
    from neardup.files.rows import Source
    from neardup.jobs.documents.result import DocumentSearchResult
    from neardup.jobs.passages.result import PassageResult
    from neardup.options.choices import TableFormat
    from neardup.outputs.targets import Target
    from neardup.runtime.runner import Runner

_EPILOG = """\b
Examples:
  neardup search idx questions.jsonl -o hits.jsonl
  neardup search idx passage.txt --threshold 0.6 -o hits.csv
  neardup search idx questions.jsonl --maximal -o spans.parquet
  neardup search seen new/*.jsonl --limit 3 -o known.csv
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
    page: Target | None,
    table_format: TableFormat | None,
    threshold: str | None,
    recall: str | None,
    hits: int | None,
    maximal: bool,
    all_windows: bool,
    limit: int | None,
    with_text: bool,
    no_text: bool,
    tokenizer: str | None,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Find the passages or documents in the index DIR that are similar to queries.

    QUERY is files, folders, globs, URLs or - for standard input, as for `neardup dedup`; every
    document of theirs is a query, and is looked for as a whole.

    Of an index of passages it writes query_id, query_start, query_end, doc_id, doc_start, doc_end
    and similarity; places are characters of the original texts, ends exclusive. JSON lines and
    spreadsheets also carry query_text and doc_text. Of an index of documents it writes query_id,
    doc_id and similarity, the most similar first.
    """
    if maximal and all_windows:
        message = "choose either --maximal or --all-windows"
        raise click.UsageError(message)
    from neardup.jobs.indexes import kind_of
    from neardup.runtime.runner import Runner

    target = TableOutput(output, table_format, overwrite=overwrite, as_json=as_json)
    report = PageOutput(page, output, overwrite=overwrite)
    given: dict[str, Any] = {"threshold": threshold, "recall": recall, "hits": hits}
    given |= {"limit": limit, "maximal": maximal, "all_windows": all_windows}
    given |= {"with_text": with_text, "no_text": no_text}
    search = _search_documents if kind_of(folder) == "documents" else _search_passages
    with Display(quiet=quiet) as display:
        runner = Runner(workers, display)
        result, said, read = search(folder, tokenizer, queries, given, reading, target, runner)
        target.write(result)
        lines = report.write(result, read.options, runner, read.queries, read.documents)
    if as_json:
        say_json(result.summary)
    elif not quiet:
        target.say("\n".join([said, *lines]))


class _Read(NamedTuple):
    """What a page reads for the texts, if it does: queries, and the documents of the index."""

    options: Any = None
    queries: Sequence[Source] | None = None
    documents: Sequence[Source] | None = None


def _search_passages(
    folder: Path,
    tokenizer: str | None,
    queries: tuple[str, ...],
    given: dict[str, Any],
    reading: dict[str, Any],
    target: TableOutput,
    runner: Runner,
) -> tuple[PassageResult, str, _Read]:
    from neardup.files.resolve import resolve_paths
    from neardup.indexes.source import IndexSource
    from neardup.jobs.passages.search import search_sources
    from neardup.options.jobs import SearchOptions
    from neardup.passages.index import PassageHandle

    if given["limit"] is not None:
        raise no_effect("limit", "on passages", "search an index of documents")
    all_windows = given["all_windows"]
    chosen = {
        name: given[name] for name in ("threshold", "recall", "hits") if given[name] is not None
    }
    if all_windows and given["with_text"]:
        raise no_effect("with_text", "with all_windows", "leave that out", "all_windows")
    with_text = target.takes_texts(with_text=given["with_text"], no_text=given["no_text"])
    options = SearchOptions(
        **chosen,
        report="maximal" if given["maximal"] else "windows" if all_windows else "best",
        with_text=with_text and not all_windows,
        **reading,
    )
    sources = resolve_paths(queries, options)
    target.check_apart([*(source.origin for source in sources), str(folder)], folder)
    index = PassageHandle(folder, tokenizer).view(runner)
    start = time.perf_counter()
    result = search_sources(index, sources, options, runner)
    duration = f"{time.perf_counter() - start:.1f} s"
    said = _report(result.summary, index.scheme.min_tokens, target, duration)
    return result, said, _Read(options, sources, [IndexSource(index, folder)])


def _search_documents(
    folder: Path,
    tokenizer: str | None,
    queries: tuple[str, ...],
    given: dict[str, Any],
    reading: dict[str, Any],
    target: TableOutput,
    runner: Runner,
) -> tuple[DocumentSearchResult, str, _Read]:
    from neardup.documents.index import DocumentHandle
    from neardup.files.resolve import resolve_paths
    from neardup.jobs.documents.search import search_documents
    from neardup.options.jobs import DocumentSearchOptions

    for name in ("recall", "hits", "maximal", "all_windows", "with_text", "no_text"):
        if given[name]:
            raise no_effect(name, "on an index of documents", "search an index of passages")
    options = DocumentSearchOptions(threshold=given["threshold"], limit=given["limit"], **reading)
    sources = resolve_paths(queries, options)
    target.check_apart([*(source.origin for source in sources), str(folder)], folder)
    index = DocumentHandle(folder, tokenizer).view(runner)
    start = time.perf_counter()
    result = search_documents(index, sources, options, runner)
    duration = f"{time.perf_counter() - start:.1f} s"
    # The index need not have texts.
    return result, _report_documents(result.summary, target, duration), _Read()


def _report_documents(summary: dict[str, Any], output: TableOutput, duration: str) -> str:
    lines = [
        f"{counted(summary['matches'], 'document')} for {summary['found_queries']:,} of "
        f"{counted(summary['queries'], 'query', 'queries')}, {summary['measure']} "
        f"{summary['threshold']:g} or more",
        f"a document at the threshold is found with probability {summary['predicted_recall']:.4f}",
    ]
    lines += say_ids(summary)
    lines += wording.lines(
        wording.note_empty(summary["empty_queries"], "similar to nothing", "query", "queries"),
        wording.note_skipped(summary),
    )
    lines += list_passed_over(summary["passed_over"])
    return "\n".join([*lines, f"written to {output} in {duration}"])


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
    lines += wording.lines(
        wording.note_empty(n_empty, "similar to nothing", "query", "queries"),
        wording.note_skipped(summary),
        hint_for_search(summary),
    )
    lines += list_passed_over(summary["passed_over"])
    return "\n".join([*lines, f"written to {output} in {duration}"])
