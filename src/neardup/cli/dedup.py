"""``neardup dedup``: a smaller copy of a collection, with proof for every removal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import wording
from neardup.cli.command import TableCommand, configuration
from neardup.cli.display import Display, reported, say, say_json
from neardup.cli.hints import hint_for_dedup
from neardup.cli.options import complete_paths, options_of
from neardup.cli.page_output import PageOutput
from neardup.cli.wording import (
    counted,
    describe_bands,
    describe_weights,
    list_passed_over,
    plural,
    say_ids,
    tables_of_groups,
    took,
    warn_of_recall,
)

if TYPE_CHECKING:
    from neardup.jobs.dedup.plan import DedupPlan
    from neardup.jobs.dedup.result import DeduplicationResult
    from neardup.options.choices import Engine
    from neardup.options.jobs import DedupOptions
    from neardup.outputs.targets import Target

_EPILOG = """\b
Examples:
  neardup dedup corpus/*.jsonl.zst -o clean
  neardup dedup train.parquet --against test.parquet --threshold 0.5 -o clean
  neardup dedup pages/ --keep longest --measure containment --threshold 0.9 -o clean
  neardup dedup corpus/*.jsonl --pairs pairs.parquet --threshold 0.95 -o stricter
  neardup dedup week-37.jsonl --against idx --add -o new
"""


@click.command(
    "dedup", cls=TableCommand, epilog=_EPILOG, short_help="Remove near-duplicate documents."
)
@click.argument(
    "inputs", nargs=-1, required=True, metavar="INPUT...", shell_complete=complete_paths
)
@options_of("dedup")
def command(
    inputs: tuple[str, ...],
    output: Target,
    page: Target | None,
    against: tuple[str, ...],
    pairs: str | None,
    output_format: Any,
    with_text: bool,
    overwrite: bool,
    engine: Engine,
    memory: str | None,
    work: Path | None,
    fresh: bool,
    idf_from: tuple[str, ...],
    trust: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Remove near-duplicate documents.

    INPUT is files, folders, globs, URLs or - for standard input: JSON lines, JSON, CSV, TSV,
    Parquet or text, also compressed (.gz .zst .xz .bz2); office documents and PDF; and zip and tar
    archives of these.

    OTHER is the same, or the folder of an index of documents, in which what is similar is looked
    up: memory and time do not grow with it. --add adds what stays to it, so that batches which come
    one after the other give what one run over all of them gives.

    Writes to the output folder: kept/ and removed/ with the input's rows, removed.parquet with the
    document that each removed one gives way to and their similarity, clusters.parquet, and
    summary.json. With --on-error skip also skipped/ with the bad rows as they came in, and
    skipped.parquet with file, row and reason of each.
    """
    if pairs is not None:
        from neardup.cli.dedup_by_pairs import decide_by_pairs

        decide_by_pairs(
            click.get_current_context(),
            inputs,
            pairs,
            output,
            page,
            output_format=output_format,
            with_text=with_text,
            overwrite=overwrite,
            memory=memory,
            work=work,
            workers=workers,
            quiet=quiet,
            as_json=as_json,
        )
        return
    from neardup.documents.other import index_among
    from neardup.files.convert import check_conversion
    from neardup.files.fitting import to_fit
    from neardup.files.resolve import resolve_paths
    from neardup.jobs.dedup.other import Other, open_index
    from neardup.jobs.dedup.plan import plan_deduplication
    from neardup.jobs.dedup.run import deduplicate_against
    from neardup.jobs.workspaces import key_of, open_workspace
    from neardup.options.jobs import DedupOptions
    from neardup.options.option import no_effect
    from neardup.outputs.folder import check_apart, check_output, check_outside
    from neardup.outputs.targets import check_room
    from neardup.runtime.runner import Runner

    chosen = DedupOptions(**options, idf_from=idf_from or None)
    if trust:
        raise no_effect("trust", "without pairs", "give pairs", "pairs")
    handle = index_among([Path(each) for each in against], chosen.tokenizer)
    # What an index decides is checked when it is open.
    plan = None
    if engine == "spark":
        plan = _plan_on_spark(
            chosen, workers, has_other=bool(against), has_index=handle is not None, fresh=fresh
        )
    elif handle is None:
        plan = plan_deduplication(chosen, has_other=bool(against))
    display = Display(quiet=quiet)
    runner = Runner(workers, display)
    check_output(output, overwrite=overwrite)
    # Those of the output folder are shown as text.
    of_bytes = chosen.reads_bytes and bool(against) and handle is None
    report = PageOutput(page, output, overwrite=overwrite, of_bytes=of_bytes)
    sources = resolve_paths(inputs, chosen)
    others = resolve_paths(against, chosen) if against and handle is None else []
    counted = resolve_paths(idf_from, chosen) if idf_from else None
    origins = [source.origin for source in [*sources, *others, *(counted or [])]]
    if handle is not None:
        origins.append(str(handle.folder))
        check_outside(output, handle.folder)
    check_apart(output, origins)
    report.check_apart(origins)
    check_conversion(sources, output_format)
    to_fit(sources, output_format)
    if output_format == "same":
        check_room(output, (source.size for source in sources))
    with ExitStack() as stack:
        if plan is not None:
            other = Other(plan, others, counted=counted)
        else:
            assert handle is not None
            other = stack.enter_context(open_index(handle, sources, chosen, runner))
        key = None
        if engine == "threads":
            scheme = other.plan.reading.shingles.describe()
            key = key_of(
                "dedup",
                other.plan.options,
                scheme,
                inputs=sources,
                against=other.sources,
                counted=counted or [],
            )
        if key is not None and any(source.demand is not None for source in sources):
            key["format"] = output_format
        if key is not None and other.state is not None:
            key["index"] = [other.state]
        workspace = open_workspace(memory, work, fresh=fresh, output=output, key=key)
        with workspace, reported(workspace.work, quiet=quiet), display:
            if engine == "threads":
                result = deduplicate_against(sources, other, runner, workspace)
            else:
                result = _on_spark()(sources, others, other.plan, runner, workspace, counted)
            result.summary |= configuration()
            result.write(
                output,
                overwrite=overwrite,
                format=output_format,
                with_text=with_text,
                progress=display,
            )
            lines = report.write(str(output), chosen, runner, against=others or None)
    if as_json:
        say_json(result.summary)
    elif not quiet:
        index = None if handle is None else handle.folder
        said = _report(result.summary, output, is_against=bool(against), index=index)
        say("\n".join([said, *lines]))


def _plan_on_spark(
    options: DedupOptions, workers: int | None, *, has_other: bool, has_index: bool, fresh: bool
) -> DedupPlan:
    """Check options for Spark, and those that only the command has."""
    from neardup.engines.spark.run import plan_on_spark
    from neardup.options.option import no_effect

    plan = plan_on_spark(options, has_other=has_other, has_index=has_index)
    if workers is not None:
        remedy = "set spark.executor.cores and spark.executor.instances"
        raise no_effect("workers", "with engine spark", remedy, "engine")
    if fresh:
        raise no_effect("fresh", "with engine spark", "choose engine threads", "engine")
    return plan


def _on_spark() -> Callable[..., DeduplicationResult]:
    """Return what runs the stages on the session that there is, or begins one."""
    from functools import partial

    from neardup.engines.spark.run import deduplicate_on_spark
    from neardup.engines.spark.session import cluster_of, current_session

    return partial(deduplicate_on_spark, cluster_of(current_session()))


def _report(
    summary: dict[str, Any], output: Target, *, is_against: bool, index: Path | None
) -> str:
    """Say in a few lines what happened."""
    exact = summary["exact_copies"]
    near = summary["documents_removed"] - exact
    scheme = summary["scheme"]
    lines = [
        f"{counted(summary['documents_in'], 'document')}: {summary['documents_kept']:,} kept, "
        f"{summary['documents_removed']:,} removed "
        f"({counted(exact, 'exact copy', 'exact copies')}, {counted(near, 'near-duplicate')})",
        f"similar: {summary['measure']} >= {summary['threshold']} over {scheme['tokenizer']} "
        f"{scheme['ngram']}-grams{describe_weights(scheme)}; {_how_found(summary)}",
        *warn_of_recall(summary),
    ]
    if is_against:
        lines.insert(1, _against(summary))
    if "method_choice" in summary:
        lines.append(_choice(summary["method_choice"]))
    if "audit" in summary:
        lines.append(_audit(summary["audit"]))
    lines += tables_of_groups(summary)
    lines += say_ids(summary)
    if "removed_beyond_survivors" in summary:
        more = counted(summary["removed_beyond_survivors"], "document")
        lines.append(f"components remove {more} more than survivors")
    lines += wording.lines(
        wording.note_empty(summary["empty_documents"], "kept"),
        wording.note_short(summary["short_documents"], summary["documents_in"], scheme["ngram"]),
        wording.note_skipped(summary, has_folder=True),
        # An index has decided what hints would name.
        hint_for_dedup(summary) if index is None else "",
    )
    lines += list_passed_over(summary["passed_over"])
    memory = summary["peak_memory_bytes"]
    size = f", {memory / 1e6:,.0f} MB of memory at most" if memory else ""
    if "documents_added" in summary:
        added = counted(summary["documents_added"], "document")
        lines.append(f"{added} added to the index {index}")
    if n_known := summary.get("documents_known", 0):
        were = "was" if n_known == 1 else "were"
        lines.append(
            f"{counted(n_known, 'document')} {were} there already, with the same id and text; was "
            "this input added before?"
        )
    lines.append(f"written to {output} in {took(summary['seconds'])}{size}")
    return "\n".join(lines)


def _against(summary: dict[str, Any]) -> str:
    """Say how many documents went for one of the other collection."""
    return (
        f"against {counted(summary['against_documents'], 'document')}: "
        f"{summary['removed_for_against']:,} removed for one of these, "
        f"{summary['removed_within']:,} for another of INPUT"
    )


def _how_found(summary: dict[str, Any]) -> str:
    if summary["method"] == "exact":
        return "joined exactly, none is missed"
    return describe_bands(summary)


def _choice(choice: dict[str, Any]) -> str:
    """Say what method auto chose, and why."""
    exact = choice["exact"]
    cost = "not looked into" if exact is None else f"about {exact:.1f} s of work"
    return (
        f"method {choice['chosen']} chosen: exact {cost}, minhash about {choice['minhash']:.1f} s"
    )


def _audit(audit: dict[str, Any]) -> str:
    drawn = counted(audit["documents"], "distinct text")
    if audit["recall"] is None:
        return f"audit of {drawn}: none is similar to another, so nothing is known of the recall"
    low, high = audit["interval"]
    return (
        f"audit of {drawn}: {audit['found_pairs']:,} of "
        f"{counted(audit['similar_pairs'], 'similar pair')} "
        f"{plural(audit['found_pairs'], 'shares', 'share')} a band; in the mean of "
        f"{counted(audit['similar_documents'], 'text')} the recall is {audit['recall']:.4f} "
        f"(95 % confidence: {low:.4f} to {high:.4f}); {audit['kept_although_similar']:,} of them "
        "kept beside a similar one"
    )
