"""Whatever happens to the files of an index, it is told, and nothing wrong is read."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from neardup.errors import IndexFormatError, ReadError
from tests.indexes import build, check, held


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "index"
    build(folder)
    return folder


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Change some bytes of a file, or its length."""
    place = int(rng.integers(len(data)))
    content = bytearray(data)
    match int(rng.integers(6)):
        case 0:
            return data[:place]
        case 1:
            return data + rng.bytes(int(rng.integers(1, 200)))
        case 2:
            length = int(rng.integers(1, 64))
            content[place : place + length] = bytes(len(content[place : place + length]))
        case 3:
            del content[place]
        case 4:
            other = int(rng.integers(len(data)))
            content[place], content[other] = content[other], content[place]
        case _:
            content[place] ^= 1 << int(rng.integers(8))
    return bytes(content)


@pytest.mark.damage
def test_damage__of_any_file(index, tmp_path):
    rng = np.random.default_rng(20)
    folder = tmp_path / "index"
    shutil.copytree(index, folder)
    n_damages = 0
    for name, data in held(index).items():
        for _ in range(46):
            changed = damaged(data, rng)
            if changed == data:
                continue
            (folder / name).write_bytes(changed)
            with pytest.raises((IndexFormatError, ReadError), match=Path(name).name):
                check(folder)
            n_damages += 1
        (folder / name).write_bytes(data)
    assert n_damages > 500
    assert check(folder) == 2


@pytest.mark.damage
def test_damage__file_is_gone_or_another(index, tmp_path):
    folder = tmp_path / "index"
    shutil.copytree(index, folder)
    files = held(index)
    for name, data in files.items():
        (folder / name).unlink()
        with pytest.raises((IndexFormatError, ReadError)):
            check(folder)
        for content in files.values():
            if content != data:
                (folder / name).write_bytes(content)
                with pytest.raises(IndexFormatError):
                    check(folder)
        (folder / name).write_bytes(data)
    assert check(folder) == 2
