"""Odd pages made up by a seed, whose text a browser and neardup are to see alike.

They have what is rare: instructions, misnested and stray tags, hidden parts, tables in anything,
pictures and formulas, styles that few would write. What is seen otherwise is left out by rule, each
rule named with the line of docs/pages.md that says so.
"""

from __future__ import annotations

import random
import re

# Left out: `ruby`, `marquee`, `object`, `search` ("Other elements"); `col`, `colgroup`, `form`, and
# `caption` and the like behind rows ("Tables"); elements in `option` ("Options").
_TAGS = {
    "inline": "span b i a em code u font nobr label sub mark",
    "block": "div p section h2 ul ol li dl dt dd blockquote center fieldset legend address nav pre "
    "hr article main header footer figure figcaption dir menu hgroup summary details",
    "table": "table tbody tr td th",
    "unseen": "script style template noscript textarea title iframe noembed noframes video audio "
    "canvas head datalist progress meter dialog rp map area param",
    "control": "button input select",
    "svg": "svg svg g text tspan title desc defs a rect foreignObject symbol source link",
    "math": "math math mi mo mn ms mtext mrow mfrac msup",
    "rare": "html body frameset frame xmp listing plaintext image nextid bgsound keygen",
}
_NAMES = {kind: names.split() for kind, names in _TAGS.items()}
_SHARES = [6, 8, 4, 2, 1, 1.5, 1.5, 0.2]

_ODD = [
    *("<?pi?>", "<?php echo 'a' ?>", "<?a b", "<?>", "<?xml-stylesheet x?>", "<!-- c -->", "<!-->"),
    *("<!--a--!>", "<!x>", "</ x>", "<![CDATA[w]]>", "<!doctype html>", "</>", "<", "&lt;b&gt;"),
    *("&nbsp;", "&#10;", "&#9;", "&shy;", "&zwnj;", "&#13;", "&#x3000;", "&#8232;", "&ensp;"),
    *("&amp", "<br>", "<wbr>w"),
]
# Left out: white space beside U+200B or `wbr`, form feeds ("White space").

_DISPLAY = [
    *("display:none", "display:block", "display:inline", "display:inline-block"),
    *("display:none!important;display:block", "display:none;display:bogus", "display:none/**/"),
    *("/*;*/display:none", "display/**/:none", "DISPLAY : NONE ! important", "display:none none"),
    *("color:red;display:none;", "display:none}", "{display:none", "{;display:none}"),
    *("a:b{display:none};display:none", "d\\69splay:non\\65", "--a:(display:none;);"),
    *(
        "content:';display:none",
        'content:";display:none;";',
        "display:none;;",
        "display:block flow",
    ),
]
# Left out: `flex`, `grid`, `table`, `inherit` ("Styles").
_WHITE_SPACE = [
    *(
        "white-space:pre",
        "white-space:normal",
        "white-space:nowrap",
        "white-space:pre;white-space:x",
    ),
]
# Left out: `pre-line` ("Styles").
_VISIBILITY = ["visibility:hidden", "visibility:visible", "visibility:hidden;visibility:no"]

_GAPS = re.compile(
    "<(canvas|iframe|video|audio|meter|progress|textarea|input|select|button|image|svg|math|keygen)"
    "|visibility|inline-block"
)


