"""The ``neardup search`` command for passages or documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from neardup.cli.call import Call, TableOutput, describe_recall, footer
from neardup.cli.command import argument, job_command
from neardup.options.choices import Number, PassagePresetName
from neardup.options.document_options import DocumentSearchOptions
from neardup.options.groups import (
    CommandOptions,
    EngineOptions,
    IndexTokenizerOptions,
    ReadingOptions,
    TableOptions,
    WhereOptions,
)
from neardup.options.kinds import Switch
from neardup.options.option import option
from neardup.options.passage_options import PassageMatchOptions, SearchOptions
from neardup.runs.progress import counted

_EPILOG = """\b
Examples:
  neardup search idx questions.jsonl -o hits.jsonl
  neardup search idx passage.txt --threshold 0.6 -o hits.csv
  neardup search seen new/*.jsonl --limit 3 -o known.csv
"""


class SearchCommandOptions(
    WhereOptions,
    PassageMatchOptions,
    ReadingOptions,
    IndexTokenizerOptions,
    TableOptions,
    EngineOptions,
    CommandOptions,
):
    """Options of ``neardup search`` for both kinds of index."""

    heading = "Matching"

    preset: PassagePresetName | None = option(SearchOptions.known["preset"], default=None)
    threshold: Number | None = option(
        SearchOptions.known["threshold"], default=None, usual="0.8; for documents that of the index"
    )
    limit: int | None = option(DocumentSearchOptions.known["limit"], default=None)
    measure: Any = option(
        SearchOptions.known["measure"],
        default=None,
        help="Passages: jaccard, or containment of the query.",
        usual="jaccard",
    )
    with_text: Any = option(
        SearchOptions.known["with_text"],
        Switch(),
        default=None,
        usual="for JSON lines and spreadsheets",
    )


@job_command(
    "search",
    SearchCommandOptions,
    argument("folder", "DIR", type=click.Path(path_type=Path)),
    argument("queries", "QUERY...", nargs=-1),
    epilog=_EPILOG,
)
def search(call: Call, folder: Path, queries: tuple[str, ...]) -> None:
    """Search the index DIR for texts similar to queries.

    QUERY is files, folders, globs, URLs or - for standard input, as for `neardup dedup`. Every
    document is one query as a whole.

    For an index of passages it writes query_id, query_start, query_end, doc_id, doc_start, doc_end
    and similarity. Starts and ends count characters of the original texts, ends exclusive. JSON
    lines and spreadsheets also have query_text and doc_text. For an index of documents it writes
    query_id, doc_id and similarity, the most similar first.
    """
    from neardup.documents.other import open_handle
    from neardup.engine.opening import key_with_index
    from neardup.files.inputs import origins_of
    from neardup.jobs.search import search_documents, search_passages

    given: SearchCommandOptions = call.options
    if call.is_on_spark:
        given.check_left_out(["memory"], "with engine spark", "give executors more", "engine")
        call.check_spark()
    handle = open_handle(folder, given.tokenizer)
    is_of_documents = handle.kind == "documents"
    output = TableOutput(call)
    options: Any
    if is_of_documents:
        where, remedy = "on an index of documents", "search an index of passages"
        names = ("preset", "recall", "with_text", "places", "place_marker")
        given.check_left_out(names, where, remedy)
        if not call.is_on_spark:
            where = f"{where} with engine threads"
            given.check_left_out(("memory", "work"), where, remedy, "engine")
        options = given.part(DocumentSearchOptions)
    else:
        given.check_left_out(["limit"], "on passages", "search an index of documents")
        options = given.part(SearchOptions, with_text=output.takes_texts())
    sources = call.sources(queries, options)
    output.check_apart([*origins_of(sources), str(folder)], folder)
    with call.display:
        index = handle.view(call.runner)
    key = None
    if call.is_on_spark:
        key = key_with_index("search", options, index, folder, inputs=sources)
    with call.working(output.place, key) as workspace, call.display:
        engine, shared = call.engine_within(workspace), handle.share(index)
        result: Any
        if is_of_documents:
            result = search_documents(engine, shared, sources, options)
            found = result.summary
            lines = [
                f"{counted(found['matches'], 'document')} {_for_queries(found)}, "
                f"{found['measure']} {found['threshold']:g} or more",
                "a document at the threshold is found with probability "
                f"{found['predicted_recall']:.4f}",
            ]
        else:
            result = search_passages(engine, shared, sources, options)
            lines = [
                f"{counted(result.summary['passages'], 'passage')} {_for_queries(result.summary)}",
                f"a passage at the threshold is found{describe_recall(result.summary)}",
            ]
        output.write(result)
    output.print_result(result.summary, *lines, *footer(result.summary, output))


def _for_queries(summary: Mapping[str, Any]) -> str:
    queries = counted(summary["queries"], "query", "queries")
    return f"for {summary['found_queries']:,} of {queries}"
