"""Archives as folders: what is read of them, and what is refused."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import stat
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InvalidInputError, ReadError, WriteError
from neardup.files.formats import TAR_ENDINGS
from neardup.files.inputs import resolve_paths
from neardup.files.parquet import ParquetSource
from neardup.files.streams import LocalDestination
from neardup.options.groups import InputOptions
from tests.archives import ENDINGS, archive_of, names, put, tar_of, texts, zip_of
from tests.files import compress

LINE = b'{"text": "a"}\n'
ITEMS = [("b.jsonl", LINE), ("x/y/a.txt", b"one\ntwo"), ("x/c.jsonl.gz", compress("c.gz", LINE))]
every_kind = pytest.mark.parametrize("ending", ENDINGS)


def test_endings__are_all_tried():
    assert set(ENDINGS) == {".zip", *TAR_ENDINGS}


@every_kind
def test_archive__is_a_folder(ending):
    name = put(f"A{ending}", archive_of(ending, ITEMS))
    found = resolve_paths([name])
    assert [source.name for source in found] == ["b.jsonl", "x/c.jsonl.gz", "x/y/a.txt"]
    assert [source.origin for source in found] == [f"{name}/{source.name}" for source in found]
    # More than one pass.
    assert texts(name) == texts(name) == ["a", "a", "one\ntwo"]
    assert [source.size for source in found][::2] == [len(LINE), 7]


@every_kind
def test_archive__among_other_files(ending):
    put(f"in/A{ending}", archive_of(ending, ITEMS))
    put("in/b.jsonl", LINE)
    put("in/z.txt", b"")
    members = ["b.jsonl", "x/c.jsonl.gz", "x/y/a.txt"]
    expected = [*(f"A{ending}/{name}" for name in members), "b.jsonl", "z.txt"]
    assert names("in") == names("in/A*", "in") == expected
    assert names(f"in/A{ending}", "in") == expected
    assert names("in/*.txt", f"in/A{ending}") == ["z.txt", *expected[:3]]


@every_kind
def test_members__of_formats_that_are_read_from_the_end(ending):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": ["p", "q"]}), sink)
    put(f"A{ending}", archive_of(ending, [("t.parquet", sink.getvalue().to_pybytes())]))
    [source] = resolve_paths([f"A{ending}"])
    assert type(source) is ParquetSource
    assert texts(f"A{ending}") == ["p", "q"]


@every_kind
def test_members__that_are_no_inputs(ending):
    items = [*ITEMS, ("r.md", b"x"), ("in.zip", b"PK"), ("in.tar.gz", b""), ("no", b"")]
    items += [(".hidden/a.jsonl", LINE), ("x/.a.jsonl", LINE), ("__MACOSX/._b.jsonl", LINE)]
    put(f"A{ending}", archive_of(ending, items))
    found = resolve_paths([f"A{ending}"])
    assert len(found) == 3
    assert found.passed_over == {".md": 1, ".zip": 1, ".tar.gz": 1, "": 1}
    found = resolve_paths([f"A{ending}"], InputOptions(input_format="text"))
    assert [source.name for source in found] == [
        *("b.jsonl", "in.tar.gz", "in.zip", "no", "r.md", "x/c.jsonl.gz", "x/y/a.txt")
    ]


@every_kind
def test_members__nothing_of_a_known_format(ending):
    put(f"A{ending}", archive_of(ending, [("r.md", b"x")]))
    with pytest.raises(InvalidInputError, match=rf"known format.*'A{ending}'; .*1 file .*\.md"):
        resolve_paths([f"A{ending}"])
    put("in/a.txt", b"x")
    os.rename(f"A{ending}", f"in/A{ending}")
    assert resolve_paths(["in"]).passed_over == {".md": 1}


@every_kind
def test_names__lead_nowhere_else(ending, tmp_path):
    """A member never gets outside of the folder of its archive, when read nor when written."""
    items = [("../../up.txt", b"1"), ("/etc/root.txt", b"2"), ("a/../../b/./c.txt", b"3")]
    put(f"in/A{ending}", archive_of(ending, [*items, ("..", b""), ("/", b"")]))
    put("in/z.txt", b"")
    assert names("in") == [
        f"A{ending}/{name}" for name in ("a/b/c.txt", "etc/root.txt", "up.txt")
    ] + ["z.txt"]
    for source in resolve_paths(["in"]):
        with source.writer(LocalDestination(tmp_path / "out")) as writer:
            for block in source.blocks():
                writer.write(block, block.numbers > 0)
    assert {path.name for path in tmp_path.iterdir()} == {"out", "work", "temporary"}
    assert list(Path().rglob("*.txt")) == [Path("in/z.txt")]


@every_kind
def test_names__that_come_twice(ending):
    """The last stands, as if all were unpacked."""
    items = [("a.txt", b"old"), ("./a.txt", b""), ("a.txt", b"new")]
    with pytest.warns() if ending == ".zip" else contextlib.nullcontext():
        put(f"A{ending}", archive_of(ending, items))
    assert texts(f"A{ending}") == ["new"]


@every_kind
def test_names__of_windows(ending):
    items = [("x\\a.txt", b""), ("C:\\b.txt", b""), ("..\\..\\C:c.txt", b"")]
    put(f"A{ending}", archive_of(ending, items))
    assert names(f"A{ending}") == ["C:/b.txt", "C:c.txt", "x/a.txt"]


def test_names__that_are_not_unicode():
    put("a.tar", tar_of([("a\udcff.txt", b"")]))
    with pytest.raises(InvalidInputError, match=r"file name.*UTF-8.*: a"):
        resolve_paths(["a.tar"])


def test_names__with_a_null():
    about = tarfile.TarInfo("a.txt")
    about.pax_headers = {"path": "a\0.txt"}
    with tarfile.open("a.tar", "w", format=tarfile.PAX_FORMAT) as file:
        file.addfile(about)
    assert names("a.tar") == ["a.txt"]


def test_tar__links_and_devices_are_no_files():
    kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE)
    others = []
    for number, kind in enumerate(kinds):
        about = tarfile.TarInfo(f"{number}.txt")
        about.type, about.linkname = kind, "/etc/passwd"
        others.append(about)
    put("a.tar", tar_of([("a.txt", b"x")], others))
    found = resolve_paths(["a.tar"])
    assert [source.name for source in found] == ["a.txt"]
    assert found.passed_over == {".txt": 4}


def test_zip__links_are_no_files():
    link = zipfile.ZipInfo("l.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile("a.zip", "w") as file:
        file.writestr(link, "/etc/passwd")
        file.writestr("a.txt", "x")
    assert names("a.zip") == ["a.txt"]
    assert resolve_paths(["a.zip"]).passed_over == {".txt": 1}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_zip__other_compressions(method):
    put("a.zip", zip_of(ITEMS, method))
    assert texts("a.zip") == ["a", "a", "one\ntwo"]


def test_zip__encrypted_and_unknown_compression():
    whole = bytearray(zip_of([("a.txt", b"text"), ("b.md", b"")]))
    places = [found.start() for found in re.finditer(rb"PK\x03\x04|PK\x01\x02", whole)]
    encrypted, unknown = bytearray(whole), bytearray(whole)
    for place in (places[0], places[2]):
        is_local = whole[place + 2] == 3
        encrypted[place + (6 if is_local else 8)] |= 1
        unknown[place + (8 if is_local else 10)] = 9
    put("a.zip", bytes(encrypted))
    with pytest.raises(ReadError, match=r"^a\.zip: .*'a\.txt' is encrypted"):
        resolve_paths(["a.zip"])
    put("a.zip", bytes(unknown))
    with pytest.raises(ReadError, match=r"^a\.zip: .*compression method"):
        resolve_paths(["a.zip"])
    # Nobody asks for those that are not read.
    for place in (places[1], places[3]):
        whole[place + (6 if whole[place + 2] == 3 else 8)] |= 1
    put("a.zip", bytes(whole))
    assert texts("a.zip") == ["text"]


@every_kind
def test_url(ending):
    import fsspec

    url = f"memory://archives{ending}/in/A{ending}"
    with fsspec.open(url, "wb") as file:
        file.write(archive_of(ending, ITEMS))
    assert names(url) == ["b.jsonl", "x/c.jsonl.gz", "x/y/a.txt"]
    assert texts(url) == texts(f"memory://archives{ending}/in") == ["a", "a", "one\ntwo"]
    put("c.txt", b"")
    mixed = names(url, "c.txt")
    assert mixed[0] == f"memory/archives{ending}/in/A{ending}/b.jsonl"
    with pytest.raises(ReadError, match=f"^{url}x{ending}: no such file$"):
        resolve_paths([f"{url}x{ending}"])


@pytest.mark.slow
@every_kind
def test_copies__go_with_the_sources(ending, temporary):
    put(f"A{ending}", archive_of(ending, ITEMS))
    found = resolve_paths([f"A{ending}"])
    [folder] = temporary.iterdir()
    assert sorted(os.listdir(folder)) == ["0", "1", "2"]
    one = found[0]
    assert one.origin.archive == f"A{ending}"
    del found
    gc.collect()
    assert folder.exists()
    assert [len(block) for block in one.blocks()] == [1]
    del one
    gc.collect()
    assert not folder.exists()


@every_kind
def test_copies__on_a_full_disk(ending, monkeypatch):
    put(f"A{ending}", archive_of(ending, ITEMS))
    opened = Path.open

    def open_full(path, mode="r", *rest, **settings):
        return opened(Path("/dev/full") if mode == "wb" else path, mode, *rest, **settings)

    monkeypatch.setattr(Path, "open", open_full)
    with pytest.raises(WriteError, match="No space left"):
        resolve_paths([f"A{ending}"])
