"""Ask whether texts are in a collection that is not shown, and learn true or false only.

Who has the collection sketches it, and answers:

    neardup sketch texts/ --kind modulo --modulus 8 --seed SECRET -o known.parquet
    python presence.py answer known.parquet

Who asks sketches what is looked for with the same options, and sends the sketches, without ids:

    neardup sketch part.txt --kind modulo --modulus 8 --seed SECRET -o asked.parquet
    python presence.py ask asked.parquet http://127.0.0.1:8765

A question is true if four fifths of it are in one of the documents, as far as its sketch tells. The
one who answers sees sketches, the one who asks a list of true and false; what may be guessed from
either is said in docs/sketches.md. There is no encryption here: put a proxy with TLS in
front.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

import pyarrow as pa
import pyarrow.parquet as pq

import neardup

THRESHOLD = "0.8"
# Of fewer values single shingles could be asked for, one by one.
LEAST_VALUES = 100
MOST_BYTES = 10_000_000
MOST_QUESTIONS = 10_000


class TooMuchError(Exception):
    """More was asked than is answered."""


class Answers:
    """Answers questions about a collection, ``most`` and no more.

    Raises
    ------
    NeardupError
        If it is sketches of another kind than modulo.
    """

    def __init__(self, known: neardup.Sketches, most: int = MOST_QUESTIONS) -> None:
        # Says what is wrong with the kind, if anything is.
        nothing = neardup.Sketches.from_arrow(known.to_arrow().slice(0, 0))
        neardup.estimate(nothing, measure="containment", threshold=THRESHOLD)
        self._known = known
        self._left = most
        self._lock = Lock()

    def answer(self, asked: bytes) -> list[bool]:
        """Return for each sketch of a file, by its bytes, whether its text is there.

        Raises
        ------
        NeardupError
            If it is no file of sketches, or one of another scheme.
        TooMuchError
            If there are too many questions.
        """
        questions = _read(asked)
        with self._lock:
            if len(questions) > self._left:
                raise TooMuchError
            self._left -= len(questions)
        found = neardup.estimate(
            questions,
            self._known,
            measure="containment",
            threshold=THRESHOLD,
            run=neardup.RunOptions(workers=1),
        )
        present = set(found.pairs["id_a"].to_pylist())
        sizes = questions.rows.offsets[1:] - questions.rows.offsets[:-1]
        return [
            number in present and size >= LEAST_VALUES for number, size in enumerate(sizes.tolist())
        ]


def make_question(sketches: neardup.Sketches) -> bytes:
    """Return a file of sketches that are numbered, without ids and digests."""
    numbers = pa.array(range(len(sketches)), pa.int64())
    file = io.BytesIO()
    pq.write_table(neardup.Sketches(sketches.scheme, numbers, sketches.rows).to_arrow(), file)
    return file.getvalue()


def _read(asked: bytes) -> neardup.Sketches:
    """Read sketches, numbered in their order whatever ids they have."""
    try:
        file = pq.ParquetFile(io.BytesIO(asked))
        groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > MOST_BYTES:
            raise TooMuchError
        table = file.read()
    except (pa.ArrowException, OSError):
        message = "not a file of sketches"
        raise neardup.errors.SketchFormatError(message) from None
    questions = neardup.Sketches.from_arrow(table)
    numbers = pa.array(range(len(questions)), pa.int64())
    return neardup.Sketches(questions.scheme, numbers, questions.rows)


def make_server(answers: Answers, port: int) -> ThreadingHTTPServer:
    """Return a server of this machine that answers what is posted to it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 < length <= MOST_BYTES:
                self._send(413, {"error": f"send 1 to {MOST_BYTES} bytes"})
                return
            try:
                self._send(200, answers.answer(self.rfile.read(length)))
            except TooMuchError:
                self._send(429, {"error": "no more questions are answered"})
            except neardup.NeardupError as error:
                self._send(400, {"error": str(error)})

        def _send(self, status: int, answer: object) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Keep no record of who asked what."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def ask(url: str, sketches: neardup.Sketches) -> list[bool]:
    """Send sketches, and return the answers in their order."""
    request = urllib.request.Request(url, make_question(sketches), method="POST")
    with urllib.request.urlopen(request, timeout=60) as response:
        answers: list[bool] = json.load(response)
    return answers


def main(arguments: list[str] | None = None) -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description="Answer whether texts are in a collection.")
    commands = parser.add_subparsers(dest="command", required=True)
    answering = commands.add_parser("answer", help="answer by a file of sketches")
    answering.add_argument("known")
    answering.add_argument("--port", type=int, default=8765)
    answering.add_argument("--most", type=int, default=MOST_QUESTIONS, help="questions in all")
    asking = commands.add_parser("ask", help="ask for the texts of a file of sketches")
    asking.add_argument("asked")
    asking.add_argument("url")
    chosen = parser.parse_args(arguments)
    if chosen.command == "ask":
        for present in ask(chosen.url, neardup.Sketches.read(chosen.asked)):
            sys.stdout.write(f"{str(present).lower()}\n")
        return
    known = Answers(neardup.Sketches.read(chosen.known), chosen.most)
    with make_server(known, chosen.port) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
