"""What the commands do with an index, by its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.options.option import no_effect

if TYPE_CHECKING:
    from neardup.documents.handle import DocumentHandle
    from neardup.files.rows import Source
    from neardup.jobs.document_options import ReadingOptions
    from neardup.jobs.documents.result import DocumentAdditionResult, DocumentRemovalResult
    from neardup.jobs.passages.result import AdditionResult, CompactionResult, RemovalResult
    from neardup.options.choices import IndexKind
    from neardup.passages.documents import ReadOptions
    from neardup.passages.handle import PassageHandle
    from neardup.runtime.runner import Runner


class Kind(ABC):
    """A kind of index: the jobs of its own, behind one set of calls."""

    @abstractmethod
    def make_scheme(self, options: dict[str, Any]) -> Any:
        """Make the scheme of a new index of options, those that were not given being None."""

    @abstractmethod
    def build(
        self,
        folder: Path,
        scheme: Any,
        sources: Sequence[Source],
        reading: ReadingOptions,
        runner: Runner,
        tokenizer: str | None,
    ) -> AdditionResult | DocumentAdditionResult:
        """Make an index."""

    @abstractmethod
    def add(
        self,
        folder: Path,
        tokenizer: str | None,
        sources: Sequence[Source],
        reading: ReadingOptions,
        runner: Runner,
    ) -> AdditionResult | DocumentAdditionResult:
        """Add documents."""

    @abstractmethod
    def remove(
        self, folder: Path, ids: Sequence[str], runner: Runner
    ) -> RemovalResult | DocumentRemovalResult:
        """Take documents out."""

    @abstractmethod
    def compact(self, folder: Path, tokenizer: str | None, runner: Runner) -> CompactionResult:
        """Write the index anew."""

    @abstractmethod
    def describe(self, folder: Path, tokenizer: str | None, runner: Runner) -> dict[str, Any]:
        """Check every byte, and return what the index holds."""

    @abstractmethod
    def describe_room(self, found: dict[str, Any]) -> list[str]:
        """Say what room the index takes."""


class _Passages(Kind):
    """Indexes of passages."""

    def make_scheme(self, options: dict[str, Any]) -> Any:
        from neardup.options.jobs import SCHEME_OF_PASSAGES
        from neardup.passages.scheme import make_passage_scheme

        own = {option.name for option in SCHEME_OF_PASSAGES}
        for name, value in options.items():
            if name not in own and value:
                raise no_effect(name, "on passages", "choose --kind documents")
        chosen = {name: options[name] for name in own if options[name] is not None}
        return make_passage_scheme(**chosen)

    def build(
        self,
        folder: Path,
        scheme: Any,
        sources: Sequence[Source],
        reading: ReadingOptions,
        runner: Runner,
        tokenizer: str | None,
    ) -> AdditionResult:
        from neardup.jobs.passages import index

        read = _read_options(reading)
        return index.build(folder, scheme, sources, read, runner, tokenizer=tokenizer)

    def add(
        self,
        folder: Path,
        tokenizer: str | None,
        sources: Sequence[Source],
        reading: ReadingOptions,
        runner: Runner,
    ) -> AdditionResult:
        from neardup.jobs.passages import index

        return index.add(self._open(folder, tokenizer), sources, _read_options(reading), runner)

    def remove(self, folder: Path, ids: Sequence[str], runner: Runner) -> RemovalResult:
        from neardup.jobs.passages import index

        return index.remove(self._open(folder, None), ids, runner)

    def compact(self, folder: Path, tokenizer: str | None, runner: Runner) -> CompactionResult:
        from neardup.jobs.passages import index

        return index.compact(self._open(folder, tokenizer), runner)

    def describe(self, folder: Path, tokenizer: str | None, runner: Runner) -> dict[str, Any]:
        from neardup.jobs.passages import index

        return index.describe(self._open(folder, tokenizer), runner)

    def describe_room(self, found: dict[str, Any]) -> list[str]:
        of_windows = (found["bytes"] - found["bytes_of_texts"]) / max(found["tokens"], 1)
        return [f"{found['bytes'] / 1e6:,.1f} MB, {of_windows:.1f} bytes a token without the texts"]

    def _open(self, folder: Path, tokenizer: str | None) -> PassageHandle:
        from neardup.passages.handle import PassageHandle

        return PassageHandle(folder, tokenizer)


class _Documents(Kind):
    """Indexes of documents."""

    def make_scheme(self, options: dict[str, Any]) -> Any:
        from neardup.jobs.documents.scheme import DocumentIndexOptions, make_document_scheme

        chosen = dict(options)
        if chosen.pop("min_tokens") is not None:
            raise no_effect("min_tokens", "on documents", "choose --kind passages")
        chosen["with_text"] = not chosen.pop("no_text")
        given = {name: value for name, value in chosen.items() if value is not None}
        return make_document_scheme(DocumentIndexOptions(**given))

    def build(
        self,
        folder: Path,
        scheme: Any,
        sources: Sequence[Source],
        reading: ReadingOptions,
        runner: Runner,
        tokenizer: str | None,
    ) -> DocumentAdditionResult:
        from neardup.jobs.documents import index

        return index.build(folder, scheme, sources, reading, runner, tokenizer=tokenizer)

    def add(
        self,
        folder: Path,
        tokenizer: str | None,
        sources: Sequence[Source],
        reading: ReadingOptions,
        runner: Runner,
    ) -> DocumentAdditionResult:
        from neardup.jobs.documents import index

        return index.add(self._open(folder, tokenizer), sources, reading, runner)

    def remove(self, folder: Path, ids: Sequence[str], runner: Runner) -> DocumentRemovalResult:
        from neardup.jobs.documents import index

        return index.remove(self._open(folder, None), ids, runner)

    def compact(self, folder: Path, tokenizer: str | None, runner: Runner) -> CompactionResult:
        from neardup.jobs.documents import index

        return index.compact(self._open(folder, tokenizer), runner)

    def describe(self, folder: Path, tokenizer: str | None, runner: Runner) -> dict[str, Any]:
        from neardup.jobs.documents import index

        return index.describe(self._open(folder, tokenizer), runner)

    def describe_room(self, found: dict[str, Any]) -> list[str]:
        n_documents = max(found["documents"] + found["removed_documents"], 1)
        of_look_up = (found["bytes"] - found["bytes_of_texts"]) / n_documents
        lines = [
            f"{found['bytes'] / 1e6:,.1f} MB, {of_look_up:,.0f} bytes a document without the texts"
        ]
        if found["gone_documents"]:
            lines.append(f"{found['gone_documents']:,} documents went for others")
        return lines

    def _open(self, folder: Path, tokenizer: str | None) -> DocumentHandle:
        from neardup.documents.handle import DocumentHandle

        return DocumentHandle(folder, tokenizer)


def _read_options(reading: ReadingOptions) -> ReadOptions:
    from neardup.passages.documents import ReadOptions

    return ReadOptions(reading.columns, reading.skip_bad)


KINDS: dict[IndexKind, Kind] = {"passages": _Passages(), "documents": _Documents()}
