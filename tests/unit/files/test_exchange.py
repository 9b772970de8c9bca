"""Two names exchanged in one step, or nothing done."""

from __future__ import annotations

import ctypes
import errno
import sys
from types import SimpleNamespace

import pytest

from neardup.files.destinations import exchange


@pytest.fixture
def two(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "content").write_text(name)
    return tmp_path / "a", tmp_path / "b"


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no exchange")
def test_exchange__of_folders(two):
    one, other = two
    assert exchange(one, other)
    assert [(path / "content").read_text() for path in two] == ["b", "a"]


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no exchange")
def test_exchange__fails(two, tmp_path):
    missing = tmp_path / "missing"
    with pytest.raises(FileNotFoundError) as info:
        exchange(two[0], missing)
    assert (info.value.filename, info.value.filename2) == (str(two[0]), str(missing))
    assert (two[0] / "content").read_text() == "a"


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EINVAL, errno.ENOTSUP])
def test_exchange__unknown_to_the_file_system(two, monkeypatch, code):
    def refuse(*_: object) -> int:
        ctypes.set_errno(code)
        return -1

    library = SimpleNamespace(renameat2=refuse)
    for found in (library, SimpleNamespace()):
        monkeypatch.setattr(ctypes, "CDLL", lambda *_, found=found, **__: found)
        assert not exchange(*two)
        assert (two[0] / "content").read_text() == "a"
