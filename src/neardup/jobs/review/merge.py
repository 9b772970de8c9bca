"""Public ``merge_reviews``: what several reviewers have said of pairs, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.options.choices import Data
from neardup.reports.pairs.labelled import DISAGREED, LABEL, YES, read_judgements
from neardup.results import TableResult
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.stages.tables import read_table
from neardup.tables import Floats

_Pair = tuple[str, str]


@dataclass(frozen=True, repr=False)
class MergedReviews(TableResult):
    """What several reviewers have said of pairs.

    ``labels`` has a row for each pair that one of them has judged: ``id_a``, ``id_b``, ``label``,
    which is ``yes``, ``no`` or ``unsure`` where all who judged it say so, and ``disagreed`` where
    they do not; ``similarity``, where a file had it, ``note``, and what each has said as
    ``label_NAME``. ``summary`` has counts, and for each two reviewers Cohen's kappa.
    """

    labels: pa.Table
    summary: Mapping[str, Any]

    @property
    def table(self) -> pa.Table:
        """The labels."""
        return self.labels

    @property
    def disagreed(self) -> pa.Table:
        """The pairs to be judged again."""
        return self.labels.filter(pc.equal(self.labels[LABEL], DISAGREED))

    def headline(self) -> str:
        """Return how many pairs were judged, and about how many reviewers disagree."""
        found = self.summary
        pairs, by = counted(found["pairs"], "pair"), counted(len(found["reviewers"]), "reviewer")
        return f"{pairs} judged by {by}: {found['disagreed']:,} disagreed"


def merge_reviews(reviews: Sequence[Data]) -> MergedReviews:
    """Put what several reviewers have said of the same pairs together, and count agreement.

    Parameters
    ----------
    reviews
        The files that pages of ``review`` have handed out, two or more; or tables of such columns,
        ``id_a``, ``id_b`` and ``label``.

    Returns
    -------
    Labels that ``report`` and ``review`` take: in the latter the pairs on which reviewers disagree
    come first. Each reviewer goes by the name of the file.

    Raises
    ------
    InvalidParameterError
        For fewer than two reviews.
    InvalidInputError, ReadError
        If a file cannot be read, has no labels, or says two things of one pair.

    Notes
    -----
    Agreement of two reviewers is over the pairs that both have judged; ``yes``, ``no`` and
    ``unsure`` are categories of their own. Kappa is (p - e) / (1 - e), of the share p in which they
    agree, and the share e that would be expected if each said what they say as often, but
    independently of the other. It is None where e is 1, as where both always say the same one word.

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales.

    Examples
    --------
    >>> import neardup, pyarrow as pa
    >>> ids = {"id_a": ["1", "1", "2", "5"], "id_b": ["2", "3", "4", "6"]}
    >>> anna = pa.table(ids | {"label": ["yes", "no", "yes", "no"]})
    >>> ben = pa.table(ids | {"label": ["yes", "no", "no", "no"]})
    >>> merged = neardup.merge_reviews([anna, ben])
    >>> merged.labels["label"].to_pylist()
    ['yes', 'no', 'disagreed', 'no']
    >>> merged.summary["agreement"][0]["kappa"]
    0.5
    """
    if isinstance(reviews, str | Path) or not isinstance(reviews, Sequence) or len(reviews) < 2:
        message = "reviews must be those of two or more reviewers, as a list"
        raise InvalidParameterError(message, "reviews")
    with Runner(1) as runner:
        return merge(reviews, runner)


def merge(reviews: Sequence[Any], runner: Runner) -> MergedReviews:
    """Merge two or more reviews; see ``merge_reviews``."""
    names = _names_of(reviews)
    said: list[dict[_Pair, str]] = []
    similarities: dict[_Pair, float] = {}
    notes: dict[_Pair, list[str]] = {}
    for review, name in zip(reviews, names, strict=True):
        table, _ = read_table(review, runner, are_labels=True)
        judged = read_judgements(table, review)
        pairs = list(zip(judged.ids_a.to_pylist(), judged.ids_b.to_pylist(), strict=True))
        own: dict[_Pair, str] = {}
        for pair, word in zip(pairs, judged.words or [YES] * len(pairs), strict=True):
            if own.setdefault(pair, word) != word:
                message = f"the pair {pair[0]!r}, {pair[1]!r} is there as {own[pair]} and as {word}"
                raise InvalidInputError(message, path=name)
        # Where reviewers had disagreed before, nobody has said anything since.
        said.append({pair: word for pair, word in own.items() if word != DISAGREED})
        for pair, note in zip(pairs, judged.notes, strict=True):
            if note and note not in notes.setdefault(pair, []):
                notes[pair].append(note)
        for pair, value in zip(pairs, _similarities(table), strict=True):
            if not np.isnan(value):
                similarities.setdefault(pair, value)
    every = list(dict.fromkeys(pair for own in said for pair in own))
    labels = [_agreed({own[pair] for own in said if pair in own}) for pair in every]
    columns: dict[str, Any] = {
        "id_a": pa.array([a for a, _ in every], pa.string()),
        "id_b": pa.array([b for _, b in every], pa.string()),
        LABEL: pa.array(labels, pa.string()),
    }
    if similarities:
        columns["similarity"] = pa.array(map(similarities.get, every), pa.float64())
    if notes:
        columns["note"] = pa.array(["; ".join(notes.get(pair, ())) for pair in every], pa.string())
    for name, own in zip(names, said, strict=True):
        columns[f"label_{name}"] = pa.array(map(own.get, every), pa.string())
    summary = {
        "reviewers": names,
        "pairs": len(every),
        "judged_by_all": sum(all(pair in own for own in said) for pair in every),
        "disagreed": labels.count(DISAGREED),
        "agreement": [
            {"reviewers": [names[i], names[j]], **agreement(said[i], said[j])}
            for i, j in combinations(range(len(said)), 2)
        ],
    }
    return MergedReviews(pa.table(columns), summary)


def _agreed(words: set[str]) -> str:
    return next(iter(words)) if len(words) == 1 else DISAGREED


def agreement(a: Mapping[_Pair, str], b: Mapping[_Pair, str]) -> dict[str, Any]:
    """Count in how many pairs of those that both have judged two agree, and Cohen's kappa.

    Kappa is None where it is not defined.
    """
    both = [(a[pair], b[pair]) for pair in a if pair in b]
    n, n_equal = len(both), sum(x == y for x, y in both)
    words = {word for pair in both for word in pair}
    # Times n^2, as whole numbers.
    expected = sum(
        sum(x == word for x, _ in both) * sum(y == word for _, y in both) for word in words
    )
    kappa = None if n * n == expected else (n * n_equal - expected) / (n * n - expected)
    return {"pairs": n, "agreed": n_equal, "kappa": kappa}


def _similarities(table: pa.Table) -> Floats:
    """Return similarities as numbers, NaN where there are none."""
    nothing: Floats = np.full(len(table), np.nan)
    if "similarity" not in table.column_names:
        return nothing
    column = table["similarity"]
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    try:
        values: Floats = column.cast(pa.float64()).to_numpy()
    except pa.ArrowException:
        return nothing
    return values


def _names_of(reviews: Sequence[Any]) -> list[str]:
    """Name reviewers by their files; by a number where there is none, or two are called so."""
    names: list[str] = []
    for number, review in enumerate(reviews, 1):
        name = Path(review).stem if isinstance(review, str | Path) else str(number)
        names.append(name if name and name not in names else f"{name}-{number}")
    return names
