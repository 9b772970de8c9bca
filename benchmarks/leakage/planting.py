"""Ways in which test items can be in training text, and a corpus with items planted so."""

from __future__ import annotations

import json
import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora.lines import Row, read_rows

SEED = 1
N_LONG = 300

Places = dict[str, str]


def edited(question: str, share: float, rng: random.Random, words: list[str]) -> str:
    """Replace, leave out or put in a share of the words, at least one."""
    parts = question.split()
    for _ in range(max(1, round(share * len(parts)))):
        place = rng.randrange(len(parts))
        kind = rng.choice(("replace", "leave out", "put in"))
        parts[place : place + (kind != "put in")] = (
            [] if kind == "leave out" else [rng.choice(words)]
        )
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

    ``make`` gives the text; ``inside`` is whether it is put into a long document; ``of`` which
    parts of the item it has: the question, the answer, both or neither.
    """

    name: str
    make: Callable[[Row, random.Random, list[str]], str]
    inside: bool
    of: tuple[str, ...]


Ways = dict[str, Way]

BOTH, QUESTION, ANSWER = ("question", "answer"), ("question",), ("answer",)
WAYS = (
    Way("item verbatim, a document", lambda r, *_: r["question"] + "\n" + r["answer"], False, BOTH),
    Way(
        "item inside a long document", lambda r, *_: r["question"] + "\n" + r["answer"], True, BOTH
    ),
    Way("question only, a document", lambda r, *_: r["question"], False, QUESTION),
    Way("question only, inside", lambda r, *_: r["question"], True, QUESTION),
    Way(
        "question in capitals, lines broken, inside",
        lambda r, *_: textwrap.fill(r["question"].upper(), 50, initial_indent="> "),
        True,
        QUESTION,
    ),
    Way(
        "5 % of the words edited, inside",
        lambda r, g, w: edited(r["question"], 0.05, g, w),
        True,
        QUESTION,
    ),
    Way(
        "15 % of the words edited, inside",
        lambda r, g, w: edited(r["question"], 0.15, g, w),
        True,
        QUESTION,
    ),
    Way(
        "every number changed, inside",
        lambda r, g, _: other_numbers(r["question"], g),
        True,
        QUESTION,
    ),
    Way(
        "solution told in questions, a document", lambda r, *_: r["answer_socratic"], False, ANSWER
    ),
    Way(
        "other people's solutions, a document",
        lambda r, *_: "\n".join(r["model_solutions"]),
        False,
        (),
    ),
    Way("not at all", lambda *_: "", False, ()),
)


def plant(folder: Path, rfcs: Path, out: Path) -> tuple[Ways, Places]:
    """Write train.jsonl, test.jsonl and questions.jsonl; return each item's way and document."""
    rng = random.Random(SEED)
    items = read_rows(folder / "gsm8k-test.jsonl.xz")
    documents = [
        {"id": row["id"], "text": row["question"] + "\n" + row["answer"]}
        for row in read_rows(folder / "gsm8k-train.jsonl.xz")
    ]
    words = " ".join(row["text"] for row in documents[:200]).split()
    long = read_rows(rfcs)[:: max(1, 989 // N_LONG)][:N_LONG]
    ways: Ways = {}
    places: Places = {}
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
    questions = [{"id": row["id"], "text": row["question"]} for row in items]
    for name, rows in (("train", documents), ("test", items), ("questions", questions)):
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (out / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return ways, places
