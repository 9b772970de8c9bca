"""Web pages in clusters, as in the paper's experiment: of identical pages alone, and mixed ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import neardup
from benchmarks.corpora.texts import make_texts
from benchmarks.papers.broder.made_pages import make_pages
from neardup.files.extracted import UnreadableFileError
from neardup.files.pages.html import visible_text
from neardup.sketches.minhash import SuperShingleRule
from neardup.text.shingles import digest_token_lists, make_shingle_scheme
from tests.calls import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pyarrow as pa

Row = dict[str, Any]
Labels = list[int]

# Words of a shingle and the threshold. Sketches: fingerprints of 40 bits that the modulus divides,
# as Broder and others had them for the Web, and as many of each page.
WORDS, THRESHOLD = 10, "0.5"
SKETCHES: dict[str, dict[str, Any]] = {
    "modulo 25": {"kind": "modulo", "modulus": 25, "fingerprint": "rabin", "fingerprint_bits": 40},
    "smallest 200": {"kind": "smallest", "size": 200},
}
ARTICLES, QUICK_ARTICLES = 4_000, 150
SHINGLES = make_shingle_scheme("words", ngram=WORDS)


def run_made(articles: int, seed: int) -> Row:
    """Cluster pages that are made up, by their source and by what is seen of it."""
    pages = make_pages(articles, seed)
    sources = [page.html for page in pages]
    texts = [_seen(source) for source in sources]
    labels = {"source, exact": _spread(sources, exact_clusters), **_cluster_texts(texts)}
    numbers = {"source": _numbers(sources), "visible text": _numbers(texts)}
    first = {page.article: row for row, page in enumerate(pages) if page.origin == "first"}
    origins = []
    for origin in dict.fromkeys(page.origin for page in pages if page.origin != "first"):
        rows = [row for row, page in enumerate(pages) if page.origin == origin]
        pairs = [(row, first[pages[row].article]) for row in rows]
        origins.append(
            {
                "origin": origin,
                "pages": len(rows),
                "identical": _share(numbers["visible text"], pairs),
                **{way: _share(found, pairs) for way, found in labels.items()},
            }
        )
    unlike = _unlike(labels["visible text, exact"], [page.article for page in pages])
    return {
        "collection": "made up",
        "pages": len(pages),
        "bytes": sum(map(len, sources)),
        "clusters": [
            {"by": way, **describe(found, numbers[way.partition(",")[0]])}
            for way, found in labels.items()
        ],
        "origins": origins,
        "clusters_of_several_articles": unlike,
    }


def run_folders(folders: Sequence[Path], most: int | None) -> Row:
    """Cluster the pages of folders, without unreadable and very short pages."""
    paths = [path for folder in folders for path in sorted(folder.rglob("*.html"))[:most]]
    contents = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    texts = [_seen(source) for source in contents]
    sizes = np.diff(SHINGLES.tokenizer.hash_tokens(make_texts(texts)).offsets)
    kept = np.flatnonzero(sizes >= WORDS).tolist()
    sources, texts = [contents[row] for row in kept], [texts[row] for row in kept]
    numbers = {"source": _numbers(sources), "visible text": _numbers(texts)}
    labels = _cluster_texts(texts)
    clusters = [{"by": "source, identical", **describe(numbers["source"], numbers["source"])}]
    clusters += [
        {"by": way, **describe(found, numbers["visible text"])} for way, found in labels.items()
    ]
    exact = labels["visible text, exact"]
    for row in clusters[1:]:
        row["of_exact"] = _pairs_of(labels[row["by"]], exact)
    return {
        "collection": "documentation",
        "pages": len(texts),
        "left_out": len(paths) - len(texts),
        "bytes": sum(map(len, sources)),
        "text_bytes": sum(len(text.encode()) for text in texts),
        "clusters": clusters,
    }


def _seen(source: str) -> str:
    try:
        return visible_text(source)
    except UnreadableFileError:
        return ""


def _cluster_texts(texts: Sequence[str]) -> dict[str, Labels]:
    ways = {
        "exact": exact_clusters,
        **{name: partial(sketch_clusters, **how) for name, how in SKETCHES.items()},
        "super-shingles": super_shingle_clusters,
    }
    return {f"visible text, {name}": _spread(texts, cluster) for name, cluster in ways.items()}


def exact_clusters(texts: Sequence[str]) -> Labels:
    """Return the components of all pairs at the threshold."""
    options = {"threshold": THRESHOLD, "ngram": WORDS, "method": "exact"}
    found = neardup.deduplicate(list(texts), **grouped(clusters="components", **options)).clusters
    return [int(label) for label in found["cluster_id"].to_pylist()]


def sketch_clusters(texts: Sequence[str], **how: Any) -> Labels:
    """Return the components of the pairs that sketches estimate at the threshold."""
    sketches = neardup.sketch(list(texts), **grouped(ngram=WORDS, **how))
    pairs = neardup.estimate(sketches, threshold=THRESHOLD).table
    return _components(len(texts), _edges(pairs))


def super_shingle_clusters(texts: Sequence[str]) -> Labels:
    """Return the components of pages that share two of six super-shingles."""
    rule = SuperShingleRule()
    sketches = neardup.sketch(
        list(texts), num_perm=rule.groups * rule.rows, text=neardup.TextOptions(ngram=WORDS)
    )
    pairs = neardup.estimate(sketches, super_shingles=rule.least).table
    return _components(len(texts), _edges(pairs))


def describe(labels: Labels, numbers: Labels) -> Row:
    """Count clusters of two pages and more: of identical pages alone, and the others."""
    members: dict[int, list[int]] = defaultdict(list)
    for label, number in zip(labels, numbers, strict=True):
        members[label].append(number)
    clusters = [own for own in members.values() if len(own) > 1]
    identical = [own for own in clusters if len(set(own)) == 1]
    return {
        "clusters": len(clusters),
        "pages": sum(map(len, clusters)),
        "identical_clusters": len(identical),
        "identical_pages": sum(map(len, identical)),
        "mixed_clusters": len(clusters) - len(identical),
        "mixed_pages": sum(map(len, clusters)) - sum(map(len, identical)),
        "largest": max(map(len, clusters), default=0),
    }


def _numbers(texts: Sequence[str]) -> Labels:
    """Number texts by their tokens: equal ones have equal numbers."""
    digests = digest_token_lists(SHINGLES.tokenizer.hash_tokens(make_texts(texts)))
    known: dict[tuple[int, ...], int] = {}
    return [known.setdefault(tuple(own), len(known)) for own in digests.tolist()]


def _spread(texts: Sequence[str], cluster: Callable[[Sequence[str]], Labels]) -> Labels:
    """Cluster the different texts, and label equal texts alike."""
    numbers = _numbers(texts)
    different = dict(zip(reversed(numbers), reversed(texts), strict=True))
    found = cluster([different[number] for number in range(len(different))])
    return [found[number] for number in numbers]


def _edges(pairs: pa.Table) -> list[tuple[int, int]]:
    rows = ([int(row) for row in pairs[name].to_pylist()] for name in ("id_a", "id_b"))
    return list(zip(*rows, strict=True))


def _components(n: int, edges: Iterable[tuple[int, int]]) -> Labels:
    parents = list(range(n))

    def root(row: int) -> int:
        while parents[row] != row:
            parents[row] = parents[parents[row]]
            row = parents[row]
        return row

    for one, other in edges:
        own, its = root(one), root(other)
        parents[max(own, its)] = min(own, its)
    return [root(row) for row in range(n)]


def _share(labels: Labels, pairs: Sequence[tuple[int, int]]) -> float:
    return sum(labels[one] == labels[other] for one, other in pairs) / len(pairs)


def _unlike(labels: Labels, articles: Sequence[int]) -> int:
    """Count clusters whose pages have different articles."""
    own: dict[int, set[int]] = defaultdict(set)
    for label, article in zip(labels, articles, strict=True):
        own[label].add(article)
    return sum(len(each) > 1 for each in own.values())


def _pairs_of(labels: Labels, exact: Labels) -> float:
    """Return how many of the pairs that are together in exact clusters are together here."""
    both = Counter(zip(labels, exact, strict=True))
    together = sum(count * (count - 1) for count in both.values())
    return together / sum(count * (count - 1) for count in Counter(exact).values())
