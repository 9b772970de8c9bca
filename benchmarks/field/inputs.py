"""The tasks of the field: collections made of free text by seeds, and what is true of each.

``python -m benchmarks.field.inputs cleaning 2000`` writes one of them. The text is that of
Wikipedia's articles in nine languages as BIG-bench's task *paragraph_segmentation* has it (CC
BY-SA 3.0), as far as nobody can dispute what its words are. The same task, size and seed are the
same bytes on every machine.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from zlib import crc32

from benchmarks.alignment.plagdet import Passage
from benchmarks.corpora.documents import Document, prepare, write_lines
from benchmarks.corpora.packaged import CORPORA
from benchmarks.measuring.environments import cache_folder
from benchmarks.recall.truth import Truth, find_truth, is_latin

THRESHOLD = Fraction(4, 5)

Pair = tuple[str, str]

_find_word = re.compile(r"\S+").finditer
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# What scanners take for each other.
_LOOKALIKES = {"e": "c", "l": "1", "i": "l", "o": "0", "n": "u", "h": "b", "s": "5", "t": "f"}


@dataclass(frozen=True)
class Input:
    """A collection, and the answer: similar pairs as the sets tell, planted ones, or passages."""

    path: Path
    truth: Truth | None = None
    pairs: frozenset[Pair] = frozenset()
    passages: list[Passage] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """Return the ids of the documents in their order."""
        with self.path.open(encoding="utf-8") as lines:
            return [json.loads(line)["id"] for line in lines]


class _Made:
    """Documents of a collection that is being made, and what was planted."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.documents: list[Document] = []
        self.pairs: set[Pair] = set()
        self.passages: list[Passage] = []
        self._source = _pieces(self.chance)
        self._runs: set[int] = set()

    def piece(self, n_words: int) -> list[str]:
        """Return consecutive words of an article, which no other piece has."""
        return next(self._source(n_words))

    def new_piece(self, n_words: int) -> list[str]:
        """Return a piece that has little in common with the others of this kind.

        Articles are alike in places, and what nobody has planted would count as wrong.
        """
        for words in self._source(n_words):
            folded = [word.casefold() for word in words]
            starts = range(n_words - 2)
            runs = {crc32(" ".join(folded[start : start + 3]).encode()) for start in starts}
            n_seen = len(runs & self._runs)
            self._runs |= runs
            if n_seen * 10 <= len(runs):
                return words
        raise AssertionError

    def add(self, text: str) -> str:
        """Add a document; return its id, which tells nothing."""
        name = f"{self.chance.getrandbits(48):012x}"
        self.documents.append((name, text))
        return name

    def plant(self, first: str, second: str) -> None:
        """Note that two documents are a pair that should be found."""
        self.pairs.add((min(first, second), max(first, second)))


@cache
def _articles() -> list[list[str]]:
    """Return the articles whose words are beyond dispute, as words."""
    with prepare("wikipedia", CORPORA["wikipedia"]).open(encoding="utf-8") as lines:
        texts = (json.loads(line)["text"] for line in lines)
        return [text.split() for text in texts if is_latin(text.casefold())]


def _pieces(chance: random.Random) -> Callable[[int], Iterator[list[str]]]:
    """Return what cuts articles, in an order drawn anew, into pieces of wanted lengths."""
    articles = _articles()
    order = chance.sample(range(len(articles)), len(articles))
    place = [0, 0]

    def cut(n_words: int) -> Iterator[list[str]]:
        while place[0] < len(order):
            words = articles[order[place[0]]]
            start = place[1]
            if start + n_words <= len(words):
                place[1] = start + n_words
                yield words[start : start + n_words]
            else:
                place[:] = [place[0] + 1, 0]
        message = "there are not so many articles; take a smaller size"
        raise ValueError(message)

    return cut


def _edited(words: list[str], share: float, chance: random.Random) -> list[str]:
    """Return words of which a share is replaced by others of them."""
    changed = list(words)
    for place in chance.sample(range(len(words)), max(1, round(share * len(words)))):
        changed[place] = chance.choice(words)
    return changed


def _documents(made: _Made, size: int) -> None:
    """Make texts of 120 to 400 words, three in ten with relatives of five kinds."""
    chance = made.chance
    while len(made.documents) < size:
        words = made.piece(chance.randint(120, 400))
        made.add(" ".join(words))
        if chance.random() >= 0.3:
            continue
        kind = chance.choice(("equal", "edited", "framed", "cut", "chain"))
        if kind == "equal":
            made.add(" ".join(words))
        elif kind == "edited":
            for share in chance.sample((0.005, 0.01, 0.02, 0.03, 0.05, 0.1), 2):
                made.add(" ".join(_edited(words, share, chance)))
        elif kind == "framed":
            head, foot = (made.piece(chance.randint(5, 40)) for _ in range(2))
            made.add(" ".join([*head, *words, *foot]))
        elif kind == "cut":
            made.add(" ".join(words[: round(len(words) * chance.uniform(0.7, 0.98))]))
        else:
            # Neighbours are similar by some 0.85, those three apart no more.
            for _ in range(4):
                words = _edited(words, 0.016, chance)
                made.add(" ".join(words))
    chance.shuffle(made.documents)


