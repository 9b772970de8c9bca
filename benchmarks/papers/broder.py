"""Experiments about Broder's sketches (1997) and super-shingles, repeated.

``python -m benchmarks.papers.broder`` takes ten minutes; docs/papers.md has findings. Experiments
on real texts need ``--licences`` and ``--pages``.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from math import comb, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import neardup
from benchmarks.corpora.lines import read_rows
from benchmarks.corpora.texts import draw_text, make_texts
from benchmarks.papers.experiments import Row, make_parser, run_parts
from benchmarks.papers.minhash import UNION as MINHASH_UNION
from benchmarks.papers.minhash import draw_sets, sign_pairs
from neardup.files.html import visible_text
from neardup.files.plain import UnreadableFileError
from neardup.kernels.common.hashing import mix_words
from neardup.sketches.greedy import cluster_greedily
from neardup.sketches.minhash import (
    MinHashScheme,
    SuperShingleRule,
    band_keys,
    estimate_agreement,
    minhash_signatures,
)
from neardup.sketches.samples import (
    ModuloScheme,
    SmallestScheme,
    estimate_containment,
    estimate_resemblance,
)
from neardup.tables import Estimates, SetSketches, ShingleLists, ShingleSets, Signatures
from neardup.text.shingles import draw_polynomial, make_shingle_scheme, remainder, shingle_sets

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from neardup.tables import Int64s, Uint64s

SIZES, MODULI = (25, 50, 100, 200, 400, 800, 1600), (400, 200, 100, 50, 20, 10, 5)
PERCENT = (10, 30, 50, 70, 90, 95)
# Elements of the union of two sets, or of A for the containment of A in B.
UNION = 8_000
SHINGLE_SIZES, PIECES, PIECE_WORDS, BLOCK_WORDS, CHANGED = (1, 2, 3, 5, 10), 200, 1_000, 50, 0.01
TEXT_CHARACTERS, VOCABULARY = 4_000_000, 5_000
RULE = SuperShingleRule()
THRESHOLD, GREEDY_SKETCH, LEAST_SHINGLES = "0.8", SmallestScheme(256), 20
# Strings that differ in their last bytes, of which two sets share the middle third.
STEM, NULLS, SAMPLE = b"https://example.org/page/", 8, 100
# Of pages: words of a shingle, threshold, and sketches as Broder and others had them for the Web.
PAGE_WORDS, PAGE_THRESHOLD = 10, "0.5"
PAGE_SKETCHES: dict[str, dict[str, Any]] = {
    "modulo 25": {"kind": "modulo", "modulus": 25, "fingerprint": "rabin"},
    "smallest 200": {"kind": "smallest", "size": 200},
}

# Kind and size of sketches, their estimates, and |M(A) ∩ M(B)| / |M(A) ∪ M(B)| of whole sketches.
Sketched = tuple[str, int, Estimates, Any]


def _estimate(
    options: argparse.Namespace,
    sizes: Callable[[int], tuple[int, int, int]],
    sketch: Callable[[ShingleLists, ShingleLists], Iterator[Sketched]],
) -> list[Row]:
    """Estimate pairs of random sets of every share, and compare with theory."""
    trials = 50 if options.quick else options.trials
    generator = np.random.default_rng(options.seed)
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for percent in PERCENT:
        sets = draw_sets(generator, trials, sizes(UNION * percent // 100))
        for kind, size, estimates, naive in sketch(*sets):
            some = estimates.n_samples > 0
            truth, n = percent / 100, estimates.n_samples[some].astype(float)
            left = 1.0 if kind == "minhash" else (UNION - n) / (UNION - 1)
            theory = sqrt(truth * (1 - truth) * float(np.mean(left / n)))
            values = estimates.values[some]
            held = (estimates.low <= truth) & (truth <= estimates.high)
            found[kind, size].append(
                {
                    "bias": (values.mean() - truth) / theory * sqrt(some.sum()),
                    "deviation": values.std(ddof=1),
                    "theory": theory,
                    "held": held[some].mean(),
                    "estimate, naive": f"{values.mean():.3f}, {naive:.3f}" if naive else None,
                }
            )
    rows = []
    for (kind, size), each in found.items():
        row: Row = {"sketch": kind, "size": size}
        if each[0]["estimate, naive"]:
            names = [f"r = {percent / 100}" for percent in PERCENT]
            rows.append(row | dict(zip(names, (e["estimate, naive"] for e in each), strict=True)))
            continue
        half, ratios = each[PERCENT.index(50)], [e["deviation"] / e["theory"] for e in each]
        row["largest bias, in standard errors"] = f"{max((e['bias'] for e in each), key=abs):+.1f}"
        row |= {"deviation at 0.5": f"{half['deviation']:.4f}", "theory": f"{half['theory']:.4f}"}
        row["deviation / theory"] = f"{min(ratios):.2f} to {max(ratios):.2f}"
        held = [e["held"] for e in each]
        rows.append(row | {"intervals held": f"{min(held):.2f} to {max(held):.2f}"})
    return rows


def _sample(left: ShingleLists, right: ShingleLists, scheme: Any, *, naive: bool) -> Sketched:
    numbers = np.arange(len(left), dtype=np.int64)
    own, other = scheme.sample(left), scheme.sample(right)
    estimates = estimate_resemblance(own, other, numbers, numbers, scheme)
    kind, size = ("smallest", "size") if isinstance(scheme, SmallestScheme) else ("modulo",) * 2
    size = size if kind == "smallest" else "modulus"
    return kind, getattr(scheme, size), estimates, _share(own, other) if naive else None


def _share(left: SetSketches, right: SetSketches) -> float:
    """Return the mean share of common values, as if sketches were the sets."""

    def row_of(each: SetSketches, row: int) -> Uint64s:
        return each.values[slice(*each.offsets[row : row + 2])]

    return statistics.fmean(
        resemblance(row_of(left, row), row_of(right, row)) for row in range(len(left))
    )


def resemblance(own: Uint64s, other: Uint64s) -> float:
    """Return the Jaccard similarity of two sets."""
    common = len(np.intersect1d(own, other, assume_unique=True))
    return common / max(len(own) + len(other) - common, 1)


def _equal_sizes(common: int) -> tuple[int, int, int]:
    alone = (UNION - common) // 2
    return alone, common, alone


def run_resemblance(options: argparse.Namespace) -> list[Row]:
    """Estimate the resemblance of equally large sets with sketches of all kinds and sizes."""

    def sketch(left: ShingleLists, right: ShingleLists) -> Iterator[Sketched]:
        for scheme in (*map(SmallestScheme, SIZES), *map(ModuloScheme, MODULI)):
            yield _sample(left, right, scheme, naive=False)
        signed = [minhash_signatures(each, MinHashScheme(SIZES[-1])) for each in (left, right)]
        numbers = np.arange(len(left), dtype=np.int64)
        for size in SIZES:
            cut = (
                Signatures(np.ascontiguousarray(each[:, :size]), np.diff(lists.offsets))
                for each, lists in zip(signed, (left, right), strict=True)
            )
            yield "minhash", size, estimate_agreement(*cut, numbers, numbers), None

    return _estimate(options, _equal_sizes, sketch)


def run_naive(options: argparse.Namespace) -> list[Row]:
    """Put all of A into B, and show the wrong estimator over whole sketches, too."""

    def sketch(left: ShingleLists, right: ShingleLists) -> Iterator[Sketched]:
        for scheme in (SmallestScheme(400), ModuloScheme(20)):
            yield _sample(left, right, scheme, naive=True)

    return _estimate(options, lambda common: (0, common, UNION - common), sketch)


def run_containment(options: argparse.Namespace) -> list[Row]:
    """Estimate the containment of A in a B that is twice as large, with modulo sketches."""

    def sketch(left: ShingleLists, right: ShingleLists) -> Iterator[Sketched]:
        numbers = np.arange(len(left), dtype=np.int64)
        for scheme in map(ModuloScheme, MODULI):
            sketches = scheme.sample(left), scheme.sample(right)
            estimates = estimate_containment(*sketches, numbers, numbers, scheme)
            yield "modulo", scheme.modulus or 0, estimates, None

    return _estimate(options, lambda common: (UNION - common, common, 2 * UNION - common), sketch)


def run_sizes(options: argparse.Namespace) -> list[Row]:
    """Compare pieces of a text with changed versions, by the size of a shingle."""
    generator = np.random.default_rng(options.seed)
    if options.text is None:
        text = draw_text(generator, VOCABULARY, TEXT_CHARACTERS // 5)
    else:
        text = options.text.read_text(encoding="utf-8")
    words = text[:TEXT_CHARACTERS].split()
    starts = range(0, len(words) - PIECE_WORDS, PIECE_WORDS)
    pieces = [words[start : start + PIECE_WORDS] for start in starts][: PIECES + 1]

    def change(piece: list[str]) -> list[str]:
        changed = list(piece)
        for place in generator.choice(PIECE_WORDS, round(CHANGED * PIECE_WORDS), replace=False):
            changed[place] = words[int(generator.integers(len(words)))]
        return changed

    def shuffle(piece: list[str], size: int) -> list[str]:
        blocks = [piece[start : start + size] for start in range(0, len(piece), size)]
        return [word for number in generator.permutation(len(blocks)) for word in blocks[number]]

    versions = {
        "1 % of words changed": [change(piece) for piece in pieces],
        "blocks of 50 words in other order": [shuffle(piece, BLOCK_WORDS) for piece in pieces],
        "words in other order": [shuffle(piece, 1) for piece in pieces],
        "another text": [*pieces[1:], pieces[0]],
    }
    rows = []
    for size in SHINGLE_SIZES:
        row: Row = {"w": size}
        for name, others in versions.items():
            texts = make_texts([" ".join(each) for each in (*pieces, *others)])
            sets = shingle_sets(texts, make_shingle_scheme("words", ngram=size))
            n = len(pieces)
            shares = (resemblance(_elements(sets, i), _elements(sets, i + n)) for i in range(n))
            row[name] = f"{statistics.fmean(shares):.3f}"
        rows.append(row)
    return rows


def _elements(sets: ShingleSets, row: int) -> Uint64s:
    return sets.values[sets.starts[row] :][: sets.sizes[row]]


def run_super_shingles(options: argparse.Namespace) -> list[Row]:
    """Count groups of min-hashes that agree, and groups of a sorted sketch."""
    pairs = 200 if options.quick else 20 * options.trials
    generator = np.random.default_rng(options.seed)
    rows = []
    for common in (280, 320, 340, 360, 380, 392):
        r = common / MINHASH_UNION
        signed = sign_pairs(generator, MinHashScheme(RULE.groups * RULE.rows), pairs, common)
        left, right = (band_keys(each, RULE.groups, RULE.rows) for each in signed)
        agreements = (left == right).sum(axis=1)
        # Sets as large as those of documents, so that sketches do not hold them whole.
        few, scheme = min(pairs, 2_000), SmallestScheme(RULE.groups * RULE.rows)
        alone = (MINHASH_UNION - common) // 2 * 5
        left, right = (
            scheme.sample(each).values.reshape(few, RULE.groups, RULE.rows)
            for each in draw_sets(generator, few, (alone, 5 * common, alone))
        )
        by_place = (left == right).all(axis=2).mean(axis=0)
        rows.append(
            {
                "r": r,
                "a group agrees": f"{agreements.mean() / RULE.groups:.4f}",
                "r^14": f"{r**RULE.rows:.4f}",
                "2 of 6 agree": f"{(agreements >= RULE.least).mean():.4f}",
                "formula": f"{RULE.probability(r):.4f}",
                "groups of a sorted sketch": ", ".join(f"{share:.2f}" for share in by_place),
            }
        )
    return rows


def run_greedy(options: argparse.Namespace) -> list[Row] | None:
    """Cluster licence texts in the order of the file and in others."""
    if options.licences is None:
        return None
    texts = [row["text"] for row in read_rows(options.licences / "texts.jsonl.xz")]
    texts = texts[: 2_000 if options.quick else None]
    sets = shingle_sets(make_texts(texts), make_shingle_scheme("words", ngram=5))
    # Shorter texts are notices of a line, most of them the same.
    chosen = np.flatnonzero(sets.sizes >= LEAST_SHINGLES)
    texts, sets = [texts[row] for row in chosen.tolist()], sets.take(chosen)
    found = neardup.find_pairs(texts, threshold=THRESHOLD).table
    left, right = (found[name].to_numpy().astype(np.int64) for name in ("id_a", "id_b"))
    generator = np.random.default_rng(options.seed)
    n, orders = len(sets), 2 if options.quick else 10
    shuffled = [np.arange(n), *(generator.permutation(n) for _ in range(orders))]
    components = _components(n, list(zip(left.tolist(), right.tolist(), strict=True)))
    rows = [_describe("exact components", "any", np.array(components), left, right)]
    for number, order in enumerate(shuffled):
        lists = [_elements(sets, row) for row in order.tolist()]
        offsets = np.concatenate([[0], np.cumsum(sets.sizes[order])]).astype(np.int64)
        sketches = GREEDY_SKETCH.sample(ShingleLists(np.concatenate(lists), offsets))
        greedy = cluster_greedily(sketches, GREEDY_SKETCH, THRESHOLD)
        labels = np.empty(n, np.int64)
        labels[order] = greedy.clusters
        name = f"shuffled, {number}" if number else "of the file"
        rows.append(_describe("greedy", name, labels, left, right))
    return rows


def _describe(way: str, order: str, labels: Int64s, left: Int64s, right: Int64s) -> Row:
    sizes = Counter(labels.tolist())
    together = sum(comb(size, 2) for size in sizes.values())
    similar = int((labels[left] == labels[right]).sum())
    row: Row = {"clusters by": way, "order": order, "clusters": len(sizes)}
    row |= {"largest": max(sizes.values()), "pairs together": together}
    row["of them similar"] = similar / max(together, 1)
    return row | {"similar pairs together": similar / max(len(left), 1)}


def _components(n: int, edges: list[tuple[int, int]]) -> list[int]:
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


def run_order(options: argparse.Namespace) -> list[Row]:
    """Estimate the resemblance of strings that differ in their last bytes, by fingerprints.

    Fingerprints are taken in their own order, with nulls appended, and mixed.
    """
    strings = [STEM + b"%04d" % number for number in range(3_000)]
    n, third = len(strings), len(strings) // 3
    is_common = (np.arange(n) >= third) & (np.arange(n) < 2 * third)
    values: dict[str, list[float]] = defaultdict(list)
    for seed in range(20 if options.quick else 400):
        polynomial = draw_polynomial(seed)
        plain = fingerprints(strings, polynomial)
        nulls = fingerprints([each + bytes(NULLS) for each in strings], polynomial)
        with np.errstate(over="ignore"):
            mixed = mix_words(plain)
        for way, prints in (("as it is", plain), ("nulls appended", nulls), ("mixed", mixed)):
            # The smallest of both sets together, as in the right estimator.
            values[way].append(float(is_common[np.argsort(prints)[:SAMPLE]].mean()))
    theory = sqrt(1 / 3 * 2 / 3 / SAMPLE * (n - SAMPLE) / (n - 1))
    return [
        {
            "fingerprints": way,
            "bias": f"{statistics.mean(each) - 1 / 3:+.4f}",
            "deviation": f"{statistics.stdev(each):.4f}",
            "theory": f"{theory:.4f}",
        }
        for way, each in values.items()
    ]


def fingerprints(strings: Sequence[bytes], polynomial: int) -> Uint64s:
    """Return the remainders of equally long strings, unmixed, a 1 before each of them."""
    data = np.frombuffer(b"".join(strings), np.uint8).reshape(len(strings), -1)
    width = data.shape[1]
    found = np.full(len(strings), remainder(1 << 8 * width, polynomial), np.uint64)
    for place in range(width):
        # Only few places differ, and only they need a table of all bytes.
        table = np.zeros(256, np.uint64)
        for byte in np.unique(data[:, place]).tolist():
            table[byte] = remainder(byte << 8 * (width - 1 - place), polynomial)
        found ^= table[data[:, place]]
    return found


def run_pages(options: argparse.Namespace) -> list[Row] | None:
    """Count clusters of identical pages and mixed ones, as in the paper's walk over the Web."""
    if options.pages is None:
        return None
    most = 30 if options.quick else None
    paths = [path for folder in options.pages for path in sorted(folder.rglob("*.html"))[:most]]
    texts = [_seen(path.read_text(encoding="utf-8", errors="replace")) for path in paths]
    texts = [text for text in texts if len(text.split()) >= PAGE_WORDS]
    text = neardup.TextOptions(ngram=PAGE_WORDS)
    exact = neardup.deduplicate(
        texts, threshold=PAGE_THRESHOLD, method="exact", clusters="components", text=text
    ).clusters
    labels = {"exact": exact["cluster_id"].to_pylist()}
    for name, how in PAGE_SKETCHES.items():
        sketches = neardup.sketch(texts, text=text, **how)
        labels[name] = _linked(len(texts), neardup.estimate(sketches, threshold=PAGE_THRESHOLD))
    sketches = neardup.sketch(texts, kind="minhash", num_perm=RULE.groups * RULE.rows, text=text)
    found = neardup.estimate(sketches, super_shingles=RULE.least)
    labels["super-shingles"] = _linked(len(texts), found)
    rows = []
    for name, each in labels.items():
        members: dict[int, list[str]] = defaultdict(list)
        for label, seen in zip(each, texts, strict=True):
            members[label].append(" ".join(seen.split()))
        clusters = [own for own in members.values() if len(own) > 1]
        identical = [own for own in clusters if len(set(own)) == 1]
        pages, same = sum(map(len, clusters)), sum(map(len, identical))
        row: Row = {"clusters by": name, "pages": len(texts), "clusters": len(clusters)}
        row |= {"pages in them": pages, "identical only": len(identical), "their pages": same}
        rows.append(row | {"share of pages in identical ones": same / max(1, pages)})
    return rows


def _seen(source: str) -> str:
    try:
        return visible_text(source)
    except UnreadableFileError:
        return ""


def _linked(n: int, result: Any) -> list[int]:
    ids = (map(int, result.table[name].to_pylist()) for name in ("id_a", "id_b"))
    return _components(n, list(zip(*ids, strict=True)))


if __name__ == "__main__":
    parser = make_parser("benchmarks.papers.broder", __doc__)
    parser.add_argument("--licences", type=Path, help="folder with texts.jsonl.xz")
    parser.add_argument("--pages", type=Path, nargs="+", help="folders of HTML pages")
    parser.add_argument("--text", type=Path, help="text to cut; without it, one is made up")
    parser.add_argument("--trials", type=int, default=1_000, help="pairs of sets for each share")
    parser.add_argument("--seed", type=int, default=42)
    run_parts(
        parser,
        {
            "sizes": run_sizes,
            "resemblance": run_resemblance,
            "naive": run_naive,
            "containment": run_containment,
            "super-shingles": run_super_shingles,
            "greedy": run_greedy,
            "order": run_order,
            "pages": run_pages,
        },
    )
