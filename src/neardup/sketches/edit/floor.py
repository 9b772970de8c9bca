"""The least edit distance that may be estimated for texts of which little is in common.

Of W windows of two texts D are disturbed; n is the neighbourhood. An estimate (``aligned.py``)
counts those in long runs ``UNRELATED`` / 2 each at least, but for 2 (n - 1) windows a run that
reach into it from outside; the rest as much, or as edits in random places, of which
h(y) = 1 - (1 - y)^(1/n) for each character disturb a share y of the windows. So an estimate is at
least W / 2 times a mean of ``UNRELATED`` times the share that is not outside, and of h(y), in which
the shares of windows add up to x = D / W. It is not below the largest convex function g that is
nowhere above h and, at 1, not above the former: h up to where a line from there touches it, and
then the line.
"""

from __future__ import annotations

import numpy as np

from neardup.sketches.edit.aligned import disturbed_windows
from neardup.sketches.edit.lengths import KnownLengths
from neardup.sketches.edit.runs import longest_isolated
from neardup.tables import Floats

# Distance of unrelated texts as a share of their length: what English has.
UNRELATED = 0.78


def least_distances(known: KnownLengths, common: Floats, first: Floats) -> Floats:
    """Return the least distances that may be estimated, aligned, for n pairs.

    Parameters
    ----------
    known
        Lengths and numbers of symbols.
    common
        Symbols that both have in common, wherever they are, at most.
    first
        Symbols of the shorter text.
    """
    left, right = first - common, known.symbols - first - common
    disturbed = 2 * disturbed_windows(left, right, known, 0.0) + known.difference
    end = UNRELATED * _counted(known.neighbourhood, known.spacing)
    shares = np.minimum(disturbed / known.windows, 1.0)
    least = known.windows / 2 * _floor(shares, end, known.neighbourhood)
    return np.maximum(least, known.difference)


def least_common(threshold: float, shortest: int, spacing: float, neighbourhood: int) -> float:
    """Return the least Dice similarity of signatures of texts whose estimate is a similarity.

    Parameters
    ----------
    threshold
        The similarity, or a higher one.
    shortest
        Least characters of a text.
    spacing
        Least windows for each symbol of a text.
    neighbourhood
        Characters in a window.

    Returns
    -------
    A share; 0 or less if nothing is known.
    """
    edge = 2 * (neighbourhood - 1) / shortest
    # The longer text as a share of all windows, and what it has more.
    longer = 1 / max(1 + threshold - edge, 1e-9)
    difference = (1 - threshold) * longer
    allowed = 2 * (1 - threshold) * longer
    n = neighbourhood
    ends = UNRELATED * _counted(n, np.array([spacing]))
    end, start, value = (float(numbers[0]) for numbers in (ends, *_touching(ends, n)))
    if allowed < value:
        disturbed = 1 - (1 - allowed) ** n
    elif allowed < end:
        disturbed = start + (1 - start) * (allowed - value) / (end - value)
    else:
        disturbed = 1.0
    # Symbols may be less frequent in what the longer text has more.
    return 1 - disturbed - difference


def most_similar_without_symbols(threshold: float, shortest: int, neighbourhood: int) -> float:
    """Return how similar texts without a symbol in common may be estimated to be at most.

    Their lengths are a <= b with a >= threshold * b; ``shortest`` is the least length. All symbols
    are left over, in one run: of windows that are disturbed there are 2 a - (b - a) - 2 (n - 1) or
    more beside the difference of the lengths, which counts wholly.
    """
    half = UNRELATED / 2
    # Linear in a / b, so that it is greatest at one end.
    highest = half + max((1 - 3 * half) * threshold, 1 - 3 * half)
    return highest + 4 * half * (neighbourhood - 1) / shortest


def _counted(neighbourhood: int, spacing: Floats) -> Floats:
    """Return the least share of the windows of long runs that are not outside of their blocks.

    A long run has more symbols than an isolated edit leaves over, and for each of them at least
    half a ``spacing`` of windows is disturbed.
    """
    least_symbols = longest_isolated(2 * neighbourhood / spacing) + 1
    return np.maximum(1 - 4 * (neighbourhood - 1) / (spacing * least_symbols), 0)


def _touching(end: Floats, n: int) -> tuple[Floats, Floats]:
    """Return where the line from (1, ``end``) touches h, and h there; 0 and 0 if nowhere."""
    # With z = (1 - x)^(1/n) the slopes are equal at z / n = z - (1 - end).
    z = np.minimum((1 - end) * n / max(n - 1, 1e-9), 1.0)
    return 1 - z**n, 1 - z


def _floor(shares: Floats, end: Floats, n: int) -> Floats:
    """Return g of shares of disturbed windows."""
    start, value = _touching(end, n)
    line = value + (shares - start) / np.maximum(1 - start, 1e-300) * (end - value)
    floor: Floats = np.where(shares < start, 1 - (1 - shares) ** (1 / n), line)
    return floor
