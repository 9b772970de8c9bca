from __future__ import annotations

from neardup.cli.wording import printable
from tests.each import each_of


@each_of(
    ("text", "shown"),
    [
        ("plain text, with an umläut and 漢字", None),
        ("no-break\u00a0space and \u3000 wide", None),
        ("\x1b[31m red \x07", "\\x1b[31m red \\x07"),
        ("\u202edrawkcab", "\\u202edrawkcab"),
        ("two\nlines\r", "two\\nlines\\r"),
        ("\ud800 alone", "\\ud800 alone"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == (text if shown is None else shown)
