"""Texts and ids of the rows of a block, bad ones left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neardup.files.ids import join_ids
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.tables import Int64s, with_wide_offsets

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class TextBlock:
    """Some documents in input order; texts are large strings, ids too or integers, without nulls.

    Texts that were read as bytes are large binaries.

    ``numbers`` are those of the documents' rows; ``skipped`` rows (source, row, reason) are not
    among them.
    """

    ids: pa.Array
    texts: pa.Array
    numbers: Int64s
    skipped: list[tuple[str, int, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)


def read_text_block(
    source: Source, block: RowBlock, columns: ColumnNames, *, skip_bad: bool
) -> TextBlock:
    """Parse the texts and ids of a block.

    Raises
    ------
    InvalidInputError
        For a bad row, unless these are to be skipped.
    """
    import pyarrow as pa

    parsed = block.parse(columns, skip_bad=skip_bad)
    texts, numbers, ids = parsed.text, block.numbers, parsed.id
    if texts.null_count:
        is_good = texts.is_valid()
        texts, numbers = texts.filter(is_good), numbers[is_good.to_numpy(zero_copy_only=False)]
        ids = None if ids is None else ids.filter(is_good)
    if ids is None:
        ids = source.default_ids(numbers)
    # A copy, because a block of rows may hold a whole file's other columns in memory.
    texts = pa.concat_arrays([with_wide_offsets(texts)])
    skipped = [(source.name, row, reason) for row, reason in parsed.skipped]
    return TextBlock(join_ids([ids]), texts, numbers, skipped)
