"""Recall of a preset on texts with known changes: ``finding.py ocr reported``.

Copies are made of one half of some texts, at each share of changes; the job is run with the preset
and, beside it, with the default options. Prints the counts as JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from typing import Any

import neardup
from benchmarks.presets.noise import with_errors
from benchmarks.presets.renaming import rename_python
from benchmarks.presets.texts import HALVES, read_programs, read_statutes, read_titles
from tests.calls import grouped

SHARES = (0.01, 0.03, 0.05, 0.1)


def measure_noise(
    texts: list[str], share: float, options: dict[str, Any], *, both: bool = False
) -> dict[str, Any]:
    """Remove noisy copies from among their originals: how many go, and what goes for others.

    With ``both`` the originals have errors of their own.
    """
    rng = random.Random(f"{share}")
    numbers = range(len(texts))
    rows = [
        {"id": f"t{i}", "text": with_errors(texts[i], share if both else 0, rng)} for i in numbers
    ]
    rows += [{"id": f"c{i}", "text": with_errors(texts[i], share, rng)} for i in numbers]
    removed = neardup.deduplicate(rows, **grouped(**options)).removed
    gone = zip(removed["id"].to_pylist(), removed["kept_id"].to_pylist(), strict=True)
    wrong = [(int(each[1:]), int(kept[1:])) for each, kept in gone if each[1:] != kept[1:]]
    n_found = len(removed) - len(wrong)
    return {
        "share": share,
        "found": n_found / len(texts),
        "wrong": len(wrong) / max(len(removed), 1),
        "examples": [[texts[a], texts[b]] for a, b in wrong[:10]],
    }


def measure_passages(texts: list[str], share: float) -> dict[str, Any]:
    """Find noisy copies of sections among others, by align: what part of them is covered."""
    rng = random.Random(f"passages {share}")
    n_copied, group = len(texts) // 2, 5
    copied, others = texts[:n_copied], texts[n_copied:]
    queries = ["\n\n".join(copied[i : i + group]) for i in range(0, n_copied, group)]
    noisy = [with_errors(text, share, rng) for text in copied]
    documents = [f"{others[i]}\n\n{noisy[i]}\n\n{others[i - 1]}" for i in range(n_copied)]
    rows = neardup.align(queries, documents, preset="ocr").passages.to_pylist()
    covered = []
    for i, text in enumerate(copied):
        start = queries[i // group].index(text)
        there = bytearray(len(text))
        for row in rows:
            if (row["query_id"], row["doc_id"]) == (str(i // group), str(i)):
                first, last = row["query_start"] - start, row["query_end"] - start
                first, last = max(first, 0), min(last, len(text))
                if first < last:
                    there[first:last] = b"\1" * (last - first)
        covered.append(sum(there) / len(text))
    return {
        "share": share,
        "found": sum(part > 0.5 for part in covered) / n_copied,
        "covered": sum(covered) / n_copied,
    }


def measure_programs(options: dict[str, Any]) -> dict[str, Any]:
    """Compare programs with copies in which all names are new and comments others."""
    programs = read_programs()
    texts, names = list(programs.values()), list(programs)
    copies = [rename_python(text, i) for i, text in enumerate(texts)]
    lowest = {**options, "threshold": "0.01"}
    pairs = neardup.find_pairs(texts, copies, **grouped(**lowest)).pairs.to_pylist()
    own = sorted(row["similarity"] for row in pairs if row["id_a"] == row["id_b"])
    own = [0.0] * (len(copies) - len(own)) + own
    among = neardup.find_pairs(texts, **grouped(**lowest)).pairs.to_pylist()
    among.sort(key=lambda row: -row["similarity"])
    return {
        "programs": len(copies),
        "least": own[0],
        "tenth": own[len(own) // 10],
        "median": own[len(own) // 2],
        "similar": sum(each >= 0.9 for each in own) / len(own),
        "unrelated": [
            [row["similarity"], *(names[int(row[key])] for key in ("id_a", "id_b"))]
            for row in among[:5]
        ],
    }


def measure_speed(texts: list[str], options: dict[str, Any]) -> float:
    """Return the processor's seconds that a deduplication takes, the best of three."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        neardup.deduplicate(texts, **grouped(**options))
        taken.append(time.process_time() - start)
    return min(taken)


def measure(preset: str, half: str) -> dict[str, Any]:
    """Measure one preset on one half, beside the default options; of programs all are one."""
    found: dict[str, Any] = {"preset": preset, "half": half}
    ways: dict[str, dict[str, Any]] = {"preset": {"preset": preset}, "defaults": {}}
    if preset == "code":
        texts = list(read_programs().values())
        found["ways"] = {name: measure_programs(options) for name, options in ways.items()}
    else:
        texts = read_statutes(half) if preset == "ocr" else read_titles(half)
        found["ways"] = {
            name: [measure_noise(texts, share, options) for share in SHARES]
            for name, options in ways.items()
        }
        if preset == "ocr":
            lower = {"preset": preset, "threshold": "0.2"}
            found["both"] = {
                name: [measure_noise(texts, share, given, both=True) for share in SHARES]
                for name, given in {"preset": {"preset": preset}, "lower": lower}.items()
            }
            found["passages"] = [measure_passages(texts, share) for share in SHARES]
    n_bytes = sum(len(text.encode()) for text in texts)
    found |= {"documents": len(texts), "bytes": n_bytes}
    found["seconds"] = {name: measure_speed(texts, options) for name, options in ways.items()}
    return found


def main() -> None:
    """Print the figures of a preset."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("preset", choices=("ocr", "titles", "code"))
    parser.add_argument("half", choices=HALVES, nargs="?", default=HALVES[1])
    options = parser.parse_args()
    sys.stdout.write(json.dumps(measure(options.preset, options.half)) + "\n")


if __name__ == "__main__":
    main()
