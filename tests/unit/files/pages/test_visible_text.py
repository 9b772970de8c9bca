"""Pages as people write them, against what Chromium gave for each as ``innerText``."""

from __future__ import annotations

import random
import re

import pytest

from neardup.errors import MissingExtraError
from neardup.files.extracted import UnreadableFileError
from neardup.files.pages import visible_text as module
from neardup.files.pages.visible_text import MAX_ELEMENTS, need_parser, visible_text
from neardup.version import pip_install
from tests.each import each_of

CHROMIUM = [
    ("<div>a<br></div><div>b</div>", "a\n\nb"),
    ("<pre>\n\na\nb</pre>c", "\na\nb\nc"),
    ("<pre>a\tb   </pre><pre>c\n<b>d</b>\n</pre><p>e</p>", "a\tb   \nc\nd\n\n\ne"),
    ("a <button> b </button> c", "a b c"),
    ("a<select><option>x<option>y <optgroup label=l><option>z</select>b", "a\nx\ny\nz\nb"),
    (
        "<table><caption>cap</caption><thead><tr><th>a<th>b<tbody><tr><td>c<td>d<tr><td><p>e</p>"
        "<td>f<tfoot><tr><td>g</table>h",
        "cap\na\tb\nc\td\n\n\ne\n\n\tf\ng\nh",
    ),
    ("<table><tr><td>a</td></tr><tr></tr><tr><td></td><td>b</td></tr></table>", "a\n\n\tb"),
    ("<table><tr hidden><td>h</td></tr><tr><td>a</td><td hidden>q</td></tr></table>", "a"),
    ("<p>a</p><p>b</p>c<p></p>d", "a\n\nb\n\nc\n\nd"),
    ("<ul><li>a<li>b <ul><li>c</ul></ul>", "a\nb\nc"),
    ("<p>a <b> b</b> c &nbsp; d&shy;e<wbr>f</p>", "a b c \xa0 d\xade" + "f"),
    ("x<svg><text>hi</text><title>no</title></svg>y", "x\nhi\ny"),
    ("<details><summary>s</summary>h</details><details open><summary>s</summary>t", "s\ns\nt"),
    ("<dialog>a</dialog>b<dialog open>c</dialog>", "b\nc"),
    ("<ruby>a<rp>(</rp><rt>b</rt><rp>)</rp></ruby>", "ab"),
    ("a<noscript>n</noscript>b<canvas>c</canvas><video>v</video><object>o</object>", "abo"),
    ("<head><noscript><p>n</p></noscript></head><body>b", "b"),
    ('a <span hidden>b</span> c<div style="display:none">d</div>e', "a c" + "e"),
    ('e <i style="visibility:hidden">f <b style="visibility:visible">g</b></i> h', "e g h"),
    ("中文\n中文 a", "中文 中文 a"),
    ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\nb\nc\nd"),
    ("<fieldset><legend>l</legend>x</fieldset>y", "l\nx\ny"),
    ("a<div> </div>b<div>&nbsp;</div>c", "a\nb\n\xa0\nc"),
    ("<div>&#12;a&#11;b&#13;c</div>", "\x0ca\x0bb c"),
    ("<td>x</td><li>y</li><option>z</option>", "x\ny\nz"),
    ("<math><mi>xy</mi><mo>+</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></math>z", "xy\n+\n1\n2\nz"),
    ("a<b>b<p>c</b>d</p><i>e", "ab\n\ncd\n\ne"),
    ("<table>x<tr><td>a</table>", "x\na"),
    # Of SVG the text in its elements for text, of MathML that of tokens, of lists that of options.
    ("a<svg>b<g>c<text>d<tspan>e</tspan><rect>f</rect></text></g><rect>g</rect></svg>", "a\nde"),
    ("<svg><source>a</source><link>b</link></svg>c<p hidden>d", "c"),
    ("<svg><desc><br>a</desc><text>b</text></svg><b>c</b>", "b\nc"),
    ("<svg><style>a&lt;b</style><foreignObject>c<br>d</foreignObject></svg>e", "c\nd\ne"),
    ("<math>a<mrow>b<mn>c</mn></mrow><mtext>d <b>e</b></mtext></math>f", "c\nd\ne\nf"),
    (
        "<math><semantics><mn>a</mn><annotation>b</annotation><annotation-xml "
        "encoding='text/html'><br>c</annotation-xml></semantics></math><p>d",
        "a\n\nd",
    ),
    ("a<mfrac>b</mfrac><annotation>c</annotation><mrow>d</mrow>", "abcd"),
    ("<select>a<option>b<hr><optgroup label=l>c<option>d</select><option>e", "b\nd\ne"),
    ("<svg hidden><text>a</text></svg><math hidden><mn>b</mn></math>", "a\nb"),
    # What an element's own style displays is displayed.
    ("<p hidden style='display:block'>a<p popover style=display:inline>b<p hidden>c", "a\n\nb"),
    ("<dialog style='display:block'>a</dialog><template style='display:block'>b</template>", "a"),
    ("<body><style style='display:block'>a</style>c", "a\nc"),
    ("<table><tr><td><button></button></table><p><pre><nobr>a  b</nobr>  c", "a b  c"),
    ("<p>a <span style=visibility:hidden><b style=display:block>b</b></span> c", "ac"),
    (
        "<p>a <div style=visibility:hidden>b</div> c<li>d<button></button><table></table>e",
        "a\n\nc\nd\ne",
    ),
    ("<title>t</title><style>a{}</style><script>1<2</script>&eacute;&#x1F600;&amp;lt;", "é😀&lt;"),
]


