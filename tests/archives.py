"""Archives made member by member, as other programs and attackers make them."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from neardup.files.inputs import resolve_paths
from neardup.files.rows import ColumnNames
from neardup.options.groups import InputOptions
from tests.files import compress

Items = Iterable[tuple[str, bytes]]

ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2")


def zip_of(items: Items, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, content in items:
            file.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return out.getvalue()


def tar_of(items: Items, others: Iterable[tarfile.TarInfo] = ()) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        for name, content in items:
            about = tarfile.TarInfo(name)
            about.size = len(content)
            file.addfile(about, io.BytesIO(content))
        for about in others:
            file.addfile(about)
    return out.getvalue()


def archive_of(ending: str, items: Items) -> bytes:
    """Return an archive of the kind that an ending means."""
    if ending == ".zip":
        return zip_of(items)
    return compress("x.gz" if ending == ".tgz" else f"x{ending}", tar_of(items))


def put(name: str, content: bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return name


def names(*paths: str, **options) -> list[str]:
    return [source.name for source in resolve_paths(paths, InputOptions(**options))]


def texts(*paths: str) -> list[str]:
    return [
        text
        for source in resolve_paths(paths)
        for block in source.blocks()
        for text in block.parse(ColumnNames()).text.to_pylist()
    ]