def _misspelt(text: str, n_errors: int, chance: random.Random) -> str:
    """Return a text with characters exchanged, dropped, doubled or swapped."""
    letters = list(text)
    for _ in range(n_errors):
        place = chance.randrange(len(letters) - 1)
        match chance.randrange(4):
            case 0:
                letters[place] = chance.choice(_LETTERS)
            case 1:
                del letters[place]
            case 2:
                letters.insert(place, letters[place])
            case _:
                letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return "".join(letters)


def _records(made: _Made, size: int) -> None:
    """Make lines of 5 to 12 words, a fifth of them again as another would have typed them."""
    chance = made.chance
    while len(made.documents) < size:
        words = made.piece(chance.randint(5, 12))
        first = made.add(" ".join(words))
        if chance.random() >= 0.2:
            continue
        other = list(words)
        match chance.randrange(4):
            case 0:
                place = chance.randrange(len(other) - 1)
                other[place : place + 2] = reversed(other[place : place + 2])
            case 1:
                del other[chance.randrange(len(other))]
            case 2:
                place = chance.randrange(len(other))
                other[place] = f"{other[place][:1]}."
        text = _misspelt(" ".join(other), chance.randint(0, 2), chance)
        made.plant(first, made.add(text))
    chance.shuffle(made.documents)


def _scanned(text: str, share: float, chance: random.Random) -> str:
    """Return a text as a bad scanner reads it, a share of its characters wrong."""
    letters = list(text)
    for place in chance.sample(range(len(letters)), round(share * len(letters))):
        letter = letters[place]
        if chance.random() < 0.6:
            letters[place] = _LOOKALIKES.get(letter, chance.choice(_LETTERS))
        else:
            letters[place] = chance.choice(("", letter * 2, f"{letter} "))
    return "".join(letters)


def _noise(made: _Made, size: int) -> None:
    """Make texts of 200 words, each third with a copy of which 1, 3 or 6 % is read wrongly."""
    chance = made.chance
    for number in range(size * 3 // 4):
        text = " ".join(made.new_piece(200))
        first = made.add(text)
        if number % 3 == 0:
            share = (0.01, 0.03, 0.06)[number // 3 % 3]
            made.plant(first, made.add(_scanned(text, share, chance)))
    chance.shuffle(made.documents)


def _containment(made: _Made, size: int) -> None:
    """Make texts of 1,000 words, and of each third a passage of 100 as a text of its own."""
    chance = made.chance
    for number in range(size * 3 // 4):
        words = made.new_piece(1000)
        first = made.add(" ".join(words))
        if number % 3 == 0:
            start = chance.randrange(900)
            part = words[start : start + 100]
            if number % 2:
                part = _edited(part, 0.02, chance)
            made.plant(first, made.add(" ".join(part)))
    chance.shuffle(made.documents)


def _passages(made: _Made, size: int) -> None:
    """Make texts of 800 words, half of which have a passage of another, changed by 0, 3 or 8 %."""
    chance = made.chance
    texts = [made.new_piece(800) for _ in range(size)]
    names = [f"{chance.getrandbits(48):012x}" for _ in texts]
    for taker in range(0, size - 1, 2):
        # Givers are whole: what they lend stands where it stood.
        giver = chance.randrange(size // 2) * 2 + 1
        n_words = chance.randint(60, 150)
        start = chance.randrange(800 - n_words)
        lent = texts[giver][start : start + n_words]
        share = chance.choice((0, 0.03, 0.08))
        taken = _edited(lent, share, chance) if share else lent
        place = chance.randrange(800)
        own = texts[taker]
        texts[taker] = [*own[:place], *taken, *own[place:]]
        made.passages.append(
            Passage(
                names[taker],
                *_characters(texts[taker], place, n_words),
                names[giver],
                *_characters(texts[giver], start, n_words),
            )
        )
    made.documents = [(name, " ".join(text)) for name, text in zip(names, texts, strict=True)]
    made.pairs = {
        (min(each.query, each.document), max(each.query, each.document)) for each in made.passages
    }
    chance.shuffle(made.documents)


def _characters(words: list[str], start: int, n_words: int) -> tuple[int, int]:
    """Return where words begin and end in a text, in characters."""
    first = sum(len(word) + 1 for word in words[:start])
    return first, first + sum(len(word) + 1 for word in words[start : start + n_words]) - 1


MAKERS: dict[str, Callable[[_Made, int], None]] = {
    "documents": _documents,
    "cleaning": _documents,
    "records": _records,
    "noise": _noise,
    "containment": _containment,
    "passages": _passages,
}


def make_input(task: str, size: int, seed: int = 1, folder: Path | None = None) -> Input:
    """Make the collection of a task, of some ``size`` documents, as JSON lines.

    For ``documents`` and ``cleaning``, which share one, the truth is that of all pairs.
    """
    made = _Made(seed)
    MAKERS[task](made, size)
    kind = MAKERS[task].__name__.strip("_")
    path = (folder or cache_folder()) / f"field-{kind}-{size}-{seed}.jsonl"
    write_lines(path, made.documents)
    truth = find_truth(path) if kind == "documents" else None
    return Input(path, truth, frozenset(made.pairs), made.passages)


def main() -> None:
    """Write the collection that is named, and print its path."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("task", choices=MAKERS)
    parser.add_argument("size", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the file goes (default: the cache)")
    options = parser.parse_args()
    found = make_input(options.task, options.size, options.seed, options.folder)
    sys.stdout.write(f"{found.path}\n")


if __name__ == "__main__":
    main()
