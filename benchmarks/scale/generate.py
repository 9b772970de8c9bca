"""Writer of made-up documents with known near-copies.

``python -m benchmarks.scale.generate --bytes 1GB -o FILE`` writes JSON lines with id, text and
source, and ``FILE.truth.parquet`` with a row for each copy: id, of_id, kind and jaccard, the
similarity of the two sets of five consecutive words. With ``--files`` more than 1 the output is a
folder. Documents are the same for the same kind, seed and size, however many there are and however
many files they are in.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow.parquet as pq

from benchmarks.scale.kinds import DEFAULT_BYTES, KINDS, Kind, make_kind
from benchmarks.scale.lines import TRUTH, make_lines, make_truth

_BLOCK_BYTES = 4e6
_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
DOCUMENT_BYTES = 3000.0


@dataclass
class Written:
    """Counts of written documents."""

    documents: int = 0
    bytes: int = 0
    copies: int = 0


def parse_size(text: str) -> int:
    """Read a number of bytes such as 20GB or 300MB; units are powers of a thousand."""
    digits = text.rstrip("kMGB")
    try:
        return int(float(digits) * _UNITS[text[len(digits) :]])
    except (KeyError, ValueError):
        message = f"expected bytes such as 500MB or 20GB, got {text!r}"
        raise argparse.ArgumentTypeError(message) from None


def generate(
    kind: Kind,
    output: Path,
    *,
    n_bytes: int | None = None,
    n_documents: int | None = None,
    files: int = 1,
    document_bytes: float = DOCUMENT_BYTES,
    truth: Path | None = None,
) -> Written:
    """Write documents until there are enough."""
    block = max(1, min(1 << 18, int(_BLOCK_BYTES / document_bytes)))
    written = Written()
    with ExitStack() as stack:
        table = stack.enter_context(pq.ParquetWriter(truth, TRUTH)) if truth else None
        outputs = _files(output, files)
        stream: BinaryIO = stack.enter_context(next(outputs))
        goal, done_files = n_documents if n_bytes is None else n_bytes, 1
        assert goal is not None
        at = 0
        while at < goal:
            most = block if n_bytes is not None else min(block, goal - written.documents)
            numbers = np.arange(written.documents, written.documents + most, dtype=np.int64)
            texts = kind.words(numbers)
            lines = make_lines(texts, numbers)
            ends = np.frombuffer(lines.buffers()[1], np.int32)[1 : len(lines) + 1].astype(np.int64)
            data = memoryview(lines.buffers()[2])
            reached = ends + written.bytes if n_bytes is not None else numbers + 1
            start = used = 0
            while used < most:
                # A file ends with the document that reaches its share.
                share = goal * done_files // files
                stop = min(int(np.searchsorted(reached, share)) + 1, most)
                stream.write(data[start : ends[stop - 1]])
                start, used = int(ends[stop - 1]), stop
                at = int(reached[stop - 1])
                if at >= goal:
                    break
                if at >= share:
                    stream = stack.enter_context(next(outputs))
                    done_files += 1
            written.documents += used
            written.bytes += start
            if table is not None:
                found = make_truth(kind, texts.take(np.arange(used)), numbers[:used])
                table.write_table(found)
                written.copies += found.num_rows
    return written


def _files(output: Path, files: int) -> Iterator[BinaryIO]:
    """Create the files one after the other."""
    if files == 1:
        output.parent.mkdir(parents=True, exist_ok=True)
        yield output.open("wb")
        return
    output.mkdir(parents=True, exist_ok=True)
    for i in range(files):
        yield (output / f"part-{i:05d}.jsonl").open("wb")


def main() -> None:
    """Write documents, and print what was written as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale.generate", description=__doc__.partition("\n")[0]
    )
    amount = parser.add_mutually_exclusive_group(required=True)
    amount.add_argument("--bytes", type=parse_size, help="bytes to write, such as 500MB or 20GB")
    amount.add_argument("--documents", type=int, help="documents to write")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--kind", choices=KINDS, default="ordinary")
    parser.add_argument(
        "--document-bytes",
        type=float,
        help=f"mean bytes of a text (default: {DOCUMENT_BYTES:.0f}, 50 for short)",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--truth", type=Path, help="table of copies (default: beside the output)")
    parser.add_argument("--no-truth", action="store_true", help="write no table of copies")
    options = parser.parse_args()
    mean = options.document_bytes or DEFAULT_BYTES.get(options.kind, DOCUMENT_BYTES)
    truth = options.truth or options.output.with_name(f"{options.output.name}.truth.parquet")
    written = generate(
        make_kind(options.kind, options.seed, mean),
        options.output,
        n_bytes=options.bytes,
        n_documents=options.documents,
        files=options.files,
        document_bytes=mean,
        truth=None if options.no_truth else truth,
    )
    sys.stdout.write(json.dumps(asdict(written)) + "\n")


if __name__ == "__main__":
    main()
