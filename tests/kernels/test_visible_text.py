from __future__ import annotations

from html import escape

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.pages.visible_text import _tables
from neardup.kernels.file.visible_text import visible_text
from tests.oracles import visible_text as oracle

TEXT = st.text(st.sampled_from('ab \n\t<&"é\u00a0'), min_size=1, max_size=5)
INLINE = ["b", "span", "a", "button", "img", "br", "wbr", "i"]
BLOCKS = ["div", "p", "li", "pre", "h1", "hr", "option", "ul", "template"]
STYLES = [
    "display:none",
    " display : block;color:red",
    "display:inline",
    "white-space:pre",
    "white-space:normal",
    "display:none;display:block",
]


def seen(page: str) -> str:
    data = np.frombuffer(page.encode(), np.uint8)
    out = np.zeros(len(data) + 2, np.uint8)
    count = visible_text(data, *_tables()[0], out)
    return out[:count].tobytes().decode()


@st.composite
def attributes(draw: st.DrawFn) -> str:
    chosen = draw(
        st.lists(
            st.one_of(
                st.just(("hidden", "")),
                st.just(("class", 'x">y')),
                st.tuples(st.just("style"), st.sampled_from(STYLES)),
            ),
            max_size=2,
            unique_by=lambda pair: pair[0],
        )
    )
    return "".join(f' {name}="{escape(value)}"' for name, value in chosen)


def element(name: str, attributes: str, content: str) -> str:
    if name in oracle.VOID:
        return f"<{name}{attributes}>"
    return f"<{name}{attributes}>{content}</{name}>"


def text(value: str) -> str:
    return escape(value, quote=False).replace("\u00a0", "&nbsp;")


@st.composite
def table(draw: st.DrawFn, content: st.SearchStrategy[str]) -> str:
    def rows() -> str:
        cells = st.lists(
            st.tuples(st.sampled_from(["td", "th"]), attributes(), content), max_size=3
        )
        return "\n".join(
            element("tr", draw(attributes()), " ".join(element(*cell) for cell in draw(cells)))
            for _ in range(draw(st.integers(0, 3)))
        )

    return f"<table><tbody>{rows()}</tbody></table>"


def content(depth: int) -> st.SearchStrategy[str]:
    if not depth:
        return TEXT.map(text)
    inner = content(depth - 1)
    some = st.lists(
        st.one_of(
            TEXT.map(text),
            st.builds(element, st.sampled_from(INLINE + BLOCKS), attributes(), inner),
            st.sampled_from(["<style><b></style>", "<textarea>t</textarea>", "<script></script>"]),
            st.builds(
                lambda first, more, is_open: (
                    f"<details{is_open}>{first}<summary>s</summary>{more}"
                    "<summary>t</summary></details>"
                ),
                inner,
                inner,
                st.sampled_from(["", ' open=""']),
            ),
            table(inner),
        ),
        max_size=4,
    )
    return some.map("".join)


@given(content(2))
def test_visible_text__is_that_of_the_standard(page):
    assert seen(f"<body>{page}</body>") == oracle.visible_text(f"<body>{page}</body>")
