from __future__ import annotations

import re

import pytest

from neardup.errors import InvalidInputError, MissingExtraError
from neardup.files import formats
from neardup.files.formats import file_source
from neardup.files.rows import ColumnNames
from neardup.options.groups import InputOptions
from neardup.version import pip_install


def text_of(path, **options) -> str:
    source = file_source(str(path), path.name, InputOptions(**options))
    [block] = source.blocks()
    [text] = block.parse(ColumnNames()).text.to_pylist()
    return text


def test_html__as_chosen(make_file):
    for name in ("page", "a.txt", "a.php"):
        assert text_of(make_file(name, b"<p>a<p>b"), input_format="html") == "a\n\nb"


def test_html__encoding(make_file, write_rows):
    path = make_file("a.html", b"<meta charset=latin1>caf\xe9")
    assert text_of(path) == "café"
    assert text_of(make_file("b.html", b"caf\x82"), encoding="cp437") == "café"
    assert text_of(make_file("c.html", "<p>é".encode("utf-16-le")), encoding="utf-16-le") == "é"
    source = file_source(str(path), path.name, InputOptions(encoding="utf-8"))
    assert write_rows(source, lambda _: True).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"%PDF-1.7", "format pdf"),
        (b"\x1f\x8b\x08", r"compressed data.* \.gz"),
        (b"<p>\0\0", "binary data"),
        (b"<p>\xe9", "UTF-8 at byte 4 "),
    ],
)
def test_html__what_is_no_page_is_a_bad_row(make_file, data, reason):
    path = make_file("a.html", data)
    with pytest.raises(InvalidInputError, match=reason):
        text_of(path)
    [block] = file_source(str(path), path.name).blocks()
    rows = block.parse(ColumnNames(), skip_bad=True)
    assert rows.text.to_pylist() == [None]


def test_html__needs_the_extra(make_file, monkeypatch):
    monkeypatch.setattr(formats, "_is_installed", lambda name: name != "trafilatura")
    with pytest.raises(MissingExtraError, match=re.escape(pip_install("pages"))):
        text_of(make_file("a.html", b""), main_text=True)
