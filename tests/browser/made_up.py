"""A page with every part that reports have, filled with odd things."""

from __future__ import annotations

import numpy as np

from neardup.reports.charts import banding_chart, bars_by_file, matrix_of_pairs, similarity_chart
from neardup.reports.examples import Document, compare_documents
from neardup.reports.page import Fact, Report, Section, Table

HOSTILE = '<script>document.title = "ran"</script><img src=//example.invalid/ onerror=alert(1)>'
LONG = "x" * 300
NAMES = ["a.jsonl", HOSTILE, LONG, "數據文件的名字很長很長很長很長.jsonl", "קובץ.jsonl", ""]


def made_up_report(texts: tuple[tuple[str, str], ...] = ()) -> Report:
    sides = np.repeat(np.arange(6), 6), np.tile(np.arange(6), 6)
    bands = {"bands": 16, "rows": 6, "threshold": 0.8, "measure": "jaccard"}
    parts = {"kept": "kept", "removed": "gone"}
    charts = [
        similarity_chart(np.array([0.7, 0.72, *[0.9] * 1_000]), 0.8, "pairs"),
        banding_chart(bands),
        bars_by_file("Bars", HOSTILE, parts, [(name, (9, 5)) for name in NAMES]),
        matrix_of_pairs(sides, (sides[0] * sides[1]) ** 3, NAMES, ("r", "c")),
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
