"""What has decided a deduplication, made again of what its summary says."""

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
from neardup.sketches.minhash import MinHashScheme
from neardup.sketches.weighted_minhash import WeightedMinHashScheme
from neardup.tables import ShingleSets, Texts, WeightedSets
from neardup.text.shingles import (
    ShingleScheme,
    make_shingle_scheme,
    shingle_sets,
)
from neardup.text.tokenizers import TokenFunction, named_tokenizer
from neardup.text.weighting import DocumentFrequencies, WeightedScheme, Weighting, weighted_sets

# What another Unicode version changes is a few letters of a few texts, which is no reason to
# explain nothing.
_MAY_DIFFER = "unicode_version"


@dataclass(frozen=True)
class DecidingScheme:
    """What has decided a deduplication, as far as two texts are concerned.

    ``banding`` and ``minhash`` are None where every pair was compared, ``weighted`` where shingles
    weigh nothing. ``frequencies`` is the digest of those by which they were weighed.
    """

    shingles: ShingleScheme
    measure: Measure
    banding: Banding | None = None
    minhash: MinHashScheme | None = None
    weighted: WeightedScheme | None = None
    frequencies: str | None = None

    @property
    def needs_frequencies(self) -> bool:
        """Whether documents have to be counted before anything can be weighed."""
        return self.weighted is not None and self.weighted.lacks_frequencies

    def with_frequencies(self, frequencies: DocumentFrequencies) -> DecidingScheme | None:
        """Return the scheme with frequencies, None if they are not those of the deduplication."""
        assert self.weighted is not None
        if frequencies.digest() != self.frequencies:
            return None
        return replace(self, weighted=replace(self.weighted, frequencies=frequencies))

    def sets_of(self, texts: Texts) -> ShingleSets | WeightedSets:
        """Return the sets that are compared."""
        if self.weighted is None:
            return shingle_sets(texts, self.shingles)
        tokens = self.shingles.tokenizer.hash_tokens(texts)
        return weighted_sets(tokens, self.shingles, self.weighted)

    def shared_bands(self, texts: Texts) -> tuple[int, ...] | None:
        """Return the bands, from 0, in which two texts share a bucket; None without bands.

        A text without tokens is in no bucket.
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
    """Make the scheme that a summary tells of; None where no shingles have decided.

    So it is where documents were decided by pairs of another measure, or of unknown shingles.

    Parameters
    ----------
    summary
        What ``summary.json`` holds.
    tokenizer
        The ``tokenizer.json`` or the function that was used, if one was.
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
