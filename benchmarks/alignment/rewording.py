"""Passages of public-domain books put into other ones, as quotations and reworded.

Each word of a reworded passage is changed with a given probability: replaced, by a synonym where
the list next to this module has one, left out, or another word put in behind it. Then the words of
each sentence are shuffled, and neighbouring sentences exchanged. Of quotations words are changed
only; summaries are a few of the sentences of a passage, reworded. The lengths of passages are even
on a logarithmic scale.

The halves have no text in common, and neither has a query with the sources of its passages.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.alignment.editions import (
    Aligned,
    Text,
    bible,
    frankenstein,
    sample_of,
    shakespeare,
)
from benchmarks.alignment.plagdet import Passage
from benchmarks.corpora.lines import read_rows

PASSAGES = 100
EXCHANGED_SENTENCES = 0.3

_SYNONYMS = Path(__file__).with_name("synonyms.txt")
_find_sentences = re.compile(r"\S.*?(?:[.?!;](?=\s|$)|$)", re.DOTALL).findall

Synonyms = dict[str, list[str]]


@dataclass(frozen=True)
class Recipe:
    """Parameters of passages: share of changed words, least and most words of one and between
    two, whether the order of words is changed, and the share of the sentences that is picked."""

    share: float
    words: tuple[int, int]
    between: tuple[int, int]
    is_shuffled: bool
    picked: float = 1.0


REWORDING = {
    f"{share:.0%} of {words[0]} to {words[1]} words": Recipe(
        share, words, (150, 600), is_shuffled=True
    )
    for words in ((50, 75), (100, 400))
    for share in (0.2, 0.3, 0.4, 0.5)
}
QUOTATIONS = {
    "word for word": Recipe(0.0, (15, 60), (40, 150), is_shuffled=False),
    "a tenth changed": Recipe(0.1, (15, 60), (40, 150), is_shuffled=False),
}
SUMMARIES = {
    f"{share:.0%} of words": Recipe(share, (400, 1500), (150, 600), is_shuffled=True, picked=0.15)
    for share in (0.0, 0.1, 0.2, 0.3)
}


def rewording(root: Path, half: str) -> Iterator[Aligned]:
    """Put reworded passages of plays and chapters into others, for each share of changed words."""
    return _planted(root, half, "rewording", REWORDING)


def quotations(root: Path, half: str) -> Iterator[Aligned]:
    """Put quotations of plays and chapters into others, near each other."""
    return _planted(root, half, "quotations", QUOTATIONS)


def summaries(root: Path, half: str) -> Iterator[Aligned]:
    """Put summaries of passages of plays and chapters into others: a few of their sentences."""
    return _planted(root, half, "summaries", SUMMARIES)


def _planted(root: Path, half: str, name: str, recipes: Mapping[str, Recipe]) -> Iterator[Aligned]:
    texts = _texts(root)
    chosen = sample_of(texts, half, len(texts))
    sources = {source: _sentences(texts[source]) for source in chosen[::2]}
    hosts = {host: _sentences(texts[host]) for host in chosen[1::2]}
    documents = [{"id": source, "text": " ".join(found)} for source, found in sources.items()]
    vocabulary = " ".join(text["text"] for text in documents).split()
    synonyms = read_synonyms()
    for kind, recipe in recipes.items():
        # A string as seed, for it is hashed the same everywhere.
        maker = _Maker(random.Random(f"{half} {name} {kind}"), recipe, vocabulary, synonyms)
        queries, cases = maker.make_queries(hosts, sources)
        yield Aligned(f"{name}: {kind}", queries, documents, cases)


def read_synonyms() -> Synonyms:
    """Read the possible replacements of each word."""
    synonyms: Synonyms = {}
    text = re.sub(r"(?m)^#.*$", "", _SYNONYMS.read_text(encoding="utf-8"))
    for group in (words.split() for words in text.split(";")):
        for word in group:
            synonyms.setdefault(word, []).extend(other for other in group if other != word)
    return synonyms


def _texts(root: Path) -> dict[str, str]:
    """Read what has no text in common: modern plays and the chapters of one edition."""
    plays = read_rows(root / "shakespeare-editions" / "plays.jsonl.xz")
    chapters = read_rows(root / "frankenstein-editions" / "chapters.jsonl.xz")
    return {
        **{row["work"]: row["text"] for row in plays if row["edition"] == "modern"},
        **{row["doc"]: row["text"] for row in chapters if row["witness"] == "f1818"},
    }


def _sentences(text: str) -> list[str]:
    """Cut a text into sentences, each with single spaces between its words."""
    return [" ".join(sentence.split()) for sentence in _find_sentences(text)]


class _Maker:
    """Makes queries with passages of one recipe."""

    def __init__(
        self, rng: random.Random, recipe: Recipe, vocabulary: Sequence[str], synonyms: Synonyms
    ) -> None:
        self._rng, self._recipe = rng, recipe
        self._vocabulary, self._synonyms = vocabulary, synonyms

    def make_queries(
        self, hosts: Mapping[str, Sequence[str]], sources: Mapping[str, Sequence[str]]
    ) -> tuple[list[Text], list[Passage]]:
        """Spread passages of all sources over the hosts."""
        passages = [self._take(sources) for _ in range(PASSAGES)]
        queries, cases = [], []
        names = list(hosts)
        for number, name in enumerate(names):
            text, found = self._put_in(name, hosts[name], passages[number :: len(names)])
            queries.append({"id": name, "text": text})
            cases += found
        return queries, cases

    def _take(self, sources: Mapping[str, Sequence[str]]) -> tuple[str, int, int, list[str]]:
        """Choose a passage; returns its source, its characters there, and its sentences."""
        least, most = self._recipe.words
        size = least * (most / least) ** self._rng.random()
        weights = [sum(map(len, found)) for found in sources.values()]
        [name] = self._rng.choices(list(sources), weights)
        sentences = sources[name]
        while True:
            first = self._rng.randrange(len(sentences))
            stop, n_words = first, 0
            while stop < len(sentences) and n_words < size:
                n_words += len(sentences[stop].split())
                stop += 1
            if least <= n_words <= most:
                places = self._pick(range(first, stop))
                first, stop = places[0], places[-1] + 1
                start = sum(len(sentence) + 1 for sentence in sentences[:first])
                size = len(" ".join(sentences[first:stop]))
                return name, start, start + size, [sentences[place] for place in places]

    def _pick(self, places: range) -> list[int]:
        """Choose which sentences stay, in their order."""
        if self._recipe.picked == 1:
            return list(places)
        n_picked = max(round(self._recipe.picked * len(places)), 1)
        return sorted(self._rng.sample(places, n_picked))

    def _put_in(
        self, name: str, host: Sequence[str], passages: Sequence[tuple[str, int, int, list[str]]]
    ) -> tuple[str, list[Passage]]:
        """Make a text of sentences of a host with reworded passages between them."""
        parts: list[str] = []
        cases = []
        length = place = 0
        for source, start, stop, sentences in passages:
            place, own = self._host_words(host, place)
            reworded = " ".join(self.reword(sentences))
            length += len(own) + 1
            cases.append(Passage(name, length, length + len(reworded), source, start, stop))
            length += len(reworded) + 1
            parts += [own, reworded]
        parts.append(self._host_words(host, place)[1])
        return " ".join(parts), cases

    def _host_words(self, host: Sequence[str], place: int) -> tuple[int, str]:
        """Take the next sentences of a host, from its beginning again where it ends."""
        size, chosen, n_words = self._rng.randint(*self._recipe.between), [], 0
        while n_words < size:
            chosen.append(host[place % len(host)])
            n_words += len(chosen[-1].split())
            place += 1
        return place, " ".join(chosen)

    def reword(self, sentences: Sequence[str]) -> list[str]:
        """Change words of some sentences, and the order of words and of sentences."""
        changed = [self._reword_sentence(sentence.split()) for sentence in sentences]
        for i in range(len(changed) - 1):
            if self._recipe.is_shuffled and self._rng.random() < EXCHANGED_SENTENCES:
                changed[i], changed[i + 1] = changed[i + 1], changed[i]
        return [" ".join(words) for words in changed if words]

    def _reword_sentence(self, words: Sequence[str]) -> list[str]:
        found = []
        for word in words:
            if self._rng.random() >= self._recipe.share:
                found.append(word)
                continue
            kind = self._rng.choice(("replace", "replace", "leave out", "put in"))
            if kind == "put in":
                found.append(word)
            if kind != "leave out":
                found.append(self._other_word(word if kind == "replace" else ""))
        if self._recipe.is_shuffled:
            self._rng.shuffle(found)
        return found

    def _other_word(self, word: str) -> str:
        """Choose a synonym, or any word as often as texts have it."""
        others = self._synonyms.get(word.strip(".,;:?!'").lower(), self._vocabulary)
        return self._rng.choice(others)


ALIGNED = {
    "frankenstein": frankenstein,
    "shakespeare": shakespeare,
    "bible": bible,
    "quotations": quotations,
    "rewording": rewording,
    "summaries": summaries,
}

# Options for the texts that are made; the other sets are editions.
_OTHERS = {
    "quotations": {"preset": "quotations"},
    "rewording": {"preset": "rewording"},
    "summaries": {"measure": "containment"},
}


def options_for(name: str) -> dict[str, str]:
    """Return the option of neardup that fits a set."""
    return _OTHERS.get(name, {"preset": "editions"})
