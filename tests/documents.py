"""Office documents, made part by part."""

from __future__ import annotations

import zipfile

from tests.archives import zip_of

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
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


def odt_of(
    body: str,
    prolog: str = "",
    kind: str = "text",
    manifest: str = "",
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
        (
            "META-INF/manifest.xml",
            f'<m:manifest xmlns:m="{OASIS}:manifest:1.0">{manifest}</m:manifest>'.encode(),
        ),
    ]
    return zip_of(items, method)
