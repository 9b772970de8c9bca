"""Make short signatures that estimate edit distances of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.common.hashing import GOLDEN, mix_words
from neardup.tables import EditSignatures, Int64s, Texts, Uint32s

MOST_COMPRESSION = 1 << 20
LONGEST_NEIGHBOURHOOD = 256
MOST_LETTERS = 1 << 32

_SEEDS = 2**64


@dataclass(frozen=True)
class EditScheme:
    """Settings of a signature; signatures are comparable within one scheme only.

    Parameters
    ----------
    compression
        Average characters per symbol, from 1 to 2^20.
    neighbourhood
        Characters in a window, from 1 to 256: one edit disturbs as many windows at most.
    hash
        ``mixed`` picks windows and their symbols by a hash of all their characters; ``sum`` by the
        sum of their code points, as in the paper. A sum ignores order, and picks more or less than
        one window in ``compression``.
    letters
        Different symbols, from 2 to 2^32. Few make signatures alike by chance.
    residue
        For ``sum`` only: a window has a symbol if its sum leaves this rest by ``compression``.
    seed
        From 0 to 2^64 - 1; selects the hash function.

    References
    ----------
    Coates (2011), A fast metric of document similarity, section 3.
    """

    compression: int = 100
    neighbourhood: int = 12
    hash: Literal["mixed", "sum"] = "mixed"
    letters: int = MOST_LETTERS
    residue: int = 0
    seed: int = 42

    def __post_init__(self) -> None:
        _check("compression", self.compression, 1, MOST_COMPRESSION)
        _check("neighbourhood", self.neighbourhood, 1, LONGEST_NEIGHBOURHOOD)
        _check("letters", self.letters, 2, MOST_LETTERS)
        _check("residue", self.residue, 0, self.compression - 1)
        _check("seed", self.seed, 0, _SEEDS - 1)
        if self.hash not in ("mixed", "sum"):
            message = f"hash must be 'mixed' or 'sum', got {self.hash!r}"
            raise InvalidParameterError(message)
        if self.hash == "mixed" and self.residue:
            message = f"residue has no effect with hash='mixed', got {self.residue}; leave it out"
            raise InvalidParameterError(message, "residue", "hash")

    def describe(self) -> dict[str, Any]:
        """Return all settings that decide a signature, as plain values."""
        return {
            "kind": "edit",
            "compression": self.compression,
            "neighbourhood": self.neighbourhood,
            "hash": self.hash,
            "letters": self.letters,
            "residue": self.residue,
            "seed": self.seed,
        }


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        message = f"{name} must lie between {least} and {most:,}, got {value:,}"
        raise InvalidParameterError(message)


def edit_signatures(texts: Texts, scheme: EditScheme) -> EditSignatures:
    """Return symbols of about one window in ``compression`` per text, in text order.

    An edit changes only symbols of windows that hold the edited character, so that a text has the
    same symbols wherever it stands, but for windows that reach over its ends.

    Parameters
    ----------
    texts
        n texts of valid UTF-8. Case and space are not folded.
    scheme
        Windows, hash and symbols.

    Returns
    -------
    The symbols, and the characters of each text. A text shorter than a window has no symbol. Of
    W windows that all differ, the number of symbols is binomial: mean W / compression, variance
    W / compression * (1 - 1 / compression). Equal windows have a symbol all or none.

    Notes
    -----
    Time is linear in the text, about 900 MB of ASCII per second with ``mixed``, for any window.
    Memory is 4 bytes per symbol, with room for 20 % more than expected.

    References
    ----------
    Coates (2011), A fast metric of document similarity, section 3.
    """
    from neardup.kernels.edit import signature

    n = len(texts)
    with np.errstate(over="ignore"):
        seed = mix_words(np.uint64(scheme.seed) ^ GOLDEN)
    symbol_offsets: Int64s = np.zeros(n + 1, np.int64)
    lengths: Int64s = np.zeros(n, np.int64)
    n_bytes = int(texts.offsets[-1] - texts.offsets[0])
    room = n_bytes // scheme.compression * 6 // 5 + 1024
    symbols: Uint32s = np.empty(room, np.uint32)
    done = 0
    while True:
        done = signature.sign_texts(
            texts.data,
            texts.offsets,
            done,
            scheme.neighbourhood,
            np.uint64(_SEEDS // scheme.compression - 1),
            np.uint64(scheme.compression),
            np.uint64(scheme.residue),
            scheme.hash == "sum",
            seed,
            np.uint64(scheme.letters),
            symbols,
            symbol_offsets,
            lengths,
        )
        if done == n:
            break
        # Texts that repeat themselves may have any number of symbols.
        symbols = np.concatenate([symbols, np.empty_like(symbols)])
    return EditSignatures(symbols[: int(symbol_offsets[-1])].copy(), symbol_offsets, lengths)
