"""Spans cut out of strings of JSON objects; what stays of a string keeps its bytes."""

from __future__ import annotations

import json
from itertools import accumulate

import numpy as np

from neardup.files.cuts import Cuts, splices_of
from neardup.files.rawrows import RawRows
from neardup.files.splicing import Splices

# Behind the names, whose characters are read without a look at where they end.
_NOTHING = b"\0\0\0"


def cut_strings(raw: RawRows, cuts: Cuts) -> RawRows:
    """Cut spans out of the strings of the text columns of objects."""
    # Compiled or loaded on import.
    from neardup.kernels.file import jsonstrings

    data = np.frombuffer(raw.data, np.uint8)
    names = [name.encode() for name in cuts.columns]
    starts, stops = (np.empty(len(cuts.changed) * len(names), np.int64) for _ in range(2))
    jsonstrings.find_strings(
        data,
        raw.starts[cuts.changed],
        raw.ends[cuts.changed],
        np.frombuffer(b"".join(names) + _NOTHING, np.uint8),
        np.array(list(accumulate(map(len, names), initial=0))),
        starts,
        stops,
    )
    replacement = json.dumps(cuts.replacement, ensure_ascii=False)[1:-1].encode()
    lengths = np.empty(len(starts), np.int64)
    if len(names) > 1:
        jsonstrings.count_characters(data, starts, stops, lengths)
        parts = cuts.holes_of_columns([lengths[n :: len(names)] for n in range(len(names))])
    else:
        parts = [cuts.holes()]
    splices = []
    for n, holes in enumerate(parts):
        characters, offsets = holes.edges(len(cuts.changed))
        edges = np.empty(len(characters), np.int64)
        jsonstrings.find_characters(
            data,
            starts[n :: len(names)].copy(),
            stops[n :: len(names)].copy(),
            characters,
            offsets,
            edges,
        )
        splices.append(splices_of(edges, holes, replacement))
    return raw.spliced(Splices.merge(splices))
