"""Single files at URLs, in a file system in memory."""

from __future__ import annotations

import fsspec
import pytest
from fsspec.registry import known_implementations

from neardup.errors import OutputExistsError, WriteError
from neardup.files.destinations import check_file, new_remote_file, size_of
from neardup.files.remote import Url

URL, CSV = Url("memory://x/a.csv"), (".csv",)


def test_new_remote_file__is_moved_there_when_it_is_complete(memory):
    memory.pipe_file("/x/a.csv", b"old")
    with new_remote_file(URL) as destination:
        with destination.create() as file:
            file.write(b"new")
        assert memory.cat_file("/x/a.csv") == b"old"
    assert memory.find("/x") == ["/x/a.csv"]
    assert (memory.cat_file("/x/a.csv"), size_of(URL)) == (b"new", 3)


def fail(error: BaseException) -> None:
    with new_remote_file(URL) as destination, destination.create() as file:
        file.write(b"ne")
        raise error


@pytest.mark.parametrize("error", [WriteError("full"), KeyboardInterrupt()])
def test_new_remote_file__error_leaves_what_was_there(memory, error):
    memory.pipe_file("/x/a.csv", b"old")
    with pytest.raises(type(error)):
        fail(error)
    assert memory.find("/x") == ["/x/a.csv"]
    assert memory.cat_file("/x/a.csv") == b"old"


def test_check_file(memory):
    check_file(URL, CSV, overwrite=False)
    assert memory.find("/x") == []
    memory.pipe_file("/x/a.csv", b"old")
    with pytest.raises(OutputExistsError, match=r"memory://x/a\.csv .*overwrite=True$"):
        check_file(URL, CSV, overwrite=False)
    check_file(URL, CSV, overwrite=True)
    with pytest.raises(WriteError, match="memory://x is a folder"):
        check_file(Url("memory://x"), ("",), overwrite=True)


class ReadOnly(fsspec.AbstractFileSystem):
    protocol = "readonly"


def test_check_file__not_to_be_written(monkeypatch):
    monkeypatch.setitem(
        known_implementations,
        "absent",
        {"class": "absent_s3.S3", "err": "Install it"},
    )
    fsspec.register_implementation("readonly", ReadOnly, clobber=True)
    for url, reason in [
        ("absent://b/a.csv", "Install it"),
        ("nothing://b/a.csv", "Protocol not known"),
        ("readonly://b/a.csv", "only be read"),
    ]:
        with pytest.raises(WriteError, match=f"{url}: .*{reason}"):
            check_file(Url(url), CSV, overwrite=True)
