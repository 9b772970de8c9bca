"""Sketches of several sets at once: tables put together, and sketches of unions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.sketches.samples.scheme import SetScheme, check_rows
from neardup.tables import Int64s, SetSketches, Uint64s


def join_sketches(parts: Sequence[SetSketches]) -> SetSketches:
    """Put tables of sketches of one scheme one after another."""
    ends = np.cumsum([0, *(part.offsets[-1] for part in parts)])
    offsets = [part.offsets[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
    nothing: Int64s = np.empty(0, np.int64)
    return SetSketches(
        np.concatenate([nothing.astype(np.uint64), *(part.values for part in parts)]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        np.concatenate([nothing, *(part.sizes for part in parts)]),
        np.concatenate([nothing, *(part.moduli for part in parts)]),
    )


def unite_sketches(
    sketches: SetSketches, members: Int64s, starts: Int64s, scheme: SetScheme
) -> SetSketches:
    """Sketch the unions of groups of sets from their sketches.

    Parameters
    ----------
    sketches
        Made by ``scheme``.
    members, starts
        Group g is the rows ``members[starts[g] : starts[g + 1]]``; a row may be in many groups.
    scheme
        That of the sketches.

    Returns
    -------
    Smallest sketches are those of the unions themselves, sizes included. Modulo sketches have the
    largest modulus of their group, and with a fixed modulus the values of the union's own sketch;
    the size of a union is known where its modulus is 1.

    Raises
    ------
    InvalidParameterError
        If members are no rows of the sketches, or groups do not follow each other.
    SketchMismatchError
        If moduli or sizes are not those of the scheme.
    """
    from neardup.kernels.sketch import samples

    check_rows("members", members, sketches)
    widths = np.diff(starts)
    if not len(starts) or starts[0] < 0 or starts[-1] > len(members) or (widths < 0).any():
        message = f"starts must ascend within the {len(members)} members, got {starts}"
        raise InvalidParameterError(message)
    scheme.check(sketches)
    chosen = members[starts[0] : starts[-1]]
    ends: Int64s = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(np.diff(sketches.offsets)[chosen], out=ends[1:])
    widest = int(np.diff(ends[starts - starts[0]]).max(initial=0))
    values: Uint64s = np.empty(int(ends[-1]), np.uint64)
    offsets: Int64s = np.empty(len(starts), np.int64)
    moduli: Int64s = np.empty(len(starts) - 1, np.int64)
    limit = scheme.sample_limit
    samples.unite_sketches(
        sketches.values,
        sketches.offsets,
        sketches.moduli,
        chosen,
        starts - starts[0],
        limit,
        np.empty(widest, np.uint64),
        np.empty(2 * widest + 1, np.int64),
        values,
        offsets,
        moduli,
    )
    n_values = np.diff(offsets)
    # A sketch that is not full has missed nothing.
    sizes = np.where((moduli == 1) & (n_values < limit), n_values, -1)
    return SetSketches(values[: offsets[-1]].copy(), offsets, sizes, moduli)


def unite_rows(sketches: SetSketches, other: SetSketches, scheme: SetScheme) -> SetSketches:
    """Sketch the union of each row's set with that of the same row of another table."""
    n = len(sketches)
    if len(other) != n:
        message = f"other must have as many sketches, {n}, got {len(other)}"
        raise InvalidParameterError(message)
    rows: Int64s = np.arange(2 * n, dtype=np.int64).reshape(2, n).T.reshape(-1)
    starts: Int64s = np.arange(0, 2 * n + 1, 2, dtype=np.int64)
    return unite_sketches(join_sketches([sketches, other]), rows, starts, scheme)
