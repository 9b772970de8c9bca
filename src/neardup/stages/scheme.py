"""The scheme of a finished deduplication, restored from its summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.index.store import check_restored
from neardup.matching.bands import Banding
from neardup.matching.measures import MEASURE_NAMES, Measure, make_measure
from neardup.options.groups import ShingleOptions
from neardup.reading.sign import sketch_lists
from neardup.sketches.minhash import MinHashScheme, WeightedMinHashScheme
from neardup.tables import ShingleSets, Texts, WeightedSets
from neardup.text.shingles import (
    ShingleScheme,
    make_shingle_scheme,
    shingle_sets,
)
from neardup.text.tokenizers import TokenFunction, named_tokenizer
from neardup.text.weighting import DocumentFrequencies, WeightedScheme, Weighting, weighted_sets

# Another Unicode version changes a few letters of a few texts, which does not prevent an
# explanation.
_MAY_DIFFER = "unicode_version"


@dataclass(frozen=True)
class DecidingScheme:
    """The scheme of a deduplication for comparing two texts.

    ``banding`` and ``minhash`` are None if every pair was compared, ``weighted`` if shingles have
    no weights. ``frequencies`` is the digest of the document frequencies.
    """

    shingles: ShingleScheme
    measure: Measure
    banding: Banding | None = None
    minhash: MinHashScheme | None = None
    weighted: WeightedScheme | None = None
    frequencies: str | None = None

    @property
    def needs_frequencies(self) -> bool:
        """Whether document frequencies must be counted before weighing."""
        return self.weighted is not None and self.weighted.lacks_frequencies

    def with_frequencies(self, frequencies: DocumentFrequencies) -> DecidingScheme | None:
        """Return the scheme with frequencies, None if their digest differs."""
        assert self.weighted is not None
        if frequencies.digest() != self.frequencies:
            return None
        return replace(self, weighted=replace(self.weighted, frequencies=frequencies))

    def sets_of(self, texts: Texts) -> ShingleSets | WeightedSets:
        """Return the compared sets."""
        if self.weighted is None:
            return shingle_sets(texts, self.shingles)
        tokens = self.shingles.tokenizer.hash_tokens(texts)
        return weighted_sets(tokens, self.shingles, self.weighted)

    def shared_bands(self, texts: Texts) -> tuple[int, ...] | None:
        """Return the bands, from 0, in which two texts share a bucket; None without bands.

        A text without tokens is not in a bucket.
        """
        if self.banding is None or self.minhash is None:
            return None
        tokens = self.shingles.tokenizer.hash_tokens(texts)
        if not np.diff(tokens.offsets).all():
            return ()
        (first, second), _ = sketch_lists(
            tokens, self.shingles, self.minhash, self.banding, self.weighted
        )
        return tuple(np.flatnonzero(first == second).tolist())


def restore_scheme(
    summary: Mapping[str, Any], tokenizer: str | Path | TokenFunction | None = None
) -> DecidingScheme | None:
    """Restore the scheme of a summary; None if the decision used no shingles.

    That is the case for pairs of another measure, or of unknown shingles.

    Parameters
    ----------
    summary
        Content of ``summary.json``.
    tokenizer
        The ``tokenizer.json`` or the function of the deduplication, if it had one.
    """
    described, threshold = summary["scheme"], summary["threshold"]
    if not described or threshold is None or summary["measure"] not in MEASURE_NAMES:
        return None
    chosen = _tokenizer(str(described["tokenizer"]), tokenizer)
    known = {key: described[key] for key in ShingleOptions.known if key in described}
    shingles = make_shingle_scheme(**(known | {"tokenizer": chosen}))
    found = shingles.describe()
    check_restored(
        {key: value for key, value in found.items() if key != _MAY_DIFFER},
        {key: described.get(key) for key in found if key != _MAY_DIFFER},
    )
    measure = make_measure(summary["measure"], threshold)
    weighted = None
    if measure.is_weighted:
        weighted = WeightedScheme(Weighting(described["tf"], described["idf"]))
    banding, minhash = None, None
    if "bands" in summary and summary["method"] == "minhash":
        banding = Banding(int(summary["bands"]), int(summary["rows"]))
        kind = WeightedMinHashScheme if weighted else MinHashScheme
        minhash = kind(banding.num_perm, int(described["seed"]))
    return DecidingScheme(
        shingles,
        measure,
        banding,
        minhash,
        weighted,
        described.get("frequencies"),
    )


def _tokenizer(
    name: str, tokenizer: str | Path | TokenFunction | None
) -> str | Path | TokenFunction:
    if named_tokenizer(name) is not None:
        if tokenizer not in (None, name):
            message = f"the documents were cut into {name}; leave tokenizer out"
            raise InvalidParameterError(message, "tokenizer")
        return name
    if tokenizer is None:
        message = (
            f"the texts were cut by {name}, which is not among what was written; give it with "
            "tokenizer"
        )
        raise InvalidParameterError(message, "tokenizer")
    return tokenizer
