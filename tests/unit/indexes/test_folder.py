"""Making an index, cleaning it up, and reading it while it is written."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from neardup.errors import IndexLockedError, OutputExistsError, WriteError
from neardup.indexes.folder import changing, create_index, read_current, remove_orphans
from neardup.indexes.manifest import Manifest, load_manifest
from neardup.indexes.segments import open_segment
from neardup.runs.runner import Runner
from tests.faults import at_calls
from tests.indexes import build, change, check, check_names, contents, tree, write_segment


def test_create__round_trip(tmp_path):
    folder = tmp_path / "a" / "index"
    manifest = Manifest({"k": 64})
    create_index(folder, manifest)
    assert load_manifest(folder) == manifest
    assert tree(folder).keys() == {"manifest.json"}
    with pytest.raises(OutputExistsError, match="is an index already"):
        create_index(folder, manifest)


def test_create__in_a_folder_in_use(tmp_path):
    (tmp_path / "letter.txt").write_text("precious")
    with pytest.raises(OutputExistsError, match="is no index and not empty; choose another name"):
        create_index(tmp_path, Manifest({}))
    with pytest.raises(WriteError, match="is not a folder; an index is a folder"):
        create_index(tmp_path / "letter.txt", Manifest({}))
    with pytest.raises(WriteError, match="cannot write"):
        create_index(tmp_path / "letter.txt" / "below", Manifest({}))
    assert tree(tmp_path) == {"letter.txt": b"precious"}
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("url", ["s3://bucket/index", "file:///index"])
def test_create__url(tmp_path, monkeypatch, url):
    from pathlib import Path

    monkeypatch.chdir(tmp_path)
    with pytest.raises(WriteError, match="is a URL; an index is local"):
        create_index(Path(url), Manifest({}))
    assert list(tmp_path.iterdir()) == []


def test_create__many_at_once(tmp_path):
    def create(number: int) -> bool:
        try:
            create_index(tmp_path / "index", Manifest({"number": number}))
        except (OutputExistsError, IndexLockedError):
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(create, range(40)))
    assert sum(made) == 1
    assert load_manifest(tmp_path / "index").scheme == {"number": made.index(True)}


def test_orphans__are_removed(tmp_path):
    folder = tmp_path / "index"
    manifest = build(folder)
    before = tree(folder)
    write_segment(folder, 77)
    ours = ["segments/.s9.part/a.npy", "removed/.r9.npy.part", "removed/r9.npy", "extra/x.npy"]
    for name in [*ours, ".manifest.json.part"]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("half")
    (folder / "segments" / "link").symlink_to(tmp_path)
    foreign = ["notes.txt", "removed/notes.txt", "segments/Mine/notes.txt", "extra/X.npy"]
    for name in foreign:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("precious")
    assert len(remove_orphans(folder, manifest)) == 7
    assert tree(folder) == before | dict.fromkeys(foreign, b"precious")
    assert remove_orphans(folder, manifest) == []
    assert check(folder) == 2


def test_orphans__stay_where_the_disk_does_not_answer(tmp_path):
    folder = tmp_path / "index"
    manifest = build(folder)
    write_segment(folder, 77)

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    with at_calls(fail), pytest.raises(WriteError):
        remove_orphans(folder, manifest)
    assert (folder / "segments" / "s77").exists()


def test_changing__fails(tmp_path):
    folder = tmp_path / "index"
    build(folder)
    before = tree(folder)
    with pytest.raises(KeyboardInterrupt), changing(folder):  # noqa: PT012
        write_segment(folder, 3)
        raise KeyboardInterrupt
    assert tree(folder) == before


@pytest.mark.slow
def test_read__while_it_is_written(tmp_path):
    """Readers always see one generation as a whole, and never an older one than before."""
    folder = tmp_path / "index"
    build(folder)
    is_done = threading.Event()
    n_retries = 0

    def write() -> None:
        try:
            for _ in range(60):
                change(folder)
        finally:
            is_done.set()

    def open_all(manifest: Manifest) -> tuple[int, list]:
        nonlocal n_retries
        n_retries += 1
        return manifest.generation, [
            open_segment(folder, record, Runner(1)) for record in manifest.segments
        ]

    with at_calls(lambda _: None):
        thread = threading.Thread(target=write)
        thread.start()
        last = n_reads = 0
        while not is_done.is_set() or last < 62:
            generation, segments = read_current(folder, open_all)
            assert generation >= last
            last = generation
            n_reads += 1
            for segment in segments:
                expected = contents(int(segment.record.name[1:]))
                assert (segment.array("keys", "u8") == expected["keys"]).all()
        thread.join()
    assert last == 62
    assert n_retries >= n_reads > 1
    check_names(folder)
