"""What is found of test items planted in training text: the tables of docs/leakage.md.

``leakage.py FOLDER RFCS`` reads ``gsm8k-test.jsonl.xz`` and ``gsm8k-train.jsonl.xz`` of FOLDER
(GSM8K; ``id``, ``question``, ``answer``; those for testing also ``answer_socratic`` and
``model_solutions``) and long documents from RFCS (``id``, ``text``), plants every test item in one
way of ``WAYS``, runs neardup's commands, and prints Markdown. Nothing is drawn twice alike unless
``SEED`` is the same.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown import table

SEED = 1
N_LONG = 300
Row = dict[str, Any]


def edited(question: str, share: float, rng: random.Random, words: list[str]) -> str:
    """Replace, leave out or put in a share of the words, at least one."""
    parts = question.split()
    for _ in range(max(1, round(share * len(parts)))):
        place = rng.randrange(len(parts))
        kind = rng.choice(("replace", "leave out", "put in"))
        parts[place : place + (kind != "put in")] = [] if kind == "leave out" else [rng.choice(words)]
    return " ".join(parts)


def other_numbers(question: str, rng: random.Random) -> str:
    """Change every number."""
    return " ".join(
        str(rng.randint(2, 99)) if any(c.isdigit() for c in word) else word
        for word in question.split()
    )


@dataclass(frozen=True)
class Way:
    """A way in which an item may be in training text.

    ``make`` gives the text; ``inside`` says whether it is put into a long document; ``of`` which
    parts of the item it has: the question, the answer, both or neither.
    """

    name: str
    make: Callable[[Row, random.Random, list[str]], str]
    inside: bool
    of: tuple[str, ...]


BOTH, QUESTION, ANSWER = ("question", "answer"), ("question",), ("answer",)
WAYS = (
    Way("item verbatim, a document", lambda r, *_: r["question"] + "\n" + r["answer"], False, BOTH),
    Way("item inside a long document", lambda r, *_: r["question"] + "\n" + r["answer"], True, BOTH),
    Way("question only, a document", lambda r, *_: r["question"], False, QUESTION),
    Way("question only, inside", lambda r, *_: r["question"], True, QUESTION),
    Way(
        "question in capitals, lines broken, inside",
        lambda r, *_: textwrap.fill(r["question"].upper(), 50, initial_indent="> "),
        True,
        QUESTION,
    ),
    Way("5 % of the words edited, inside", lambda r, g, w: edited(r["question"], 0.05, g, w), True, QUESTION),
    Way("15 % of the words edited, inside", lambda r, g, w: edited(r["question"], 0.15, g, w), True, QUESTION),
    Way("every number changed, inside", lambda r, g, _: other_numbers(r["question"], g), True, QUESTION),
    Way("solution told in questions, a document", lambda r, *_: r["answer_socratic"], False, ANSWER),
    Way("other people's solutions, a document", lambda r, *_: "\n".join(r["model_solutions"]), False, ()),
    Way("not at all", lambda *_: "", False, ()),
)


def read(path: Path) -> list[Row]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def plant(folder: Path, rfcs: Path, out: Path) -> tuple[list[Row], dict[str, Way], dict[str, str]]:
    """Write train.jsonl and test.jsonl; give the items, the way and the document of each."""
    rng = random.Random(SEED)
    items = read(folder / "gsm8k-test.jsonl.xz")
    documents = [
        {"id": row["id"], "text": row["question"] + "\n" + row["answer"]}
        for row in read(folder / "gsm8k-train.jsonl.xz")
    ]
    words = " ".join(row["text"] for row in documents[:200]).split()
    long = read(rfcs)[:: max(1, 989 // N_LONG)][:N_LONG]
    ways, places = {}, {}
    for number, item in enumerate(items):
        way = ways[item["id"]] = WAYS[number % len(WAYS)]
        text = way.make(item, rng, words)
        if way.inside:
            # One item a document, so that what is found in it is right or wrong.
            document = long[number * len(long) // len(items)]
            paragraphs = document["text"].split("\n\n")
            paragraphs.insert(rng.randrange(len(paragraphs)), text)
            document["text"] = "\n\n".join(paragraphs)
            places[item["id"]] = document["id"]
        elif text:
            places[item["id"]] = f"planted-{number}"
            documents.append({"id": places[item["id"]], "text": text})
    documents += [{"id": row["id"], "text": row["text"]} for row in long]
    for name, rows in (("train", documents), ("test", items)):
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (out / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return items, ways, places


def neardup(*arguments: object) -> tuple[Row, float]:
    command = [sys.executable, "-m", "neardup", *map(str, arguments), "--json"]
    start = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    took = time.perf_counter() - start
    print(*arguments[:1], *arguments[-8:], f"{took:.1f} s", file=sys.stderr, flush=True)
    return json.loads(result.stdout), took


def pairs_of(path: Path, item: str, document: str) -> set[tuple[str, str]]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {(row[item], row[document]) for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("rfcs", type=Path)
    parser.add_argument("--show", type=int, default=0, help="wrong pairs to print")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        items, ways, places = plant(options.folder, options.rfcs, here)
        train, test = here / "train.jsonl", here / "test.jsonl"
        size = train.stat().st_size / 1e6
        print(f"{len(train.read_text().splitlines()):,} documents, {size:.1f} MB\n")
        by_question, by_answer = {}, {}
        costs = []

        def note(label: str, found: set, side: dict, part: str) -> None:
            side[label] = (found, part)

        for least in (15, 25):
            index = here / f"idx{least}"
            _, built = neardup("index", "build", index, train, "--id-column", "id", "--min-tokens", least)
            info, _ = neardup("index", "info", index)
            first = True
            for threshold in ("0.8", "0.7", "0.6", "0.5"):
                out = here / "hits.jsonl"
                _, took = neardup(
                    "search", index, test, "--text-column", "question", "--id-column", "id",
                    "--threshold", threshold, "-o", out, "--overwrite",
                )  # fmt: skip
                note(f"search {threshold}, min-tokens {least}", pairs_of(out, "query_id", "doc_id"), by_question, "question")
                if first:
                    costs.append((f"index of the training text, min-tokens {least}", built, info["bytes"] / 1e6))
                    costs.append((f"search, min-tokens {least}, threshold {threshold}", took, None))
                    first = False
                else:
                    costs.append((f"search, min-tokens {least}, threshold {threshold}", took, None))
                if least == 15 and threshold in ("0.6", "0.5"):
                    neardup(
                        "search", index, test, "--text-column", "answer", "--id-column", "id",
                        "--threshold", threshold, "-o", out, "--overwrite",
                    )  # fmt: skip
                    note(f"search {threshold}, min-tokens {least}", pairs_of(out, "query_id", "doc_id"), by_answer, "answer")
        questions = here / "questions.jsonl"
        questions.write_text(
            "".join(json.dumps({"id": r["id"], "text": r["question"]}) + "\n" for r in items)
        )
        for least in (15, 25):
            for threshold in ("0.7", "0.5"):
                out = here / "shared.jsonl"
                _, took = neardup(
                    "align", train, "--against", questions, "--id-column", "id", "--min-tokens",
                    least, "--threshold", threshold, "-o", out, "--overwrite",
                )  # fmt: skip
                note(f"align {threshold}, min-tokens {least}", pairs_of(out, "doc_id", "query_id"), by_question, "question")
                costs.append((f"align of the training text with the questions, min-tokens {least}, threshold {threshold}", took, None))
        for threshold in ("0.8", "0.5"):
            out = here / "pairs.jsonl"
            _, took = neardup(
                "pairs", train, "--against", questions, "--id-column", "id", "--threshold", threshold,
                "--measure", "containment" if threshold == "0.5" else "jaccard", "-o", out, "--overwrite",
            )  # fmt: skip
            label = f"pairs {threshold}" + (", containment" if threshold == "0.5" else "")
            note(label, pairs_of(out, "id_b", "id_a"), by_question, "question")
            costs.append((label, took, None))
        for side in (by_question, by_answer):
            report(side, ways, places, items, options.show)
        print(table(("step", "seconds", "MB"), costs), flush=True)


def report(runs: dict, ways: dict, places: dict, items: list[Row], show: int) -> None:
    totals = Counter(way.name for way in ways.values())
    rows = []
    for label, (found, part) in runs.items():
        right = {(item, places[item]) for item in places if part in ways[item].of}
        hits = found & right
        by_way = Counter(ways[item].name for item, _ in found if (item, places.get(item)) in found and _ == places.get(item))
        precision = f"{len(hits) / len(found):.3f}" if found else ""
        rows.append((label, *(f"{by_way[w.name]}/{totals[w.name]}" for w in WAYS[:-1]),
                     f"{len(hits) / len(right):.3f}", precision, len(found - right)))
        wrong = sorted(found - right)[:show]
        for pair in wrong:
            print(label, pair, ways[pair[0]].name)
    columns = list(zip(*[("", *(w.name for w in WAYS[:-1]), "recall", "precision", "wrong pairs"), *rows], strict=True))
    print(table(columns[0], columns[1:]), "\n")


if __name__ == "__main__":
    main()
