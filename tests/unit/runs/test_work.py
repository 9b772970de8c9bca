"""Work folders: what is done stays done, what is not leaves nothing."""

from __future__ import annotations

import errno
import gc
import os
import threading
from pathlib import Path

import pytest
from filelock import FileLock

import neardup
from neardup.errors import WriteError
from neardup.runs import disk
from neardup.runs.work import WorkFolder, digest_of
from tests.each import each_of
from tests.work_folders import KEY, check, do, open_work, run


def names(work: WorkFolder) -> set[str]:
    """Give the names of the files of tasks."""
    own = {"key.json", "write.lock", "write.lock.holder"}
    found = {path.name for path in work.folder.iterdir()} - own
    return {name for name in found if not name.startswith("done-")}


def test_work__nothing_is_made_before_the_first_task(tmp_path):
    parent = tmp_path / "a" / "b"
    with open_work(parent) as work:
        assert not work.is_done("task-1")
        assert list(tmp_path.iterdir()) == []
        do(work, "task-1")
        assert work.folder.parent == parent
        assert work.folder.name.startswith(".out.neardup-work-")
        assert work.folder.stat().st_mode & 0o77 == 0
        assert names(work) == {"task-1.rows.bin", "task-1.keys"}
    assert list(parent.iterdir()) == []


