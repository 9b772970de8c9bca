"""Section ``passages``: an index of passages built and searched, and how both grow."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from benchmarks.corpora.documents import first_part
from benchmarks.corpora.files import corpus
from benchmarks.measuring.environments import cache_folder
from benchmarks.measuring.figures import exponent, latencies, megabytes
from benchmarks.measuring.jobs import Job, Settings, own_report, report_of
from benchmarks.measuring.markdown import table
from benchmarks.measuring.processes import measure

if TYPE_CHECKING:
    from pathlib import Path

CORPUS = "mixed"
# Megabytes of the file; 6.3 have a million tokens.
PARTS = (6.5, 13, 32.5, 65, 130)
QUICK_PARTS = (1, 3)
# Weights that the middle part is also indexed with.
WEIGHTS = (("raw", "unary"), ("log", "smooth"))
REPEATS, QUERIES = 3, 500

TOKENS_A_SECOND, BYTES_A_TOKEN = 1_000_000, 40.0
MEDIAN_MS, SLOW_MS = 5.0, 50.0
TEXTS = "documents.arrow"


def run(settings: Settings) -> dict[str, Any]:
    """Build and search indexes of parts of the corpus, the small ones first."""
    parts = [first_part(corpus(CORPUS), each) for each in _parts(settings)]
    weighted = [_index(settings, parts[len(parts) // 2], tf=tf, idf=idf) for tf, idf in WEIGHTS]
    return {
        "workers": settings.cores,
        "growth": [_index(settings, part) for part in parts],
        "weighted": weighted,
    }


def _parts(settings: Settings) -> tuple[float, ...]:
    return QUICK_PARTS if settings.quick else PARTS


def _index(
    settings: Settings, source: Path, tf: str = "binary", idf: str = "unary"
) -> dict[str, Any]:
    """Build an index of 64 hash functions and passages from 50 tokens on, and search it."""
    folder = cache_folder() / "output-passages"
    command = [str(settings.python.with_name("neardup")), "index", "build", str(folder)]
    command += [str(source), "--tf", tf, "--idf", idf, "--min-tokens", "50", "--num-perm", "64"]
    job = Job((*command, "--workers", str(settings.cores), "--json"), folder)
    try:
        built = measure(
            job.command,
            repeats=settings.repeats(REPEATS),
            warm_up=True,
            before=job.clear,
        )
        sizes: dict[str, int] = {}
        for path in (path for path in folder.rglob("*") if path.is_file()):
            sizes[path.name] = sizes.get(path.name, 0) + path.stat().st_size
        queries = str(50 if settings.quick else QUERIES)
        searched = own_report(settings, "passages/lookups.py", str(folder), "--queries", queries)
    finally:
        job.clear()
    for kind in ("passages", "patchworks"):
        searched[kind] |= latencies(searched[kind].pop("milliseconds"))
    searched["calls"] = latencies(searched["calls"])
    return {
        "tf": tf,
        "idf": idf,
        "source_bytes": source.stat().st_size,
        "build": {**built.as_dict(), **report_of(built)},
        "files": dict(sorted(sizes.items())),
        "search": searched,
    }


def format_table(figures: dict[str, Any]) -> str:
    """Lay out what building and searching take, and by which power of the tokens they grow."""
    indexes = [*figures["growth"], *figures["weighted"]]
    largest = figures["growth"][-1]
    header = ("tokens", "tf × idf", "seconds", "CPU s", "tokens a second", "to reach", "reached")
    sizes = ("peak MB", "bytes a token", "at most", "kept to")
    build = table((*header, *sizes), (_build_row(each, each is largest) for each in indexes))
    header = ("tokens", "tf × idf", "queries", "median ms", "at most", "reached", "99 % within ms")
    more = ("at most", "reached", "similar", "found", "whole call, ms")
    search = table(
        (*header, *more),
        (
            _search_row(each, kind, has_target=each is largest)
            for each in indexes
            for kind in ("passages", "patchworks")
        ),
    )
    return "\n\n".join([build, search, _growth_table(figures["growth"]), _files_text(largest)])


def _weights(index: dict[str, Any]) -> str:
    return f"{index['tf']} × {index['idf']}"


def _bytes_a_token(index: dict[str, Any]) -> float:
    size = sum(size for name, size in index["files"].items() if name != TEXTS)
    return float(size / index["build"]["tokens"])


def _build_row(index: dict[str, Any], has_target: bool) -> tuple[object, ...]:
    build = index["build"]
    rate, size = build["tokens"] / build["wall"], _bytes_a_token(index)
    return (
        build["tokens"],
        _weights(index),
        build["wall"],
        build["cpu"],
        round(rate),
        TOKENS_A_SECOND if has_target else None,
        rate >= TOKENS_A_SECOND if has_target else None,
        megabytes(build["peak_process"]),
        size,
        round(BYTES_A_TOKEN) if has_target else None,
        size <= BYTES_A_TOKEN if has_target else None,
    )


def _search_row(index: dict[str, Any], kind: str, *, has_target: bool) -> tuple[object, ...]:
    search = index["search"]
    figures = search[kind]
    is_passages = kind == "passages"
    return (
        search["tokens"],
        _weights(index),
        f"{figures['queries']} {kind}",
        figures["median_ms"],
        round(MEDIAN_MS) if has_target else None,
        figures["median_ms"] <= MEDIAN_MS if has_target else None,
        figures["slow_ms"],
        round(SLOW_MS) if has_target else None,
        figures["slow_ms"] <= SLOW_MS if has_target else None,
        figures["similar"] if is_passages else None,
        figures["similar_found"] if is_passages else None,
        search["calls"]["median_ms"] if is_passages else None,
    )


def _growth_table(growth: list[dict[str, Any]]) -> str:
    """Fit lines to logarithms of tokens and of what is measured."""
    measured = {
        "building, seconds": [each["build"]["wall"] for each in growth],
        "building, CPU seconds": [each["build"]["cpu"] for each in growth],
        "size without texts": [_bytes_a_token(each) * each["build"]["tokens"] for each in growth],
        "memory of building": [each["build"]["peak_process"] for each in growth],
        "passages, median ms": [each["search"]["passages"]["median_ms"] for each in growth],
        "passages, 99 % within ms": [each["search"]["passages"]["slow_ms"] for each in growth],
        "patchworks, median ms": [each["search"]["patchworks"]["median_ms"] for each in growth],
    }
    tokens = [each["build"]["tokens"] for each in growth]
    rows = [(name, exponent(tokens, values)) for name, values in measured.items()]
    return table(("grows with this power of the tokens", "exponent"), rows)


def _files_text(index: dict[str, Any]) -> str:
    tokens = index["build"]["tokens"]
    shares = {name: size / tokens for name, size in index["files"].items()}
    names = (name for name in shares if shares[name] >= 0.05)
    large = sorted(names, key=lambda name: -shares[name])
    text = (
        f"{CORPUS}, binary, {tokens:,} tokens: bytes a token by file: "
        + ", ".join(f"{name} {shares[name]:.2f}" for name in large)
        + ". Queries have "
        f"{index['search']['query_tokens']} tokens. Similar are the passages that are still at 0.8."
    )
    return fill(text, 100, break_on_hyphens=False)
