"""Office documents, made part by part, and PDF."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from reportlab.pdfgen.canvas import Canvas

from tests.archives import zip_of

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PAGE = "application/xhtml+xml"
OASIS = "urn:oasis:names:tc:opendocument:xmlns"


def relationships(**targets: str) -> str:
    entries = "".join(
        f'<Relationship Id="r{i}" Type="{RELATED}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(targets.items())
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<?xml version="1.0"?><Relationships xmlns="{space}">{entries}</Relationships>'


def word_part(content: str, root: str = "document") -> str:
    return f'<w:{root} xmlns:w="{WORD}" xmlns:mc="{COMPATIBILITY}">{content}</w:{root}>'


def docx_of(
    body: str, notes: str | None = None, prolog: str = "", method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    """Return a Word document of a body as XML, and of footnotes."""
    parts = [
        ("_rels/.rels", relationships(officeDocument="word/document.xml")),
        ("word/document.xml", prolog + word_part(f"<w:body>{body}</w:body>")),
    ]
    if notes is not None:
        parts += [
            ("word/_rels/document.xml.rels", relationships(footnotes="footnotes.xml")),
            ("word/footnotes.xml", word_part(notes, "footnotes")),
        ]
    return zip_of([(name, text.encode()) for name, text in parts], method)


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def xlsx_of(*sheets: tuple[str, str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a workbook of sheets: each a name and its rows as XML."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="s{i}"/>' for i, (name, _) in enumerate(sheets, 1)
    )
    related = "".join(
        f'<Relationship Id="s{i}" Type="{RELATED}/worksheet" Target="worksheets/{i}.xml"/>'
        for i in range(1, len(sheets) + 1)
    )
    packages = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    parts = [
        (
            "[Content_Types].xml",
            f'<Types xmlns="{packages}/content-types">'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}"/></Types>',
        ),
        ("_rels/.rels", relationships(officeDocument="xl/workbook.xml")),
        (
            "xl/workbook.xml",
            f'<workbook xmlns="{SHEET}" xmlns:r="{RELATED}"><sheets>{listed}</sheets></workbook>',
        ),
        (
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{packages}/relationships">{related}</Relationships>',
        ),
    ]
    for i, (_, rows) in enumerate(sheets, 1):
        sheet = f'<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData></worksheet>'
        parts.append((f"xl/worksheets/{i}.xml", sheet))
    return zip_of([(name, text.encode()) for name, text in parts], method)


def odt_of(
    body: str,
    prolog: str = "",
    kind: str = "text",
    method: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    """Return an OpenDocument of a body as XML."""
    spaces = {
        "office": "office",
        "text": "text",
        "table": "table",
        "draw": "drawing",
        "svg": "svg-compatible",
    }
    declared = " ".join(f'xmlns:{p}="{OASIS}:{space}:1.0"' for p, space in spaces.items())
    content = (
        f"{prolog}<office:document-content {declared}><office:body><office:{kind}>{body}"
        f"</office:{kind}></office:body></office:document-content>"
    )
    items = [
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", content.encode()),
    ]
    return zip_of(items, method)


def epub_of(
    pages: Mapping[str, str],
    order: Iterable[str] | None = None,
    prolog: str = "",
    missing: str = "",
    method: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    """Return an e-book of the bodies of pages by their addresses, which are read in this order."""
    opf = "http://www.idpf.org/2007/opf"
    kinds = {name: "image/svg+xml" if name.endswith(".svg") else PAGE for name in pages}
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="{kinds[name]}"/>' for name in pages
    )
    references = "".join(f'<itemref idref="{name}"/>' for name in (order or pages))
    container = (
        f'<container xmlns="{OASIS}:container"><rootfiles><rootfile full-path="OPS/book.opf"/>'
        "</rootfiles></container>"
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "OPS/book.opf": (
            f'<package xmlns="{opf}"><manifest>{items}</manifest><spine>{references}</spine>'
            "</package>"
        ),
    }
    for name, body in pages.items():
        if name != missing:
            parts[f"OPS/{unquote(name)}"] = (
                f'{prolog}<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head>'
                f"<body>{body}</body></html>"
            )
    return zip_of([(name, text.encode()) for name, text in parts.items()], method)


def pdf_of(*pages: list[str]) -> bytes:
    """Return a PDF document of pages, each of lines."""
    out = io.BytesIO()
    canvas = Canvas(out, invariant=True)
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.drawString(72, 760 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()
