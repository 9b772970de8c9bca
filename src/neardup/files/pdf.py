"""Text of PDF documents, by PDFium, the reader of Chromium.

PDFium is written in C++, and a few kilobytes can keep it busy for days, fill the memory or crash
it. So it runs in processes of its own with limits, one for each thread that asks at the same time,
and such a document is a bad row and nothing else.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import subprocess
import sys
from typing import Any

from neardup.files.plain import MAX_TEXT_BYTES, UnreadableFileError
from neardup.options.groups import InputOptions

# Limits of a document: seconds of CPU, and bytes beside a few times its size.
MOST_SECONDS = 120
MOST_MEMORY = 2 << 30

# Continuation of a word that was broken at the end of a line.
_BROKEN_WORD = re.compile("[\ufffe\x02](?:\r\n?|\n)?")
_LINE_END = re.compile("\r\n?")
_CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")

_SERVE = "from neardup.files.pdf import serve; serve()"

# Idle processes, by the process that began them: a fork has none.
_idle: dict[int, list[_PdfProcess]] = {}


def pdf_text(data: bytes, _: InputOptions) -> str:
    """Return the text of a PDF document, page after page."""
    idle = _idle.setdefault(os.getpid(), [])
    try:
        # Threads may ask at the same time: a list gives each another one.
        process = idle.pop()
    except IndexError:
        process = _PdfProcess()
    try:
        answer = process.ask(data)
    except BaseException:
        process.stop()
        raise
    idle.append(process)
    if "refusal" in answer:
        raise UnreadableFileError(answer["refusal"])
    return "\n".join(filter(None, answer["pages"]))


class _PdfProcess:
    """A PDFium process, with a line of JSON per document."""

    def __init__(self) -> None:
        places = os.pathsep.join(place for place in sys.path if place)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": places},
        )

    def ask(self, data: bytes) -> dict[str, Any]:
        """Return a document's pages, or the reason for its refusal."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        request = [len(data), MOST_SECONDS, MOST_MEMORY, MAX_TEXT_BYTES]
        try:
            requests.write(json.dumps(request).encode() + b"\n" + data)
            requests.flush()
            answer: dict[str, Any] = json.loads(answers.readline())
        except (OSError, ValueError):
            message = (
                f"PDFium failed on it, or would take more than {MOST_SECONDS} s or "
                f"{MOST_MEMORY >> 20} MB; leave it out, or convert it to text first"
            )
            raise UnreadableFileError(message) from None
        return answer

    def stop(self) -> None:
        """End the PDFium process."""
        self._process.kill()
        with contextlib.suppress(OSError):
            self._process.communicate()


@atexit.register
def _stop_all() -> None:
    for process in _idle.pop(os.getpid(), []):
        process.stop()


# In the process of PDFium.


def serve() -> None:
    """Answer requests from standard input until it ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while header := requests.readline():
        size, seconds, memory, most_characters = json.loads(header)
        _limit(seconds, memory + 4 * size)
        answer: dict[str, object]
        try:
            answer = {"pages": _pages(requests.read(size), most_characters)}
        except UnreadableFileError as error:
            answer = {"refusal": str(error)}
        answers.write(json.dumps(answer, ensure_ascii=False).encode() + b"\n")
        answers.flush()


def _limit(seconds: int, memory: int) -> None:
    """Limit this process's further CPU seconds and total memory."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = int(used.ru_utime + used.ru_stime) + seconds + 1
        for limit, value in ((resource.RLIMIT_CPU, until), (resource.RLIMIT_AS, memory)):
            hard = resource.getrlimit(limit)[1]
            soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (soft, hard))


def _pages(data: bytes, most_characters: int) -> list[str]:
    """Return the text of each page."""
    import pypdfium2

    try:
        document: Any = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        message = f"not a PDF document that can be read: {error}; get a full copy"
        if "assword" in str(error):
            message = "the document is encrypted; save it without a password"
        raise UnreadableFileError(message) from None
    with contextlib.closing(document):
        texts, n_characters = [], 0
        for number in range(1, len(document) + 1):
            try:
                with (
                    contextlib.closing(document[number - 1]) as page,
                    contextlib.closing(page.get_textpage()) as textpage,
                ):
                    text: str = textpage.get_text_range()
            except pypdfium2.PdfiumError as error:
                message = f"its page {number} cannot be read: {error}; get a full copy"
                raise UnreadableFileError(message) from None
            text = _LINE_END.sub("\n", _BROKEN_WORD.sub("", text))
            texts.append(_CONTROLS.sub("", text).strip("\n"))
            n_characters += len(texts[-1])
            if n_characters > most_characters:
                message = f"its text is longer than {most_characters >> 20} MB; leave it out"
                raise UnreadableFileError(message)
    if texts and not any(texts):
        pages = f"{len(texts):,} page" + "s" * (len(texts) != 1)
        message = (
            f"no text on its {pages}, which may be scanned; recognise it first, for example with "
            "ocrmypdf"
        )
        raise UnreadableFileError(message)
    return texts
