"""Whatever happens to a file of an index, opening it says so."""

from __future__ import annotations

import contextlib
import random
import shutil
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from neardup import PassageIndex, ReadOptions, TextOptions
from neardup.errors import IndexFormatError, ReadError
from neardup.index.store import read_manifest
from neardup.passages.index import PassageHandle
from tests.indexes import held, tree


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    """Make an index with every kind of file: frequencies, removed and pending documents."""
    folder = tmp_path_factory.mktemp("index") / "index"
    generator = random.Random(3)
    words = [f"w{i}" for i in range(60)]
    texts = [" ".join(generator.choices(words, k=30)) for _ in range(12)]
    made = PassageIndex.create(
        folder, min_tokens=5, num_perm=8, text=TextOptions(tf="raw", idf="smooth")
    )
    with patch("neardup.passages.index.MOST_PENDING", 11):
        made.add(
            [{"id": str(i), "text": text} for i, text in enumerate(texts)],
            read=ReadOptions(id_column="id"),
        )
    made.add(
        [{"id": "more", "text": texts[0]}, {"id": "é", "text": ""}],
        read=ReadOptions(id_column="id"),
    )
    made.remove(["3", "more"])
    return folder


def damaged(data: bytes, generator: np.random.Generator) -> bytes:
    """Flip a bit or a byte, or cut the file off."""
    place = int(generator.integers(len(data)))
    kind = int(generator.integers(3))
    if kind == 0:
        return data[:place]
    change = 1 << int(generator.integers(8)) if kind == 1 else int(generator.integers(1, 256))
    return data[:place] + bytes([data[place] ^ change]) + data[place + 1 :]


def documents_of(folder: Path) -> list[dict]:
    return PassageIndex.open(folder).documents(0, 100)


@pytest.mark.damage
def test_open__after_damage_of_any_file(index, tmp_path):
    generator = np.random.default_rng(12)
    folder = tmp_path / "index"
    shutil.copytree(index, folder)
    files = held(index)
    assert {name.split("/")[0] for name in files} == {"index.sqlite", "segments"}
    right = documents_of(index)
    n_damages = 0
    for name, data in files.items():
        # Also the first and the last byte, and nothing at all.
        changed = [damaged(data, generator) for _ in range(200)]
        changed += [b"", data[:-1], data + b"\0", data[:-1] + bytes([data[-1] ^ 1])]
        for content in changed:
            (folder / name).write_bytes(content)
            if name == "index.sqlite":
                # Not every byte of a database has a meaning.
                with contextlib.suppress(IndexFormatError, ReadError):
                    assert documents_of(folder) == right
                continue
            with pytest.raises((IndexFormatError, ReadError), match=Path(name).name):
                PassageIndex.open(folder)
            n_damages += 1
        (folder / name).write_bytes(data)
    assert n_damages >= 300
    assert len(PassageIndex.open(folder)) == 12


def test_change__of_a_damaged_index(index, tmp_path):
    """Nobody builds upon what is damaged, and nothing is made worse."""
    folder = tmp_path / "index"
    shutil.copytree(index, folder)
    (record,) = read_manifest(folder).segments
    name = f"segments/{record.name}"
    (folder / name).write_bytes((folder / name).read_bytes()[:-1] + b"x")
    before = tree(folder)
    made = PassageIndex(PassageHandle(folder))
    for change in (lambda: made.add(["a b c"]), made.compact, lambda: made.remove(["0"])):
        with pytest.raises(IndexFormatError, match=Path(name).name):
            change()
        assert tree(folder) == before
