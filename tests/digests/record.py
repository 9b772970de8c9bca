"""Record digests of all that commands write and print; compare recordings."""

# ruff: noqa: T201 - a program that reports
from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.digests.cases import COMMANDS
from tests.digests.inputs import make_inputs

# Longer texts are kept as a digest; shorter ones as they are, so that a difference can be read.
LONGEST_CHARACTERS = 1500
_SECONDS_AT_MOST = 600
_MASKED_KEYS = {
    "created_with", "digest", "neardup", "peak_memory_bytes", "seconds", "versions", "workers",
}  # fmt: skip
_MASKS = [
    # "written to clean in 0.4 s, 302 MB of memory at most"
    (re.compile(r"( in )[\d,.]+ (?:s|min|h)\b(?:, [\d,.]+ [kMG]?B of memory at most)?"), r"\1~"),
    (re.compile(r"^kernels are compiled as they are called.*\n", re.M), ""),
    (re.compile(r"(made (?:by|with) neardup) [\d.]+\w*"), r"\1 ~"),
]


def main() -> int:
    """Record or compare; the exit code of a comparison is 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.digests.record", description=__doc__)
    parser.add_argument("--neardup", help="command to run, split as by a shell")
    parser.add_argument("-o", "--output", type=Path, help="JSON file for digests of commands")
    parser.add_argument("--only", default="", help="regular expression: only commands with a match")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args()
    if options.compare:
        before, after = (json.loads(path.read_text()) for path in options.compare)
        differences = list(find_differences(before, after))
        print(*differences, f"{len(differences)} differences", sep="\n")
        return int(bool(differences))
    if not options.neardup or not options.output:
        parser.error("give --neardup with --output, or --compare")
    cases = [case for case in COMMANDS if re.search(options.only, case)]
    first, *others = shlex.split(options.neardup)
    words = [str(Path(shutil.which(first) or first).absolute()), *others]
    with tempfile.TemporaryDirectory(prefix="digests-") as name:
        work = Path(name).resolve()
        (work / "inputs").mkdir()
        make_inputs(work / "inputs")
        with ThreadPoolExecutor(2) as executor:
            steps = list(executor.map(partial(run_case, words, work), cases))
    text = json.dumps(dict(zip(cases, steps, strict=True)), indent=1, ensure_ascii=False)
    options.output.write_text(text + "\n")
    print(f"{len(cases)} cases recorded")
    return 0


def run_case(words: list[str], work: Path, case: str) -> list[dict[str, Any]]:
    """Run the steps of a case in a new folder with a copy of the inputs.

    Returns the exit code of each step, its prints, and the files that it changed.
    """
    folder = Path(tempfile.mkdtemp(dir=work)) / "case"
    shutil.copytree(work / "inputs", folder)
    before = _file_states(folder)
    steps = []
    for step in case.split(" ; "):
        record = _damage(step, folder) if step.startswith("@") else _run(words, step, folder)
        after = _file_states(folder)
        files = {
            name: canonical_file(folder / name)
            for name in sorted(after)
            if after[name] != before.get(name)
        }
        files |= dict.fromkeys(sorted(before.keys() - after), "gone")
        steps.append({"step": step, **record, "files": files})
        before = after
    shutil.rmtree(folder.parent)
    return steps


def _run(words: list[str], step: str, folder: Path) -> dict[str, Any]:
    command, _, source = step.partition(" < ")
    fixed = {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [*words, *shlex.split(command)],
        cwd=folder,
        env={**os.environ, **fixed},
        input=(folder / source).read_bytes() if source else b"",
        capture_output=True,
        timeout=_SECONDS_AT_MOST,
        check=False,
    )
    out, err = (canonical_output(each.decode(), folder) for each in (done.stdout, done.stderr))
    return {"exit": done.returncode, "stdout": out, "stderr": err}


def _damage(step: str, folder: Path) -> dict[str, Any]:
    action, name = step[1:].split()
    path = folder / name
    data = bytearray(path.read_bytes()) if path.exists() else bytearray(b"something\n")
    if action == "cut":
        del data[-40:]
    elif action == "flip":
        data[len(data) // 2] ^= 0x20
    path.write_bytes(data)
    return {}


def _file_states(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return numbers of each file that change when it is written anew."""
    states = {path: path.stat() for path in folder.rglob("*") if path.is_file()}
    return {
        path.relative_to(folder).as_posix(): (state.st_ino, state.st_size, state.st_mtime_ns)
        for path, state in states.items()
    }


def canonical_output(text: str, folder: Path) -> str:
    """Return a JSON object or printed lines without times, memory and the folder."""
    if text.startswith("{") and text.count("\n") == 1:
        with contextlib.suppress(ValueError):
            return _shorten(json.dumps(mask_json(json.loads(text)), ensure_ascii=False))
    text = text.replace(str(folder), "<folder>")
    text = re.sub(re.escape(tempfile.gettempdir()) + r"/[\w./-]+", "<temporary>", text)
    for pattern, replacement in _MASKS:
        text = pattern.sub(replacement, text)
    return _shorten(text)


def canonical_file(path: Path) -> str:
    """Return a short file's content or a longer one's digest.

    Schema, rows and neardup's metadata of Parquet files count, not their bytes; a damaged file
    counts byte by byte. Pages of a database depend on the order of changes and do not count.
    """
    if path.name.startswith("index.sqlite"):
        return "database"
    if path.suffix == ".parquet":
        with contextlib.suppress(pa.ArrowException, OSError):
            return _shorten(_canonical_table(pq.read_table(path)))
    data = path.read_bytes()
    if path.suffix == ".gz":
        with contextlib.suppress(OSError, EOFError):
            data = gzip.decompress(data)
    with contextlib.suppress(ValueError):
        text = data.decode()
        if path.name == "summary.json":
            text = json.dumps(mask_json(json.loads(text)), ensure_ascii=False)
        return _shorten(text)
    return f"sha256:{hashlib.sha256(data).hexdigest()} of {len(data):,} bytes"


def _canonical_table(table: pa.Table) -> str:
    metadata = table.schema.metadata or {}
    own = [
        f"{key.decode()}: {json.dumps(mask_json(json.loads(metadata[key])))}"
        for key in sorted(metadata)
        if key.startswith(b"neardup")
    ]
    rows = [json.dumps(row, default=repr, ensure_ascii=False) for row in table.to_pylist()]
    return "\n".join([str(table.schema.remove_metadata()), *own, *rows]) + "\n"


def _shorten(text: str) -> str:
    if len(text) <= LONGEST_CHARACTERS:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()} of {len(text):,} characters"


def mask_json(value: Any, is_masked: bool = False) -> Any:
    """Replace values that differ from run to run; names of keys and stages count."""
    if isinstance(value, dict):
        return {
            key: mask_json(item, is_masked or key in _MASKED_KEYS) for key, item in value.items()
        }
    if is_masked:
        return "~"
    return [mask_json(item) for item in value] if isinstance(value, list) else value


def find_differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Yield a text for each value that differs, is gone, or is new."""
    if isinstance(before, list) and isinstance(after, list):
        before, after = (dict(enumerate(each, 1)) for each in (before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            inner = f"{place} | {key}"
            if key not in after or key not in before:
                yield f"{inner}: only {'before' if key in before else 'after'}"
            else:
                yield from find_differences(before[key], after[key], inner)
    elif before != after:
        yield f"{place}:\n    before {before!r:.300}\n    after  {after!r:.300}"


if __name__ == "__main__":
    sys.exit(main())
