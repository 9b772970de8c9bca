"""Choose bands and rows of the S-curve for a recall."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from neardup.errors import InvalidParameterError, option_name
from neardup.options.choices import Number
from neardup.options.kinds import Whole, exact_fraction

# Points of the numerical integral over the curve below the threshold.
_STEPS = 200

# Far above the rounding errors of the curve in floating point.
_TOO_CLOSE = 1e-12


@dataclass(frozen=True)
class Banding:
    """Signature positions cut into ``bands`` of ``rows`` each."""

    bands: int
    rows: int

    @property
    def num_perm(self) -> int:
        """Signature positions in use."""
        return self.bands * self.rows

    def candidate_probability(self, jaccard: float) -> float:
        """Return the probability that a pair becomes a candidate.

        The S-curve 1 - (1 - s^r)^b; exact to rounding, also where it is close to 0 or 1.
        """
        if jaccard >= 1:
            return 1.0
        return -math.expm1(self.bands * math.log1p(-(jaccard**self.rows)))

    @property
    def steepest(self) -> float:
        """Return the Jaccard similarity at the S-curve's steepest point.

        ((r - 1) / (b r - 1))^(1 / r), where (r - 1)(1 - s^r) = (b - 1) r s^r: the second derivative
        is 0. 0 with one row per band, near (1 / b)^(1 / r) for many bands and rows.
        """
        if self.rows == 1:
            return 0.0
        return float(((self.rows - 1) / (self.bands * self.rows - 1)) ** (1 / self.rows))

    @property
    def midpoint(self) -> float:
        """Return the similarity with candidate probability 1/2: (1 - 2^(-1/b))^(1/r)."""
        return float((-math.expm1(-math.log(2) / self.bands)) ** (1 / self.rows))

    def area_below(self, jaccard: float) -> float:
        """Return the area under the curve from 0 to ``jaccard``."""
        step = jaccard / _STEPS
        return step * sum(self.candidate_probability((i + 0.5) * step) for i in range(_STEPS))


def reaches(banding: Banding, jaccard: Fraction, recall: Fraction) -> bool:
    """Return whether the bands reach a recall, decided exactly."""
    difference = banding.candidate_probability(float(jaccard)) - float(recall)
    if abs(difference) > _TOO_CLOSE:
        return difference > 0
    return 1 - (1 - jaccard**banding.rows) ** banding.bands >= recall


def choose_banding(least_jaccard: Number, recall: Number = "0.99", num_perm: int = 128) -> Banding:
    """Choose the cheapest bands and rows for a recall.

    For every number of rows the least number of bands that reaches the recall is the cheapest, both
    in hash functions and in false candidates; the function takes the one with the least area under
    the curve below the threshold, because most time on real text goes into comparing false
    candidates. More rows always mean fewer false candidates and more hash functions, so this uses
    the budget as far as it helps.

    ``least_jaccard`` is the least Jaccard similarity of a pair at the threshold, in (0, 1], and
    ``recall`` the least probability that such a pair becomes a candidate, below 1 unless the
    similarity is 1. Both are taken as the exact decimals. ``num_perm`` hash functions may be used.

    Raises
    ------
    InvalidParameterError
        If a value is not a number or out of range, or no choice within ``num_perm`` has the recall.

    Examples
    --------
    >>> import neardup
    >>> neardup.choose_banding(0.8)
    Banding(bands=16, rows=6)
    """
    # Exact thresholds of other measures may be finer than a typed one.
    jaccard, least = (
        value if isinstance(value, Fraction) and 0 < value <= 1 else exact_fraction(name, value)
        for name, value in (("least_jaccard", least_jaccard), ("recall", recall))
    )
    return _cheapest(jaccard, least, Whole(1).checked("num_perm", num_perm))


def _cheapest(least_jaccard: Fraction, recall: Fraction, num_perm: int) -> Banding:
    choices = []
    for rows in range(1, num_perm + 1):
        bands = _least_bands(least_jaccard, rows, recall, num_perm // rows)
        if bands is None:
            # More rows need more bands, and the number of hash functions limits them.
            break
        choices.append(Banding(bands, rows))
    if not choices:
        needed = _least_bands(least_jaccard, 1, recall, 10**9)
        hint = f"raise num_perm to {needed} or ask for less" if needed else "ask for less than 1"
        message = (
            f"recall {float(recall):g} at Jaccard similarity {float(least_jaccard):g} is out of "
            f"reach with num_perm {num_perm}; {hint}"
        )
        raise InvalidParameterError(message, "recall", "num_perm")
    return min(choices, key=lambda c: (c.area_below(float(least_jaccard)), c.num_perm))


def check_banding(bands: int, rows: int, num_perm: int) -> Banding:
    """Check bands and rows that a user has chosen."""
    if bands < 1 or rows < 1:
        names = f"{option_name('bands')} and {option_name('rows')}"
        message = f"{names} must be at least 1, got {bands} bands of {rows} rows"
        raise InvalidParameterError(message)
    if bands * rows > num_perm:
        message = (
            f"{bands} bands of {rows} rows need {bands * rows} hash functions, num_perm allows "
            f"{num_perm}; lower one of them or raise num_perm"
        )
        raise InvalidParameterError(message, "num_perm")
    return Banding(bands, rows)


def _least_bands(jaccard: Fraction, rows: int, recall: Fraction, most: int) -> int | None:
    if jaccard >= 1:
        return 1
    if recall >= 1 or not reaches(Banding(most, rows), jaccard, recall):
        return None
    missed_by_one = math.log1p(-(float(jaccard) ** rows))
    bands = max(1, math.ceil(math.log1p(-float(recall)) / missed_by_one) - 1)
    while not reaches(Banding(bands, rows), jaccard, recall):
        bands += 1
    return bands
