"""Text that is not UTF-8: rows keep their bytes, and are decoded when they are parsed.

Encodings in which ASCII characters are single bytes are cut into rows as UTF-8 is. UTF-16 and
UTF-32 are cut by their code units.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.cuts import Splices
from neardup.files.problems import Problems, not_decodable
from neardup.files.rawrows import BYTE_ORDER_MARK, Cut, Cutter, RawBlock, RawRows
from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock, RowWriter
from neardup.tables import Texts

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.cuts import Cuts

MARK_BYTES = 4
"""As much as a byte-order mark has at most."""

LOOKED_AT = 1 << 16
"""As many bytes of a file say whether it is UTF-8 though another encoding is named."""

# Byte-order marks and their encodings, longer marks before their prefixes.
_MARKS = (
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
)
# Encodings with characters whose second byte may be that of an ASCII letter, bracket or backslash.
_WITH_ASCII_BYTES = frozenset(
    {"shift_jis", "shift_jis_2004", "shift_jisx0213", "cp932", "cp949", "cp950", "johab"}
    | {"big5", "big5hkscs", "gbk", "gb18030"}
)


@dataclass(frozen=True)
class TextEncoding:
    """How the characters of a file are written down.

    Parameters
    ----------
    codec
        Python's name of it, with the order of bytes.
    unit
        Bytes of a code unit; ASCII characters have their ASCII value in it.
    mark
        The byte-order mark that the file begins with.
    """

    codec: str = "utf-8"
    unit: int = 1
    mark: bytes = b""

    @property
    def is_utf8(self) -> bool:
        """Whether there is nothing to decode."""
        return self.codec == "utf-8"

    @property
    def has_ascii_bytes(self) -> bool:
        """Whether bytes of other characters may look like ASCII letters and brackets."""
        return self.codec in _WITH_ASCII_BYTES

    def in_units(self, cutter: Cutter) -> Cutter:
        """Return a cutter of rows in this encoding, made of one that knows bytes.

        The bytes that it sees are the code units, all beyond ASCII as one and the same byte.
        """
        if self.unit == 1:
            return cutter
        kind = np.dtype(f"{'<' if self.codec.endswith('le') else '>'}u{self.unit}")

        def cut(data: bytes | memoryview, final: bool) -> Cut:
            units = np.frombuffer(data, kind, len(data) // self.unit)
            found = cutter(np.minimum(units, 0xFF).astype(np.uint8).tobytes(), final)
            return replace(
                found,
                starts=found.starts * self.unit,
                ends=found.ends * self.unit,
                consumed=found.consumed * self.unit,
            )

        return cut


def encoding_of(name: str | None, head: Callable[[], bytes]) -> TextEncoding:
    """Return the encoding of a file.

    ``head`` reads its first ``LOOKED_AT`` bytes. They have the byte order of UTF-16 and UTF-32; the
    default is little-endian. If an encoding of one byte per character is named, and the bytes are
    valid UTF-8 beyond ASCII, the file is UTF-8: so files of several encodings can be read together.
    """
    codec = "utf-8" if name is None else codecs.lookup(name).name
    if codec in ("utf-8", "utf-8-sig"):
        return TextEncoding(mark=BYTE_ORDER_MARK)
    if not codec.startswith(("utf-16", "utf-32")):
        is_utf8 = _has_single_bytes(codec) and _is_utf8_beyond_ascii(head())
        return TextEncoding(mark=BYTE_ORDER_MARK) if is_utf8 else TextEncoding(codec)
    family = codec[: len("utf-16")]
    beginning = head()
    for exact, mark in _MARKS:
        if exact.startswith(codec) and beginning.startswith(mark):
            return TextEncoding(exact, int(family[-2:]) // 8, mark)
    return TextEncoding(codec if codec != family else f"{family}-le", int(family[-2:]) // 8)


def _has_single_bytes(codec: str) -> bool:
    """Return whether each byte is a character, of others than ASCII too."""
    return codec != "ascii" and len(bytes(range(256)).decode(codec, "replace")) == 256


def _is_utf8_beyond_ascii(head: bytes) -> bool:
    try:
        return not codecs.getincrementaldecoder("utf-8")().decode(head).isascii()
    except UnicodeDecodeError:
        return False


def encoding_by_mark(head: bytes) -> str | None:
    """Return the encoding other than UTF-8 that a byte-order mark stands for, None without one."""
    found = (name for name, mark in _MARKS if head.startswith(mark))
    name = next(found, None)
    return None if name is None else name[: len("utf-16")]


class EncodedBlock(RawBlock):
    """Rows in another encoding, parsed as UTF-8.

    Parameters
    ----------
    path, raw
        As for RawBlock.
    decoded
        Makes the block of the rows in UTF-8.
    codec
        Their encoding.
    """

    def __init__(
        self, path: str, raw: RawRows, decoded: Callable[[RawRows], RowBlock], codec: str
    ) -> None:
        super().__init__(path, raw)
        self._make, self._codec = decoded, codec

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Parse the named columns; a row that cannot be decoded is a bad row."""
        raw = self.raw.select(select)
        problems = Problems(raw.numbers, self.path, skip_bad)
        return problems.with_bad_rows(self._decode(raw, problems).parse(columns, skip_bad=skip_bad))

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give all columns."""
        return self.decoded(select).to_table()

    def some_columns(self, names: Sequence[str], select: Mask | None = None) -> pa.Table:
        """Give some columns."""
        return self.decoded(select).some_columns(names)

    def objects(self) -> pa.Array | None:
        """Return the rows as JSON, null where one cannot be decoded; None if they are not JSON."""
        problems = Problems(self.raw.numbers, self.path, skip_bad=True)
        objects = self._decode(self.raw, problems).objects()
        if objects is None:
            return None
        return objects.take(pa.array(np.cumsum(~problems.bad) - 1, mask=problems.bad))

    def readable_columns(self, names: Sequence[str]) -> tuple[list[pa.Table], Mask]:
        """Return columns of the rows that can be read; a row that cannot be decoded cannot."""
        problems = Problems(self.raw.numbers, self.path, skip_bad=True)
        tables, are_bad = self._decode(self.raw, problems).readable_columns(names)
        every = problems.bad.copy()
        every[~problems.bad] = are_bad
        return tables, every

    def with_cuts(self, cuts: Cuts) -> EncodedBlock:
        """Cut spans out of the texts; of a row that is cut, all characters are encoded anew."""
        if not len(cuts):
            return self
        changed = np.zeros(len(self), np.bool_)
        changed[cuts.changed] = True
        block = self.decoded(changed).with_cuts(
            replace(cuts, rows=np.searchsorted(cuts.changed, cuts.rows))
        )
        assert isinstance(block, RawBlock)
        try:
            rows = [block.raw[index].decode().encode(self._codec) for index in range(len(block))]
        except UnicodeEncodeError as error:
            message = (
                f"replacement {cuts.replacement!r} cannot be written in {self._codec}, which lacks "
                f"{error.object[error.start]!r}; choose another with replacement (--replacement)"
            )
            raise InvalidInputError(message, path=self.path) from None
        pieces = Texts(
            np.frombuffer(b"".join(rows), np.uint8),
            np.cumsum([0, *map(len, rows)], dtype=np.int64),
        )
        starts, ends = self.raw.starts[changed], self.raw.ends[changed]
        raw = self.raw.spliced(Splices(starts, ends, pieces, np.arange(len(rows))))
        return EncodedBlock(self.path, raw, self._make, self._codec)

    def decoded(self, select: Mask | None = None) -> RowBlock:
        """Return rows in UTF-8."""
        raw = self.raw.select(select)
        return self._decode(raw, Problems(raw.numbers, self.path, skip_bad=False))

    def _decode(self, raw: RawRows, problems: Problems) -> RowBlock:
        rows = []
        for index in range(len(raw)):
            try:
                rows.append(raw[index].decode(self._codec).encode())
            except UnicodeDecodeError as error:
                problems.add(index, not_decodable(error, self._codec))
        ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
        starts = ends - np.array([len(row) for row in rows], np.int64)
        return self._make(RawRows(b"".join(rows), starts, ends, raw.numbers[~problems.bad]))


class DecodingWriter(RowWriter):
    """Hands rows that are not UTF-8 to a writer of such that are."""

    def __init__(self, writer: RowWriter) -> None:
        self._writer = writer

    def prepare(self, block: RowBlock, select: Mask) -> Any:
        """Return the encoded selected rows."""
        assert isinstance(block, EncodedBlock)
        decoded = block.decoded(select)
        return self._writer.prepare(decoded, np.ones(len(decoded), np.bool_))

    def append(self, prepared: Any) -> None:
        """Append encoded rows."""
        self._writer.append(prepared)

    def close(self) -> None:
        """Complete the file."""
        self._writer.close()
