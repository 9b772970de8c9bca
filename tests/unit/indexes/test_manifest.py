"""The manifest comes back as it was written, or not at all."""

from __future__ import annotations

import hashlib
import json

import pytest

from neardup.errors import IndexFormatError, ReadError
from neardup.indexes.manifest import (
    FORMAT,
    Manifest,
    RemovedRecord,
    SegmentRecord,
    decode,
    encode,
    load_manifest,
    store_manifest,
)
from neardup.runs.disk import FileRecord
from neardup.version import __version__
from tests.each import each_of

FILE = FileRecord(128, "0123abcd")
FULL = Manifest(
    {"seed": 2**64 - 1, "tf": "raw", "share": 0.1, "names": ["é", None, True]},
    7,
    (
        SegmentRecord("a-1", 3, 2**63 - 1, {"keys.npy": FILE, "documents.arrow": FILE}),
        SegmentRecord("b", 5, 0, {}, RemovedRecord("r_7", 2, FileRecord(0, "ffffffff"))),
    ),
    {"counts-7.npy": FILE},
    denied=SegmentRecord("denied", 4, 9, {"digests.npy": FILE}),
)


@pytest.mark.parametrize("manifest", [Manifest({}), FULL])
def test_manifest__round_trip(tmp_path, manifest):
    store_manifest(tmp_path, manifest)
    assert load_manifest(tmp_path) == manifest
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]
    assert manifest.created_with == __version__


def signed(content: object, number: int = 1) -> bytes:
    """Give a manifest of a content that ``encode`` would not write, with the right checksum."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return f"neardup-index {number} {hashlib.sha256(body).hexdigest()}\n".encode() + body


def full_content() -> dict:
    return json.loads(encode(FULL).partition(b"\n")[2])


def places(content: object, path: tuple = ()) -> list[tuple]:
    """Give the paths to all values of a nested content but those of the scheme."""
    if isinstance(content, dict):
        items = content.items()
    elif isinstance(content, list):
        items = enumerate(content)
    else:
        items = ()
    found = [path] if path else []
    for key, value in items:
        if key != "scheme":
            found += places(value, (*path, key))
    return found


def test_manifest__wrong_values():
    """A right checksum saves no field from being looked at."""
    all_places = places(full_content())
    assert len(all_places) > 30
    for place in all_places:
        for wrong in (-1, 2**63, True, 1.0, [1], {"a": 1}, "/", "A.npy", None):
            content = full_content()
            holder = content
            for key in place[:-1]:
                holder = holder[key]
            if holder[place[-1]] == wrong and wrong is None:
                continue
            # Any text may be a version, and a removal may be none.
            if place == ("created_with",) and isinstance(wrong, str):
                continue
            if place[-1] in ("removed", "denied") and wrong is None:
                continue
            holder[place[-1]] = wrong
            with pytest.raises(ValueError, match="wrong values"):
                decode(signed(content))


@each_of("body", [b"", b"[]", b"1", b"{", b"\xff", b"[" * 10**5, b"9" * 5000])
def test_manifest__no_content(body):
    with pytest.raises(ValueError, match="wrong values"):
        decode(signed(body))


def test_manifest__other_format(tmp_path):
    (tmp_path / "manifest.json").write_bytes(signed({"format": FORMAT + 1, "new": []}, FORMAT + 1))
    with pytest.raises(
        IndexFormatError, match=rf"has format {FORMAT + 1}, this neardup .* use another"
    ) as info:
        load_manifest(tmp_path)
    assert info.value.path == str(tmp_path / "manifest.json")
    # A damaged number is no other format.
    (tmp_path / "manifest.json").write_bytes(signed(full_content(), FORMAT + 1))
    with pytest.raises(IndexFormatError, match="the manifest has wrong values"):
        load_manifest(tmp_path)


@each_of("data", [b"", b"{}", b"neardup-inde", b'{"neardup-index": 1}'])
def test_manifest__foreign(tmp_path, data):
    (tmp_path / "manifest.json").write_bytes(data)
    with pytest.raises(IndexFormatError, match="no manifest of a neardup index"):
        load_manifest(tmp_path)


def test_manifest__every_byte(tmp_path):
    data = encode(FULL)
    path = tmp_path / "manifest.json"
    for i in range(len(data)):
        for bit in range(8):
            with pytest.raises(ValueError, match="manifest"):
                decode(data[:i] + bytes([data[i] ^ 1 << bit]) + data[i + 1 :])
        with pytest.raises(ValueError, match="manifest"):
            decode(data[:i])
    for changed in (data + b"\n", b" " + data, data.replace(b"\n", b"\r\n")):
        path.write_bytes(changed)
        with pytest.raises(IndexFormatError):
            load_manifest(tmp_path)


def test_manifest__missing(tmp_path):
    with pytest.raises(ReadError, match=r"no index: the folder has no manifest.json; make one"):
        load_manifest(tmp_path)
    with pytest.raises(
        ReadError, match="no index: there is no such folder; make one with: neardup"
    ):
        load_manifest(tmp_path / "nope")
    (tmp_path / "file").write_text("x")
    with pytest.raises(
        ReadError, match="no index: this is a file; the folder of an index comes first"
    ):
        load_manifest(tmp_path / "file")
