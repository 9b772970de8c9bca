"""A small index of meaningless arrays for the tests of its storage; also run as a killed writer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.indexes.folder import (
    changing,
    create_index,
    load_extra,
    load_removed,
    write_extra,
    write_removed,
)
from neardup.indexes.history import HISTORY, Change, note_change, read_history
from neardup.indexes.manifest import Manifest, SegmentRecord, load_manifest, store_manifest
from neardup.indexes.segments import SegmentWriter, open_segment
from neardup.runs.runner import Runner

N_DOCUMENTS = 40


def contents(number: int) -> dict[str, Any]:
    """Give the arrays and the table of a segment."""
    rng = np.random.default_rng(number)
    return {
        "keys": rng.integers(0, 2**63, 100 + number).astype(np.uint64),
        "spans": rng.integers(0, 2**16, (70, 3)).astype(np.uint16),
        "wide": np.empty(0, np.uint32),
        "documents": pa.table(
            {"id": [f"{number}-{d}" for d in range(N_DOCUMENTS)], "start": list(range(N_DOCUMENTS))}
        ),
    }


def write_segment(folder: Path, number: int, prefix: str = "s") -> SegmentRecord:
    content = contents(number)
    name = f"{prefix}{number}"
    with SegmentWriter(folder, name) as writer:
        for part in np.array_split(content["keys"], 4):
            writer.append("keys", part)
        writer.add("spans", content["spans"])
        writer.add("wide", content["wide"])
        writer.add_table("documents", content["documents"])
        files = writer.commit()
    return SegmentRecord(name, N_DOCUMENTS, 1000 + number, files)


def change(folder: Path) -> Manifest:
    """Replace all that an index holds by the next generation of it."""
    with changing(folder) as old:
        number = old.generation + 1
        kept = [] if not old.segments else [old.segments[-1]]
        fresh = write_segment(folder, number)
        removed = write_removed(folder, f"r{number}", np.array([1, number % 38 + 2], np.uint32))
        fresh = SegmentRecord(fresh.name, fresh.n_documents, fresh.n_tokens, fresh.files, removed)
        files = write_extra(folder, f"counts-{number}", np.arange(number, number + 50))
        denied = write_segment(folder, number, "denied-")
        manifest = Manifest({"n_hashes": 4}, number, (*kept, fresh), files, denied=denied)
        note_change(folder, manifest, Change("add", added=number))
        store_manifest(folder, manifest)
    return manifest


def build(folder: Path) -> Manifest:
    create_index(folder, Manifest({"n_hashes": 4}))
    change(folder)
    return change(folder)


def check(folder: Path) -> int:
    """Read all of an index, compare it with what was written, and give its generation."""
    manifest = load_manifest(folder)
    number = manifest.generation
    for record in manifest.all_segments:
        segment = open_segment(folder, record, Runner(1))
        generation = int(record.name.removeprefix("denied-").removeprefix("s"))
        expected = contents(generation)
        assert (segment.array("keys", np.uint64) == expected["keys"]).all()
        assert (segment.array("spans", np.uint16, ndim=2) == expected["spans"]).all()
        assert len(segment.array("wide", np.uint32, length=0)) == 0
        assert segment.table("documents").equals(expected["documents"])
        if record != manifest.denied:
            assert load_removed(folder, record).tolist() == [1, generation % 38 + 2]
    # A line for each change, and none that has not come to be.
    changes = read_history(folder, manifest)
    assert [each.added for each in changes] == list(range(1, number + 1))
    if number:
        assert manifest.denied is not None
        assert manifest.denied.name == f"denied-{number}"
        assert manifest.segments[-1].name == f"s{number}"
        name = f"counts-{number}.npy"
        counts = load_extra(folder, name, manifest.files[name])
        assert (counts == np.arange(number, number + 50)).all()
    return number


def check_names(folder: Path) -> None:
    """Make sure that an index holds what its manifest names, and nothing else."""
    manifest = load_manifest(folder)
    expected = {"manifest.json", HISTORY, *(f"extra/{name}" for name in manifest.files)}
    for record in manifest.all_segments:
        expected |= {f"segments/{record.name}/{name}" for name in record.files}
    for record in manifest.segments:
        assert record.removed is not None
        expected.add(f"removed/{record.removed.name}.npy")
    assert tree(folder).keys() == expected


def tree(folder: Path) -> dict[str, bytes]:
    """Give all files of a folder but the locks."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


def held(folder: Path) -> dict[str, bytes]:
    """Give the files that decide what an index answers: all but its history."""
    return {name: data for name, data in tree(folder).items() if name != HISTORY}


def run() -> None:
    """Change an index until killed; tell of each stored generation."""
    while True:
        print(change(Path(sys.argv[1])).generation, flush=True)  # noqa: T201


if __name__ == "__main__":
    run()
