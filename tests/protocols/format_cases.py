"""The formats as their shared suite sees them: one case each, in ``CASES``.

A case writes rows down without neardup, in the very bytes that neardup writes too. A new format
needs a case here, and tests of its own for what no other format has.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree
from xml.sax.saxutils import escape
from zipfile import ZIP_STORED, ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from pyarrow import ipc
from reportlab.pdfgen.canvas import Canvas

from neardup.files import html, office_documents, pdf, sheets
from neardup.files.arrow import ArrowSource
from neardup.files.delimited import DelimitedSource
from neardup.files.jsonarrays import JsonArraySource
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.memory import MemorySource
from neardup.files.parquet import ParquetSource
from neardup.files.plain import Extract, ExtractedFileSource, TextFileSource, TextLinesSource
from neardup.files.rows import Source
from neardup.files.warc import WarcSource
from neardup.options.groups import InputOptions
from tests.documents import SHEET, docx_of, epub_of, odt_of, xlsx_of
from tests.warcs import INFO, page, record

Row = dict[str, str | None]
"""What a row has as ``id`` and ``text``; a format without columns leaves the id out."""

# A mark of the byte order at the start of a file is no part of its first text.
ANY_TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff"), max_size=12
)
LINE_TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff\n\r"),
    min_size=1,
    max_size=12,
).filter(lambda text: not text.encode().isspace())
ID = st.text(st.sampled_from("abc019-:"), min_size=1, max_size=4)

_SPOILT = "to be spoilt"


@dataclass(frozen=True)
class Case:
    """A format of files.

    Parameters
    ----------
    name
        A file name.
    make
        Makes the source from location and name; takes ``block_bytes``.
    encode
        Writes rows down as neardup does.
    spoil
        What makes a row bad: these bytes of its text, and what comes in their place. None where a
        null does, without any replacement.
    messy
        Files that a user may have and that neardup would write otherwise.
    half
        Such a file, and what is to be written if every other row is kept.
    texts
        Texts that the format can hold.
    has_columns
        Whether rows have columns by name, or are texts and nothing else.
    is_one_row
        Whether a file is always one row.
    document
        As for ``file_source``.
    can_be_cut
        Whether spans can be cut out of its texts.
    has_bad_rows
        Whether it can hold a row that cannot be used.
    is_copied
        Whether a file is read once, when it is opened.
    """

    name: str
    make: Callable[..., Source]
    encode: Callable[[list[Row]], bytes]
    spoil: tuple[bytes, bytes] | None = None
    messy: st.SearchStrategy[bytes] | None = None
    half: tuple[bytes, bytes] | None = None
    texts: st.SearchStrategy[str] = ANY_TEXT
    has_columns: bool = True
    is_one_row: bool = False
    document: Literal["line"] | None = None
    can_be_cut: bool = True
    has_bad_rows: bool = True
    is_copied: bool = False

    def __str__(self) -> str:
        return f"{self.name}{'-lines' * (self.document == 'line')}"

    @property
    def suffix(self) -> str | None:
        """The suffix by which the format is known."""
        return Path(self.name).suffix

    def rows(self, min_size: int = 0) -> st.SearchStrategy[list[Row]]:
        """Draw rows that a file of this format may have."""
        row = st.fixed_dictionaries({"id": ID, "text": self.texts})
        least, most = (1, 1) if self.is_one_row else (min_size, 8)
        return st.lists(row, min_size=least, max_size=most)

    def some_rows(self, n: int) -> list[Row]:
        """Return plain rows, as many as a file may have."""
        return [{"id": f"k{i}", "text": f"text {i} é"} for i in range(1 if self.is_one_row else n)]

    def spoilt(self, rows: list[Row], index: int) -> bytes:
        """Write rows down, one of which cannot be used."""
        text = None if self.spoil is None else _SPOILT
        content = self.encode([*rows[:index], {**rows[index], "text": text}, *rows[index + 1 :]])
        return content if self.spoil is None else content.replace(*self.spoil)

    def open(self, folder: Path, content: bytes, block: int | None = None) -> Source:
        """Put a file into a folder and make its source, which reads ``block`` bytes at a time."""
        path = folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        options = {} if block is None else {"block_bytes": block}
        return self.make(str(path), self.name, **options)

    def what_counts(self, content: bytes) -> Any:
        """Return what must be equal of two files of the same rows: all bytes."""
        return content


class TableCase(Case):
    """A format of tables: two files of the same rows may differ in how they are laid out."""

    def what_counts(self, content: bytes) -> Any:
        """Return schema and rows."""
        table = pq.read_table(pa.BufferReader(content))
        return table.schema, table.to_pylist()


class ArrowCase(Case):
    """Arrow's files or streams of record batches, which may be cut anew."""

    def open(self, folder: Path, content: bytes, block: int | None = None) -> Source:
        """Make the source, which has ``block`` rows at a time."""
        path = folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        options = {} if block is None else {"block_rows": block}
        return self.make(str(path), self.name, **options)

    def what_counts(self, content: bytes) -> Any:
        """Return whether it is a file, its schema and rows."""
        is_file = content.startswith(b"ARROW1")
        table = (ipc.open_file if is_file else ipc.open_stream)(pa.py_buffer(content)).read_all()
        return is_file, table.schema, table.to_pylist()


