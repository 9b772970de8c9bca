"""PDF documents: their text as PDFium, the reader of Chromium, takes it from the pages."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

from neardup.files.extracted import MAX_TEXT_BYTES, ExtractedFileSource, UnreadableFileError

if TYPE_CHECKING:
    from neardup.files.input_options import InputOptions

_KIND = "a PDF document"

# PDFium is called by one thread at a time.
_ONE_THREAD = threading.Lock()

# How a word goes on that was broken at the end of a line.
_BROKEN_WORD = re.compile("[\ufffe\x02](?:\r\n?|\n)?")
_LINE_END = re.compile("\r\n?")
_CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f]")


def open_source(location: str, name: str, options: InputOptions) -> ExtractedFileSource:
    """Return the source of a PDF document."""
    return ExtractedFileSource(location, name, extract=extract, options=options, kind=_KIND)


def extract(data: bytes, options: InputOptions) -> str:
    """Return the text of a PDF document, page after page.

    Raises
    ------
    UnreadableFileError
        If it is none, damaged, encrypted, without any text, or with too much.
    """
    with _ONE_THREAD:
        pages = _texts_of_pages(data)
    text = "\n".join(filter(None, pages))
    if pages and not text:
        number = f"{len(pages):,} page" + "s" * (len(pages) != 1)
        message = (
            f"no text on its {number}, which may be scanned; recognise it first, for example with "
            "ocrmypdf"
        )
        raise UnreadableFileError(message)
    return text


def _texts_of_pages(data: bytes) -> list[str]:
    import pypdfium2

    try:
        document: Any = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error):
            message = "the document is encrypted; save it without a password"
        else:
            message = f"not a PDF document that can be read: {error}; get a full copy"
        raise UnreadableFileError(message) from None
    try:
        texts, n_characters = [], 0
        for number in range(len(document)):
            texts.append(_text_of_page(document, number))
            n_characters += len(texts[-1])
            if n_characters > MAX_TEXT_BYTES:
                message = f"its text is longer than {MAX_TEXT_BYTES >> 20} MB; leave it out"
                raise UnreadableFileError(message)
        return texts
    finally:
        document.close()


def _text_of_page(document: Any, number: int) -> str:
    import pypdfium2

    try:
        page = document[number]
        textpage = page.get_textpage()
        try:
            text: str = textpage.get_text_range()
        finally:
            textpage.close()
            page.close()
    except pypdfium2.PdfiumError as error:
        message = f"its page {number + 1} cannot be read: {error}; get a full copy"
        raise UnreadableFileError(message) from None
    text = _LINE_END.sub("\n", _BROKEN_WORD.sub("", text))
    return _CONTROLS.sub("", text).strip("\n")
