from __future__ import annotations

import random

import numpy as np
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from neardup.files.pages.visible_text import _tables
from neardup.kernels.file.markup import page_cost
from tests.each import each_of

MUCH = 10**9


def cost(page: str, most: int = MUCH) -> tuple[int, int, int]:
    return page_cost(np.frombuffer(page.encode(), np.uint8), *_tables()[1], most)


@each_of(
    ("page", "elements", "deepest"),
    [
        ("", 0, 0),
        ("a < b <", 0, 0),
        ("<!-- <div> --><div>", 1, 1),
        ("<!--<div>", 0, 0),
        ("<div><span></span></div>", 2, 2),
        ("<DIV></div><div>", 2, 1),
        ("<div></x><div></x>", 2, 2),
        ("<p>a<p>b<li>c<br>", 4, 0),
        ("<a title='>'><b>", 2, 2),
        ("<a title='>", 1, 1),
        # Formatting that is not closed is opened anew in each block, equal ones three times.
        ("<b><p><p>", 1 + 2 + 2, 1),
        ("<b><b><b><b><b><p>", 5 + 1 + 3, 5),
        ("<font size=1><font size=2><p><p>", 2 + 2 + 4, 2),
        ("<b></b><p>", 2, 1),
        (f"<font size={'1' * 2000}><p><p>", 1 + 2 * (1 + 1 + 3), 1),
    ],
)
def test_page_cost__elements_and_depth(page, elements, deepest):
    assert cost(page)[1:] == (elements, deepest)


def test_page_cost__steps_are_open_elements_at_tags_and_pairs_of_attributes():
    assert cost("<div>" * 10)[0] == sum(range(10))
    assert cost("<div>" * 3 + "</p>" * 4)[0] == 0 + 1 + 2 + 4 * 3
    assert cost("<p a b='c d' e>")[0] == 9


def test_page_cost__stops_where_it_is_enough():
    steps, elements, _ = cost("<div>" * 1000, 100)
    assert 100 <= steps < 200
    assert elements < 20


@each_of(
    "prefix",
    [
        *("<!-->", "<!--->", "<!---->", "<!--a-->", "<!--a--!>", "<!----!>", "<!--a--!-->"),
        *(
            "<!x '>",
            "<?x '>",
            "</ '>",
            "</'>",
            "</>",
            "<![CDATA['>",
            "<!doctype a '>",
            "<>",
            "<1 '",
        ),
        *("</p a='>'>", "</p '>", "</p a=b'>"),
        *(
            "<style>'<b \"</STYLE>",
            "<title><!--</title >",
            "<xmp><a '</xmp/",
            "<textarea>'</textarea>",
        ),
        *(
            "<script><!--<a '</script>",
            "<script><!--<script></script></script>",
            "<noscript>'<b c='",
        ),
        *("<svg><style>'</style></svg>", "<svg/><style><!--</style>", "<svg><![CDATA[>]]></svg>"),
    ],
)
def test_page_cost__markup_ends_where_the_standard_ends_it(prefix):
    end = "</noscript>" if prefix.startswith("<noscript>") else ""
    end = ">" if prefix.endswith("/") else end
    assert cost(prefix + end + "<div>" * 20)[2] >= 20


@each_of(
    "prefix",
    [
        *(
            "<!--!>",
            "<!---!>",
            "<!-- --!->",
            "<!--a- ->",
            "<a b='",
            "<a b=\"'",
            "<a b = '",
            "<a b=c '='",
        ),
        *(
            "<style>",
            "<style></styles>",
            "<script>",
            "<script><!--<script></script>",
            "<title></a>",
        ),
        *("<plaintext></plaintext>", "<svg/><style>", "<svg></svg><xmp>", "<svg><p><iframe>"),
        *("<svg><title>a</title></svg><style>", "<select></select><noembed>"),
        "<svg><style>a<![CDATA[b]]></style></svg><noframes>",
    ],
)
def test_page_cost__nothing_counts_in_what_is_not_ended(prefix):
    assert cost(prefix + "<div>" * 20)[2] < 5


@each_of(
    ("tag", "attributes"),
    [
        ("<p>", 0),
        ("<p a/b/c/>", 3),
        ("<p\fa\tb\nc>", 3),
        ("<p =a==b>", 1),
        ("<p = a>", 2),
        ("<p a = 'b c'd=e/f g>", 3),
        ("<p 'a b'>", 2),
        ('<p a="b"c>', 2),
        ("<p a=>", 1),
    ],
)
def test_page_cost__attributes_as_the_standard_separates_them(tag, attributes):
    assert cost(tag)[0] == attributes**2


@each_of(
    "prefix",
    [
        "<svg><style>",
        "<svg><desc><style></style></desc></svg><style><div>",
        "<svg><desc><p></svg><style><i>",
        "<svg></g><math><mi></svg><style><i>",
        "<svg><svg></svg><style><i>",
        "<svg><foreignObject/><xmp><i>",
        "<math><title><i>",
        "<select><style><input>",
        "<select><template></select></template><xmp><input>",
        "<template><col><style><i></template>",
        "<svg><![CDATA[>",
    ],
)
def test_page_cost__all_counts_where_a_page_has_two_readings(prefix):
    assert cost(prefix + "<!--" + "<div x='>" * 20)[2] >= 20


def test_page_cost__elements_of_svg_hold_others_whatever_their_names():
    assert cost("<svg>" + "<tr>" * 20)[2] == 21
    assert cost("<svg><p>" + "<tr>" * 20)[2] < 3


# Underscores stand for spaces.
PIECES = """
<!-- --> --!> <! <!--> - ' " > /> <? </_ </ = / x _ <a_b= <style> </style> <STYLE_ </style/ <xmp>
</xmp> <svg> </svg> <svg/> <![CDATA[ ]]> <title> </title> <script> </script> <math> </math> <desc>
</desc> <foreignObject> </foreignObject> <mi> </mi> <p> </p> <select> </select> <option> <input>
<textarea> </textarea> <iframe> </iframe> <noembed> </noembed> <noframes> </noframes> <noscript>
</noscript> <template> </template> <col> <table> <tr> <td> </table> <frameset> </frameset> <font>
<head> <body> </html> <g> </g> <br> </br> <plaintext> <annotation-xml_encoding=text/html>
"""


def test_page_cost__as_deep_as_the_tree_of_a_parser_whatever_is_before():
    """Wherever a parser nests what follows, it was foreseen."""
    rng = random.Random(1)
    pieces = [piece.replace("_", " ") for piece in PIECES.split()]
    nested = 50
    trees = 0
    for _ in range(2_000):
        prefix = "".join(rng.choices(pieces, k=rng.randint(1, 11)))
        page = prefix + "<div>" * nested
        parser = LexborHTMLParser(
            page, scripting=True, options=LexborDocumentOptions.WO_EVENTS.value
        )
        node = (parser.css("div") or [None])[-1]
        depth = 0
        while node is not None:
            depth += node.tag == "div"
            node = node.parent
        trees += depth >= nested // 2
        assert cost(page)[2] >= depth, prefix
    assert trees > 500
