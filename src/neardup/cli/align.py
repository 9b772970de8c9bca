"""``neardup align``: the passages that two collections share."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.display import Display, announce_compilation, say
from neardup.cli.options import options_of
from neardup.cli.wording import counted, list_skipped

if TYPE_CHECKING:
    from neardup.jobs.passages.align import AlignSummary
    from neardup.passages.documents import ReadOptions
    from neardup.passages.index import OpenIndex

_EPILOG = """\b
Examples:
  neardup align edition-1818.txt --against edition-1831.txt -o shared.jsonl
  neardup align questions.jsonl --against corpus/*.jsonl --min-tokens 25 -o leaks.parquet
  neardup align statutes/*.txt --against idx --threshold 0.7 --max-documents 20 -o copies.csv
"""


@click.command("align", epilog=_EPILOG)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options_of("align")
def command(
    inputs: tuple[str, ...],
    against: tuple[str, ...],
    output: Path,
    threshold: str,
    min_tokens: int | None,
    recall: str,
    gap: int | None,
    max_documents: int | None,
    no_text: bool,
    text_column: str,
    id_column: str | None,
    lines: bool,
    on_error: Any,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    **scheme: Any,
) -> None:
    """Find all passages that documents of INPUT and OTHER share.

    INPUT and OTHER are files, folders, globs or URLs, as for `neardup dedup`. The documents of
    OTHER are indexed in a temporary folder, unless OTHER is an index.

    Windows of every document of INPUT are looked up; what is found for neighbouring ones is put
    together, and its ends are moved to where the texts begin and cease to agree. Moved passages
    are told one by one.

    Writes query_id, query_start, query_end, doc_id, doc_start, doc_end and similarity, the true
    one of the two whole passages; places are characters of the original texts, ends exclusive.
    JSON lines also carry query_text and doc_text.
    """
    announce_compilation(quiet=quiet)
    from neardup.files.resolve import resolve_paths
    from neardup.jobs.passages.align import (
        DEFAULT_MIN_TOKENS,
        AlignOptions,
        align_sources,
        choose_given,
    )
    from neardup.outputs.folder import check_apart, check_outside
    from neardup.outputs.table_files import check_table_file, write_table
    from neardup.runtime.threads import count_workers

    check_table_file(output, overwrite=overwrite)
    n_workers = count_workers(workers)
    sources = resolve_paths(inputs, lines=lines)
    check_apart(output, [*(source.origin for source in sources), *against])
    is_index = len(against) == 1 and (Path(against[0]) / "manifest.json").exists()
    if is_index:
        check_outside(output, Path(against[0]))
    options = AlignOptions(
        threshold=threshold,
        recall=recall,
        min_tokens=DEFAULT_MIN_TOKENS if min_tokens is None and not is_index else min_tokens,
        gap=gap,
        max_documents=max_documents,
        with_text=output.suffix == ".jsonl" and not no_text,
        text_column=text_column,
        id_column=id_column,
        on_error=on_error,
    )
    chosen = choose_given(**scheme)
    start = time.perf_counter()
    with (
        Display(quiet=quiet) as display,
        _open_other(against, is_index, options, chosen, lines, n_workers, display) as index,
    ):
        table, summary = align_sources(index, sources, options, n_workers, display.report)
        write_table(table, output, overwrite=overwrite)
    seconds = time.perf_counter() - start
    if as_json:
        say(json.dumps(_as_json(summary, seconds), ensure_ascii=False))
    elif not quiet:
        say(_report(summary, max_documents, output, seconds))


@contextlib.contextmanager
def _open_other(
    against: tuple[str, ...],
    is_index: bool,
    options: Any,
    chosen: dict[str, Any],
    lines: bool,
    workers: int,
    display: Display,
) -> Iterator[OpenIndex]:
    """Open the index that is named, or make a temporary one of the documents."""
    from neardup.files.resolve import resolve_paths
    from neardup.jobs.passages.align import check_no_scheme, temporary_index, temporary_scheme
    from neardup.passages.index import read_index

    tokenizer = chosen.get("tokenizer")
    if is_index:
        check_no_scheme({name: value for name, value in chosen.items() if name != "tokenizer"})
        yield read_index(Path(against[0]), tokenizer, workers)
        return
    scheme = temporary_scheme(options.min_tokens, **chosen)
    others = resolve_paths(against, lines=lines)
    read: ReadOptions = options.read
    with temporary_index(
        others,
        scheme,
        read,
        tokenizer=tokenizer,
        workers=workers,
        progress=display.report,
    ) as index:
        yield index


def _as_json(summary: AlignSummary, seconds: float) -> dict[str, object]:
    return {
        "documents": [summary.n_queries, summary.n_documents],
        "aligned_documents": summary.n_aligned,
        "passages": summary.n_passages,
        "windows": summary.counts.windows,
        "frequent_windows": summary.counts.frequent_windows,
        "hits": summary.counts.hits,
        "certain_tokens": summary.certain_tokens,
        "predicted_recall": summary.predicted_recall,
        "skipped_rows": list_skipped(summary.skipped),
        "seconds": round(seconds, 3),
    }


def _report(summary: AlignSummary, max_documents: int | None, output: Path, seconds: float) -> str:
    lines = [
        f"{counted(summary.n_queries, 'document')} against "
        f"{counted(summary.n_documents, 'document')}: {counted(summary.n_passages, 'passage')} "
        f"in {counted(summary.n_aligned, 'document')}",
        f"{counted(summary.counts.windows, 'window')} looked up; a passage of "
        f"{summary.certain_tokens} tokens holds one whole, which is found at the threshold with "
        f"probability {summary.predicted_recall:.4f}",
    ]
    if summary.counts.frequent_windows:
        lines.append(
            f"{counted(summary.counts.frequent_windows, 'window')} left out, found in more than "
            f"{counted(max_documents or 0, 'document')}"
        )
    if summary.skipped:
        lines.append(f"{counted(len(summary.skipped), 'bad row')} skipped; --json lists them")
    return "\n".join([*lines, f"written to {output} in {seconds:.1f} s"])
