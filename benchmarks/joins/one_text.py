"""One text against a list, by ``extract`` and by ``find_pairs``, beside RapidFuzz's ``extract``.

    python -m benchmarks.joins.one_text [--texts N ...]

Prints for each number of texts the processor's milliseconds of RapidFuzz, and how many times as
long the others take. All find the same; that is checked.
"""

from __future__ import annotations

import argparse
import random
import statistics
import string
import time
from collections.abc import Callable

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

import neardup

_CHARACTERS, _LIMIT = 60, 3


def main() -> None:
    """Time all three in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, nargs="+", default=[1_000, 100_000])
    for number in parser.parse_args().texts:
        texts = _lines(number)
        middle = texts[number // 2]
        query = f"{middle[:30]}x{middle[33:]}"
        ways: dict[str, Callable[[], list[str]]] = {
            "rapidfuzz": lambda query=query, texts=texts: _by_rapidfuzz(query, texts),
            "extract": lambda query=query, texts=texts: _by_extract(query, texts),
            "find_pairs": lambda query=query, texts=texts: _by_pairs(query, texts),
        }
        assert len({tuple(way()) for way in ways.values()}) == 1
        seconds = _in_turns(ways, max(5, 20_000 // number))
        base = seconds.pop("rapidfuzz")
        ratios = ", ".join(f"{name} {took / base:.2f}" for name, took in seconds.items())
        print(f"{number:,} texts: rapidfuzz {1e3 * base:.2f} ms; {ratios}")


def _by_rapidfuzz(query: str, texts: list[str]) -> list[str]:
    found = process.extract(query, texts, scorer=Levenshtein.normalized_similarity, limit=_LIMIT)
    return [str(place) for _, _, place in found]


def _by_extract(query: str, texts: list[str]) -> list[str]:
    found = neardup.extract(query, texts, limit=_LIMIT, measure="edit")
    return [str(each.key) for each in found]


def _by_pairs(query: str, texts: list[str]) -> list[str]:
    found = neardup.find_pairs([query], texts, top=_LIMIT, measure="edit")
    ids: list[str] = found.table["id_b"].to_pylist()
    return ids


def _lines(number: int) -> list[str]:
    """Make lines of words of random letters."""
    draw = random.Random(1)
    words = [
        "".join(draw.choices(string.ascii_lowercase, k=draw.randint(2, 9))) for _ in range(5000)
    ]
    return [" ".join(draw.choices(words, k=12))[:_CHARACTERS] for _ in range(number)]


def _in_turns(ways: dict[str, Callable[[], list[str]]], times: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(times):
        for name, way in ways.items():
            start = time.process_time()
            way()
            seconds[name].append(time.process_time() - start)
    return {name: statistics.median(each) for name, each in seconds.items()}


if __name__ == "__main__":
    main()