STYLES = [
    ("display:none", ""),
    ("DISPLAY : NONE ! important ", ""),
    ("display:none!important;display:block", ""),
    ("display:none;display:block", "\nx"),
    ("display:none;display:bogus", ""),
    ("display:none none", "x"),
    ("display:none,", "x"),
    ("display:none !important !important", "x"),
    ("display:none !bogus", "x"),
    ("display:none!important/**/;display:inline", ""),
    ("display:none/* ; */", ""),
    ("/*;*/display/**/:/**/none", ""),
    ("display:/*none", "x"),
    ("/*display:none", "x"),
    ("d\\69splay:non\\65", ""),
    ("d\\000069 splay:\\6eone", ""),
    ("\\display:none", "x"),
    ("di\\splay:no\\ne", ""),
    ("--display:none", "x"),
    ("5display:none;", "x"),
    ("color:red;display:none;", ""),
    ("color;display:none", ""),
    ("content:';display:none", "x"),
    ("content:'\n;display:none", ""),
    ('content:";display:block;";display:none', ""),
    ("content:'\\';display:none", "x"),
    ("content:'&amp;#39;';display:none", ""),
    ("--a:(;display:none;)", "x"),
    ("--a:[(];display:none;)]", "x"),
    ("--a:[;];display:none", ""),
    ("{display:none}", "x"),
    ("a:b{display:none};display:none", ""),
    ("display:none}", "x"),
    ("};display:none", ""),
    ("display:block flow", "\nx"),
    ("display:flow inline", "x"),
    ("display:inline none", "x"),
    ("display:none;display:table-cell", "x"),
    ("display:none;display:revert", "x"),
    ("display:none;all:bogus", ""),
    ("visibility:hidden;visibility:no", ""),
    ("visibility:hidden;visibility:visible", "x"),
    ("visibility:hidden!important;visibility:visible", ""),
    ("visibility:hidden!important;display:none;display:inline", ""),
]
"""Styles of a span between letters, and what is seen of it."""


def styled(style: str) -> str:
    return f'<!doctype html>a<span style="{style.replace(chr(34), "&quot;")}">x</span>'


@each_of(("style", "expected"), STYLES)
def test_visible_text__own_style_as_browsers_read_it(style, expected):
    assert visible_text(styled(style).encode()) == f"a{expected}"


@each_of(("page", "expected"), CHROMIUM)
def test_visible_text__is_what_chromium_shows(page, expected):
    assert visible_text(page.encode()) == expected


INSTRUCTIONS = [
    *("<?pi?>", "<?php echo 'a' ?>", '<?xpacket begin="\ufeff"?>', "<?import a=b/>", "<?xml b?>"),
    *("<?a", "<?", "<?>", "<??>", "<? a?>", "<?--", "<?a--", "<?a <b", "<?é'", "<?a\0"),
]
_TAGS = """p /p div /div div/hidden p/hidden pre /pre table caption colgroup col tr td /td /tr
/table ul li head /head body /body /html select option /select details summary /details template
/template svg g text /svg math mi /math ruby rt b /b a button /button dialog /noscript h1 br video
/video object /object !doctype/html"""
_PIECES = [*(f"<{tag}>" for tag in re.split(r"\s+", _TAGS)), *"xyzxyzxyz", "<title>t</title>"]
_PIECES += ["<frameset>", *["é", " ", "\n"] * 4]


