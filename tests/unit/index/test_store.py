"""The database of an index: one writer at a time, states as a whole, damage that is noticed."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neardup import DocumentIndex, TextOptions
from neardup.errors import (
    IndexFormatError,
    IndexLockedError,
    OutputExistsError,
    ReadError,
    WriteError,
)
from neardup.index.store import Database, SegmentRecord, create_index, created_index, read_manifest
from tests.each import each_of

NOTHING = np.empty(0, np.uint32)


@pytest.fixture
def folder(tmp_path) -> Path:
    create_index(tmp_path / "index", {"kind": "documents", "a": 1})
    return tmp_path / "index"


def test_create__round_trip(tmp_path):
    folder = tmp_path / "a" / "b"
    create_index(folder, {"kind": "documents", "columns": ["ü"], "n": 1.5, "none": None})
    manifest = read_manifest(folder)
    assert manifest.scheme == {"kind": "documents", "columns": ["ü"], "n": 1.5, "none": None}
    assert (manifest.kind, manifest.generation, manifest.segments) == ("documents", 0, ())
    assert [path.name for path in folder.iterdir()] == ["index.sqlite"]
    with pytest.raises(OutputExistsError, match="holds an index"):
        create_index(folder, {})


def test_create__in_a_folder_in_use(tmp_path):
    (tmp_path / "letter.txt").write_text("precious")
    with pytest.raises(OutputExistsError, match="not empty"):
        create_index(tmp_path, {})
    with pytest.raises(WriteError, match="not a folder"):
        create_index(tmp_path / "letter.txt", {})
    with pytest.raises(WriteError, match="cannot write"):
        create_index(tmp_path / "letter.txt" / "below", {})
    with pytest.raises(WriteError, match="is a URL"):
        create_index(Path("s3://bucket/index"), {})
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_create__many_at_once(tmp_path):
    def create(number: int) -> bool:
        try:
            create_index(tmp_path / "index", {"number": number})
        except OutputExistsError:
            return False
        return read_manifest(tmp_path / "index").scheme == {"number": number}

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(create, range(6))) == 1
    assert [path.name for path in (tmp_path / "index").iterdir()] == ["index.sqlite"]


def add_nothing(folder: Path) -> None:
    database = Database(folder)
    with database.writing(0):
        database.commit(database.read())
    raise KeyError


def test_created__goes_again_with_an_error(tmp_path):
    folder = tmp_path / "index"
    with pytest.raises(KeyError), created_index(folder, {}):
        raise KeyError
    assert not folder.exists()
    with pytest.raises(KeyError), created_index(folder, {}):
        add_nothing(folder)
    assert read_manifest(folder).generation == 1


def test_open__what_is_no_index(tmp_path):
    with pytest.raises(ReadError, match="folder not found"):
        read_manifest(tmp_path / "nope")
    with pytest.raises(ReadError, match=r"no index\.sqlite"):
        read_manifest(tmp_path)
    (tmp_path / "index.sqlite").write_text("something else, which is longer than a page" * 100)
    with pytest.raises(IndexFormatError, match=r"index\.sqlite: .*damaged \(file is"):
        read_manifest(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "other.sqlite")) as other:
        other.execute("CREATE TABLE a (b)")
    (tmp_path / "other.sqlite").replace(tmp_path / "index.sqlite")
    with pytest.raises(IndexFormatError, match="format 0, "):
        read_manifest(tmp_path)


def test_commit__is_seen_as_a_whole(folder):
    database, reader = Database(folder), Database(folder)
    first = reader.read()
    record = SegmentRecord("s1", 7, 70, 10, 8, 0)
    removed = np.array([2, 5], np.uint32)
    with database.writing(0):
        contents = database.read().with_segments([record], 0)
        assert not reader.has_changed(first)
        database.commit(contents.without([removed, NOTHING]))
    assert reader.has_changed(first)
    second = reader.read()
    assert second.manifest.n_documents == 5
    assert [each.tolist() for each in second.removed] == [[2, 5], []]
    with database.writing(0):
        database.commit(database.read().with_pending([b"rows"], 3, 30))
    third = reader.read()
    assert (third.pending, third.manifest.n_documents) == ((b"rows",), 8)
    # Rows that are known are not read again.
    assert third.removed[0] is second.removed[0]
    assert third == replace(Database(folder).read(), removed=third.removed)
    with pytest.raises(KeyError), database.writing(0):
        raise KeyError
    assert reader.read() is third


def test_commit__of_documents_that_were_left_out(folder):
    database = Database(folder)
    for packed, n, is_anew in (([b"a"], 2, False), ([b"b", b"c"], 5, False), ([b"d"], 1, True)):
        with database.writing(0):
            database.commit(database.read().with_gone(packed, n, is_anew=is_anew))
        gone = database.read().manifest.gone
        assert (gone.n_documents, gone.n_rows) == {2: (2, 1), 5: (7, 3), 1: (1, 1)}[n]
    assert database.read_gone() == Database(folder).read_gone() == [b"d"]


def test_damage__of_text(folder):
    """SQLite hands out text that is no UTF-8 as an error of Python."""
    with contextlib.closing(sqlite3.connect(folder / "index.sqlite")) as connection:
        connection.execute("UPDATE state SET data = CAST(X'70EF' AS TEXT)")
        connection.commit()
    with pytest.raises(IndexFormatError, match=r"index\.sqlite: .*damaged"):
        read_manifest(folder)


def test_commit__when_another_index_has_taken_the_place(folder):
    database = Database(folder)
    before = database.read()
    folder.rename(folder.with_name("old"))
    create_index(folder, {"kind": "passages"})
    assert database.has_changed(before)
    assert database.read().manifest.kind == "passages"
    shutil.rmtree(folder)
    with pytest.raises(ReadError, match="folder not found"):
        database.read()


HOLD = """
import sys
from pathlib import Path
from neardup.index.store import Database
with Database(Path(sys.argv[1])).writing(0):
    print("held", flush=True)
    sys.stdin.read()
