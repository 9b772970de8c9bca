"""PDF documents: their text as PDFium, the reader of Chromium, takes it from the pages.

PDFium runs in processes of its own, as many as threads ask for it at the same time, so that a
document that crashes it, or takes it too long, is a bad row and nothing else.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from neardup.files.extracted import (
    MAX_TEXT_BYTES,
    ExtractedFileSource,
    UnreadableFileError,
)

if TYPE_CHECKING:
    from neardup.options.groups import InputOptions

# The process in which PDFium extracts text from documents, one after another.
#
# PDFium is written in C++, and a few kilobytes can keep it busy for days, fill the memory or crash
# it: so it runs apart, with limits. Such a process loads only this module.

MOST_SECONDS = 120
MOST_MEMORY = 2 << 30
"""What PDFium may take for a document, beside a few times its size: seconds of CPU, and bytes."""

LENGTH = struct.Struct("<q")
"""How requests and answers say their lengths; that of a refusal is negative."""

LIMITS = struct.Struct("<qqq")
"""What comes before a document: the most seconds, bytes of memory, and characters of text."""

# How a word goes on that was broken at the end of a line.
_BROKEN_WORD = re.compile("[\ufffe\x02](?:\r\n?|\n)?")
_LINE_END = re.compile("\r\n?")
_CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
# A separator of pages in answers, which pages cannot contain.
_PAGE_END = "\f"


class RefusedError(Exception):
    """A document has no text; the message has the reason."""


def serve() -> None:
    """Answer requests from standard input until it ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while header := requests.read(LIMITS.size + LENGTH.size):
        seconds, memory, characters = LIMITS.unpack_from(header)
        [size] = LENGTH.unpack_from(header, LIMITS.size)
        _limit(seconds, memory + 4 * size)
        data = requests.read(size)
        try:
            text, sign = _PAGE_END.join(texts_of_pages(data, characters)), 1
        except RefusedError as error:
            text, sign = str(error), -1
        _write(answers, text.encode(), sign)


def _write(answers: IO[bytes], text: bytes, sign: int) -> None:
    answers.write(LENGTH.pack(sign * len(text)))
    answers.write(text)
    answers.flush()


def _limit(seconds: int, memory: int) -> None:
    """Let the system stop this process at so much more CPU time, or in all so much memory."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = int(used.ru_utime + used.ru_stime) + seconds + 1
        for limit, value in ((resource.RLIMIT_CPU, until), (resource.RLIMIT_AS, memory)):
            hard = resource.getrlimit(limit)[1]
            soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (soft, hard))


def texts_of_pages(data: bytes, most_characters: int) -> list[str]:
    """Return the text of each page."""
    import pypdfium2

    try:
        document: Any = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error):
            message = "the document is encrypted; save it without a password"
        else:
            message = f"not a PDF document that can be read: {error}; get a full copy"
        raise RefusedError(message) from None
    try:
        texts, n_characters = [], 0
        for number in range(len(document)):
            texts.append(_text_of_page(document, number))
            n_characters += len(texts[-1])
            if n_characters > most_characters:
                message = f"its text is longer than {most_characters >> 20} MB; leave it out"
                raise RefusedError(message)
    finally:
        document.close()
    if texts and not any(texts):
        pages = f"{len(texts):,} page" + "s" * (len(texts) != 1)
        message = (
            f"no text on its {pages}, which may be scanned; recognise it first, for example with "
            "ocrmypdf"
        )
        raise RefusedError(message)
    return texts


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
        raise RefusedError(message) from None
    text = _LINE_END.sub("\n", _BROKEN_WORD.sub("", text))
    return _CONTROLS.sub("", text).strip("\n")


_KIND = "a PDF document"
_SERVE = "from neardup.files.office.pdf import serve; serve()"

# Processes that have nothing to do, by the process that began them: a fork has none.
_idle: dict[int, list[_Reader]] = {}


def open_source(location: str, name: str, options: InputOptions) -> ExtractedFileSource:
    """Return the source of a PDF document."""
    return ExtractedFileSource(location, name, extract=extract, options=options, kind=_KIND)


def extract(data: bytes, options: InputOptions) -> str:
    """Return the text of a PDF document, page after page."""
    with _reader() as reader:
        return "\n".join(filter(None, reader.read(data).split(_PAGE_END)))


class _Reader:
    """A process of PDFium."""

    def __init__(self) -> None:
        places = os.pathsep.join(place for place in sys.path if place)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": places},
        )

    def read(self, data: bytes) -> str:
        """Return the text of a document."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        limits = LIMITS.pack(MOST_SECONDS, MOST_MEMORY, MAX_TEXT_BYTES)
        try:
            requests.write(limits + LENGTH.pack(len(data)))
            requests.write(data)
            requests.flush()
            [length] = LENGTH.unpack(_exactly(answers, LENGTH.size))
            text = _exactly(answers, abs(length)).decode()
        except (OSError, EOFError):
            self.stop()
            message = (
                f"PDFium failed on it, or would take more than {MOST_SECONDS} s or "
                f"{MOST_MEMORY >> 20} MB; leave it out, or convert it to text first"
            )
            raise UnreadableFileError(message) from None
        if length < 0:
            raise UnreadableFileError(text)
        return text

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()
        self._process.wait()


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


@contextlib.contextmanager
def _reader() -> Iterator[_Reader]:
    """Give a process to the thread that asks for it alone."""
    idle = _idle.setdefault(os.getpid(), [])
    try:
        # Threads may ask at the same time: a list gives each another one.
        reader = idle.pop()
    except IndexError:
        reader = _Reader()
    try:
        yield reader
    except UnreadableFileError:
        if reader.is_running:
            idle.append(reader)
        raise
    except BaseException:
        reader.stop()
        raise
    idle.append(reader)


@atexit.register
def _stop_all() -> None:
    for reader in _idle.pop(os.getpid(), []):
        reader.stop()
