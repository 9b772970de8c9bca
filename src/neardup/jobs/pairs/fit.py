"""Weights of fields from pairs that people have judged, and the threshold that suits these best.

The weights are those of a logistic regression on the similarities by field, none of them negative,
with a ridge so that few labels do not make them extreme. Where a pair has no value in a field, what
is usual there stands for it, the mean over all labels, which speaks for neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.id_table import IdTable
from neardup.files.ids import as_text
from neardup.reports.pairs.judgements import Labels
from neardup.reports.pairs.labelled import evaluate
from neardup.stages.tables import open_labels
from neardup.tables import Bools, Floats, Int64s

if TYPE_CHECKING:
    from neardup.jobs.pairs.field_blocks import FieldColumns
    from neardup.jobs.pairs.mean import WeightedMean
    from neardup.reading.catalogue import Catalogue
    from neardup.runs.runner import Runner

# Of the regression: the ridge, as is usual in scikit-learn; steps, and what is hardly a change.
_RIDGE, _STEPS, _STILL = 1.0, 100, 1e-7
# Of weights that are written down.
_DIGITS = 4
# Labels of either kind from which weights can be had at all.
_LEAST = 5
_LEAST_THRESHOLD = 0.01


@dataclass(frozen=True)
class Fitted:
    """What was fitted: by which fields records are judged, and what the summary says of it."""

    mean: WeightedMean
    about: dict[str, Any]


def fit_to_labels(
    labels: Any,
    columns: FieldColumns,
    mean: WeightedMean,
    runner: Runner,
    *,
    keeps_threshold: bool,
) -> Fitted:
    """Choose the weights, and unless it is given the threshold, by a table of labels.

    Fields that get no weight have no say any more.

    Raises
    ------
    InvalidInputError
        If labels do not say of some pairs that they are right and of some that they are wrong.
    """
    decided = open_labels(labels, runner).decided()
    left, right, is_right = _judged(decided, columns.catalogues)
    n_strange = len(decided.ids_a) - len(left)
    judged = np.unique(np.concatenate([left, right]))
    records = columns.records(mean, judged, None)
    left, right = np.searchsorted(judged, left), np.searchsorted(judged, right)
    similarities = np.full((len(left), len(mean.fields)), np.nan)
    for place, values in enumerate(records.values):
        a, b = values.numbers[left], values.numbers[right]
        there = np.flatnonzero((a >= 0) & (b >= 0))
        least = np.zeros(len(there))
        similarities[there, place] = values.similarities(a[there], b[there], least, 1)
    is_known = ~np.isnan(similarities).all(axis=1)
    similarities, is_right = similarities[is_known], is_right[is_known]
    n_right = int(is_right.sum())
    if min(n_right, len(is_right) - n_right) < _LEAST:
        message = (
            f"labels have {n_right:,} right and {len(is_right) - n_right:,} wrong pairs of these "
            f"records; weights need {_LEAST} of either kind, which a column label tells apart, 1 "
            "for the same and 0 for different"
        )
        raise InvalidInputError(message)
    given = np.array([float(each.weight) for each in mean.fields])
    weights = np.round(fit_weights(similarities, is_right, given), _DIGITS)
    kept = np.flatnonzero(weights > 0).tolist()
    fields = [replace(mean.fields[place], weight=Fraction(str(weights[place]))) for place in kept]
    fitted = replace(mean, fields=tuple(fields))
    found = evaluate(fitted.means(similarities[:, kept].T), is_right, n_right)
    assert found.best is not None
    threshold = mean.threshold
    if not keeps_threshold:
        threshold = Fraction(str(max(found.round_threshold(found.best), _LEAST_THRESHOLD)))
        fitted = replace(fitted, measure=replace(mean.measure, threshold=threshold))
    reached = found.at(float(threshold))
    about = {
        "labels": len(is_right),
        "right": n_right,
        "unknown": n_strange,
        "f1": 0.0 if reached is None else float(found.f1_scores[reached]),
        "without_weight": [
            field.column for each, field in enumerate(mean.fields) if each not in kept
        ],
    }
    return Fitted(fitted, {"fitted": about})


def _judged(labels: Labels, catalogues: Sequence[Catalogue]) -> tuple[Int64s, Int64s, Bools]:
    """Return the documents of pairs that labels judge, and whether these are right.

    Pairs of other documents are left out.
    """
    is_right = labels.is_right
    if is_right is None:
        is_right = np.ones(len(labels.ids_a), np.bool_)
    sides = []
    for catalogue, ids in zip(
        (catalogues[0], catalogues[-1]), (labels.ids_a, labels.ids_b), strict=True
    ):
        sides.append(IdTable(as_text(catalogue.document_ids())).find(ids))
    left, right = sides
    known = (left >= 0) & (right >= 0)
    if len(catalogues) > 1:
        right = right + len(catalogues[0])
    else:
        known &= left != right
    if not known.any():
        message = (
            "labels and records have no pair in common; labels are pairs of ids, id_a and id_b, of "
            "the same records (--id-column)"
        )
        raise InvalidInputError(message)
    return left[known], right[known], is_right[known]


def fit_weights(similarities: Floats, is_right: Bools, weights: Floats) -> Floats:
    """Fit weights, of the sum 1, to similarities (n, fields), NaN where there are none.

    ``weights`` stay where all would be 0.
    """
    known = ~np.isnan(similarities)
    n_known = np.maximum(known.sum(axis=0), 1)
    usual = np.where(known, similarities, 0).sum(axis=0) / n_known
    fitted = _regress(np.where(known, similarities, usual), is_right)
    found = fitted if fitted.any() else weights
    shares: Floats = found / found.sum()
    return shares


def _regress(x: Floats, is_right: Bools) -> Floats:
    """Return the coefficients of a logistic regression with a ridge, none of them negative.

    Newton's method on those that are not held at 0, with steps that are halved until they help.
    """
    n, k = x.shape
    design = np.hstack([x, np.ones((n, 1))])
    ridge = np.append(np.full(k, _RIDGE), 0.0)
    found: Floats = np.zeros(k + 1)

    def loss(values: Floats) -> float:
        logits = np.where(is_right, -1, 1) * (design @ values)
        return float(np.logaddexp(0, logits).sum() + (ridge * values**2).sum() / 2)

    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(design @ found, -30, 30)))
        slope = design.T @ (chances - is_right) + ridge * found
        free = (found > 0) | (slope < 0)
        free[-1] = True
        curve = design.T @ (design * (chances * (1 - chances))[:, None]) + np.diag(ridge)
        curve[-1, -1] += 1e-9
        step = np.zeros(k + 1)
        step[free] = -np.linalg.solve(curve[np.ix_(free, free)], slope[free])
        size, now = 1.0, loss(found)
        while size > _STILL:
            tried = found + size * step
            tried[:-1] = np.maximum(tried[:-1], 0)
            if loss(tried) < now:
                break
            size /= 2
        else:
            break
        change, found = np.abs(tried - found).max(), tried
        if change < _STILL:
            break
    coefficients: Floats = found[:-1]
    return coefficients
