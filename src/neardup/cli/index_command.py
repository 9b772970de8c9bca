"""The ``neardup index`` command for documents and passages."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from neardup.cli.call import Call, footer
from neardup.cli.command import ANY_INPUTS, INPUTS, argument, job_command
from neardup.options.choices import (
    ColumnNames,
    DocumentMeasure,
    IndexKind,
    Number,
    Occurrences,
    PresetName,
)
from neardup.options.document_options import DocumentSchemeOptions
from neardup.options.groups import (
    BandOptions,
    CommandOptions,
    IndexTokenizerOptions,
    OccurrenceOptions,
    OutputOptions,
    PrintOptions,
    ReadingOptions,
    WhereOptions,
)
from neardup.options.kinds import Location, Whole
from neardup.options.option import but, option
from neardup.options.passage_options import PassageOptions, PassageSchemeOptions
from neardup.options.presets import preset_option
from neardup.runs.progress import counted

_EPILOG = """\b
Examples:
  neardup index build idx corpus/*.jsonl.zst
  neardup index build seen --kind documents --threshold 0.7
  neardup index add idx new.jsonl
  neardup index remove idx --ids withdrawn.txt
  neardup index remove seen page/7 --deny
  neardup index compact idx
  neardup index info idx
"""

_FOLDER = argument("folder", "DIR", type=click.Path(path_type=Path))


class _BuildOptions(
    PassageSchemeOptions,
    BandOptions,
    OccurrenceOptions,
    WhereOptions,
    ReadingOptions,
    CommandOptions,
):
    """Options of ``neardup index build`` for both kinds."""

    heading = "Matching"

    kind: IndexKind = option("Index passages or whole documents.", default="passages")
    preset: PresetName | None = preset_option(PresetName)
    threshold: Number | None = option(
        DocumentSchemeOptions.known["threshold"],
        default=None,
        help="Documents: least similarity that can be searched.",
        usual="0.8",
    )
    measure: DocumentMeasure | None = option(
        DocumentSchemeOptions.known["measure"],
        default=None,
        help="Documents: similarity measure.",
        usual="jaccard",
    )
    min_tokens: int | None = option(
        PassageOptions.known["min_tokens"],
        default=None,
        help="Passages: length in tokens from which all are found.",
        usual="50",
    )
    columns: ColumnNames | None = option(DocumentSchemeOptions.known["columns"], default=None)
    occurrences: Occurrences | None = None
    overwrite: bool = option(OutputOptions.known["overwrite"], default=False)
    differs = but(
        tf={"usual": "binary; raw for documents"},
        idf={"usual": "unary; smooth for documents"},
        num_perm={"kind": Whole(0, 65536), "usual": "64; 128 for documents, at most"},
        ngram={"usual": "1; 5 for documents, 1 if weighted"},
        occurrences={"usual": "set"},
        recall={"help": "Documents: least probability that a similar one is found."},
        bands={"help": "Documents: bands and rows, such as 20x5."},
    )


class _AddOptions(WhereOptions, ReadingOptions, IndexTokenizerOptions, CommandOptions):
    """Options of ``neardup index add``."""


class _RemoveOptions(IndexTokenizerOptions, PrintOptions):
    """Options of ``neardup index remove``."""

    heading = "Input"

    id_file: Path | None = option(
        "File with one id per line; - is standard input.",
        Location(is_file=True),
        default=None,
        flags=("--ids",),
    )
    deny: bool = option(
        "Documents: leave them out where they come again.",
        default=False,
        more="The index remembers them without their texts.",
    )


class _CompactOptions(IndexTokenizerOptions, CommandOptions):
    """Options of ``neardup index compact``."""


class _InfoOptions(IndexTokenizerOptions):
    """Options of ``neardup index info``."""

    heading = "Running"

    json: bool = option(PrintOptions.known["json"], default=False)


class _IndexGroup(click.Group):
    """The commands of an index, in order of definition."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group("index", cls=_IndexGroup, epilog=_EPILOG)
def index() -> None:
    """Keep passages or whole documents in an index.

    The index is a folder. `neardup search` reads it, `neardup align` one of passages, `neardup
    dedup` and `neardup pairs` one of documents, also while it is being changed; one command at a
    time may change it. Whatever happens to that command, the index is as before it or as after.
    """


@job_command("build", _BuildOptions, _FOLDER, ANY_INPUTS)
def build(call: Call, folder: Path, inputs: tuple[str, ...]) -> None:
    """Make an index of INPUT, or an empty one.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`. DIR must
    not exist.

    With --idf other than unary tokens are counted first: INPUT is read twice, and the counts stay
    as they are when documents are added later.
    """
    from neardup.documents.other import open_handle
    from neardup.files.destinations import check_apart, new_folder
    from neardup.files.inputs import Inputs, origins_of
    from neardup.index.store import FILE, Database, create_index, index_named
    from neardup.jobs.index.base_index import add

    given: _BuildOptions = call.options
    reading = given.part(ReadingOptions)
    if not inputs:
        remedy = "name files, or give it to index add"
        given.check_left_out((*reading.known, "where"), "without INPUT", remedy)
    scheme, preset = _make_scheme(given)
    with call.display:
        sources = call.sources(inputs, reading) if inputs else Inputs([])
        check_apart(folder, origins_of(sources))
        with ExitStack() as stack:
            made = new_folder(folder, overwrite=given.overwrite, mark=FILE)
            scratch = stack.enter_context(made)
            if index_named(folder) is not None:
                # Additions by other processes to the replaced index would be lost.
                stack.enter_context(Database(folder).writing(0))
            create_index(scratch, scheme.describe())
            handle = open_handle(scratch, given.tokenizer)
            addition = add(handle, sources, reading, call.runner)
            # The folder is moved to its place.
            handle.database.close()
    summary = addition.summary | preset
    lines = [f"{folder} is an empty index of {given.kind}", *footer(summary)]
    if inputs:
        lines = _report_addition(summary, folder)
    call.print_result(summary, *lines)


def _make_scheme(given: _BuildOptions) -> tuple[Any, dict[str, Any]]:
    if given.kind == "passages":
        from neardup.passages.windows import make_passage_scheme

        unused = [name for name in DocumentSchemeOptions.known if name not in PassageOptions.known]
        given.check_left_out(unused, "on passages", "choose --kind documents")
        of_passages = given.part(PassageOptions)
        scheme = make_passage_scheme(**vars(of_passages))
        return scheme, of_passages.describe_preset()
    from neardup.stages.options import make_document_scheme

    given.check_left_out(["min_tokens"], "on documents", "choose --kind passages")
    options = given.part(DocumentSchemeOptions)
    return make_document_scheme(options), options.describe_preset()


@job_command("add", _AddOptions, _FOLDER, INPUTS)
def add(call: Call, folder: Path, inputs: tuple[str, ...]) -> None:
    """Add the documents of INPUT, all of them or none.

    Their ids must not be in the index yet.
    """
    from neardup.documents.other import open_handle
    from neardup.jobs.index.base_index import add

    given: _AddOptions = call.options
    reading = given.part(ReadingOptions)
    handle = open_handle(folder, given.tokenizer)
    with call.display:
        sources = call.sources(inputs, reading)
        addition = add(handle, sources, reading, call.runner)
    call.print_result(addition.summary, *_report_addition(addition.summary, folder))


@job_command(
    "remove", _RemoveOptions, _FOLDER, argument("ids", "[ID]...", nargs=-1, required=False)
)
def remove(call: Call, folder: Path, ids: tuple[str, ...]) -> None:
    """Take documents out, all of them or none.

    They are not found any more; `neardup index compact` frees their disk space. For an index
    of documents it lists documents that were left out in favour of a removed one.

    With --deny they do not come back: `neardup index add`, `neardup dedup --against` and insertions
    leave out a document with the same tokens.
    """
    from neardup.documents.other import open_handle
    from neardup.runs.runner import Runner

    given: _RemoveOptions = call.options
    wanted = [*ids, *_read_ids(given.id_file)]
    if not wanted:
        message = "name the documents to remove, or give a file of ids with --ids"
        if given.id_file is not None:
            message = f"{given.id_file} names no ids; give one id a line"
        raise click.UsageError(message)
    handle = open_handle(folder, given.tokenizer)
    removal = handle.remove(wanted, Runner(), deny=given.deny)
    removed = counted(removal.n_removed, "document")
    lines = [f"{removed} removed; `neardup index compact {folder}` frees the disk space"]
    if given.deny:
        denied = counted(removal.n_denied, "document")
        lines.append(f"the index denies {denied} from now on, and any left out for a removed one")
    elif orphans := removal.summary.get("orphans"):
        left_out = f"{counted(len(orphans), 'document')} had been left out in favour of these"
        lines.append(f"{left_out}; add again any that you need:")
        lines += [f"  {each['id']} (for {each['kept_id']})" for each in orphans]
    call.print_result(removal.summary, *lines)


@job_command("compact", _CompactOptions, _FOLDER)
def compact(call: Call, folder: Path) -> None:
    """Write the index anew without removed documents.

    Answers stay the same, with as few segments as possible. Needs room for both versions.
    """
    from neardup.documents.other import open_handle

    handle = open_handle(folder, call.options.tokenizer)
    with call.display:
        compaction = handle.compact(call.runner)
    segments = counted(compaction.n_segments, "segment")
    call.print_result(compaction.summary, f"{folder} now has {segments}")


@job_command("info", _InfoOptions, _FOLDER)
def info(call: Call, folder: Path) -> None:
    """Check every byte of an index and describe it."""
    from neardup.documents.other import open_handle
    from neardup.runs.runner import Runner

    handle = open_handle(folder, call.options.tokenizer)
    facts = handle.describe(Runner())
    counts = [
        f"{counted(facts['documents'], 'document')}, {counted(facts['tokens'], 'token')} in "
        f"{counted(facts['segments'], 'segment')}"
    ]
    for name in ("removed", "gone", "denied"):
        if n := facts.get(f"{name}_documents"):
            counts.append(f"{counted(n, 'document')} {name}")
    n_bytes, n_bytes_of_texts = facts["bytes"], facts["bytes_of_texts"]
    lines = [
        "; ".join(counts),
        f"{n_bytes / 1e6:,.1f} MB, {n_bytes_of_texts / 1e6:,.1f} MB of them texts",
    ]
    for name, value in facts["scheme"].items():
        if name in ("threshold", "recall"):
            # A share is kept as a fraction, and shown as it was given.
            value = f"{float(Fraction(str(value))):g}"
        lines.append(f"{name}: {value}")
    call.print_result(facts, *lines)


def _read_ids(file: Path | None) -> list[str]:
    from neardup.errors import ReadError

    if file is None:
        return []
    try:
        with click.open_file(str(file), encoding="utf-8") as stream:
            return [line.rstrip("\r\n") for line in stream if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text; give one id a line"
        raise ReadError(str(reason), path=str(file)) from None


def _report_addition(summary: Mapping[str, Any], folder: Path) -> list[str]:
    lines = [
        f"{counted(summary['documents'], 'document')} with {counted(summary['tokens'], 'token')} "
        f"added to {folder} in {summary['seconds']:.1f} s"
    ]
    if denied := summary.get("denied"):
        lines.append(f"{counted(len(denied), 'document')} left out, denied; --json lists them")
    return [*lines, *footer(summary)]


for _command in (build, add, remove, compact, info):
    index.add_command(_command)
