"""A segment as kernels see it that look for many queries, and what these need besides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels.types import (
    ConstFloats,
    ConstInt32s,
    ConstInt64s,
    ConstUint16Rows,
    ConstUint32Rows,
    ConstUint32s,
    ConstUint64s,
    Floats,
    Int32s,
    Int64s,
)


class Windows(NamedTuple):
    """The windows of a segment; see ``passages.segment.WindowIndex``."""

    key_starts: ConstInt64s
    keys: ConstUint64s
    list_starts: ConstInt64s
    starts: ConstUint32s
    spans: ConstUint16Rows
    wide_rows: ConstInt64s
    wide_spans: ConstUint32Rows


class Documents(NamedTuple):
    """The texts of a segment as entries of its vocabulary.

    Document d is ``tokens[offsets[d] : offsets[d + 1]]``. ``inverses`` are inverse document
    frequencies of the vocabulary, or empty where all are 1. A token that a passage has f times
    weighs ``term_weights[f]`` times that; each further copy ``least_step`` times that or more.
    """

    tokens: ConstInt32s
    offsets: ConstInt64s
    inverses: ConstFloats
    term_weights: ConstFloats
    least_step: np.float64


class Scratch(NamedTuple):
    """Memory for one thread.

    For each entry of the vocabulary ``known`` has -1, and is left so, and ``seen`` a place where it
    stands, or -1. For each bucket, and one more, ``changes`` has 0, and is left so; ``reached`` has
    room for all of them, the rest for the tokens of any document and one more.
    """

    known: Int32s
    seen: Int64s
    changes: Int32s
    reached: Int64s
    before: Int64s
    firsts: Floats
    laters: Floats
    sums: Floats


class Limits(NamedTuple):
    """What passages must fulfil: common min-hashes, tokens, and similarity."""

    hits: int
    min_tokens: int
    threshold: np.float64
    bucket_bits: int