def test_work__an_error_before_anything_is_done_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), open_work(tmp_path) as work, work.task("a"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_work__leftovers_go_when_it_is_entered(tmp_path):
    run(tmp_path, finishes=False)
    folder = open_work(tmp_path)
    before = names(folder)
    folder.close()
    for name in (
        "task-9.rows",
        ".task-9.rows.abcd.part",
        ".key.json.part",
        ".done-000009.json.part",
    ):
        (folder.folder / name).write_bytes(b"left")
    with open_work(tmp_path) as work:
        assert names(work) == before


def test_work__a_task_that_ends_after_the_run(tmp_path):
    work = open_work(tmp_path)
    do(work, "task-1")

    def be_late() -> None:
        with work.task("task-2") as files:
            files.new("rows.bin").write_bytes(b"late")
            work.close()
            # The next run does it meanwhile.
            with open_work(tmp_path) as other:
                do(other, "task-2")
                other.close()

    with pytest.raises(ValueError, match="too late"):
        be_late()
    with open_work(tmp_path) as work:
        check(work, "task-2")


def test_discard(tmp_path):
    with WorkFolder.temporary(tmp_path) as work:
        do(work, "task-1")
        do(work, "task-2")
        work.discard("task-1")
        assert names(work) == {"task-2.rows.bin", "task-2.keys"}
        assert not work.is_done("task-1")


def test_work__in_threads(tmp_path):
    work = open_work(tmp_path)
    names = [f"t{thread}-{number}" for thread in range(6) for number in range(5)]

    def work_on(thread: int) -> None:
        for number in range(5):
            do(work, f"t{thread}-{number}")
            check(work, f"t{thread}-{number}")

    threads = [threading.Thread(target=work_on, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work.close()
    with open_work(tmp_path) as work:
        assert work.n_done == len(names)
        for name in names:
            check(work, name)


def test_work__entered_and_left_by_different_threads(tmp_path):
    work = open_work(tmp_path)
    thread = threading.Thread(target=do, args=[work, "task-1"])
    thread.start()
    thread.join()
    with pytest.raises(WriteError, match=": this process, "):
        open_work(tmp_path)
    work.close()
    open_work(tmp_path).remove()


def test_work__that_came_to_be_after_it_was_looked_for(tmp_path):
    """Its tasks were not known when the run began, so that it has not counted on them."""
    work = open_work(tmp_path)
    run(tmp_path, finishes=False)
    do(work, "task-1")
    assert work.n_done == 1
    assert names(work) == {"task-1.rows.bin", "task-1.keys"}
    work.remove()


def test_temporary__goes_in_any_case(tmp_path):
    work = WorkFolder.temporary(tmp_path / "new")
    do(work, "task-1")
    check(work, "task-1")
    assert names(work) == {"task-1.rows.bin", "task-1.keys"}
    with pytest.raises(ZeroDivisionError), work:
        raise ZeroDivisionError
    (tmp_path / "new").rmdir()
    work = WorkFolder.temporary(tmp_path)
    do(work, "task-1")
    assert list(tmp_path.iterdir()) == [work.folder]
    del work
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_temporary__stays_when_a_copy_of_the_process_ends(tmp_path):
    work = WorkFolder.temporary(tmp_path)
    do(work, "task-1")
    process = os.fork()
    if not process:
        work.remove()
        os._exit(0)
    os.waitpid(process, 0)
    check(work, "task-1")
    work.remove()


def test_temporary__of_killed_processes_goes(tmp_path):
    left = tmp_path / ".run.neardup-work-0123456789ab"
    left.mkdir()
    (left / "a.b").write_bytes(b"left")
    foreign = tmp_path / ".run.neardup-work-x"
    foreign.mkdir()
    with WorkFolder.temporary(tmp_path) as work:
        do(work, "task-1")
        with WorkFolder.temporary(tmp_path) as other:
            do(other, "task-1")
            check(work, "task-1")
    assert list(tmp_path.iterdir()) == [foreign]


@pytest.mark.parametrize("error", [FileNotFoundError, FileExistsError])
def test_temporary__another_process_removes_it_before_it_is_locked(tmp_path, monkeypatch, error):
    """Then the lock finds no folder, or makes it at the moment when it goes."""
    acquire, times = FileLock.acquire, iter([True, True])

    def taken_away(lock, *arguments, **options):
        if next(times, False):
            Path(lock.lock_file).parent.rmdir()
            raise error(lock.lock_file)
        return acquire(lock, *arguments, **options)

    monkeypatch.setattr(FileLock, "acquire", taken_away)
    work = WorkFolder.temporary(tmp_path)
    with work.temporary_folder() as folder:
        assert folder.parent == work.folder
    work.remove()
    assert not list(tmp_path.iterdir())


def test_stale(tmp_path):
    """Folders of other keys are named, and go on demand unless a process is at work there."""
    run(tmp_path, finishes=False)
    work = open_work(tmp_path, KEY | {"version": "2"})
    [stale] = work.stale
    assert not work.is_done("task-1")
    assert str(stale) in work.describe_earlier_runs()[0]
    with open_work(tmp_path) as other:
        work.remove_stale()
        assert stale.exists()
        other.close()
    work.remove_stale()
    assert list(tmp_path.iterdir()) == []


def test_stale__others_are_left_alone(tmp_path):
    for name in (".out2.neardup-work-0123456789ab", ".out.neardup-work-short", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / ".out.neardup-work-0123456789ab").write_text("a file")
    with open_work(tmp_path) as work:
        assert work.stale == []


@pytest.mark.parametrize("what", ["parent", "folder", "symlink"])
def test_work__a_place_that_is_none(tmp_path, what):
    place = open_work(tmp_path).folder
    if what == "symlink":
        (tmp_path / "other").mkdir()
        place.symlink_to(tmp_path / "other")
    elif what == "folder":
        place.write_text("a file")
    else:
        (tmp_path / "file").write_text("a file")
    parent = tmp_path / "file" if what == "parent" else tmp_path
    with pytest.raises(WriteError, match="name another folder"):
        do(open_work(parent), "task-1")


@pytest.mark.parametrize("is_lasting", [True, False])
def test_work__errors_of_the_task_itself(tmp_path, is_lasting):
    """What the caller does besides is not said to be a matter of the folder."""
    work = open_work(tmp_path) if is_lasting else WorkFolder.temporary(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"), work.task("a"):
        Path("nowhere").read_bytes()
    with pytest.raises(WriteError, match="output"), work.task("a"):
        raise WriteError("output") from OSError(errno.ENOSPC, "full")
    advice = "goes on" if is_lasting else "a larger one$"
    with pytest.raises(WriteError, match=f"No space left.*{advice}"), work.task("a"):
        raise OSError(errno.ENOSPC, "full")
    with pytest.raises(WriteError, match=r"No such .*removed"), work.task("a") as files:
        files.new("a").read_bytes()
    work.remove()


def files(*names: str, size: int = 1) -> list[dict[str, object]]:
    return [{"path": name, "size": size, "mtime_ns": 5} for name in names]


OLD = {"options": {"threshold": "0.8", "ngram": 5}, "version": "1", "inputs": files("a", "b")}


@each_of(
    ("changes", "is_other"),
    [
        ({}, False),
        ({"version": "2"}, True),
        ({"options": {"threshold": "0.7", "ngram": 5}}, True),
        ({"options": {"ngram": 6, "tf": "log"}}, True),
        ({"inputs": files("a", "b", size=2)}, True),
        ({"inputs": files("b", "a")}, True),
        ({"inputs": files("a", "b", "b"), "against": files("c")}, True),
        ({"inputs": "a table"}, True),
    ],
)
def test_digest__of_each_change(changes, is_other):
    new = OLD | changes
    assert (digest_of(OLD) == digest_of(new)) != is_other


def test_digest__of_the_meaning():
    """Neither the order of names counts nor whether a list is a tuple."""
    turned = dict(reversed(OLD.items())) | {"inputs": tuple(files("a", "b"))}
    assert digest_of(turned) == digest_of(OLD)


TEXTS = [" ".join(f"w{i % 90}" for i in range(start, start + 80)) for start in (0, 20)]


@pytest.fixture
def synced(monkeypatch):
    """Count what is asked to reach the disk."""
    calls = []
    fsync = os.fsync
    monkeypatch.setattr("os.fsync", lambda file: (calls.append(file), fsync(file)))
    return calls


def test_align_and_cut__temporary_index_is_not_synced(synced):
    assert len(neardup.align(TEXTS[:1], TEXTS[1:]))
    assert neardup.cut(TEXTS, min_tokens=20).removed.num_rows
    assert synced == []


def test_index__that_stays_is_synced(synced, tmp_path):
    with WorkFolder.temporary(tmp_path).temporary_folder() as folder:
        assert folder.is_dir()
        neardup.PassageIndex.create(tmp_path / "index").add(TEXTS)
    assert synced
    assert not folder.exists()
    assert not disk._UNSYNCED
