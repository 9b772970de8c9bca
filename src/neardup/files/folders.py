"""Folders as single documents, with their files' texts joined."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.encodings import IN_MEMORY
from neardup.files.formats import has_rows
from neardup.files.rawrows import MAX_ROW_BYTES
from neardup.files.rows import ColumnNames, Mask, ParsedRows, Problems, RowBlock, RowWriter, Source
from neardup.files.streams import Destination, NamedFile, path_of
from neardup.options.groups import InputOptions

if TYPE_CHECKING:
    from neardup.files.cuts import Cuts


def document_folders(
    files: Iterable[NamedFile], options: InputOptions
) -> dict[str, tuple[str, ...]]:
    """Return the folder of each file that is part of a joined document.

    If one folder is named, each folder in it is a document, with all files below. Otherwise each
    folder that is named or matches a pattern is a document. The other files of a folder are one
    document together, unless a folder beside them is a document: then each is one. A named table
    stays a table; a table in a folder raises InvalidInputError.
    """
    folders: dict[str, tuple[str, ...]] = {}
    singles: dict[str, tuple[str, ...]] = {}
    named_folders = {file.argument for file in files if file.is_walked and file.is_below}
    for file in files:
        if has_rows(path_of(file.location), options):
            if not file.is_walked:
                continue
            pattern = os.path.join(file.argument, "**", "*.txt")
            message = (
                "each of its rows is a document, and document folder (--document folder) makes one "
                "of a folder's files; leave it out, name the files by a pattern such as "
                f"'{pattern}', or read all as text with input_format text (--input-format text)"
            )
            raise InvalidInputError(message, path=file.location)
        depth = len(file.named) + (named_folders == {file.argument})
        if file.is_walked and len(file.parts) > depth:
            folders[file.location] = file.parts[:depth]
        else:
            singles[file.location] = file.parts[:-1]
    parents = {folder[:-1] for folder in folders.values()}
    return folders | {each: folder for each, folder in singles.items() if folder not in parents}


def joined_documents(
    sources: Mapping[NamedFile, Source], folders: Mapping[str, tuple[str, ...]], shared: int
) -> list[Source]:
    """Join sources per folder, at the first file's position."""
    members: dict[object, list[NamedFile]] = {}
    for file in sources:
        members.setdefault(folders.get(file.location, file), []).append(file)
    joined: list[Source] = []
    for folder, files in members.items():
        if not isinstance(folder, tuple):
            joined.append(sources[files[0]])
            continue
        origin = files[0].location
        for _ in files[0].parts[len(folder) :]:
            origin = os.path.dirname(origin)
        names = {"/".join(file.parts[len(folder) :]): sources[file] for file in files}
        ordered = dict(sorted(names.items()))
        joined.append(
            FolderSource(
                origin or os.curdir, "/".join(folder[shared:]), [*ordered.values()], [*ordered]
            )
        )
    return joined


FILES = pa.list_(pa.struct([("start", pa.int64()), ("name", pa.string())]))
"""The files of a text: the character at which each begins, ascending, and its path below."""

# An empty line ends words, lines, sentences and paragraphs, so that none goes on in the next file.
SEPARATOR = "\n\n"


class FolderSource(Source):
    """Files of a folder, joined to one document."""

    is_one_row = True
    uncuttable = "the files of a folder"

    def __init__(
        self, origin: str, name: str, files: Sequence[Source], names: Sequence[str]
    ) -> None:
        self.origin, self.name = origin, name
        self._files, self._names = tuple(files), tuple(names)
        sizes = [file.size for file in files]
        self.size = None if None in sizes else sum(size or 0 for size in sizes)

    @property
    def files(self) -> Sequence[Source]:
        """The sources of the files."""
        return self._files

    def with_files(self, files: Sequence[Source]) -> FolderSource:
        """Return the same document of other sources of its files."""
        found = copy(self)
        found._files = tuple(files)  # noqa: SLF001 - of this class
        return found

    def schema(self) -> pa.Schema:
        """Return the column of the text."""
        return pa.schema([("text", pa.large_string())])

    def _read_blocks(self) -> Iterator[RowBlock]:
        """Read all files into one block."""
        blocks = [block for file in self._files for block in file.blocks()]
        yield _FolderBlock(self, self._names, blocks)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer to copy the files of selected rows."""
        return _FolderWriter([file.writer(folder) for file in self._files])


class _FolderWriter(RowWriter):
    """Writes each file by the writer of its own format."""

    def __init__(self, writers: Sequence[RowWriter]) -> None:
        self._writers = writers

    def prepare(self, block: RowBlock) -> list[Any]:
        """Return the output of each file."""
        assert isinstance(block, _FolderBlock)
        own = zip(self._writers, block.blocks, strict=True)
        return [writer.prepare(file) for writer, file in own]

    def append(self, prepared: list[Any]) -> None:
        """Write the files of the row."""
        for writer, each in zip(self._writers, prepared, strict=True):
            writer.append(each)

    def close(self) -> None:
        """Complete the files of the folder."""
        for writer in self._writers:
            writer.close()


class _FolderBlock(RowBlock):
    """The row of a folder, with one block per file."""

    def __init__(self, source: Source, names: Sequence[str], blocks: Sequence[RowBlock]) -> None:
        self.blocks, self._source, self._names = blocks, source, names
        self.numbers = np.ones(1, np.int64)
        self.end = sum(block.end for block in blocks)
        # An id without an ending stands for Python wherever texts are cut again.
        are_python = all(block.language == IN_MEMORY for block in blocks)
        self.language = IN_MEMORY if are_python else 0

    def select(self, rows: Mask | None) -> Self:
        """Return the row, or a block without one."""
        made = super().select(rows)
        if made is not self:
            made.blocks = [block.select(rows) for block in self.blocks]
        return made

    def _read_columns(self, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Join the texts, as there are no other columns."""
        rows = [block.parse(columns, skip_bad=skip_bad) for block in self.blocks]
        problems = Problems(self.numbers, self._source.origin, skip_bad)
        if not len(self.numbers):
            return replace(rows[0], files=pa.nulls(0, FILES))
        for name, row in zip(self._names, rows, strict=True):
            for _, reason in row.skipped:
                problems.add(0, f"{name}: {reason}")
        if sum(row.text.nbytes for row in rows) > MAX_ROW_BYTES:
            message = f"its files have more than {MAX_ROW_BYTES >> 20} MB of text; leave some out"
            problems.add(0, message)
        if problems.bad.any():
            return problems.insert_bad_rows(ParsedRows(pa.array([], pa.large_string())))
        texts = [row.text[0].as_py() for row in rows]
        starts = accumulate((len(text) + len(SEPARATOR) for text in texts[:-1]), initial=0)
        files = [
            {"start": start, "name": name} for start, name in zip(starts, self._names, strict=True)
        ]
        text = pa.array([SEPARATOR.join(texts)], pa.large_string())
        return ParsedRows(text, files=pa.array([files], FILES))

    def _read_table(self, names: Sequence[str] | None) -> pa.Table:
        """Return the text as the column ``text``."""
        if names is not None and "text" not in names:
            return pa.table({})
        return pa.table({"text": self._read_columns(ColumnNames(), skip_bad=False).text})

    def with_cuts(self, cuts: Cuts) -> RowBlock:
        """Raise, as a job refuses to cut folders."""
        raise NotImplementedError
