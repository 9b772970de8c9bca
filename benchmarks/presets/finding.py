"""What a preset finds of texts that were changed on purpose: ``finding.py ocr reported``.

Copies are made of one half of some texts, at each share of changes; the job is run with the preset
and, beside it, with the default options. Prints the counts as JSON.

Texts are read from the folder that the environment variable NEARDUP_PRESETS names. It has folders
``civil-codes-ocr`` with ``codes.jsonl.xz`` (``text``, statutes with their sections) and
``debian-descriptions`` with ``descriptions.jsonl.xz`` (``source``, and ``text`` whose first line is
a title). Programs are those of the library of the Python that runs this, which needs no folder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import sysconfig
import time
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import neardup
from benchmarks.corpora.lines import read_rows
from benchmarks.presets.noise import sections, with_errors
from benchmarks.presets.renaming import rename_python

FOLDER_VARIABLE = "NEARDUP_PRESETS"
HALVES = ("chosen on", "reported")
SHARES = (0.01, 0.03, 0.05, 0.1)
_SECTIONS, _TITLES, _PROGRAMS = 400, 2000, 200
# Share of their neighbouring words from which on two texts are akin: legislators have copied whole
# sections from each other, and packages of one source have one description. Of these one is taken.
_AKIN = 0.1


def half_of(identity: str) -> str:
    """Tell which half something belongs to, by a digest of it."""
    return HALVES[hashlib.sha256(identity.encode()).digest()[0] & 1]


def _drawn(texts: Iterable[str], half: str, size: int) -> list[str]:
    """Draw some of a half, none of them akin to another."""
    found = sorted({text for text in texts if half_of(text) == half})
    random.Random(half).shuffle(found)
    drawn: list[str] = []
    known: list[set[tuple[str, str]]] = []
    for text in found:
        words = text.lower().split()
        own = set(pairwise(words)) or {(text, "")}
        if all(len(own & other) < _AKIN * len(own | other) for other in known):
            drawn.append(text)
            known.append(own)
        if len(drawn) == size:
            break
    return drawn


def read_statutes(half: str) -> list[str]:
    """Read sections of statutes, of 800 to 3,000 characters."""
    rows = read_rows(_folder() / "civil-codes-ocr" / "codes.jsonl.xz")
    return _drawn((part for row in rows for part in sections(row["text"])), half, _SECTIONS)


def read_titles(half: str) -> list[str]:
    """Read titles of packages, of 15 characters and more."""
    rows = read_rows(_folder() / "debian-descriptions" / "descriptions.jsonl.xz")
    titles = (row["text"].partition("\n")[0] for row in rows)
    return _drawn((title for title in titles if len(title) >= 15), half, _TITLES)


def read_programs() -> dict[str, str]:
    """Read the modules of Python's library, of a package one, with 50 lines and more."""
    library = Path(sysconfig.get_path("stdlib"))
    packages = [
        sorted(found)
        for folder in sorted(library.iterdir())
        if folder.name not in ("site-packages", "test") and (found := list(folder.glob("*.py")))
    ]
    files = [
        *sorted(library.glob("[!_]*.py")),
        *(random.Random(1).choice(each) for each in packages),
    ]
    read = [(file.name, file.read_text("utf-8", errors="replace")) for file in files]
    long = [(name, text) for name, text in read if text.count("\n") >= 50]
    return dict(long[:_PROGRAMS])


def _folder() -> Path:
    return Path(os.environ[FOLDER_VARIABLE])


def measure_noise(texts: list[str], share: float, options: dict[str, Any]) -> dict[str, Any]:
    """Remove noisy copies from among their originals: how many go, and what goes for others."""
    rng = random.Random(f"{share}")
    numbers = range(len(texts))
    rows = [{"id": f"t{i}", "text": texts[i]} for i in numbers]
    rows += [{"id": f"c{i}", "text": with_errors(texts[i], share, rng)} for i in numbers]
    removed = neardup.deduplicate(rows, **options).removed
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
    pairs = neardup.find_pairs(texts, copies, **lowest).pairs.to_pylist()
    own = sorted(row["similarity"] for row in pairs if row["id_a"] == row["id_b"])
    own = [0.0] * (len(copies) - len(own)) + own
    among = neardup.find_pairs(texts, **lowest).pairs.to_pylist()
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
        neardup.deduplicate(texts, **options)
        taken.append(time.process_time() - start)
    return min(taken)


def measure(preset: str, half: str) -> dict[str, Any]:
    """Measure one preset on one half, beside the default options."""
    found: dict[str, Any] = {"preset": preset, "half": half}
    ways: dict[str, dict[str, Any]] = {"preset": {"preset": preset}, "defaults": {}}
    if preset == "code":
        texts = list(read_programs().values())
        found["ways"] = {
            "preset": measure_programs({"tokenizer": "code", "ngram": 9}),
            "defaults": measure_programs({}),
        }
    else:
        texts = read_statutes(half) if preset == "ocr" else read_titles(half)
        found["ways"] = {
            name: [measure_noise(texts, share, options) for share in SHARES]
            for name, options in ways.items()
        }
        if preset == "ocr":
            found["passages"] = [measure_passages(texts, share) for share in SHARES]
    n_bytes = sum(len(text.encode()) for text in texts)
    found |= {"documents": len(texts), "bytes": n_bytes}
    found["seconds"] = {name: measure_speed(texts, options) for name, options in ways.items()}
    return found


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("preset", choices=("ocr", "titles", "code"))
    parser.add_argument("half", choices=HALVES)
    options = parser.parse_args()
    sys.stdout.write(json.dumps(measure(options.preset, options.half)) + "\n")


if __name__ == "__main__":
    main()
