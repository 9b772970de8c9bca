"""Pairs held to labels: which are right, how good each threshold is, and where it errs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.ids import as_text
from neardup.reports.charts import Chart, Curve, curves
from neardup.reports.pairs.table import PairsTable, number_ids
from neardup.tables import Bools, Floats, Int64s

# How well a ranking of pairs agrees with labels: precision, recall and F1 at every threshold.

_MOST_DIGITS = 17


@dataclass(frozen=True)
class Evaluation:
    """What would be found with each threshold at which that changes, the strictest first.

    With ``thresholds[k]`` all pairs of at least that value are found: ``n_found[k]``, of which
    ``n_correct[k]`` are right. There are ``n_right`` right pairs in all, found or not.
    """

    thresholds: Floats
    n_found: Int64s
    n_correct: Int64s
    n_right: int

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def precisions(self) -> Floats:
        """Of the pairs found, the share that is right."""
        return self.n_correct / self.n_found

    @property
    def recalls(self) -> Floats:
        """Of the right pairs, the share that is found; 0 if there are none."""
        return self.n_correct / max(1, self.n_right)

    @property
    def f1_scores(self) -> Floats:
        """The harmonic mean of precision and recall."""
        return 2 * self.n_correct / (self.n_found + self.n_right)

    @property
    def best(self) -> int | None:
        """Where F1 is largest, the strictest threshold on a tie; None if nothing right is found."""
        if not len(self) or not self.n_correct[-1]:
            return None
        return int(np.argmax(self.f1_scores))

    def at(self, threshold: float) -> int | None:
        """Return which entry says what a threshold finds; None where it finds nothing."""
        place = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
        return None if place < 0 else place

    def round_threshold(self, place: int) -> float:
        """Return the shortest decimal that finds the same pairs as the threshold at a place."""
        high = float(self.thresholds[place])
        low = float(self.thresholds[place + 1]) if place + 1 < len(self) else -np.inf
        for digits in range(1, _MOST_DIGITS):
            found: float = floor(high * 10.0**digits) / 10.0**digits
            if low < found <= high:
                return found
        return high


def evaluate(values: Floats, is_right: Bools, n_right: int) -> Evaluation:
    """Compare a ranking of pairs, the most similar highest, with labels.

    Of ``n_right`` pairs of the labels those that are not among these are missed by every threshold.
    """
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(order) else order
    correct = np.cumsum(is_right[order], dtype=np.int64)
    return Evaluation(ordered[ends], (ends + 1).astype(np.int64), correct[ends], n_right)


MOST_ERRORS = 5
"""Examples of each kind of error."""

# Thresholds of the curve at most, and steps between them that are easily read.
_MOST_POINTS = 50
_STEPS = (0.005, 0.01, 0.02, 0.05, 0.1)

# A column that says which of the labelled pairs are right, what it may hold, and what that means.
# Pairs about which nothing is decided are no labels.
LABEL = "label"
YES, NO, UNSURE, DISAGREED = "yes", "no", "unsure", "disagreed"
_MEANING = dict.fromkeys(("1", "1.0", "true", YES), YES)
_MEANING |= dict.fromkeys(("0", "0.0", "false", NO), NO)
_MEANING |= {word: word for word in (UNSURE, DISAGREED)}

# How like the name of their column one is which was to be it.
_LEAST_LIKENESS = 0.75


@dataclass(frozen=True)
class Labels:
    """Pairs that somebody has looked at: ids of both documents, and whether they are the same.

    ``is_right`` is None where all are: then every other pair is wrong.
    """

    ids_a: pa.Array
    ids_b: pa.Array
    is_right: Bools | None


@dataclass(frozen=True)
class Labelled:
    """What labels say of a table of pairs.

    ``rows`` are the pairs that are judged, each once, and ``is_right`` of these; ``n_labels`` are
    the pairs of the labels that are right, ``missing`` those of them that the table does not have:
    ids of both. ``evaluation`` is of the values in ``values``. ``is_partial`` where only pairs with
    a label are judged.
    """

    rows: Int64s
    is_right: Bools
    values: Floats
    evaluation: Evaluation
    n_labels: int
    missing: Sequence[tuple[str, str]]
    n_missing: int
    is_partial: bool

    def wrong(self, place: int) -> Int64s:
        """Return pairs that a threshold finds and the labels do not have, the most similar first.

        As rows of the table.
        """
        found = self.values >= self.evaluation.thresholds[place]
        return self._ranked(found & ~self.is_right)

    def missed(self, place: int) -> Int64s:
        """Return right pairs of the table that a threshold misses, the most similar first."""
        found = self.values >= self.evaluation.thresholds[place]
        return self._ranked(~found & self.is_right)

    def _ranked(self, which: Bools) -> Int64s:
        chosen = np.flatnonzero(which)
        return self.rows[chosen[np.argsort(-self.values[chosen], kind="stable")]]


@dataclass(frozen=True)
class Judgements:
    """What reviewers have said of pairs: ids of both documents, and one of four words for each.

    ``words`` are ``yes``, ``no``, ``unsure`` and ``disagreed``, None where all are right;
    ``notes`` may be empty.
    """

    ids_a: pa.Array
    ids_b: pa.Array
    words: Sequence[str] | None
    notes: Sequence[str]


def read_judgements(table: pa.Table, given: Any = None) -> Judgements:
    """Take what reviewers have said out of its table; ``given`` is what was given for it."""
    path = str(given) if isinstance(given, str | Path) else None
    names = table.column_names
    for name in ("id_a", "id_b"):
        if name not in names:
            message = (
                f"labels have no column {name!r}; they are pairs, id_a and id_b, and perhaps "
                f"label, 1 for the same and 0 for different; columns are {_listed(names)}"
            )
            raise InvalidInputError(message, path=path)
    ids_a, ids_b = (as_text(table[name]).combine_chunks() for name in ("id_a", "id_b"))
    notes = [""] * len(table)
    if "note" in names:
        notes = ["" if note is None else str(note) for note in table["note"].to_pylist()]
    if LABEL in names:
        return Judgements(ids_a, ids_b, meanings_of(table[LABEL], path or "labels"), notes)
    lower = [name.casefold() for name in names]
    # Only reviewers write notes; pairs with a similarity may be a table of right ones.
    if "note" in names or get_close_matches(LABEL, lower, 1, _LEAST_LIKENESS):
        message = (
            f"labels have no column {LABEL!r}, yes or no; columns are {_listed(names)}. If all of "
            "these pairs are the same, give id_a and id_b alone"
        )
        raise InvalidInputError(message, path=path)
    return Judgements(ids_a, ids_b, None, notes)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def meanings_of(column: pa.ChunkedArray, name: str, first: int = 1) -> list[str]:
    """Return what a column of labels means; ``first`` is the number of its first row."""
    words = [str(value).lower() for value in column.to_pylist()]
    for number, word in enumerate(words, first):
        if word not in _MEANING:
            message = f"label must be one of {', '.join(_MEANING)}; got {word!r}"
            raise InvalidInputError(message, path=name, row=number)
    return [_MEANING[word] for word in words]


def read_labels(table: pa.Table, given: Any = None) -> Labels:
    """Take labels out of their table, as ``read_judgements``: pairs of which somebody is sure."""
    judged = read_judgements(table, given)
    if judged.words is None:
        return Labels(judged.ids_a, judged.ids_b, None)
    words = np.array(judged.words, np.str_)
    is_sure = pa.array(np.isin(words, [YES, NO]))
    ids_a, ids_b = (ids.filter(is_sure) for ids in (judged.ids_a, judged.ids_b))
    return Labels(ids_a, ids_b, words[is_sure.to_numpy(zero_copy_only=False)] == YES)


def hold_to_labels(pairs: PairsTable, labels: Labels) -> Labelled:
    """Compare pairs with labels; in a table of one collection a and b may be exchanged.

    A pair that the table has in both directions counts once, with the higher of its values. Ids and
    values of all pairs are in memory for it.
    """
    every, ids_a, ids_b = pairs.all_ids()
    ranked: Floats = np.concatenate([np.empty(0), *(values for _, values in pairs.values())])
    named = [
        pa.concat_arrays([labels.ids_a, labels.ids_b]),
        pa.concat_arrays([ids_a, ids_b]),
    ]
    if all(map(len, named)) and not pc.any(pc.is_in(*named)).as_py():
        message = (
            f"labels and pairs have no document in common: labels name {named[0][0].as_py()!r}, "
            f"pairs {named[1][0].as_py()!r}; find pairs with the ids of the labels (--id-column)"
        )
        raise InvalidInputError(message)
    of_pairs, of_labels = _numbers(ids_a, ids_b, labels, two_sided=pairs.two_sided)
    known, firsts = np.unique(of_labels, return_index=True)
    right = known if labels.is_right is None else known[labels.is_right[firsts]]
    order = np.argsort(-ranked, kind="stable")
    different, places = np.unique(of_pairs[order], return_index=True)
    rows = order[places]
    if labels.is_right is not None:
        is_known = np.isin(different, known)
        different, rows = different[is_known], rows[is_known]
    is_right: Bools = np.isin(different, right)
    missing = np.flatnonzero(~np.isin(of_labels, different))
    if labels.is_right is not None:
        missing = missing[labels.is_right[missing]]
    _, once = np.unique(of_labels[missing], return_index=True)
    missing = missing[np.sort(once)]
    values = ranked[rows]
    return Labelled(
        every[rows],
        is_right,
        values,
        evaluate(values, is_right, len(right)),
        len(right),
        [(labels.ids_a[int(k)].as_py(), labels.ids_b[int(k)].as_py()) for k in missing[:100]],
        len(missing),
        labels.is_right is not None,
    )


def _numbers(
    ids_a: pa.Array, ids_b: pa.Array, labels: Labels, *, two_sided: bool
) -> tuple[Int64s, Int64s]:
    """Give pairs of documents numbers, those of the table and those of the labels alike."""
    sides = [pa.concat_arrays([ids_a, labels.ids_a]), pa.concat_arrays([ids_b, labels.ids_b])]
    if two_sided:
        a, b = (number_ids(ids) for ids in sides)
    else:
        numbers = number_ids(pa.concat_arrays(sides))
        first, second = np.split(numbers, 2)
        a, b = np.minimum(first, second), np.maximum(first, second)
    joined = a * (int(b.max(initial=0)) + 1) + b
    return joined[: len(ids_a)], joined[len(ids_a) :]


def curve_chart(pairs: PairsTable, labelled: Labelled) -> Chart | None:
    """Draw precision, recall and F1 over thresholds; None if there are no pairs."""
    points = _grid(pairs, labelled)
    if not points:
        return None
    found = labelled.evaluation
    sign = -1 if pairs.by_distance else 1
    lines = {"precision": found.precisions, "recall": found.recalls, "F1": found.f1_scores}
    places = [(x, found.at(sign * x)) for x in points]
    drawn = [
        Curve(name, [(x, float(values[k])) for x, k in places if k is not None])
        for name, values in lines.items()
    ]
    marked = None
    description = "No pair that labels have is in the table, so that no threshold finds one."
    if found.best is not None:
        best = abs(found.round_threshold(found.best))
        marked = (best, f"best: {best:g}")
        at = "within" if pairs.by_distance else "at"
        description = (
            f"F1 is best {at} {best:g}: precision {found.precisions[found.best]:.3f}, recall "
            f"{found.recalls[found.best]:.3f}, F1 {found.f1_scores[found.best]:.3f}."
        )
    return curves(
        "labels-curve",
        "Precision and recall by threshold",
        description,
        drawn,
        x_title="largest distance" if pairs.by_distance else "threshold",
        y_title="share",
        x_range=(min(points), max(points) if max(points) > min(points) else min(points) + 1),
        marked=marked,
    )


def _grid(pairs: PairsTable, labelled: Labelled) -> list[float]:
    """Return round thresholds from the least value to the largest, and the best one."""
    if not len(labelled.evaluation):
        return []
    ends = sorted(abs(float(v)) for v in labelled.evaluation.thresholds[[0, -1]])
    if pairs.by_distance or pairs.is_count:
        apart = max(1, round((ends[1] - ends[0]) / _MOST_POINTS))
        return [float(x) for x in range(int(ends[0]), int(ends[1]) + 1, apart)]
    step = next((s for s in _STEPS if (ends[1] - ends[0]) / s <= _MOST_POINTS), _STEPS[-1])
    first, last = int(np.ceil(ends[0] / step - 1e-9)), int(np.floor(ends[1] / step + 1e-9))
    points = {round(k * step, 6) for k in range(first, last + 1)}
    best = labelled.evaluation.best
    if best is not None:
        points.add(labelled.evaluation.round_threshold(best))
    return sorted(points | {ends[0]})
