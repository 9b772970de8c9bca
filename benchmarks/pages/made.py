"""Web pages made up by a seed: of several layouts, in several scripts, many of them malformed."""

from __future__ import annotations

import random
from collections.abc import Callable
from html import escape

WORDS = {
    "en": "the of and page year city river people found water house under night which between "
    "market first letter around travel music stone garden window morning history",
    "de": "und der die Straße über Häuser Wasser Abend größer Stadt früh Küche schön Garten Brücke",
    "ru": "город вода улица вечер книга дорога большой утро окно река человек письмо время",
    "zh": "城市 河流 晚上 早晨 书信 道路 花园 窗户 历史 音乐 市场 旅行",
    "ar": "مدينة نهر كتاب طريق صباح مساء نافذة حديقة تاريخ سوق رسالة",
}
_SCRIPT = '<script type="text/javascript">var a = "<p>no text</p>"; if (1 < 2) { f(a); }</script>'
_STYLE = "<style>body { color: black } .x > p { margin: 0 } /* </b> */</style>"


class _Page:
    """One page in the making."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = WORDS[self.random.choice(list(WORDS))].split()

    def run(self, least: int = 3, most: int = 14) -> str:
        """Return some words, some of them marked up, some as references."""
        parts = []
        for _ in range(self.random.randint(least, most)):
            word = escape(self.random.choice(self.words))
            kind = self.random.random()
            if kind < 0.05:
                tag = self.random.choice(["b", "i", "em", "code", "span", "sub", "mark"])
                word = f"<{tag}>{word}</{tag}>"
            elif kind < 0.09:
                word = f'<a href="/p?a=1&amp;b={len(parts)}" class="link">{word}</a>'
            elif kind < 0.12:
                word += self.random.choice(["&nbsp;", "&amp;", " &mdash; ", "&#8217;s", " &lt;x"])
            elif kind < 0.13:
                word = f'<span style="display:none">{word}</span>'
            elif kind < 0.14:
                word = f"<!-- {word} -->{word}"
            elif kind < 0.15:
                # Misnested, as in many a page.
                word = f"<b><i>{word}</b></i>"
            parts.append(word)
        return self.random.choice([" ", "\n", "  ", "\n    "]).join(parts)

    def text(self) -> str:
        end = self.random.choice(["</p>", "</p>", "</p>", ""])
        return f"\n<p>{self.run(10, 40)}.{end}"

    def heading(self) -> str:
        level = self.random.randint(1, 4)
        return f"\n<h{level}>{self.run(2, 5)}</h{level}>"

    def items(self) -> str:
        tag, end = self.random.choice(["ul", "ol"]), self.random.choice(["</li>", ""])
        rows = "".join(f"\n  <li>{self.run(1, 6)}{end}" for _ in range(self.random.randint(1, 6)))
        return f"\n<{tag}>{rows}\n</{tag}>"

    def table(self) -> str:
        n = self.random.randint(1, 4)
        ends = self.random.choice([("</td>", "</tr>"), ("", "")])
        rows = "".join(
            "\n<tr>" + "".join(f"<td>{self.run(1, 3)}{ends[0]}" for _ in range(n)) + ends[1]
            for _ in range(self.random.randint(1, 5))
        )
        head = "".join(f"<th>{self.run(1, 2)}</th>" for _ in range(n))
        caption = f"<caption>{self.run(1, 3)}</caption>"
        return f'\n<table border="1">{caption}<tr>{head}</tr>{rows}</table>'

    def code(self) -> str:
        lines = "\n".join(f"    {escape(word)}(  1,\t<b>2</b>);" for word in self.words[:4])
        return f"\n<pre>\n{lines}\n</pre>"

    def form(self) -> str:
        options = "".join(f"<option>{word}" for word in self.words[:3])
        return (
            f'\n<form action="/s"><label>{self.run(1, 2)}</label> <input type="text" value="v">'
            f"<select name=a>{options}</select> <button> {self.run(1, 1)} </button>"
            f"<textarea>{self.run(1, 2)}</textarea></form>"
        )

    def folded(self) -> str:
        state = self.random.choice(["", " open"])
        return f"\n<details{state}><summary>{self.run(1, 3)}</summary>{self.text()}</details>"

    def terms(self) -> str:
        return "\n<dl>" + "".join(f"<dt>{w}<dd>{self.run(2, 5)}" for w in self.words[:3]) + "</dl>"

    def quotation(self) -> str:
        return f"\n<blockquote>{self.run()}<br>\n{self.run()}<br/></blockquote><hr>"

    def aside(self) -> str:
        return (
            f'\n<div class="box"><div hidden>{self.run()}</div>{self.run()}{_SCRIPT}'
            f'<noscript>{self.run()}</noscript><img src="x.png" alt="{self.words[0]}"></div>'
        )

    def html(self) -> str:
        """Return the whole page."""
        kinds: list[Callable[[], str]] = [
            *(self.text, self.text, self.text, self.heading, self.items, self.table, self.code),
            *(self.form, self.folded, self.terms, self.quotation, self.aside),
        ]
        body = "".join(self.random.choice(kinds)() for _ in range(self.random.randint(4, 40)))
        links = "".join(f'<li><a href="/{w}">{w}</a></li>' for w in self.words[:5])
        doctype = self.random.choice(["<!DOCTYPE html>\n"] * 3 + [""])
        end = self.random.choice(["</body>\n</html>\n", ""])
        return (
            f'{doctype}<html lang="x">\n<head><meta charset="utf-8"><title>{self.words[0]}</title>'
            f"{_STYLE}{_SCRIPT}</head>\n<body>\n<nav><ul>{links}</ul></nav>\n<main>{body}</main>\n"
            f"<footer><p>&copy; {self.run(2, 4)}</footer>\n{end}"
        )


def made_page(seed: int) -> bytes:
    """Return the page of a seed, in UTF-8."""
    return _Page(seed).html().encode()
