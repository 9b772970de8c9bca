"""A page with every part that reports have, filled with odd things."""

from __future__ import annotations

from neardup.reports.charts import Caption, Mark, bars, curves, histogram, matrix
from neardup.reports.examples import Document, compare_documents
from neardup.reports.page import Fact, Report, Section, Table

HOSTILE = '<script>document.title = "ran"</script><img src=//example.invalid/ onerror=alert(1)>'
LONG = "x" * 300
NAMES = ["a.jsonl", HOSTILE, LONG, "數據文件的名字很長很長很長很長.jsonl", "קובץ.jsonl", ""]


def made_up_report(texts: tuple[tuple[str, str], ...] = ()) -> Report:
    counts = [[(i * j) ** 3 for j in range(6)] for i in range(6)]
    edges, titles = [0.7, 0.8, 0.9, 1.0], ("x", "y")
    line = [(x / 10, (x / 10) ** 2) for x in range(11)]
    charts = [
        histogram(Caption("h", HOSTILE, LONG), (edges, [3, 0, 10**6]), titles),
        histogram(Caption("empty", "Nothing", "none"), (edges, [0, 0, 0]), titles),
        curves(
            Caption("c", "Curves", "of shares"),
            dict.fromkeys(("one", "<b>two</b>", "three"), line),
            ("similarity", "found"),
            Mark(0.8, "threshold 0.8"),
        ),
        bars(
            Caption("b", "Bars", "of files"),
            {"kept": "kept", "removed": "gone"},
            [(name, (9, 5)) for name in NAMES],
        ),
        matrix(Caption("m", "Matrix", "of files"), (NAMES, NAMES), counts, ("r", "c")),
    ]
    examples = [
        compare_documents(
            f"Example {name}",
            *(Document(name or side, name, 3, text) for side, text in zip("ab", pair, strict=True)),
            note=name,
            is_code=name == "a.jsonl",
        )
        for name, pair in zip(NAMES, texts, strict=False)
    ]
    rows = [(name, 1234 * k, k / 7, None) for k, name in enumerate(NAMES * 60)]
    head = ("name", "count", "share", HOSTILE)
    return Report(
        "test",
        f"Page {HOSTILE}",
        ["A sentence with `--an-option` of its own.", LONG],
        [Fact("1,234,567", "documents"), Fact(LONG, LONG, "kept"), Fact("0", HOSTILE, "gone")],
        [
            Section("charts", "Charts", HOSTILE, charts=charts),
            Section("examples", "Examples", examples=examples, nothing=HOSTILE),
            Section("rows", "Rows", tables=[Table("Names", head, rows, LONG)]),
            Section("few", "Few rows", tables=[Table("Few", head, rows[:3])]),
            Section("none", "No rows", nothing="Nothing here."),
        ],
        next_step=f"Run `neardup {LONG}`.",
    )


def made_up_page(texts: tuple[tuple[str, str], ...] = ()) -> str:
    return made_up_report(texts).html