class MemoryCase(TableCase):
    """Tables in memory, written as Parquet."""

    @property
    def suffix(self) -> str | None:
        """None: there are no files to tell the format of."""
        return None

    def open(self, folder: Path, content: bytes, block: int | None = None) -> Source:
        """Make the source of a table, which has ``block`` rows at a time."""
        options = {} if block is None else {"block_rows": block}
        return self.make(pq.read_table(pa.BufferReader(content)), **options)


class SheetCase(Case):
    """Spreadsheets, which hold cells; what they look like does not count."""

    def what_counts(self, content: bytes) -> Any:
        """Return the texts of all cells."""
        with ZipFile(io.BytesIO(content)) as archive:
            return [[text or "" for text in row] for row in _office_rows(archive)]


def _office_rows(archive: ZipFile) -> Iterator[list[str | None]]:
    space = f"{{{SHEET}}}"
    [part] = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
    for row in ElementTree.fromstring(archive.read(part)).iter(f"{space}row"):
        found = {}
        for cell in row.iter(f"{space}c"):
            text = "".join(part.text or "" for part in cell.iter(f"{space}t"))
            text = re.sub("_x([0-9A-F]{4})_", lambda escape: chr(int(escape[1], 16)), text)
            found[cell.attrib["r"][0]] = text
        yield [found.get(letter) for letter in "AB"]


def office_sheet(rows: list[Row]) -> bytes:
    def cell(place: str, text: str | None) -> str:
        escaped = re.sub("_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", text or "")
        escaped = re.sub(
            "[\0-\x08\x0b-\x1f\ufffe\uffff]", lambda found: f"_x{ord(found[0]):04X}_", escaped
        )
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(escaped)}</t></is></c>'

    lines = [("id", "text"), *((row["id"], row["text"]) for row in rows)]
    cells = (
        cell(f"A{n}", key) + (cell(f"B{n}", text) if text else "")
        for n, (key, text) in enumerate(lines, 1)
    )
    return xlsx_of(("Sheet", "".join(f"<row>{row}</row>" for row in cells)), method=ZIP_STORED)


def make_sheet(location: str, name: str, **settings: int) -> Source:
    return sheets.open_source(location, name, InputOptions())


def _json_rows(rows: Iterable[Row]) -> list[bytes]:
    return [json.dumps(row, ensure_ascii=False).encode() for row in rows]


def json_lines(rows: list[Row]) -> bytes:
    return b"".join(row + b"\n" for row in _json_rows(rows))


def json_array(rows: list[Row]) -> bytes:
    return b"[\n" + b",\n".join(_json_rows(rows)) + b"\n]\n" if rows else b"[]\n"


def delimited(separator: str) -> Callable[[list[Row]], bytes]:
    def encode(rows: list[Row]) -> bytes:
        def field(text: str) -> str:
            special = any(each in text for each in f'"\r\n{separator}')
            return '"' + text.replace('"', '""') + '"' if special else text

        lines = [f"{row['id']}{separator}{field(str(row['text']))}\n" for row in rows]
        return "".join([f"id{separator}text\n", *lines]).encode()

    return encode


def text_lines(rows: list[Row]) -> bytes:
    return "".join(f"{row['text']}\n" for row in rows).encode()


def one_text(rows: list[Row]) -> bytes:
    [row] = rows
    return str(row["text"]).encode()


def one_page(rows: list[Row]) -> bytes:
    [row] = rows
    return f"<title>x</title><p>{row['text']}</p>".encode()


