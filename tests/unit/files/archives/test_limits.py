"""Archives that are too large, damaged or made to do harm: what is refused, and how."""

from __future__ import annotations

import os
import zipfile

import pytest

from neardup.errors import InvalidInputError, NeardupError, ReadError
from neardup.files import archives, streams
from neardup.files.inputs import resolve_paths
from tests.archives import ENDINGS, archive_of, names, put, tar_of, zip_of
from tests.each import each_of
from tests.files import compress

LINE = b'{"text": "a"}\n'
ITEMS = [("b.jsonl", LINE), ("x/y/a.txt", b"one\ntwo"), ("x/c.jsonl.gz", compress("c.gz", LINE))]
every_kind = pytest.mark.parametrize("ending", ENDINGS)


@every_kind
def test_limits__of_members(ending, monkeypatch):
    put(f"A{ending}", archive_of(ending, [(f"{i}.md", b"") for i in range(11)] + ITEMS))
    monkeypatch.setattr(archives, "MOST_MEMBERS", 13)
    with pytest.raises(InvalidInputError, match=f"^A{ending}: .*more than 13 members"):
        resolve_paths([f"A{ending}"])
    monkeypatch.setattr(archives, "MOST_MEMBERS", 14)
    assert len(resolve_paths([f"A{ending}"])) == 3


@each_of("ending", [ending for ending in ENDINGS if ending != ".tar"])
def test_limits__of_size(ending, monkeypatch):
    """A bomb is noticed when so much has been unpacked, also of what is passed over in a tar."""
    monkeypatch.setattr(streams, "MOST_BYTES", 100_000)
    monkeypatch.setattr(streams, "MOST_TIMES", 10)
    for size, name in ((3_000_000, "a.txt"), (3_000_000, "a.md"), (80_000, "a.txt")):
        put(f"A{ending}", archive_of(ending, [("0.txt", b"x"), (name, bytes(size))]))
        if size < 100_000 or (ending == ".zip" and name == "a.md"):
            assert resolve_paths([f"A{ending}"])
            continue
        with pytest.raises(InvalidInputError, match=rf"^A{ending}: .*more than [\d,]+ bytes"):
            resolve_paths([f"A{ending}"])


def test_limits__are_ten_members_that_share_their_data(monkeypatch):
    """Entries of a zip may all point at the same bytes."""
    monkeypatch.setattr(streams, "MOST_BYTES", 100_000)
    monkeypatch.setattr(streams, "MOST_TIMES", 1)
    whole = zip_of([(f"{i}.txt", os.urandom(20_000)) for i in range(9)], zipfile.ZIP_STORED)
    put("a.zip", whole)
    assert len(resolve_paths(["a.zip"])) == 9
    directory = whole.index(b"PK\x01\x02")
    first = whole[:20_035]
    entry = whole[directory : directory + 46 + 5]
    end = bytearray(whole[whole.index(b"PK\x05\x06") :])
    end[8:20] = (
        (9).to_bytes(2, "little") * 2
        + (9 * len(entry)).to_bytes(4, "little")
        + len(first).to_bytes(4, "little")
    )
    put("a.zip", first + entry * 9 + bytes(end))
    with pytest.raises(NeardupError):
        resolve_paths(["a.zip"])


def test_limits__of_a_sparse_file(monkeypatch):
    """Holes need no bytes in the archive; what is copied is counted."""
    if not hasattr(os, "SEEK_HOLE") or os.system("tar --version > /dev/null") != 0:
        pytest.skip("needs tar and sparse files")
    with open("a.txt", "wb") as file:
        file.truncate(200_000_000)
        file.write(b"end")
    assert os.system("tar --sparse -cf a.tar a.txt") == 0
    assert os.path.getsize("a.tar") < 100_000
    monkeypatch.setattr(streams, "MOST_BYTES", 20_000_000)
    with pytest.raises(InvalidInputError, match=r"^a\.tar: .*more than 20,000,"):
        resolve_paths(["a.tar"])


@every_kind
def test_damage__that_ends_too_early(ending):
    whole = archive_of(ending, ITEMS)
    if ending == ".tar":
        # What follows the mark of the end fills a record.
        whole = whole.rstrip(b"\0")
    for size in range(0, len(whole), max(1, len(whole) // 60)):
        put(f"A{ending}", whole[:size])
        with pytest.raises(ReadError) as caught:
            resolve_paths([f"A{ending}"])
        assert str(caught.value).startswith(f"A{ending}")


@every_kind
@pytest.mark.parametrize("seed", range(2))
def test_damage__of_any_byte(ending, seed):
    """Either all can be read, or the error is one for users."""
    import random

    rng = random.Random(seed)
    whole = archive_of(ending, ITEMS)
    n_refused = 0
    for _ in range(60):
        content = bytearray(whole)
        for place in rng.sample(range(len(whole)), rng.choice((1, 1, 5))):
            content[place] = rng.randrange(256)
        put(f"A{ending}", bytes(content))
        try:
            resolve_paths([f"A{ending}"])
        except NeardupError:
            n_refused += 1
    assert n_refused


def test_tar__more_behind_its_end():
    put("a.tar", tar_of(ITEMS) + tar_of([("more.txt", b"lost")]))
    with pytest.raises(ReadError, match=r"^a\.tar: .*behind its end"):
        resolve_paths(["a.tar"])
    put("a.tar", tar_of(ITEMS) + bytes(1 << 20))
    assert len(resolve_paths(["a.tar"])) == 3


def test_tar__that_lacks_its_end():
    """Cut between two members it is as if these were all."""
    whole = tar_of(ITEMS).rstrip(b"\0")
    for size in range(512, len(whole), 512):
        put("a.tar", whole[:size])
        with pytest.raises(ReadError, match=r"^a\.tar: not a tar"):
            resolve_paths(["a.tar"])
    put("a.tar", whole + bytes(512 - len(whole) % 512))
    with pytest.raises(ReadError, match=r"^a\.tar: .*: unexpected end"):
        resolve_paths(["a.tar"])


def test_tar__descriptions_one_in_another():
    part = tar_of([("a.txt", b"")])[:512]
    long = bytearray(part)
    long[156:157] = b"L"
    long[148:156] = b" " * 8
    long[148:156] = f"{sum(long):06o}\0 ".encode()
    put("a.tar", bytes(long) * 5_000 + part + bytes(1024))
    with pytest.raises(ReadError, match=r"^a\.tar: not a tar"):
        resolve_paths(["a.tar"])


@pytest.mark.parametrize("ending", [".zip", ".tar"])
def test_unpack__an_archive_of_nothing(ending):
    put(f"in/A{ending}", archive_of(ending, []))
    put("in/a.txt", b"a")
    assert names("in") == ["a.txt"]
