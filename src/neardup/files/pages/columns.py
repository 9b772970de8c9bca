"""Tables whose texts are HTML, compared by their visible or main text.

Rows are those of the table, and are written back as they are. Several columns of the text are
joined before they are read as one page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.files.pages.html import OPTIONS, html_text, need_parser
from neardup.files.plain import extract_texts
from neardup.files.problems import Problems
from neardup.files.rows import (
    ColumnNames,
    Mask,
    ParsedRows,
    RowBlock,
    RowWriter,
    Source,
    WrappedSource,
)

if TYPE_CHECKING:
    from neardup.files.cuts import Cuts
    from neardup.files.plain import ExtractedTexts
    from neardup.files.streams import Buffer, Destination
    from neardup.options.groups import InputOptions

_KIND = "HTML in a column"


class HtmlColumnSource(WrappedSource):
    """A table whose texts are HTML.

    Parameters
    ----------
    table
        The source of its rows.
    options
        Which text of the pages is wanted.
    """

    def __init__(self, table: Source, options: InputOptions) -> None:
        need_parser(main_text=options.main_text)
        super().__init__(table)
        self.extracts_text, self.uncuttable, self._options = True, _KIND, options
        # The characters of the table are decoded before there are pages.
        self.input_options = table.input_options | (OPTIONS - {"encoding"}) | {"input_format"}

    def blocks(self) -> Iterator[RowBlock]:
        """Read the table from its start."""
        for block in self.inner.blocks():
            yield _HtmlBlock(block, self._options, self.origin, self.kept_texts)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of rows of the table."""
        return _TableRowsWriter(self.inner.writer(folder))


class _HtmlBlock(RowBlock):
    """Rows of a table whose texts are HTML."""

    def __init__(
        self, rows: RowBlock, options: InputOptions, path: str | None, kept: ExtractedTexts | None
    ) -> None:
        self.rows, self.numbers, self.end = rows, rows.numbers, rows.end
        self._options, self._path, self._kept = options, path, kept

    def largest_row(self) -> tuple[int, int]:
        """Return that of the table."""
        return self.rows.largest_row()

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Parse the named columns, and take the text out of the pages."""
        parsed = self.rows.parse(columns, select=select, skip_bad=skip_bad)
        numbers = self.numbers if select is None else self.numbers[select]
        problems = Problems(numbers, self._path, skip_bad)
        is_page = parsed.text.is_valid().to_numpy(zero_copy_only=False)
        pages = parsed.text.filter(pa.array(is_page))
        texts = extract_texts(
            (page.as_py() for page in pages),
            lambda page: html_text(page, self._options),
            problems,
            np.flatnonzero(is_page),
            kept=self._kept,
            block=(self._path, columns.texts, *self.numbers[:1].tolist()),
        )
        is_text = is_page & ~problems.bad
        places = pa.array(np.cumsum(is_text) - 1, mask=~is_text)
        rows = ParsedRows(texts.take(places), parsed.id, parsed.order)
        rows = problems.without_bad_rows(rows)
        rows.skipped = sorted(rows.skipped + parsed.skipped)
        return rows

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give all columns as they are in the table."""
        return self.rows.to_table(select)

    def some_columns(self, names: Sequence[str], select: Mask | None = None) -> pa.Table:
        """Give some columns as they are in the table."""
        return self.rows.some_columns(names, select)

    def objects(self, names: Sequence[str]) -> pa.Array | None:
        """Return the rows as JSON, if they are."""
        return self.rows.objects(names)

    def readable_columns(self, names: Sequence[str]) -> tuple[list[pa.Table], Mask]:
        """Return columns of the rows that can be read, as they are in the table."""
        return self.rows.readable_columns(names)

    def json_lines(self) -> list[Buffer] | None:
        """Return the rows as JSON lines, if the table is of JSON."""
        return self.rows.json_lines()

    def select(self, rows: Mask | None) -> _HtmlBlock:
        """Return some of the rows as a block."""
        return _HtmlBlock(self.rows.select(rows), self._options, self._path, self._kept)

    def with_cuts(self, cuts: Cuts) -> RowBlock:
        """Return the block itself: no text is cut."""
        assert not len(cuts)
        return self


class _TableRowsWriter(RowWriter):
    """Hands rows to a writer of the table that they are of."""

    def __init__(self, writer: RowWriter) -> None:
        self._writer = writer

    def prepare(self, block: RowBlock, select: Mask) -> Any:
        """Return the encoded selected rows."""
        assert isinstance(block, _HtmlBlock)
        return self._writer.prepare(block.rows, select)

    def append(self, prepared: Any) -> None:
        """Append encoded rows."""
        self._writer.append(prepared)

    def close(self) -> None:
        """Complete the file."""
        self._writer.close()
