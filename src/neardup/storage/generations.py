"""The next state of an index: new segments under free names, and the manifest that names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from neardup.storage.checksums import FileRecord
from neardup.storage.manifest import Manifest, SegmentRecord, store_manifest


def free_name(manifest: Manifest, number: int) -> str:
    """Name a segment by the generation that it comes with and its number."""
    return f"g{manifest.generation + 1:06d}-{number:04d}"


def store_next(
    folder: Path,
    manifest: Manifest,
    records: Sequence[SegmentRecord],
    files: Mapping[str, FileRecord],
) -> None:
    """Store the manifest that follows another one.

    Raises
    ------
    WriteError
        If it cannot be written.
    """
    generation = manifest.generation + 1
    store_manifest(
        folder, replace(manifest, generation=generation, segments=tuple(records), files=files)
    )
