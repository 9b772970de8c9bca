"""A page with every part that pages of reports are made of, filled with odd things."""

from __future__ import annotations

from unittest.mock import patch

from jinja2 import ChoiceLoader, DictLoader

from neardup.reports import page as pages
from neardup.reports.charts import Curve, Measured, bars, curves, histogram, matrix
from neardup.reports.differences import Example, side_by_side

HOSTILE = '<script>document.title = "ran"</script><img src=//example.invalid/ onerror=alert(1)>'
LONG = "x" * 300
NAMES = ["a.jsonl", HOSTILE, LONG, "數據文件的名字很長很長很長很長.jsonl", "קובץ.jsonl", ""]

_TEMPLATE = """{% extends "base.html" %}{% import "parts.html" as parts %}
{% block head %}{{ parts.head("test", title, [title], facts) }}{% endblock %}
{% block content %}
{% call parts.section("charts", "Charts", title) %}
{% for chart in charts %}{{ parts.figure(chart) }}{% endfor %}
{% endcall %}
{% call parts.section("examples", "Examples", title) %}
{% for example in examples %}{{ parts.side_by_side(example) }}{% endfor %}
{{ parts.note(title) }}{{ parts.nothing(title) }}
{% endcall %}
{% call parts.section("rows", "Rows", title) %}
{{ parts.table(names[:-1], [names[:-1], names[1:]], "Names in rows") }}
{% endcall %}
{% endblock %}
{% block foot %}<p>{{ title }}</p>{% endblock %}"""


def made_up_page(texts: tuple[tuple[str, str], ...] = ()) -> str:
    counts = [[(i * j) ** 3 for j in range(6)] for i in range(6)]
    edges = [0.7, 0.8, 0.9, 1.0]
    line = [(x / 10, (x / 10) ** 2) for x in range(11)]
    charts = [
        histogram("h", HOSTILE, LONG, edges, [3, 0, 10**6], x_title="x", y_title="y", is_log=True),
        histogram("empty", "Nothing", "none", edges, [0, 0, 0], x_title="x", y_title="y"),
        curves(
            "c",
            "Curves",
            "of shares",
            [Curve(name, line) for name in ("one", "<b>two</b>", "three")],
            x_title="similarity",
            y_title="found",
            marked=(0.8, "threshold 0.8"),
            measured=[Measured("audit", 0.8, 0.95, 0.9, 0.99)],
        ),
        bars("b", "Bars", "of files", ("kept", "gone"), [(name, (9, 5)) for name in NAMES]),
        matrix("m", "Matrix", "of files", NAMES, NAMES, counts, row_title="r", column_title="c"),
    ]
    examples = [
        Example(
            title=f"Example {name}",
            note=name,
            name_a=name or "a",
            name_b=f"{name} b",
            place_a=name,
            place_b="",
            differences=side_by_side(*pair),
        )
        for name, pair in zip(NAMES, texts, strict=False)
    ]
    environment = pages.templates_of("neardup.reports")
    loader = ChoiceLoader([environment.loader, DictLoader({"made-up.html": _TEMPLATE})])
    facts = [("1,234,567", "documents"), (LONG, LONG, "kept"), ("0", HOSTILE, "gone")]
    with patch.object(environment, "loader", loader):
        return pages.render_page(
            "made-up.html",
            title=f"Page {HOSTILE}",
            contents=[("charts", "Charts"), ("examples", "Examples"), ("rows", "Rows")],
            facts=facts,
            charts=charts,
            examples=examples,
            names=NAMES,
        )
