"""Pairs held to labels: which are right, how good each threshold is, and where it errs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.reports.charts import Chart, Curve, curves
from neardup.reports.pairs.judgements import Labels
from neardup.reports.pairs.table import PairsTable, number_ids
from neardup.runs.progress import counted, plural
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


@dataclass(frozen=True)
class Labelled:
    """What labels say of a table of pairs.

    ``rows`` are the pairs that are judged, each once, and ``is_right`` of these; ``n_labels`` are
    the pairs of the labels that are right, ``missing`` those of them that the table does not have:
    ids of both. ``evaluation`` is of the values in ``values``. ``is_partial`` where only pairs with
    a label are judged. Of the labels, right or wrong, ``n_strange`` name a document that is in no
    pair of the table; ``strange`` is the first such document.
    """

    rows: Int64s
    is_right: Bools
    values: Floats
    evaluation: Evaluation
    n_labels: int
    missing: Sequence[tuple[str, str]]
    n_missing: int
    is_partial: bool
    n_strange: int
    strange: str

    def notes(self) -> list[str]:
        """Say what of the labels cannot be about this table, as lines."""
        if not self.n_strange:
            return []
        which = f"{counted(self.n_strange, 'label')} {plural(self.n_strange, 'names', 'name')}"
        return [f"{which} a document that is in no pair of the table, such as {self.strange!r}"]

    def halves(self) -> tuple[Evaluation, Evaluation]:
        """Evaluate every second of the judged pairs, and the other ones."""
        n_absent = self.evaluation.n_right - int(self.is_right.sum())
        first, second = (
            evaluate(
                self.values[k::2],
                self.is_right[k::2],
                int(self.is_right[k::2].sum()) + (n_absent + 1 - k) // 2,
            )
            for k in (0, 1)
        )
        return first, second

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


def hold_to_labels(pairs: PairsTable, labels: Labels) -> Labelled:
    """Compare pairs with labels; in a table of one collection a and b may be exchanged.

    A pair that the table has in both directions counts once, with the higher of its values. Ids and
    values of all pairs are in memory for it.
    """
    every, ids_a, ids_b = pairs.all_ids()
    ranked: Floats = np.concatenate([np.empty(0), *(values for _, values in pairs.values())])
    strangers, is_strange = _strangers(ids_a, ids_b, labels, two_sided=pairs.two_sided)
    if len(labels.ids_a) and len(ids_a) and all(each.all() for each in is_strange):
        message = (
            f"labels and pairs have no document in common: labels name {strangers[0]!r}, "
            f"pairs {ids_a[0].as_py()!r}; find pairs with the ids of the labels (--id-column)"
        )
        raise InvalidInputError(message)
    of_pairs, of_labels = _numbers(ids_a, ids_b, labels, two_sided=pairs.two_sided)
    known, firsts, which = np.unique(of_labels, return_index=True, return_inverse=True)
    if labels.is_right is not None:
        differing = np.flatnonzero(labels.is_right != labels.is_right[firsts][which])
        if len(differing):
            a, b = (ids[int(differing[0])].as_py() for ids in (labels.ids_a, labels.ids_b))
            message = f"labels have the pair {a!r}, {b!r} as yes and, the other way round, as no"
            raise InvalidInputError(message)
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
        int(np.any(is_strange, axis=0).sum()),
        next(iter(strangers), ""),
    )


def _strangers(
    ids_a: pa.Array, ids_b: pa.Array, labels: Labels, *, two_sided: bool
) -> tuple[list[str], list[Bools]]:
    """Return documents that labels name and no pair, the first of either side, and where they are.

    The latter is for either side of the labels, in their order.
    """
    every = [ids_a, ids_b] if two_sided else [pa.concat_arrays([ids_a, ids_b])] * 2
    named, is_strange = [], list[Bools]()
    for ids, of_pairs in zip((labels.ids_a, labels.ids_b), every, strict=True):
        unknown = pc.invert(pc.is_in(ids, of_pairs))
        named += ids.filter(unknown)[:1].to_pylist()
        is_strange.append(unknown.to_numpy(zero_copy_only=False))
    return named, is_strange


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
