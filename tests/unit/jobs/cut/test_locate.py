"""What goes with a passage: marks that adjoin it, and the space behind it."""

from __future__ import annotations

from neardup.jobs.cut.cut_passages import margins
from tests.cutting import cut
from tests.each import each_of

NOTICE = "one two three four five"


@each_of(
    ("left", "right", "is_first", "expected"),
    [
        ("", "", True, (0, 0)),
        (" ", " ", False, (0, 1)),
        (" “", "” ", False, (1, 2)),
        (". (", ").\n", False, (1, 2)),
        # A break stays, unless one stands before it.
        (".\n", ".\n", False, (0, 2)),
        ("\n\n", "\n\n", False, (0, 2)),
        (" ", "\n", False, (0, 0)),
        ("", ".\n", True, (0, 2)),
        ("- ", " ", True, (0, 1)),
        # What adjoins a token on the left would adjoin the next one.
        ("", " ", False, (0, 0)),
        ("-", "- ", False, (0, 0)),
        ("…\u3000*", "*\u3000…", False, (1, 2)),
        ("  ", "  ", False, (0, 2)),
    ],
)
def test_margins(left, right, is_first, expected):
    assert margins(left, right, is_first=is_first) == expected


@each_of(
    ("text", "left"),
    [
        (f"So: “{NOTICE}.” Then", "So: Then"),
        (f"{NOTICE}!\nThen", "Then"),
        (f"Then\n{NOTICE}!\n\nOn", "Then\nOn"),
        (f"a-{NOTICE}-b", "a--b"),
        (f"語{NOTICE}語", "語語"),
        (f"é 🙂 {NOTICE} 🙂 ß", "é 🙂 🙂 ß"),
        (NOTICE, ""),
        (f"{NOTICE}, {NOTICE} {NOTICE}", ""),
    ],
)
def test_cut__leaves_no_marks_behind(text, left):
    found = cut([NOTICE, text], exact=True, min_tokens=5)
    assert found.kept["text"].to_pylist() == [NOTICE, left]
    for row in found.removed.to_pylist():
        assert NOTICE in text[row["start"] : row["end"]]
        assert (row["kept_start"], row["kept_end"]) == (0, len(NOTICE))
