"""How many shingles two documents have in common, as the run that compared them has counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError, InvalidParameterError, SketchMismatchError
from neardup.jobs.explain.evidence import restore_scheme
from neardup.matching.measures import MEASURES, Measure
from neardup.reports.dedup.examples import Common, Pair
from neardup.tables import Texts
from neardup.text.shingles import ShingleScheme, shingle_sets

# Of a value that was rounded once, in the kernel or here.
_TOLERANCE = 1e-9


class ShingleCounter:
    """Counts the shingles of pairs, where the scheme of a summary can be made again.

    It cannot with a tokenizer of the user's, and for documents that are bytes; shingles that weigh
    are not counted.
    """

    def __init__(self, summary: Mapping[str, Any]) -> None:
        self._shingles = _shingles_of(summary)
        self._measure = _measure_of(summary)

    def count(self, pair: Pair) -> Pair:
        """Return a pair with what its texts have in common, as far as that is known."""
        texts = pair.first.text, pair.second.text
        if self._shingles is None or None in texts:
            return pair
        sets = shingle_sets(Texts.from_arrow(pa.array(texts, pa.large_string())), self._shingles)
        first, second = (
            sets.values[start : start + size]
            for start, size in zip(sets.starts.tolist(), sets.sizes.tolist(), strict=True)
        )
        common = len(np.intersect1d(first, second))
        return replace(pair, common=Common(common, len(first), len(second)))

    def check(self, pair: Pair) -> Pair:
        """Count a removed document and the one that stays for it; make sure that they are those.

        Raises
        ------
        InvalidInputError
            If their similarity is not the one that was noted: a text has changed since.
        """
        counted = self.count(pair)
        common, noted = counted.common, pair.similarity
        if common is None or noted is None or self._measure is None:
            return counted
        sizes = (common.n_first, common.n_second)
        # Of one-sided measures components may hold the other way round.
        if not any(
            _is_near(self._measure, common.n_common, way, noted) for way in (sizes, sizes[::-1])
        ):
            message = (
                f"the texts of {pair.first.id!r} and {pair.second.id!r}, which stays for it, are "
                f"not those that were compared: their similarity is not {noted:.4f}; they have "
                "been changed since, so run `neardup dedup` again"
            )
            raise InvalidInputError(message)
        return counted


def _is_near(measure: Measure, n_common: int, sizes: tuple[int, int], noted: float) -> bool:
    if not any(sizes):
        # Two documents without shingles are copies.
        return noted == 1
    values = [np.array([each], np.int64) for each in (n_common, *sizes)]
    return bool(abs(measure.similarities(*values)[0] - noted) < _TOLERANCE)


def _measure_of(summary: Mapping[str, Any]) -> Measure | None:
    """Return the measure of a run; None where similarities were given by a table of pairs."""
    if summary["method"] not in ("minhash", "exact"):
        return None
    return MEASURES[summary["measure"]].parse(str(summary["threshold"]))


def _shingles_of(summary: Mapping[str, Any]) -> ShingleScheme | None:
    if summary["reading"]["input_format"] == "bytes":
        return None
    try:
        scheme = restore_scheme(summary)
    except (InvalidParameterError, SketchMismatchError):
        return None
    return None if scheme is None or scheme.weighted else scheme.shingles
