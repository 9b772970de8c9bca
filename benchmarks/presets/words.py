"""Share of copies that each preset finds, by length and changed words: ``words.py``.

A text is a run of words, each drawn from all distinct words of the licences in the examples. In its
copy each word is replaced by another with the given probability. Prints a table, which
docs/presets.md shortens.
"""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import neardup

SHARES, LENGTHS, N_TEXTS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2), (30, 200, 1000), 300
JOBS = {
    "dedup": (None, "ocr", "titles"),
    "align": (None, "editions", "quotations", "rewording"),
}
_EXAMPLES = Path(__file__).parents[2] / "examples" / "licences.jsonl.gz"


def find_copies(job: str, preset: str | None, texts: list[str], copies: list[str]) -> float:
    """Return the share of copies found: removed, or in a passage with the original."""
    rows = [{"id": f"t{i}", "text": text} for i, text in enumerate(texts)]
    others = [{"id": f"c{i}", "text": text} for i, text in enumerate(copies)]
    if job == "dedup":
        removed = neardup.deduplicate(rows + others, preset=preset).removed
        found = zip(removed["id"].to_pylist(), removed["kept_id"].to_pylist(), strict=True)
    else:
        passages = neardup.align(others, rows, preset=preset).passages
        found = zip(passages["query_id"].to_pylist(), passages["doc_id"].to_pylist(), strict=True)
    return len({copy for copy, text in found if copy[1:] == text[1:]}) / len(texts)


def main() -> None:
    """Print the table."""
    with gzip.open(_EXAMPLES, "rt") as lines:
        words = sorted({word for line in lines for word in json.loads(line)["text"].split()})
    rng = random.Random(1)
    print("| job | preset | words |", *(f"{share:.1%} |" for share in SHARES))
    print("| --- |" + " --- |" * (2 + len(SHARES)))
    for length in LENGTHS:
        drawn = [rng.choices(words, k=length) for _ in range(N_TEXTS)]
        copies = {
            share: [
                " ".join(rng.choice(words) if rng.random() < share else word for word in text)
                for text in drawn
            ]
            for share in SHARES
        }
        texts = [" ".join(text) for text in drawn]
        for job, presets in JOBS.items():
            for preset in presets:
                found = [find_copies(job, preset, texts, copies[share]) for share in SHARES]
                cells = " | ".join(f"{share:.2f}" for share in found)
                print(f"| {job} | {preset or 'none'} | {length:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
