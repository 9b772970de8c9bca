"""Public ``merge_reviews``: what several reviewers have said of pairs, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.options.choices import Data
from neardup.reports.pairs.judgements import (
    DISAGREED,
    LABEL,
    NOTE,
    OF_REVIEWER,
    OF_REVIEWERS_NOTE,
    UNJUDGED,
    YES,
    Judgements,
)
from neardup.results import TableResult
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.stages.tables import open_labels

_Pair = tuple[str, str]

# What a file has where nobody has judged a pair, or more than one, and differently.
_NOBODY = (UNJUDGED, DISAGREED)


@dataclass(frozen=True, repr=False)
class MergedReviews(TableResult):
    """What several reviewers have said of pairs.

    ``labels`` has a row for each pair that one of them has judged: ``id_a``, ``id_b``, ``label``,
    which is ``yes``, ``no`` or ``unsure`` where all who judged it say so, and ``disagreed`` where
    they do not; ``similarity``, where a file had it, ``note``, and what each has said as
    ``label_NAME``. Of one file that was merged before, its own ``label`` stays where it decides,
    and so do notes in ``note_NAME``. ``summary`` has counts, and for each two reviewers Cohen's
    kappa.
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
        ``id_a``, ``id_b`` and ``label``. Or one alone that has what each has said as
        ``label_NAME``, as a service writes it.

    Returns
    -------
    Labels that ``report`` and ``review`` take: in the latter the pairs on which reviewers disagree
    come first. Each reviewer goes by the name of the file.

    Raises
    ------
    InvalidParameterError
        If that is no list.
    InvalidInputError, ReadError
        If a file cannot be read, has no labels, or says two things of one pair; for the labels of
        one reviewer.

    Notes
    -----
    Agreement of two reviewers is over the pairs that both have judged; ``yes``, ``no`` and
    ``unsure`` are categories of their own. Kappa is (p - e) / (1 - e), of the share p in which they
    agree, and the share e that would be expected if each said what they say as often, but
    independently of the other. It is None where e is 1, as where both always say the same one word.
    A pair may stand the other way round in another file, unless one has pairs both ways, as of two
    collections with the same ids.

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
    if isinstance(reviews, str | Path) or not isinstance(reviews, Sequence) or not len(reviews):
        message = "reviews must be a list of those of two or more reviewers"
        raise InvalidParameterError(message, "reviews")
    with Runner(1) as runner:
        return merge(reviews, runner)


def merge(reviews: Sequence[Any], runner: Runner) -> MergedReviews:
    """Merge reviews; see ``merge_reviews``."""
    given = [open_labels(review, runner) for review in reviews]
    said = _by_reviewer(given, _names_of(reviews))
    if len(said) < 2:
        message = (
            "these are labels of one reviewer; name the files of two or more, or one that has a "
            f"column {OF_REVIEWER}NAME for each"
        )
        raise InvalidInputError(message, path=_path_of(reviews[0]))
    turned = _are_exchangeable(given)
    one_way: dict[_Pair, _Pair] = {}
    similarities: dict[_Pair, float] = {}
    notes: dict[_Pair, list[str]] = {}

    def known(pair: _Pair) -> _Pair:
        """Return the pair as it was first met."""
        if turned and (pair[1], pair[0]) in one_way:
            return pair[1], pair[0]
        return one_way.setdefault(pair, pair)

    own: dict[str, dict[_Pair, str]] = {
        name: {known(pair): word for pair, word in words} for name, words in said.items()
    }
    for judged in given:
        for pair, note, value in zip(
            map(known, judged.pairs()), judged.notes, judged.similarities.tolist(), strict=True
        ):
            if note and note not in notes.setdefault(pair, []):
                notes[pair].append(note)
            if not np.isnan(value):
                similarities.setdefault(pair, value)
    # A file that has what several have said was merged before: its own label is what somebody has
    # settled since, and what all other jobs read.
    merged = given[0] if len(given) == 1 else None
    settled: dict[_Pair, str] = {}
    if merged is not None and merged.words is not None:
        settled = {known(pair): word for pair, word in _heard(merged, merged.words)}
    every = list(dict.fromkeys(pair for words in (*own.values(), settled) for pair in words))
    labels = [
        settled.get(pair) or agreed(words[pair] for words in own.values() if pair in words)
        for pair in every
    ]
    columns: dict[str, Any] = {
        "id_a": pa.array([a for a, _ in every], pa.string()),
        "id_b": pa.array([b for _, b in every], pa.string()),
        LABEL: pa.array(labels, pa.string()),
    }
    if similarities:
        columns["similarity"] = pa.array(map(similarities.get, every), pa.float64())
    if any(map(notes.get, every)):
        columns[NOTE] = pa.array(["; ".join(notes.get(pair, ())) for pair in every], pa.string())
    for name, words in own.items():
        columns[f"{OF_REVIEWER}{name}"] = pa.array(map(words.get, every), pa.string())
    pairs, remarked = (merged.pairs(), merged.remarks) if merged else ([], {})
    for name, remarks in remarked.items():
        noted = {known(p): note for p, note in zip(pairs, remarks, strict=True) if note}
        columns[f"{OF_REVIEWERS_NOTE}{name}"] = pa.array(map(noted.get, every), pa.string())
    summary = {
        "reviewers": list(own),
        "pairs": len(every),
        "judged_by_all": sum(all(pair in words for words in own.values()) for pair in every),
        "disagreed": labels.count(DISAGREED),
        "agreement": [
            {"reviewers": [a, b], **agreement(own[a], own[b])} for a, b in combinations(own, 2)
        ],
    }
    return MergedReviews(pa.table(columns), summary)


def _by_reviewer(
    given: Sequence[Judgements], names: Sequence[str]
) -> dict[str, list[tuple[_Pair, str]]]:
    """Return who has said what: a file each, or of one alone those who are named in it."""
    said: dict[str, list[tuple[_Pair, str]]] = {}
    for judged, name in zip(given, names, strict=True):
        # Of several files each has one word of its own, which may be the last one of all.
        of_file: Mapping[str, Sequence[str] | None] = {name: judged.words}
        if len(given) == 1 and judged.said:
            of_file = judged.said
        said |= {reviewer: _heard(judged, words) for reviewer, words in of_file.items()}
    return said


def _heard(judged: Judgements, words: Sequence[str] | None) -> list[tuple[_Pair, str]]:
    """Return the pairs of which some words say something; where there are none all are right.

    Where reviewers had disagreed before, nobody has said anything since.
    """
    pairs = judged.pairs()
    told = zip(pairs, words or [YES] * len(pairs), strict=True)
    return [(pair, word) for pair, word in told if word not in _NOBODY]


def _are_exchangeable(given: Sequence[Judgements]) -> bool:
    """Return whether a and b are of one collection, so that files may have them either way.

    A page has no pair both ways, unless a is of one collection and b of another.
    """
    for judged in given:
        pairs = set(judged.pairs())
        if any((b, a) in pairs for a, b in pairs):
            return False
    return True


def agreed(words: Iterable[str]) -> str:
    """Return the word on which all agree; that they do not, where they do not."""
    different = set(words)
    return different.pop() if len(different) == 1 else DISAGREED


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


def _names_of(reviews: Sequence[Any]) -> list[str]:
    """Name reviewers by their files; by a number where there is none, or two are called so."""
    names: list[str] = []
    for number, review in enumerate(reviews, 1):
        path = _path_of(review)
        name = str(number) if path is None else Path(path).stem
        names.append(name if name and name not in names else f"{name}-{number}")
    return names


def _path_of(review: Any) -> str | None:
    return str(review) if isinstance(review, str | Path) else None
