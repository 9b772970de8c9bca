"""How many passages ``align --recall`` finds, beside what it predicts: ``python -m
benchmarks.alignment.seeds docs`` draws it.

Passages just at the threshold are put into two texts that share nothing else. Which of their words
were changed is chance, as the model says; or the words of each sentence were shuffled, too.
"""

from __future__ import annotations

import argparse
import random
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib import pyplot as plt

import neardup
from benchmarks.papers.plots import tidy, write_plots
from neardup.passages.seeds import SENTENCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PASSAGES, APART = 400, 90
# Tokens of a passage, and the threshold.
KINDS = ((50, "0.4"), (50, "0.6"), (100, "0.5"))
RECALLS = ("0.3", "0.5", "0.7", "0.8", "0.9", "0.95", "0.99")


def measure(n_tokens: int, threshold: str, recall: str, *, is_moved: bool) -> tuple[float, float]:
    """Return the recall that is predicted, and which share of the passages is found."""
    rng = random.Random(f"{n_tokens} {threshold} {is_moved}")
    similarity = Fraction(threshold)
    n_common = ceil(2 * n_tokens * similarity / (1 + similarity))
    fresh = (f"w{i}" for i in range(10**9))
    query: list[str] = []
    document: list[str] = []
    places = []
    for _ in range(PASSAGES):
        words = [next(fresh) for _ in range(n_tokens)]
        # What else its ends are cannot be seen.
        kept = {0, n_tokens - 1, *rng.sample(range(1, n_tokens - 1), n_common - 2)}
        changed = [word if i in kept else next(fresh) for i, word in enumerate(words)]
        places.append((len(query), len(query) + n_tokens))
        query += words
        document += _moved(rng, changed) if is_moved else changed
        for text in (query, document):
            text += [next(fresh) for _ in range(APART + rng.randrange(APART))]
    found = neardup.align(
        [" ".join(query)],
        [" ".join(document)],
        threshold=threshold,
        min_tokens=n_tokens,
        recall=recall,
        tokenizer="whitespace",
    )
    starts = [0]
    for word in query:
        starts.append(starts[-1] + len(word) + 1)
    spans = found.passages.select(["query_start", "query_end"]).to_pylist()
    n_found = sum(
        any(
            span["query_start"] < starts[stop] and starts[start] < span["query_end"]
            for span in spans
        )
        for start, stop in places
    )
    predicted = "predicted_recall_moved" if is_moved else "predicted_recall"
    return found.summary[predicted], n_found / PASSAGES


def _moved(rng: random.Random, words: list[str]) -> list[str]:
    sentences = [words[i : i + SENTENCE] for i in range(0, len(words), SENTENCE)]
    for sentence in sentences:
        rng.shuffle(sentence)
    return [word for sentence in sentences for word in sentence]


def draw() -> Figure:
    """Draw predicted beside measured recall, words changed in place, and moved, too."""
    figure, all_axes = plt.subplots(1, 2, figsize=(6.4, 3.1), sharey=True, layout="constrained")
    for axes, is_moved in zip(all_axes, (False, True), strict=True):
        for (n_tokens, threshold), marker in zip(KINDS, "os^", strict=True):
            points = [measure(n_tokens, threshold, recall, is_moved=is_moved) for recall in RECALLS]
            axes.plot(
                *zip(*points, strict=True),
                marker,
                label=f"{n_tokens} tokens at {threshold}",
                linestyle="none",
            )
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.8)
        axes.set(xlabel="predicted recall", xlim=(0.15, 1.01), ylim=(0.15, 1.01))
        axes.set_title("words changed, and moved in sentences" if is_moved else "words changed")
        tidy(axes)
    all_axes[0].set_ylabel("passages found")
    all_axes[0].legend(frameon=False, loc="lower right")
    return figure


def main() -> None:
    """Write the plot to a folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    write_plots("alignment", parser.parse_args().folder, {"recall": draw})


if __name__ == "__main__":
    main()
