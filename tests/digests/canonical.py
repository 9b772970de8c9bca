"""What counts as equal: outputs as texts without times, memory, versions and threads."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import json
import lzma
import re
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

# Longer texts are kept as a digest; shorter ones as they are, so that a difference can be read.
LONGEST = 1500

MASK = "~"
_MASKED_KEYS = {
    "created_with", "digest", "memory_at_most_bytes", "memory_bytes", "memory_limit_bytes",
    "neardup", "other_jobs", "peak_memory_bytes", "seconds", "versions", "workers",
}  # fmt: skip

_TERMINAL_MASKS = [
    # "written to clean in 0.4 s, 302 MB of memory at most"
    (re.compile(r"( in )[\d,.]+ (?:s|min|h)\b(?:, [\d,.]+ [kMG]?B of memory at most)?"), r"\1~"),
    # "  memory            301 to 304 MB, more ...", "  time              about 0.3 to 0.5 s, ..."
    (
        re.compile(r"^(  (?:memory|time) +)(?:about |at most |less than )?[\d,.]+[^;,\n]*", re.M),
        r"\1~",
    ),
    # "  read     702 MB  0 bytes  4.4 s  digests, ...": a stage, its memory, files and time
    (re.compile(r"^(  (?:read|bucket|sieve|compare|choose|write) +)\d.*", re.M), r"\1~"),
    (re.compile(r"^(  stage +).*", re.M), r"\1~"),
    (re.compile(r"^(  in memory alone +).*", re.M), r"\1~"),
    (re.compile(r"^kernels are compiled as they are called.*\n", re.M), ""),
    (re.compile(r"(made (?:by|with) neardup) [\d.]+\w*"), r"\1 ~"),
]


def digest_text(text: str) -> str:
    """Return a short text itself, a longer one's digest."""
    if len(text) <= LONGEST:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()} of {len(text):,} characters"


def digest_bytes(data: bytes) -> str:
    """Return the digest of bytes, which all count."""
    return f"sha256:{hashlib.sha256(data).hexdigest()} of {len(data):,} bytes"


def mask_json(value: Any) -> Any:
    """Replace what differs from run to run in an object; names of keys and stages count."""
    if isinstance(value, dict):
        return {
            key: _mask_leaves(item) if key in _MASKED_KEYS else mask_json(item)
            for key, item in value.items()
        }
    return [mask_json(item) for item in value] if isinstance(value, list) else value


def _mask_leaves(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _mask_leaves(item) for key, item in value.items()}
    return MASK


def canonical_terminal(text: str, folder: Path) -> str:
    """Return what was printed, a JSON object or lines, without times, memory and the folder."""
    if text.startswith("{") and text.count("\n") == 1:
        with contextlib.suppress(ValueError):
            return json.dumps(mask_json(json.loads(text)), ensure_ascii=False)
    for name in {str(folder), str(folder.resolve())}:
        text = text.replace(name, "<folder>")
    text = re.sub(re.escape(tempfile.gettempdir()) + r"/[\w./-]+", "<temporary>", text)
    for pattern, replacement in _TERMINAL_MASKS:
        text = pattern.sub(replacement, text)
    return text


def canonical_table(table: pa.Table) -> str:
    """Return names, types, neardup's own metadata and rows of a table, each on its line."""
    fields = [f"{f.name}: {f.type}{'' if f.nullable else ' not null'}" for f in table.schema]
    metadata = table.schema.metadata or {}
    own = [
        f"{key.decode()}: {json.dumps(mask_json(json.loads(metadata[key])))}"
        for key in sorted(metadata)
        if key.startswith(b"neardup")
    ]
    rows = [json.dumps(row, default=_plain, ensure_ascii=False) for row in table.to_pylist()]
    return "\n".join([f"{table.num_rows} rows: " + ", ".join(fields), *own, *rows]) + "\n"


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else repr(value)


def canonical_file(path: Path) -> str:
    """Return the digest of a file, or what it holds if that is short.

    A damaged file counts byte by byte.
    """
    if path.suffix == ".parquet":
        with contextlib.suppress(pa.ArrowException, OSError):
            return digest_text(canonical_table(pq.read_table(path)))
    if path.name.startswith("index.sqlite"):
        # Pages of the database depend on the order of changes; searches compare its content.
        return "database"
    data = decompress(path)
    with contextlib.suppress(ValueError):
        if path.name == "summary.json":
            text = json.dumps(mask_json(json.loads(data)), indent=1, ensure_ascii=False)
            return digest_text(text)
    return _digest_content(data)


def _digest_content(data: bytes) -> str:
    with contextlib.suppress(UnicodeDecodeError):
        text = data.decode()
        if len(text) <= LONGEST:
            return text
    return digest_bytes(data)


def decompress(path: Path) -> bytes:
    """Read a file, decompressed as its suffix says; as it is where that fails."""
    data = path.read_bytes()
    try:
        match path.suffix:
            case ".gz":
                return gzip.decompress(data)
            case ".xz":
                return lzma.decompress(data)
            case ".bz2":
                return bz2.decompress(data)
            case ".zst":
                with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
                    return stream.read()
    except (OSError, EOFError, lzma.LZMAError):
        return data
    return data


def canonical_tree(folder: Path, names: list[str]) -> dict[str, str]:
    """Return the digest of each of some files of a folder, ``folder`` of each empty folder."""
    found = {}
    for name in names:
        path = folder / name
        if path.is_file():
            found[name] = canonical_file(path)
        elif not any(path.iterdir()):
            found[name] = "folder"
    return found


def canonical_value(value: Any) -> Any:
    """Return what a Python call has given, as JSON.

    A result that holds a table counts as that table, so that a table and an object around it are
    equal; snippets name what else of a result counts.
    """
    if isinstance(value, dict):
        plain = {str(key): canonical_value(item) for key, item in value.items()}
        return mask_json(plain)
    if isinstance(value, list | tuple):
        return [canonical_value(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    table = value
    if not hasattr(value, "column_names"):
        table = getattr(value, "passages", None)
        table = getattr(value, "pairs", None) if table is None else table
    if isinstance(table, pa.Table):
        return canonical_table(table)
    return repr(value)