"""


def holding(folder) -> subprocess.Popen[str]:
    """Start a process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    return process


def held_by(folder, timeout: float = 0) -> str | None:
    with pytest.raises(IndexLockedError) as info, Database(folder).writing(timeout):
        pass
    assert info.value.folder == str(folder)
    assert (info.value.holder or "another process") in str(info.value)
    return info.value.holder


def test_writing__in_the_same_process(folder):
    database = Database(folder)
    for _ in range(2):
        with database.writing(0):
            assert re.fullmatch(r"this process, since 20\d\d-.*\+00:00", held_by(folder, 0.02))
            # The one that was refused takes nothing away.
            assert held_by(folder) is not None
            with pytest.raises(IndexLockedError), database.writing(0):
                pass
        assert not (folder / "write.lock.holder").exists()


@pytest.mark.slow
def test_writing__of_threads(folder):
    """A number that is read and written back counts all who held the lock."""
    counter = folder.with_name("counter")
    counter.write_text("0")
    databases = [Database(folder), Database(folder)]

    def count(number: int) -> None:
        for _ in range(20):
            with databases[number % 2].writing(60):
                counter.write_text(str(int(counter.read_text()) + 1))

    threads = [threading.Thread(target=count, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read_text() == "120"


WRITE = """
import sys
from neardup import DocumentIndex
index = DocumentIndex.open(sys.argv[1], timeout=300)
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    index.insert(f"{sys.argv[2]}-{number}", f"one two {sys.argv[2]} {number}")
    index.commit()
    print(len(index), flush=True)
"""


@pytest.mark.slow
def test_writing__processes_write_in_turn(tmp_path):
    """Nobody is refused, nothing is lost, and nobody waits until the others are done."""
    folder = tmp_path / "index"
    DocumentIndex.create(folder, text=TextOptions(ngram=1))
    command = [sys.executable, "-c", WRITE, folder]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([*command, name], **pipes) for name in "abc"]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    ends = [[int(line) for line in writer.communicate()[0].split()][-1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert len(DocumentIndex.open(folder)) == 60
    assert all(DocumentIndex.open(folder).get(f"{name}-19") for name in "abc")
    # The last count of each is after all of its own.
    assert min(ends) >= 20


@pytest.mark.slow
def test_writing__of_another_process(folder):
    with holding(folder) as process:
        holder = held_by(folder)
        assert holder.startswith(f"process {process.pid} on {socket.gethostname()} (")
        assert "python" in holder
        # Readers are let in.
        assert read_manifest(folder).scheme == {"kind": "documents", "a": 1}
        process.stdin.close()
        assert process.wait() == 0
    with Database(folder).writing(0):
        pass


def test_writing__of_a_killed_process(folder):
    with holding(folder) as process:
        process.kill()
        process.wait()
        text = (folder / "write.lock.holder").read_text()
    assert json.loads(text)["process"] == process.pid
    with Database(folder).writing(0):
        # The next holder was not quick enough to tell who it is.
        (folder / "write.lock.holder").write_text(text)
        assert held_by(folder) is None
    with Database(folder).writing(0):
        assert held_by(folder).startswith("this process")


@each_of("text", [b"", b"{", b"[]", b"{}", b"\xff", b"1", b'{"process": 1}'])
def test_writing__unknown_holder(folder, text):
    with Database(folder).writing(0):
        (folder / "write.lock.holder").write_bytes(text)
        assert held_by(folder) is None
        (folder / "write.lock.holder").unlink()
        assert held_by(folder) is None


def test_writing__holder_on_another_machine(folder):
    holder = {"process": 2**30, "host": "elsewhere", "command": "x", "since": "then"}
    with Database(folder).writing(0):
        (folder / "write.lock.holder").write_text(json.dumps(holder))
        assert held_by(folder) == f"process {2**30} on elsewhere (x), since then"
