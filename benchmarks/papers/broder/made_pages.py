"""Made-up web pages, with known copies and near-copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Words of the vocabulary, and of an article; words of a site's frame.
VOCABULARY, ARTICLE_WORDS, FRAME_WORDS = 20_000, (150, 600), 40
SITES = 40
# How a page comes to be like an article: how often, and what share of the words is then changed.
ORIGINS = {"alone": 0.45, "mirror": 0.15, "other markup": 0.15, "revised": 0.15, "other site": 0.10}
REVISED = (0.005, 0.04)


@dataclass(frozen=True)
class Page:
    """A page: its source, the article that it has, and how it came by that."""

    html: str
    article: int
    origin: str


def make_pages(articles: int, seed: int) -> list[Page]:
    """Make articles, each a page of a site, and more pages of most of them.

    A mirror has the same bytes. Other markup is a new design: every tag differs, and no word that
    is seen. A revised page has other words here and there. Another site has its own frame around
    the article: title, navigation and foot.
    """
    generator = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    vocabulary = [
        "".join(letters[generator.integers(0, 26, int(size))])
        for size in generator.integers(2, 10, VOCABULARY)
    ]
    ranks = np.arange(1, VOCABULARY + 1)
    shares = 1 / ranks / (1 / ranks).sum()

    def draw(count: int) -> list[str]:
        return [vocabulary[word] for word in generator.choice(VOCABULARY, count, p=shares)]

    frames = [draw(FRAME_WORDS) for _ in range(SITES)]
    origins, weights = list(ORIGINS), np.array(list(ORIGINS.values()))
    pages = []
    for article in range(articles):
        words = draw(int(generator.integers(*ARTICLE_WORDS)))
        site = int(generator.integers(SITES))
        first = _plain(words, frames[site])
        pages.append(Page(first, article, "first"))
        origin = origins[int(generator.choice(len(origins), p=weights))]
        for _ in range(0 if origin == "alone" else int(generator.integers(1, 4))):
            if origin == "mirror":
                html = first
            elif origin == "other markup":
                html = _designed(words, frames[site])
            elif origin == "other site":
                html = _plain(
                    words, frames[(site + 1 + int(generator.integers(SITES - 1))) % SITES]
                )
            else:
                changed = list(words)
                share = generator.uniform(*REVISED)
                places = generator.choice(
                    len(words), max(1, int(share * len(words))), replace=False
                )
                for place, word in zip(places.tolist(), draw(len(places)), strict=True):
                    changed[place] = word
                html = _plain(changed, frames[site])
            pages.append(Page(html, article, origin))
    return pages


def _paragraphs(words: list[str]) -> list[str]:
    return [" ".join(words[start : start + 50]) for start in range(0, len(words), 50)]


def _plain(words: list[str], frame: list[str]) -> str:
    body = "".join(f"<p>{text}</p>\n" for text in _paragraphs(words))
    title, menu, foot = frame[:5], frame[5:25], frame[25:]
    items = "".join(f"<li><a href='/{word}'>{word}</a></li>" for word in menu)
    return (
        f"<!DOCTYPE html><html><head><title>{' '.join(title)}</title></head><body>"
        f"<h1>{' '.join(title)}</h1>\n<ul>{items}</ul>\n{body}<p>{' '.join(foot)}</p></body></html>"
    )


def _designed(words: list[str], frame: list[str]) -> str:
    """Write the same words in a newer design: styles, scripts, a span here and there, entities."""
    title, menu, foot = frame[:5], frame[5:25], frame[25:]
    links = "\n".join(
        f'<div class="nav-item nav-{number}"><a class="link" href="?page={number}">{word}</a></div>'
        for number, word in enumerate(menu)
    )
    paragraphs = []
    for number, text in enumerate(_paragraphs(words)):
        first, _, rest = text.partition(" ")
        styled = f'<span class="lead" data-n="{number}">{first}</span>\n{rest}'
        paragraphs.append(f'<div class="text" id="t{number}">{styled}</div>')
    body = "\n<!-- advert -->\n".join(paragraphs)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        "<style>.text { margin: 1em } .nav-item { display: block }</style>"
        f"<title>{' '.join(title)}</title></head>\n<body>"
        f"<script>var visits = {len(words)}; function track() {{ visits += 1 }}</script>"
        f'<header class="top"><div class="brand">{"&#32;".join(title)}</div></header>\n'
        f"<nav>{links}</nav>\n<main>{body}</main>\n<footer>{' '.join(foot)}</footer>"
        "<noscript></noscript></body></html>"
    )
