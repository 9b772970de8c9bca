"""``neardup index``: documents kept so that they, or passages of them, are found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import wording
from neardup.cli.command import TableGroup
from neardup.cli.display import Display, say, say_json
from neardup.cli.options import complete_paths, options_of
from neardup.cli.wording import counted, list_passed_over, say_ids
from neardup.options.option import no_effect

if TYPE_CHECKING:
    from neardup.files.rows import Source
    from neardup.jobs.index_results import AdditionResult, CompactionResult, RemovalResult
    from neardup.options.choices import IndexKind
    from neardup.options.groups import TextReadingOptions
    from neardup.runtime.runner import Runner


# What the commands do with an index, by its kind.


def _how(reading: TextReadingOptions) -> Any:
    """Return how documents are read."""
    from neardup.jobs.options import columns_of
    from neardup.passages.documents import ReadOptions

    return ReadOptions(columns_of(reading), reading.skip_bad)


class Kind(ABC):
    """A kind of index: what its options mean, and what is said of it."""

    name: IndexKind

    @abstractmethod
    def open(self, folder: Path, tokenizer: str | None) -> Any:
        """Return the handle of an index."""

    @abstractmethod
    def make_scheme(self, options: dict[str, Any]) -> Any:
        """Make the scheme of a new index of options, those that were not given being None."""

    @abstractmethod
    def describe_room(self, found: dict[str, Any]) -> list[str]:
        """Say what room an index takes."""

    def build(
        self,
        folder: Path,
        scheme: Any,
        sources: Sequence[Source],
        reading: TextReadingOptions,
        runner: Runner,
        tokenizer: str | None,
    ) -> AdditionResult:
        """Make an index."""
        from neardup.jobs.index_changes import build

        handle = self.open(folder, tokenizer)
        return build(handle, scheme, sources, _how(reading), runner)

    def add(
        self,
        folder: Path,
        tokenizer: str | None,
        sources: Sequence[Source],
        reading: TextReadingOptions,
        runner: Runner,
    ) -> AdditionResult:
        """Add documents."""
        from neardup.jobs.index_changes import add

        return add(self.open(folder, tokenizer), sources, _how(reading), runner)

    def remove(self, folder: Path, ids: Sequence[str], runner: Runner) -> RemovalResult:
        """Take documents out."""
        from neardup.jobs.index_changes import remove

        return remove(self.open(folder, None), ids, runner)

    def compact(self, folder: Path, tokenizer: str | None, runner: Runner) -> CompactionResult:
        """Write an index anew."""
        from neardup.jobs.index_changes import compact

        return compact(self.open(folder, tokenizer), runner)

    def describe(self, folder: Path, tokenizer: str | None, runner: Runner) -> dict[str, Any]:
        """Check every byte, and return what an index holds."""
        from neardup.jobs.index_changes import describe

        return describe(self.open(folder, tokenizer), runner)


class _Passages(Kind):
    """Indexes of passages."""

    name = "passages"

    def open(self, folder: Path, tokenizer: str | None) -> Any:
        from neardup.passages.index import PassageHandle

        return PassageHandle(folder, tokenizer)

    def make_scheme(self, options: dict[str, Any]) -> Any:
        from neardup.options.jobs import PassageOptions
        from neardup.passages.scheme import make_passage_scheme

        own = PassageOptions.known
        for name, value in options.items():
            if name not in own and value:
                raise no_effect(name, "on passages", "choose --kind documents")
        chosen = {name: options[name] for name in own if options[name] is not None}
        return make_passage_scheme(**chosen)

    def describe_room(self, found: dict[str, Any]) -> list[str]:
        of_windows = (found["bytes"] - found["bytes_of_texts"]) / max(found["tokens"], 1)
        return [f"{found['bytes'] / 1e6:,.1f} MB, {of_windows:.1f} bytes a token without the texts"]


class _Documents(Kind):
    """Indexes of documents."""

    name = "documents"

    def open(self, folder: Path, tokenizer: str | None) -> Any:
        from neardup.documents.index import DocumentHandle

        return DocumentHandle(folder, tokenizer)

    def make_scheme(self, options: dict[str, Any]) -> Any:
        from neardup.jobs.documents.scheme import make_document_scheme
        from neardup.options.jobs import DocumentSchemeOptions

        chosen = dict(options)
        if chosen.pop("min_tokens") is not None:
            raise no_effect("min_tokens", "on documents", "choose --kind passages")
        chosen["with_text"] = not chosen.pop("no_text")
        given = {name: value for name, value in chosen.items() if value is not None}
        return make_document_scheme(DocumentSchemeOptions(**given))

    def describe_room(self, found: dict[str, Any]) -> list[str]:
        n_documents = max(found["documents"] + found["removed_documents"], 1)
        of_look_up = (found["bytes"] - found["bytes_of_texts"]) / n_documents
        lines = [
            f"{found['bytes'] / 1e6:,.1f} MB, {of_look_up:,.0f} bytes a document without the texts"
        ]
        if found["gone_documents"]:
            lines.append(f"{found['gone_documents']:,} documents went for others")
        return lines


KINDS: dict[IndexKind, Kind] = {"passages": _Passages(), "documents": _Documents()}

# Documents that are named one by one.
_ORPHANS_SHOWN = 10

_EPILOG = """\b
Examples:
  neardup index build idx corpus/*.jsonl.zst
  neardup index build seen --kind documents --threshold 0.7
  neardup index add idx new.jsonl
  neardup index remove idx --ids withdrawn.txt
  neardup index compact idx
  neardup index info idx
"""

_folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


@click.group("index", cls=TableGroup, epilog=_EPILOG)
def command() -> None:
    """Keep documents in an index, of passages or of whole documents.

    The index is a folder. `neardup search` reads it, `neardup align` one of passages, `neardup
    dedup` and `neardup pairs` one of documents, also while it is being changed; one command at a
    time may change it. Whatever happens to that command, the index is as before it or as after.
    """


@command.command("build")
@_folder
@click.argument("inputs", nargs=-1, metavar="[INPUT...]", shell_complete=complete_paths)
@options_of("index build")
def build(
    folder: Path,
    inputs: tuple[str, ...],
    kind: IndexKind,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Make an index of the documents of INPUT, without INPUT an empty one.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`. DIR must
    not exist.

    With --idf other than unary tokens are counted first: INPUT is read twice, and the counts stay
    as they are when documents are added later.
    """
    from neardup.files.input_options import check_effect
    from neardup.files.resolve import resolve_paths
    from neardup.options.groups import TextReadingOptions
    from neardup.options.option import no_effect
    from neardup.outputs.folder import INDEX, check_apart, new_folder
    from neardup.runtime.runner import Runner

    reading = TextReadingOptions(**{name: options.pop(name) for name in TextReadingOptions.known})
    for name, option in {} if inputs else reading.known.items():
        if getattr(reading, name) != option.default:
            raise no_effect(name, "without INPUT", "name files, or give it to index add")
    jobs = KINDS[kind]
    scheme = jobs.make_scheme(options)
    with Display(quiet=quiet) as display:
        runner = Runner(workers, display)
        sources = resolve_paths(inputs, reading) if inputs else []
        check_effect(reading, sources)
        check_apart(folder, (source.origin for source in sources))
        with new_folder(folder, overwrite=overwrite, kind=INDEX) as scratch:
            tokenizer = options["tokenizer"]
            addition = jobs.build(scratch, scheme, sources, reading, runner, tokenizer)
    if not (inputs or quiet or as_json):
        say(f"{folder} is an index of {kind}, of which there are none yet")
        return
    _tell(addition, folder, quiet=quiet, as_json=as_json)


@command.command("add")
@_folder
@click.argument(
    "inputs", nargs=-1, required=True, metavar="INPUT...", shell_complete=complete_paths
)
@options_of("index add")
def add(
    folder: Path,
    inputs: tuple[str, ...],
    tokenizer: str | None,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Add the documents of INPUT, all of them or none.

    Their ids must not be in the index yet.
    """
    from neardup.files.input_options import check_effect
    from neardup.files.resolve import resolve_paths
    from neardup.jobs.indexes import kind_of
    from neardup.options.groups import TextReadingOptions
    from neardup.runtime.runner import Runner

    reading = TextReadingOptions(**options)
    kind = KINDS[kind_of(folder)]
    with Display(quiet=quiet) as display:
        sources = resolve_paths(inputs, reading)
        check_effect(reading, sources)
        runner = Runner(workers, display)
        addition = kind.add(folder, tokenizer, sources, reading, runner)
    _tell(addition, folder, quiet=quiet, as_json=as_json)


@command.command("remove")
@_folder
@click.argument("ids", nargs=-1, metavar="[ID]...")
@options_of("index remove")
def remove(
    folder: Path, ids: tuple[str, ...], id_file: Path | None, quiet: bool, as_json: bool
) -> None:
    """Take documents out, all of them or none.

    They are not found any more; `neardup index compact` frees the room that they take. Of an index
    of documents it reports which ones had gone for a removed one.
    """
    from neardup.jobs.indexes import kind_of
    from neardup.runtime.runner import Runner

    wanted = [*ids, *_read_ids(id_file)]
    if not wanted:
        message = "name the documents to remove, or give a file of ids with --ids"
        if id_file is not None:
            message = f"{id_file} names no ids; give one id a line"
        raise click.UsageError(message)
    removal = KINDS[kind_of(folder)].remove(folder, wanted, Runner())
    if as_json:
        say_json(removal.summary)
    elif not quiet:
        removed = counted(removal.n_removed, "document")
        lines = [f"{removed} removed; `neardup index compact` frees their room"]
        lines += list_orphans(removal)
        say("\n".join(lines))


@command.command("compact")
@_folder
@options_of("index compact")
def compact(
    folder: Path, tokenizer: str | None, workers: int | None, quiet: bool, as_json: bool
) -> None:
    """Write the index anew without removed documents, in as few segments as possible.

    Answers stay the same. Needs room for both versions while it runs.
    """
    from neardup.jobs.indexes import kind_of
    from neardup.runtime.runner import Runner

    kind = KINDS[kind_of(folder)]
    with Display(quiet=quiet) as display:
        compaction = kind.compact(folder, tokenizer, Runner(workers, display))
    if as_json:
        say_json(compaction.summary)
    elif not quiet:
        say(f"{folder} now has {counted(compaction.n_segments, 'segment')}")


@command.command("info")
@_folder
@options_of("index info")
def info(folder: Path, tokenizer: str | None, as_json: bool) -> None:
    """Check every byte of an index and say what it holds."""
    from neardup.jobs.indexes import kind_of
    from neardup.runtime.runner import Runner

    kind = KINDS[kind_of(folder)]
    found = kind.describe(folder, tokenizer, Runner())
    if as_json:
        say_json(found)
        return
    removed = found["removed_documents"]
    lines = [
        f"{counted(found['documents'], 'document')}, {counted(found['tokens'], 'token')} in "
        f"{counted(found['segments'], 'segment')}"
        + (f"; {counted(removed, 'document')} removed" if removed else ""),
        *kind.describe_room(found),
        *(f"{name}: {_as_decimal(name, value)}" for name, value in found["scheme"].items()),
    ]
    say("\n".join(lines))


def _as_decimal(name: str, value: object) -> object:
    """Return a share, which is kept as a fraction, as it was given."""
    return f"{float(Fraction(str(value))):g}" if name in ("threshold", "recall") else value


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


def list_orphans(removal: RemovalResult) -> list[str]:
    """Say which documents had gone for removed ones."""
    orphans = getattr(removal, "orphans", None)
    if orphans is None or not len(orphans):
        return []
    shown = orphans.slice(0, _ORPHANS_SHOWN).to_pylist()
    removed = "it" if removal.n_removed == 1 else "them"
    lines = [
        f"{counted(len(orphans), 'document')} had gone for {removed}; add again what you want back:"
    ]
    lines += (f"  {each['id']} (for {each['kept_id']})" for each in shown)
    if len(orphans) > len(shown):
        lines.append(f"  and {len(orphans) - len(shown):,} more, all with --json")
    return lines


def _tell(addition: AdditionResult, folder: Path, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        say_json(addition.summary)
        return
    if quiet:
        return
    lines = [
        f"{counted(addition.n_documents, 'document')} with "
        f"{counted(addition.n_tokens, 'token')} added to {folder} in {addition.seconds:.1f} s"
    ]
    lines += say_ids(addition.summary)
    lines += wording.lines(wording.note_empty(addition.n_empty, "never found"))
    if addition.n_short:
        lines.append(
            f"{counted(addition.n_short, 'document')} with fewer tokens than --min-tokens, never "
            "found; a smaller number includes them"
        )
    lines += wording.lines(wording.note_skipped(addition.summary))
    lines += list_passed_over(addition.passed_over)
    say("\n".join(lines))
