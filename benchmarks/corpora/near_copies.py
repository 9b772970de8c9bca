"""Many near-copies of one text, all similar to each other: the hard case of deduplication.

And forms, filled in so that hardly any two are similar enough: the harder one.

``python -m benchmarks.corpora.near_copies 10000`` writes them and prints their facts and a sampled
check; ``--form isolated`` writes forms.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from dataclasses import asdict
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

from benchmarks.corpora.documents import Document, facts, prepare, write_lines
from benchmarks.corpora.packaged import CORPORA
from benchmarks.measuring.environments import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

NGRAM = 5
DEFAULT_SIMILARITY = 0.8
DEFAULT_TEMPLATE = "licenses/apache-1.1.LICENSE"

find_words = re.compile(r"\w+").finditer


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Return the set of five consecutive casefolded words each; short texts have one shingle."""
    words = [match.group() for match in find_words(text.casefold())]
    if len(words) < NGRAM:
        return frozenset([tuple(words)])
    return frozenset(zip(*(words[start:] for start in range(NGRAM)), strict=False))


def jaccard(first: str, second: str) -> float:
    """Return the exact Jaccard similarity of two texts' sets of word shingles."""
    a, b = shingles(first), shingles(second)
    return len(a & b) / len(a | b)


def most_changes(template: str, similarity: float) -> int:
    """Return how many words a copy may change so that any two copies stay similar.

    One changed word removes at most five of the template's S shingles and adds at most five, so
    two copies with c changes each share at least S - 10c shingles and have at most S + 10c
    together: (S - 10c) / (S + 10c) >= t holds for c <= S (1 - t) / (10 (1 + t)).
    """
    n_shingles = len(shingles(template))
    return int(n_shingles * (1 - similarity) / (2 * NGRAM * (1 + similarity)) + 1e-9)


def near_copies(
    template: str, count: int, *, similarity: float = DEFAULT_SIMILARITY, seed: int = 1
) -> Iterator[Document]:
    """Yield different copies of a text, a few random words exchanged for others of its words.

    Parameters
    ----------
    template
        The text.
    count
        Number of copies.
    similarity
        Jaccard similarity of word 5-gram sets that every two copies reach.
    seed
        Copies are the same for the same template and seed; more copies begin with the fewer.

    Yields
    ------
    Id and text.

    Raises
    ------
    ValueError
        If the text is so short that two changed words may be too much. (With one alone there
        may not be enough different copies.)
    """
    limit = most_changes(template, similarity)
    if limit < 2:
        message = f"the template is too short for copies with similarity {similarity}"
        raise ValueError(message)
    spans = [match.span() for match in find_words(template)]
    vocabulary = sorted({template[start:stop] for start, stop in spans})
    chance = random.Random(seed)
    made: set[str] = set()
    while len(made) < count:
        pieces, done = [], 0
        chosen = chance.sample(range(len(spans)), chance.randint(1, limit))
        for start, stop in (spans[word] for word in sorted(chosen)):
            pieces += [template[done:start], chance.choice(vocabulary)]
            done = stop
        copy = "".join(pieces) + template[done:]
        if copy not in made:
            yield f"copy-{len(made):06d}", copy
            made.add(copy)


FORM_WORDS = 150

# Words that may be filled in at a place, and the places; all in one place, or one for each word.
FORMS = {
    "isolated": (2_000, (12, 40, 68, 96, 124)),
    "together": (2_000, (70,) * 17),
    "few-values": (50, (12, 37, 62, 87, 112, 137)),
}


def filled_forms(kind: str, count: int, *, seed: int = 1) -> Iterator[Document]:
    """Yield copies of a form of 150 words, of which some are drawn anew for each copy.

    Parameters
    ----------
    kind
        Of ``FORMS``: ``isolated`` words have mean similarities of 0.7, words that stand
        ``together`` 0.75, and of few values, six words, two copies share some now and then.
    count
        Number of copies; some may be equal where values are few.
    seed
        Copies are the same for the same seed; more copies begin with the fewer.

    Yields
    ------
    Id and text.
    """
    n_values, places = FORMS[kind]
    chance = random.Random(seed)

    def word() -> str:
        return "".join(chance.choices(ascii_lowercase, k=chance.randint(3, 9)))

    form = [word() for _ in range(FORM_WORDS)]
    values = [word() for _ in range(n_values)]
    for number in range(count):
        words = form.copy()
        for k, place in enumerate(places):
            words[place + k if kind == "together" else place] = chance.choice(values)
        yield f"form-{number:06d}", " ".join(words)


def default_template() -> str:
    """Return the text of a licence of about 350 words from the corpus of licences."""
    with prepare("licences", CORPORA["licences"]).open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record["id"] == DEFAULT_TEMPLATE:
                text: str = record["text"]
                return text
    message = f"{DEFAULT_TEMPLATE} is not in the corpus of licences"
    raise LookupError(message)


def prepare_copies(count: int, folder: Path | None = None, form: str | None = None) -> Path:
    """Write near-copies of the default template as JSON lines unless they are there already.

    Parameters
    ----------
    count
        Number of copies.
    folder
        Where the file goes; the benchmarks' cache folder by default.
    form
        A kind of forms, which are written instead.

    Returns
    -------
    The file.
    """
    target = (folder or cache_folder()) / f"{form or 'templates'}-{count}.jsonl"
    if not target.exists():
        copies = filled_forms(form, count) if form else near_copies(default_template(), count)
        write_lines(target, copies)
    return target


def sampled_similarities(path: Path, pairs: int = 1000, seed: int = 2) -> list[float]:
    """Return the exact similarities of random pairs of a file's documents, ascending."""
    with path.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    chance = random.Random(seed)
    sampled = (chance.sample(texts, 2) for _ in range(pairs))
    return sorted(jaccard(first, second) for first, second in sampled)


def main() -> None:
    """Write near-copies and print their facts as JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--folder", type=Path, help="where the file goes (default: the cache)")
    parser.add_argument("--form", choices=FORMS, help="forms, filled in, of this kind")
    options = parser.parse_args()
    path = prepare_copies(options.count, options.folder, options.form)
    similarities = sampled_similarities(path)
    report = {
        "path": str(path),
        **asdict(facts(path)),
        "least_sampled_similarity": similarities[0],
        "median_sampled_similarity": similarities[len(similarities) // 2],
        "largest_sampled_similarity": similarities[-1],
    }
    sys.stdout.write(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