@each_of("seed", range(10))
def test_visible_text__instructions_are_comments(seed):
    """Wherever a processing instruction is, all that is seen is what a comment there leaves."""
    made = random.Random(seed)
    for _ in range(100):
        pieces = made.choices(_PIECES, k=made.randint(1, 30))
        places = sorted(made.sample(range(len(pieces) + 1), min(3, len(pieces))), reverse=True)
        with_comments = list(pieces)
        for place in places:
            instruction = made.choice(INSTRUCTIONS)
            pieces.insert(place, f"{instruction.removesuffix('>')}>")
            with_comments.insert(place, "<!---->")
        page, other = ("".join(some).encode() for some in (pieces, with_comments))
        assert visible_text(page) == visible_text(other), page


def test_visible_text__instructions_that_hid_the_rest():
    assert visible_text(b"<div hidden><?pi?></div>w0") == "w0"
    assert (
        visible_text(b"<?php a ?><head><?php b ?><title>t</title></head><p>x<?php c ?> y") == "x y"
    )
    assert visible_text(b"<pre>a<?b?>\n  c</pre><td><?d?> e") == "a\n  c\ne"
    assert visible_text(b"<xmp><?a?>b</xmp>") == "<?a?>b"


@each_of("page", [b"", b" ", b"<", b"<!--", b"<script>", b"\0", b"</p", b"&#0;"])
def test_visible_text__of_what_is_hardly_a_page(page):
    assert visible_text(page).strip("\ufffd \n") in ("", "<")


def test_visible_text__a_line_of_a_million_characters():
    line = "word " * 200_000
    assert visible_text(f"<p>{line}".encode()) == line.strip()
    assert visible_text(f"<p title='{line}'>a".encode()) == "a"
    assert visible_text(b"<" * 1_000_000) == "<" * 1_000_000
    assert visible_text(b"&" * 1_000_000) == "&" * 1_000_000


def elements(template: str, n: int) -> bytes:
    return "".join(template.format(i) for i in range(n)).encode()


@each_of(
    ("page", "reason"),
    [
        (b"<div>" * 100_000, "deep in others"),
        (b"<div></x>" * 100_000, "deep in others"),
        (b"<div>" * 20_000 + b"</p>" * 100_000, "deep in others"),
        (elements("<p><font size={}>", 5_000), f"more than {MAX_ELEMENTS:,} elements"),
        (b"<font size=" + b"1" * 100_000 + b">" + b"<p>x" * 20_000, "elements"),
        (b"<br>" * 4_200_000, f"more than {MAX_ELEMENTS:,} elements"),
        (b"<a" + elements(" a{}", 40_000) + b">", "too many attributes"),
    ],
    ids=["deep", "deep with strays", "ends", "formatting", "long tags", "many", "attributes"],
)
def test_visible_text__bombs_are_refused_before_they_are_parsed(page, reason, monkeypatch):
    import selectolax.lexbor

    monkeypatch.setattr(selectolax.lexbor, "LexborHTMLParser", None)
    with pytest.raises(UnreadableFileError, match=reason):
        visible_text(page)


@each_of(
    "prefix",
    [
        *(b"<!-- a --!>", b"<a b=c'>", b"<? <b '>", b"<style><a '</style>", b"<a 'b>", b"<! <b '>"),
        *(b"</ <b '>", b"<svg><style>", b"<select><style><input>"),
    ],
)
def test_visible_text__bombs_are_seen_behind_what_seems_to_hide_them(prefix):
    with pytest.raises(UnreadableFileError, match="deep in others"):
        module.check_page(prefix + b"<div>" * 100_000)


def test_visible_text__drawings_and_scripts_are_no_bombs():
    drawing = b"""<svg viewBox="0 0 9 9"><title>a</title><style type=css><![CDATA[.a {fill:red}]]>
    </style><g><path d="M0 0"></path><text>b</text></g></svg><math><mi>x</mi><mo>&lt;</mo></math>
    <select><option>c</select><script>if (a <b) { document.write("<div><div '"); }</script>"""
    module.check_page(b"<p>" + drawing * 10_000)


def test_visible_text__too_long_a_page(monkeypatch):
    monkeypatch.setattr(module, "MAX_PAGE_BYTES", 20_000)
    with pytest.raises(UnreadableFileError, match="longer than"):
        visible_text(b"<p>" + b"x" * 20_000)


def test_need_parser__names_the_extra(monkeypatch):
    need_parser(main_text=True)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=re.escape(pip_install("pages"))):
        need_parser()
