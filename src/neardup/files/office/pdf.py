"""PDF documents: their text as PDFium, the reader of Chromium, takes it from the pages.

PDFium runs in processes of its own, as many as threads ask for it at the same time, so that a
document that crashes it, or takes it too long, is a bad row and nothing else.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from neardup.files.extracted import MAX_TEXT_BYTES, ExtractedFileSource, UnreadableFileError
from neardup.files.office import pdf_pages
from neardup.files.office.pdf_pages import LENGTH, LIMITS

if TYPE_CHECKING:
    from neardup.files.input_options import InputOptions

_KIND = "a PDF document"
_SERVE = "from neardup.files.office.pdf_pages import serve; serve()"

# Processes that have nothing to do, by the process that began them: a fork has none.
_idle: dict[int, list[_Reader]] = {}


def open_source(location: str, name: str, options: InputOptions) -> ExtractedFileSource:
    """Return the source of a PDF document."""
    return ExtractedFileSource(location, name, extract=extract, options=options, kind=_KIND)


def extract(data: bytes, options: InputOptions) -> str:
    """Return the text of a PDF document, page after page.

    Raises
    ------
    UnreadableFileError
        If it is none, damaged, encrypted, without any text, or too much for PDFium.
    """
    with _reader() as reader:
        return reader.read(data)


class _Reader:
    """A process in which PDFium runs."""

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
        """Return the text of a document.

        Raises
        ------
        UnreadableFileError
            As ``extract``.
        """
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        limits = LIMITS.pack(pdf_pages.MOST_SECONDS, pdf_pages.MOST_MEMORY, MAX_TEXT_BYTES)
        try:
            requests.write(limits + LENGTH.pack(len(data)))
            requests.write(data)
            requests.flush()
            [length] = LENGTH.unpack(_exactly(answers, LENGTH.size))
            text = _exactly(answers, abs(length)).decode()
        except (OSError, EOFError):
            self.stop()
            message = (
                f"PDFium failed on it, or would take more than {pdf_pages.MOST_SECONDS} s or "
                f"{pdf_pages.MOST_MEMORY >> 20} MB; leave it out, or convert it to text first"
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