def texts_of_a_crawl(rows: list[Row]) -> bytes:
    return b"".join(
        record(
            "conversion",
            str(row["text"]).encode(),
            number=str(row["id"]),
            content_type="text/plain",
        )
        for row in rows
    )


def warc_pages() -> list[bytes]:
    return [page("http://a/", b"<p>a"), page("b", b"", number=2), page("c", b"\r\n", number=3)]


def open_warc(location: str, name: str, **settings: int) -> Source:
    return WarcSource(location, name, InputOptions(), **settings)


def parquet(rows: list[Row]) -> bytes:
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema), sink)
    return sink.getvalue().to_pybytes()


def arrow(new: Callable[..., Any]) -> Callable[[list[Row]], bytes]:
    def encode(rows: list[Row]) -> bytes:
        schema = pa.schema([("id", pa.string()), ("text", pa.string())])
        sink = pa.BufferOutputStream()
        with new(sink, schema) as writer:
            writer.write_table(pa.Table.from_pylist(rows, schema), max_chunksize=64)
        return sink.getvalue().to_pybytes()

    return encode


def word_document(rows: list[Row]) -> bytes:
    [row] = rows
    return docx_of(f"<w:p><w:r><w:t>{row['text']}</w:t></w:r></w:p>", method=ZIP_STORED)


def open_document(rows: list[Row]) -> bytes:
    [row] = rows
    return odt_of(f"<text:p>{row['text']}</text:p>", method=ZIP_STORED)


def e_book(rows: list[Row]) -> bytes:
    [row] = rows
    return epub_of({"a.xhtml": f"<p>{row['text']}</p>"}, method=ZIP_STORED)


def pdf_document(rows: list[Row]) -> bytes:
    [row] = rows
    out = io.BytesIO()
    canvas = Canvas(out, invariant=True)
    canvas.drawString(72, 760, str(row["text"]))
    canvas.save()
    return out.getvalue()


# What every document can hold: words and single spaces.
WORDS = st.lists(st.text("abcdeéß019", min_size=1, max_size=6), min_size=1, max_size=5).map(
    " ".join
)


def document(
    name: str, extract: Extract, encode: Callable[[list[Row]], bytes], spoil: tuple[bytes, bytes]
) -> Case:
    """Return the case of a file whose text is extracted."""
    return Case(
        name,
        partial(
            ExtractedFileSource, extract=extract, options=InputOptions(), kind="such a document"
        ),
        encode,
        spoil=spoil,
        texts=WORDS,
        has_columns=False,
        is_one_row=True,
        can_be_cut=False,
    )


MESSY_LINES = st.lists(
    st.sampled_from(
        [
            b'{"text": "a"}',
            b' {"text":"\xc3\xa9\\n", "id": 7}\t',
            b'{"text": "b", "id": "x"}\r',
            b"",
            b" ",
            b"\r",
            b'{"text": ""}',
        ]
    ),
    max_size=8,
).map(b"\n".join)
CSV_FIELD = st.sampled_from(["", "a", " ", '"', "\n", "\r\n", "\r", ",", "\t", "é", 'a"b', "1"])
ELEMENT = st.sampled_from(
    ['{"text": "a"}', '{"text":"]}\\",{", "x":[{}]}', '{\n"text" : "é"\n}', '{"text": "\\\\"}']
)
GAP = st.sampled_from(["", " ", "\n", "\r\n\t"])


@st.composite
def messy_arrays(draw: st.DrawFn) -> bytes:
    elements = draw(st.lists(st.tuples(GAP, ELEMENT, GAP), max_size=6))
    inner = ",".join("".join(parts) for parts in elements) or draw(GAP)
    return f"{draw(GAP)}[{inner}]{draw(GAP)}".encode()


@st.composite
def messy_tables(draw: st.DrawFn, separator: str) -> bytes:
    def field() -> str:
        value = draw(CSV_FIELD)
        must = value.strip("a 1é") != "" and value != 'a"b'
        return '"' + value.replace('"', '""') + '"' if must or draw(st.booleans()) else value

    end = st.sampled_from(["\n", "\r\n", "\r"])
    rows = [f"{field()}{separator}{field()}{draw(end)}" for _ in range(draw(st.integers(0, 6)))]
    header = f"text{separator}id{draw(end)}"
    text = header + "".join(row + draw(st.sampled_from(["", "\n"])) for row in rows)
    return text.encode()[: None if draw(st.booleans()) else len(text.rstrip("\r\n").encode())]


