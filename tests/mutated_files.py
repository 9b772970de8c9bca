"""Trials of damaged input files: each is deduplicated in a process that may die of it.

``python -m tests.mutated_files NUMBER [SEED [FORMAT ...]]`` prints how they ended, as JSON:
``counts`` by format, and ``defects``, what ended as no trial may.

A trial ends as ``error``: one line, a NeardupError; ``same``: rows and counts as of the whole file;
``different``: the damage is in what the file says; ``wrong``: rows came out that are not in the
file, some got lost, or damage went unseen by a checksum; ``traceback``: any other exception, or
more than one line; ``memory``: it took more than the files are worth; ``hang``, or ``signal``.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import resource
import select
import shutil
import signal
import struct
import sys
import tarfile
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

import neardup
from neardup.errors import NeardupError
from tests.archives import zip_of
from tests.calls import grouped
from tests.protocols import format_cases

N_ROWS = 24
SECONDS = 60
MOST_BYTES = 1 << 30
"""How much more memory a trial may take than the ones before it."""

_HEADER = struct.Struct("<I")
_WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def _texts() -> list[str]:
    rng = random.Random(7)
    texts = [" ".join(rng.choices(_WORDS, k=8)) for _ in range(N_ROWS)]
    texts[5] = texts[2]
    return texts


def _rows() -> list[dict[str, str | None]]:
    return [{"id": f"k{i}", "text": text} for i, text in enumerate(_texts())]


def _every_type() -> pa.Table:
    """Return rows with columns of every layout that Arrow has."""
    n, texts = N_ROWS, _texts()
    kinds = pa.array([i % 2 for i in range(n)], pa.int8())
    numbers = pa.array(range(n))
    return pa.table(
        {
            "id": [f"k{i}" for i in range(n)],
            "text": texts,
            "number": pa.array([i if i % 3 else None for i in range(n)]),
            "large": pa.array(texts, pa.large_string()),
            "view": pa.array(texts).cast(pa.string_view()),
            "list": [[_WORDS[i % 8]] * (i % 4) for i in range(n)],
            "fixed": pa.array([[1.0, 2.0]] * n, pa.list_(pa.float64(), 2)),
            "list_view": pa.ListViewArray.from_arrays(
                pa.array([i % 7 for i in range(n)], pa.int32()),
                pa.array([i % 3 for i in range(n)], pa.int32()),
                numbers,
            ),
            "dictionary": pa.array([_WORDS[i % 3] for i in range(n)]).dictionary_encode(),
            "struct": [{"a": i, "b": _WORDS[i % 8]} for i in range(n)],
            "map": pa.array([[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int64())),
            "flag": [bool(i % 2) for i in range(n)],
            "runs": pa.RunEndEncodedArray.from_arrays(pa.array([10, n], pa.int32()), ["x", "y"]),
            "sparse": pa.UnionArray.from_sparse(kinds, [numbers, pa.array(texts)]),
            "dense": pa.UnionArray.from_dense(
                kinds, pa.array(range(n), pa.int32()), [numbers, pa.array(texts)]
            ),
            "null": pa.nulls(n),
        }
    )


def _arrow(new: Callable[..., Any], compression: str | None = None) -> bytes:
    table, sink = _every_type(), pa.BufferOutputStream()
    options = ipc.IpcWriteOptions(compression=compression)
    with new(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=10)
    return bytes(sink.getvalue())


def _parquet(**options: Any) -> bytes:
    table, sink = _every_type(), pa.BufferOutputStream()
    unknown = ["view", "list_view", "runs", "sparse", "dense"]
    pq.write_table(table.drop_columns(unknown), sink, row_group_size=10, **options)
    return bytes(sink.getvalue())


def _tar(mode: str, members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:  # type: ignore[call-overload]
        for name, content in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
    return out.getvalue()


def _zstd(data: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(data)
    return bytes(out.getvalue())


def whole_files() -> dict[str, bytes]:
    """Return a whole file of each format, by name."""
    lines = format_cases.json_lines(_rows())
    one = _rows()[:1]
    members = {"a.jsonl": lines, "b/c.csv": b"text\n" + "\n".join(_texts()).encode()}
    warc = format_cases.texts_of_a_crawl(_rows())
    return {
        "a.jsonl": lines,
        "a.json": format_cases.json_array(_rows()),
        "a.csv": format_cases.delimited(",")(_rows()),
        "a.tsv": format_cases.delimited("\t")(_rows()),
        "a.txt": format_cases.text_lines(_rows()),
        "file.arrow": _arrow(ipc.new_file),
        "stream.arrow": _arrow(ipc.new_stream),
        "lz4.feather": _arrow(ipc.new_file, "lz4"),
        "zstd.arrow": _arrow(ipc.new_stream, "zstd"),
        "a.parquet": _parquet(),
        "plain.parquet": _parquet(compression="none", use_dictionary=False),
        "checked.parquet": _parquet(write_page_checksum=True),
        "zstd.parquet": _parquet(compression="zstd", data_page_version="2.0"),
        "a.html": b"<!doctype html><meta charset=utf-8><title>t</title>"
        + b"".join(f"<p>{row['text']}</p>".encode() for row in _rows()),
        "a.warc": warc,
        "a.xlsx": format_cases.office_sheet(_rows()),
        "a.docx": format_cases.docx_of(_paragraphs("<w:p><w:r><w:t>{}</w:t></w:r></w:p>")),
        "a.odt": format_cases.odt_of(_paragraphs("<text:p>{}</text:p>")),
        "a.epub": format_cases.epub_of({"a.xhtml": _paragraphs("<p>{}</p>")}),
        "a.pdf": format_cases.pdf_document(one),
        "a.jsonl.gz": gzip.compress(lines, mtime=0),
        "a.jsonl.bz2": bz2.compress(lines),
        "a.jsonl.xz": lzma.compress(lines),
        "a.jsonl.zst": _zstd(lines),
        "a.warc.gz": gzip.compress(warc, mtime=0),
        "a.zip": zip_of(list(members.items())),
        "a.tar": _tar("w", members),
        "a.tar.gz": _tar("w:gz", members),
        "a.tar.xz": _tar("w:xz", members),
    }


def _paragraphs(pattern: str) -> str:
    return "".join(pattern.format(row["text"]) for row in _rows())


_WAYS = [("raise", "same"), ("skip", "same"), ("raise", "jsonl"), ("skip", "parquet")]
# In these every byte of the content is covered by a checksum.
_CHECKED = (".gz", ".bz2", ".xz")
# Strings are in these as they come out.
_PLAIN = ("a.jsonl", "a.csv", "a.tsv", "a.txt", "file.arrow", "stream.arrow", "plain.parquet")


def mutated(whole: bytes, rng: random.Random) -> bytes:
    """Return a copy with one byte, integer or piece changed, or one of these gone or doubled."""
    data = bytearray(whole)
    place = rng.randrange(len(data))
    match rng.randrange(8):
        case 0 | 1:
            data[place] = rng.randrange(256)
        case 2:
            data[place] ^= 1 << rng.randrange(8)
        case 3 | 4 | 5:
            _set_integer(data, place, *rng.choice([("<i", 4), ("<q", 8)]), rng)
        case 6:
            stop = min(len(data), place + rng.choice([1, 4, 8, 100]))
            data[place:stop] = rng.choice([b"", bytes(data[place:stop]) * 2])
        case 7:
            del data[place:]
    return bytes(data)


def _set_integer(data: bytearray, place: int, form: str, size: int, rng: random.Random) -> None:
    """Change the aligned integer at a place, as offsets and lengths are kept."""
    place = min(place, len(data) - size) // size * size
    [value] = struct.unpack_from(form, data, place)
    most = (1 << (8 * size - 1)) - 1
    changed = rng.choice([-1, most, -most - 1, 1 << 30, value + 1, value - 1, value + 8, 255])
    struct.pack_into(form, data, place, max(-most - 1, min(most, changed)))


def _read(path: Path, number: int) -> tuple[Any, set[bytes]]:
    """Deduplicate a file and write all; return what came out, and the strings in it."""
    on_error, output = _WAYS[number % len(_WAYS)]
    out = path.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    result = neardup.deduplicate(
        str(path),
        **grouped(
            ngram=2,
            on_error=on_error,
            workers=1,
            **{"document": "line"} if path.suffix == ".txt" else {},
        ),
    )
    result.write(out, format=output)
    kept, removed = result.kept.num_rows, result.removed.num_rows
    documents = result.summary["documents_in"]
    strings = set()
    for place in sorted(out.glob("kept/**/*")):
        if place.suffix in (".jsonl", ".csv", ".tsv", ".txt") and output == "same":
            strings |= set(place.read_bytes().splitlines())
    if path.suffix in (".arrow", ".parquet"):
        for name in ("id", "text"):
            values = result.kept[name].to_pylist() if name in result.kept.column_names else []
            strings |= {str(value).encode() for value in values if value is not None}
    lost = documents - kept - removed
    return (documents, kept, removed, lost, strings), strings


class Trials:
    """The trials of one format, each of a number.

    Parameters
    ----------
    name
        File name.
    whole
        Its content without damage.
    folder
        Where files are made.
    """

    def __init__(self, name: str, whole: bytes, folder: Path, seed: int) -> None:
        self._name, self._whole, self._seed = name, whole, seed
        self._path = folder / name
        self._path.write_bytes(whole)
        self._expected = [self._of_the_whole(number) for number in range(len(_WAYS))]
        assert self._expected[0] is not None, name

    def _of_the_whole(self, number: int) -> Any:
        try:
            return _read(self._path, number)[0]
        except NeardupError:
            # Unions become no Parquet.
            return None

    def __call__(self, number: int) -> str:
        """Return how a trial ended, with what tells about it."""
        data = mutated(self._whole, random.Random(f"{self._seed} {self._name} {number}"))
        self._path.write_bytes(data)
        before = _peak()
        try:
            found, strings = _read(self._path, number)
        except NeardupError as error:
            lines = str(error).splitlines()
            ended = "error" if len(lines) == 1 else f"traceback: {len(lines)} lines: {error!r}"
        except Exception as error:
            place = traceback.format_exc().strip().splitlines()[-3:]
            ended = f"traceback: {error!r} {' '.join(' '.join(place).split())}"[:600]
        else:
            ended = self._judged(found, strings, data, number)
        if _peak() - before > MOST_BYTES:
            return f"memory: {_peak() - before >> 20} MB, {ended}"
        return ended

    def _judged(self, found: Any, strings: set[bytes], data: bytes, number: int) -> str:
        if found[3]:
            return f"wrong: {found[3]} documents got lost"
        if found == self._expected[number % len(_WAYS)]:
            return "same"
        if data == self._whole:
            return "wrong: the whole file"
        if self._name in _PLAIN:
            foreign = [value for value in strings if value not in data]
            if foreign:
                return f"wrong: not in the file: {foreign[:2]}"
        if self._name.endswith(_CHECKED):
            return f"wrong: unseen by the checksum: {found[:4]}"
        return "different"


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def ended(number: int, trial: Callable[[int], str], seconds: float = SECONDS) -> list[str]:
    """Return how trials ended, run in a process that another follows if it dies or hangs."""
    results: list[str] = []
    while len(results) < number:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            _work(range(len(results), number), trial, writer)
        os.close(writer)
        hangs = False
        for result in _received(reader, seconds):
            hangs = result is None
            if result is not None:
                results.append(result)
        os.close(reader)
        if hangs:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if hangs:
            results.append("hang")
        elif os.WIFSIGNALED(status):
            results.append(f"signal: {signal.Signals(os.WTERMSIG(status)).name}")
        elif len(results) < number:
            results.append("signal: it ended by itself")
    return results


def _work(numbers: range, trial: Callable[[int], str], writer: int) -> None:
    # What dies on purpose leaves no traces.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for number in numbers:
        message = trial(number).encode()
        os.write(writer, _HEADER.pack(len(message)) + message)
    os._exit(0)


def _received(reader: int, seconds: float) -> Iterator[str | None]:
    """Yield what a process sends until it ends; None, as the last, where it takes too long."""
    data = b""
    while True:
        if not select.select([reader], [], [], seconds)[0]:
            yield None
            return
        more = os.read(reader, 1 << 16)
        if not more:
            return
        data += more
        while len(data) >= 4 and len(data) >= 4 + _HEADER.unpack_from(data)[0]:
            [size] = _HEADER.unpack_from(data)
            yield data[4 : 4 + size].decode()
            data = data[4 + size :]


def main(number: int, seed: int = 1, *names: str) -> None:
    """Print how so many trials ended, spread over the formats."""
    files = whole_files()
    chosen = list(names) or list(files)
    counts: dict[str, Counter[str]] = {}
    defects = []
    for place, name in enumerate(chosen):
        share = number * (place + 1) // len(chosen) - number * place // len(chosen)
        with tempfile.TemporaryDirectory() as folder:
            trials = Trials(name, files[name], Path(folder), seed)
            results = ended(share, trials)
        counts[name] = Counter(result.partition(":")[0] for result in results)
        defects += [
            (name, seed, i, result)
            for i, result in enumerate(results)
            if result not in ("error", "same", "different")
        ]
    print(json.dumps({"counts": counts, "defects": defects}))  # noqa: T201


if __name__ == "__main__":
    number, *rest = sys.argv[1:]
    main(int(number), *map(int, rest[:1]), *rest[1:])