class _Page:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = 0
        self.doctype = self.random.choice(["<!doctype html>", "<!doctype html>", ""])

    def word(self) -> str:
        self.words += 1
        return f"w{self.words}"

    def space(self) -> str:
        return self.random.choice(["", "", " ", "\n", "  ", "\t", "\n\n", " \n "])

    def tag(self) -> str:
        kind = self.random.choices(list(_NAMES), _SHARES)[0]
        name = self.random.choice(_NAMES[kind])
        # A table has its own white space without a doctype ("Tables").
        return name if self.doctype or name not in ("pre", "listing") else "div"

    def attributes(self, tag: str) -> str:
        kind = self.random.random()
        is_block = tag in _NAMES["block"]
        # The text of what hides the body is asked for, and is all that it holds.
        if kind > 0.17 or tag in _NAMES["rare"]:
            return ""
        if kind < 0.04:
            return " hidden"
        if kind < 0.07:
            return self.random.choice([" open", " popover", " class='a>b'", " inert"])
        # Of other elements a style does more ("Styles").
        styles = _DISPLAY * ((is_block or tag in _NAMES["inline"]) and tag != "legend")
        styles += _WHITE_SPACE * (bool(self.doctype) and is_block)
        styles += _VISIBILITY * (is_block)
        if kind < 0.09:
            styles = ["display:block"] * (is_block and tag != "legend")
            return f' hidden style="{styles[0]}"' if styles else ""
        style = self.random.choice(styles or ["color:red"]).replace('"', "&quot;")
        return f' style="{style}"'

    def content(self, depth: int) -> str:
        parts = []
        for _ in range(self.random.randint(0, 4)):
            kind = self.random.random()
            if kind < 0.4 or not depth:
                parts.append(self.word())
            elif kind < 0.5:
                parts.append(self.random.choice(_ODD))
            elif kind < 0.53:
                parts.append(f"</{self.tag()}>")
            elif kind < 0.58:
                parts.append(self.table(depth - 2))
            else:
                parts.append(self.element(self.tag(), depth - 1))
            parts.append(self.space())
        return "".join(parts)

    def element(self, tag: str, depth: int) -> str:
        end = "" if self.random.random() < 0.15 and tag != "select" else f"</{tag}>"
        if tag in ("select", "math"):
            content = self.options() if tag == "select" else self.formula(depth)
        else:
            content = self.content(depth)
        return f"<{tag}{self.attributes(tag)}>{content}{end}"

    def formula(self, depth: int) -> str:
        # Other elements in a formula are left out ("Formulas").
        parts = []
        for _ in range(self.random.randint(0, 4)):
            tag = self.random.choice(
                ["mi", "mo", "mrow", "mfrac", "annotation", "annotation-xml", "semantics", ""]
            )
            content = self.formula(depth - 1) if depth > 0 and tag != "annotation" else self.word()
            content = self.word() if tag in ("mi", "mo") else content
            parts.append(f"<{tag}>{content}</{tag}>" if tag else content)
            parts.append(self.space())
        return "".join(parts)

    def options(self) -> str:
        parts = [
            self.random.choice(["<option>{}", "<option>{}</option>", "<hr>", "{}", "<i>{}</i>"])
            for _ in range(self.random.randint(0, 4))
        ]
        if self.random.random() < 0.3:
            parts.append("<optgroup label=l><option>{}</optgroup>")
        return "".join(part.format(self.word()) + self.space() for part in parts)

    def table(self, depth: int) -> str:
        rows = [
            "".join(
                self.element("td", max(depth, 0)) + self.space()
                for _ in range(self.random.randint(0, 3))
            )
            for _ in range(self.random.randint(0, 3))
        ]
        caption = self.random.choice(["", "", f"<caption>{self.word()}</caption>"])
        rows = [f"{self.space()}<tr>{row}</tr>" for row in rows]
        if len(rows) == 3 and self.random.random() < 0.5:
            rows = [
                f"<{part}>{row}</{part}>"
                for part, row in zip(("thead", "tbody", "tfoot"), rows, strict=True)
            ]
        return f"<table>{caption}{''.join(rows)}</table>"

    def html(self) -> str:
        return self.doctype + "".join(self.content(4) for _ in range(3))


def odd_page(seed: int) -> str:
    """Return the page of a seed."""
    return _Page(seed).html()


def comparable(page: str, text: str) -> str:
    """Return the text of a page without the gaps that a browser leaves beside boxes."""
    if not _GAPS.search(page):
        return text
    text = re.sub(" *\t *", "\t", re.sub("  +", " ", text))
    return re.sub(" *\n[ \n]*", "\n", text).strip(" \n")