CASES = [
    Case(
        "a.jsonl",
        JsonLinesSource,
        json_lines,
        spoil=(b'"to be spoilt"', b"5"),
        messy=MESSY_LINES,
        half=(
            b'{"text": "\xc3\xa4"}\n \n{"text":"b" , "x": 1.10}\r\n{"text": "c"}',
            b'{"text": "\xc3\xa4"}\n{"text": "c"}',
        ),
    ),
    Case(
        "a.json",
        JsonArraySource,
        json_array,
        spoil=(b'"to be spoilt"', b"5"),
        messy=messy_arrays(),
        half=(
            b'\n[ {"text": "a,]}"},{"text":"b", "x": [1, {"y": "\\"]"}]},\n {"text"\n: "c"} ]',
            b'[\n{"text": "a,]}"},\n{"text"\n: "c"}\n]\n',
        ),
    ),
    Case(
        "a.csv",
        DelimitedSource,
        delimited(","),
        spoil=(b"to be spoilt", b"to,much"),
        messy=messy_tables(","),
        half=(
            b'\xef\xbb\xbfid,text\r\n1,"a\n""b"""\r\n\r\n2,b\n3,c',
            b'\xef\xbb\xbfid,text\r\n1,"a\n""b"""\r\n3,c\r\n',
        ),
    ),
    Case(
        "a.tsv",
        partial(DelimitedSource, delimiter="\t"),
        delimited("\t"),
        spoil=(b"to be spoilt", b"to\tmuch"),
        messy=messy_tables("\t"),
        half=(b"id\ttext\n1\ta,b\n2\tb\n3\t\n", b"id\ttext\n1\ta,b\n3\t\n"),
    ),
    Case(
        "a.txt",
        TextFileSource,
        one_text,
        spoil=(b"to be spoilt", b"\xff"),
        messy=MESSY_LINES,
        half=(b"\xef\xbb\xbfone\ntwo", b"\xef\xbb\xbfone\ntwo"),
        has_columns=False,
        is_one_row=True,
    ),
    Case(
        "a.txt",
        TextLinesSource,
        text_lines,
        spoil=(b"to be spoilt", b"\xff"),
        messy=MESSY_LINES,
        half=(b"\xef\xbb\xbfone\n\n two \r\nthree", b"one\nthree"),
        texts=LINE_TEXT,
        has_columns=False,
        document="line",
    ),
    SheetCase("a.xlsx", make_sheet, office_sheet, has_bad_rows=False, is_copied=True),
    document(
        "a.docx", office_documents.docx_text, word_document, (b"to be spoilt", b"to be changed")
    ),
    document(
        "a.odt", office_documents.odt_text, open_document, (b"to be spoilt", b"to be changed")
    ),
    document("a.epub", office_documents.epub_text, e_book, (b"to be spoilt", b"to be changed")),
    document("a.pdf", pdf.pdf_text, pdf_document, (b"%PDF-", b"%PNG-")),
    Case(
        "a.html",
        partial(
            ExtractedFileSource,
            extract=html.page_text,
            options=InputOptions(),
            kind="an HTML page",
        ),
        one_page,
        spoil=(b"to be spoilt", b"\0"),
        messy=st.sampled_from([b"", b"\xef\xbb\xbf<p>a", b"<", b"<b>a<p>b</b>", b"a\r\nb"]),
        half=(b"<p>one\n<p>two", b"<p>one\n<p>two"),
        texts=st.text(st.characters(categories=["L", "N"]), max_size=12),
        has_columns=False,
        can_be_cut=False,
        is_one_row=True,
    ),
    Case(
        "a.warc",
        open_warc,
        texts_of_a_crawl,
        spoil=(b"to be spoilt", b"\xff" * len("to be spoilt")),
        messy=st.lists(st.sampled_from(warc_pages()), max_size=6).map(b"".join),
        half=(b"".join([INFO, *warc_pages()]), b"".join([INFO, *warc_pages()[::2]])),
        can_be_cut=False,
    ),
    TableCase("a.parquet", ParquetSource, parquet),
    ArrowCase("a.arrow", ArrowSource, arrow(ipc.new_stream)),
    ArrowCase("a.feather", ArrowSource, arrow(ipc.new_file)),
    MemoryCase("data.parquet", MemorySource, parquet),
]
