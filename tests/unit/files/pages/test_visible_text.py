from __future__ import annotations

import pytest

from neardup.files.html import page_text, visible_text
from neardup.files.plain import UnreadableFileError
from neardup.options.groups import InputOptions
from tests.each import each_of


@each_of(
    ("page", "expected"),
    [
        ("<p>a<p>b", "a\n\nb"),
        ("a<br>b <b>c</b>  d", "a\nb c d"),
        ("<pre>a\n  b</pre>c", "a\n  b\nc"),
        ("<h1>a</h1>b", "a\n\nb"),
        ("<body>a<nav>b</nav>c", "a\nb\nc"),
        ("<title>t</title><style>s</style><script>1<2</script><!-- c -->a", "a"),
        ("<p hidden>a<div style='Display: none'>b</div>c<template>d</template>e", "ce"),
        ("a<button>b</button><textarea>c</textarea><select><option>d</select><img alt=e>f", "af"),
        ("&eacute;&#x1F600;&amp;lt; \xad", "é😀&lt; \xad"),
        ("", ""),
        ("中文\n中文 a", "中文 中文 a"),
        ("<a><b>x</a>y</b></table></p>z", "xy\n\nz"),
    ],
)
def test_visible_text__shows(page, expected):
    assert visible_text(page) == expected


def test_visible_text__items_and_cells_are_apart():
    page = "<ul><li>a<li>b</ul><table><tr><th>c<th>d<tr><td>e<td>f</table>"
    assert visible_text(page).split() == list("abcdef")
    assert [line.split() for line in visible_text(page).split("\n")] == [
        ["a"],
        ["b"],
        ["c", "d"],
        ["e", "f"],
    ]


@each_of(
    ("page", "reason"),
    [
        ("<p>" * (1 << 20) + "<p>", "more than 1,048,576 elements"),
        ("<b>" * 10_001 + " " * 100_000, "elements 10,000 deep"),
        ("<ul><li>" * 20_000, "elements 10,000 deep"),
        ("<a" + " b=c" * 30_000 + ">", "over 20,000 attributes"),
        ("<a" + "/b" * 60_000 + ">", "over 20,000 attributes"),
        (" " * ((1 << 26) + 1), "longer than 64 MB"),
    ],
)
def test_page_text__refuses_what_would_take_minutes(page, reason):
    with pytest.raises(UnreadableFileError, match=reason):
        page_text(page.encode(), InputOptions())


@each_of(
    "page",
    [
        "<p>a<li>b<td>c<br><img>" * 30_000,
        "<div><b>a</b></div>" * 20_000,
        "<img src='data:" + "ab/+" * 50_000 + "'>",
        "<script>" + '{"a": "b/c"} ' * 20_000 + "</script>",
    ],
)
def test_page_text__reads_long_pages(page):
    page_text(page.encode(), InputOptions())
