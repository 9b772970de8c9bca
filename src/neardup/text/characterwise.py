"""Bytes for what reads characters: each byte as the character whose code point it is."""

from __future__ import annotations

import numpy as np

from neardup.tables import Int64s, Texts


def bytes_as_characters(texts: Texts) -> Texts:
    """Return valid UTF-8 with a character for each byte, so that places in it are bytes.

    ASCII stays as it is; other bytes become characters of two bytes, U+0080 to U+00FF.
    """
    start, stop = int(texts.offsets[0]), int(texts.offsets[-1])
    data = texts.data[start:stop]
    is_long = data >= 128
    if not is_long.any():
        return texts
    # Bytes before each place in the new text.
    before: Int64s = np.zeros(len(data) + 1, np.int64)
    np.cumsum(is_long, out=before[1:])
    encoded = np.frombuffer(data.tobytes().decode("latin-1").encode(), np.uint8)
    bounds = texts.offsets - start
    return Texts(encoded, bounds + before[bounds])
