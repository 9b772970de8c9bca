"""Pages of deduplications of texts that are given."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import neardup
from tests.calls import grouped


def dedup_page(files: dict[str, Sequence[tuple[str, str]]], **options: Any) -> str:
    """Deduplicate files of ids and texts; return the page of the folder."""
    with TemporaryDirectory() as folder:
        paths = []
        for name, rows in files.items():
            paths.append(Path(folder, name))
            lines = [json.dumps({"id": id_, "text": text}) + "\n" for id_, text in rows]
            paths[-1].write_text("".join(lines))
        result = neardup.deduplicate(paths, **grouped(**{"threshold": "0.5", "ngram": 2} | options))
        result.write(Path(folder, "out"))
        return neardup.report(Path(folder, "out")).html


def dedup_cases(
    texts: dict[str, tuple[str, str]], hostile: str, long: str
) -> dict[str, Callable[[], str]]:
    """Return pages of all texts, of one kind and of all, and of odd ids and numbers of texts."""
    everything = [text for pair in texts.values() for text in pair]
    plain = texts["plain"]
    # A name of a file may hold anything but a slash.
    odd = hostile.replace("/", "") + ".jsonl"

    def of(files: dict[str, Sequence[tuple[str, str]]], **options: Any) -> Callable[[], str]:
        return lambda: dedup_page(files, **options)

    def rows(*given: str) -> list[tuple[str, str]]:
        return [(f"document {n}", text) for n, text in enumerate(given)]

    ids = [hostile, long, "文件一", "מסמך", "\x00\u202e", "a", "b"]
    return {
        "dedup of all texts": of(
            {
                "one.jsonl": rows(*everything),
                odd: [(f"other {n}", text) for n, text in enumerate(everything)],
                f"{long[:200]}.jsonl": [("long", f"{plain[0]} {long}")],
                "文件.jsonl": [("chinese", texts["chinese"][0])],
            },
            audit=5,
        ),
        "dedup of odd ids": of(
            {"in.jsonl": [(id_, f"{plain[0]} {n}") for n, id_ in enumerate(ids)]}
        ),
        "dedup into components": of({"in.jsonl": rows(*plain, *plain)}, clusters="components"),
        "dedup without removals": of({"in.jsonl": rows(plain[0], texts["chinese"][0])}),
        "dedup of one document": of({"in.jsonl": rows(plain[0])}),
        "dedup of nothing": of({"in.jsonl": []}),
        "dedup of copies": of({"in.jsonl": rows(*[plain[0]] * 30)}),
    }
