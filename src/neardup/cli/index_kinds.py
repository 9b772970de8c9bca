"""What the commands do with an index, by its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.options.option import no_effect

if TYPE_CHECKING:
    from neardup.files.rows import Source
    from neardup.jobs.document_options import ReadingOptions
    from neardup.jobs.index_results import AdditionResult, CompactionResult, RemovalResult
    from neardup.options.choices import IndexKind
    from neardup.runtime.runner import Runner


class Kind(ABC):
    """A kind of index: its jobs, which have the same functions for all kinds."""

    name: IndexKind

    @property
    def _jobs(self) -> Any:
        """The module of the jobs, which is loaded when there is something to do."""
        return import_module(f"neardup.jobs.{self.name}.index")

    @abstractmethod
    def open(self, folder: Path, tokenizer: str | None) -> Any:
        """Return the handle of an index."""

    @abstractmethod
    def read_options(self, reading: ReadingOptions) -> Any:
        """Return how documents are read."""

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
        reading: ReadingOptions,
        runner: Runner,
        tokenizer: str | None,
    ) -> AdditionResult:
        """Make an index."""
        read = self.read_options(reading)
        made: AdditionResult = self._jobs.build(
            folder, scheme, sources, read, runner, tokenizer=tokenizer
        )
        return made

    def add(
        self,
        folder: Path,
        tokenizer: str | None,
        sources: Sequence[Source],
        reading: ReadingOptions,
        runner: Runner,
    ) -> AdditionResult:
        """Add documents."""
        read = self.read_options(reading)
        added: AdditionResult = self._jobs.add(self.open(folder, tokenizer), sources, read, runner)
        return added

    def remove(self, folder: Path, ids: Sequence[str], runner: Runner) -> RemovalResult:
        """Take documents out."""
        removed: RemovalResult = self._jobs.remove(self.open(folder, None), ids, runner)
        return removed

    def compact(self, folder: Path, tokenizer: str | None, runner: Runner) -> CompactionResult:
        """Write an index anew."""
        compacted: CompactionResult = self._jobs.compact(self.open(folder, tokenizer), runner)
        return compacted

    def describe(self, folder: Path, tokenizer: str | None, runner: Runner) -> dict[str, Any]:
        """Check every byte, and return what an index holds."""
        found: dict[str, Any] = self._jobs.describe(self.open(folder, tokenizer), runner)
        return found


class _Passages(Kind):
    """Indexes of passages."""

    name = "passages"

    def open(self, folder: Path, tokenizer: str | None) -> Any:
        from neardup.passages.handle import PassageHandle

        return PassageHandle(folder, tokenizer)

    def read_options(self, reading: ReadingOptions) -> Any:
        from neardup.passages.documents import ReadOptions

        return ReadOptions(reading.columns, reading.skip_bad)

    def make_scheme(self, options: dict[str, Any]) -> Any:
        from neardup.options.jobs import SCHEME_OF_PASSAGES
        from neardup.passages.scheme import make_passage_scheme

        own = {option.name for option in SCHEME_OF_PASSAGES}
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
        from neardup.documents.handle import DocumentHandle

        return DocumentHandle(folder, tokenizer)

    def read_options(self, reading: ReadingOptions) -> Any:
        return reading

    def make_scheme(self, options: dict[str, Any]) -> Any:
        from neardup.jobs.documents.scheme import DocumentIndexOptions, make_document_scheme

        chosen = dict(options)
        if chosen.pop("min_tokens") is not None:
            raise no_effect("min_tokens", "on documents", "choose --kind passages")
        chosen["with_text"] = not chosen.pop("no_text")
        given = {name: value for name, value in chosen.items() if value is not None}
        return make_document_scheme(DocumentIndexOptions(**given))

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
