"""How many shingles two documents have in common, as the run that compared them has counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError, SketchMismatchError
from neardup.jobs.explain.scheme import restore_scheme
from neardup.reports.dedup.examples import Common, Pair
from neardup.tables import Texts
from neardup.text.shingles import ShingleScheme, shingle_sets


class ShingleCounter:
    """Counts the shingles of pairs, where the scheme of a summary can be made again.

    It cannot with a tokenizer of the user's, and for documents that are bytes; shingles that weigh
    are not counted.
    """

    def __init__(self, summary: Mapping[str, Any]) -> None:
        self._shingles = _shingles_of(summary)

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


def _shingles_of(summary: Mapping[str, Any]) -> ShingleScheme | None:
    if summary["reading"]["input_format"] == "bytes":
        return None
    try:
        scheme = restore_scheme(summary)
    except (InvalidParameterError, SketchMismatchError):
        return None
    return None if scheme is None or scheme.weighted else scheme.shingles
