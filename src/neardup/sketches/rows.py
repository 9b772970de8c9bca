"""Sketches of any kind: made from texts, put together, picked out."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from neardup.sketches.edit.signature import EditScheme, edit_signatures
from neardup.sketches.minhash import MinHashScheme, minhash_signatures
from neardup.sketches.modulo import ModuloScheme
from neardup.sketches.samples.sampling import fingerprint_shingles, sketch_sets
from neardup.sketches.samples.unions import join_sketches
from neardup.sketches.smallest import SmallestScheme
from neardup.sketches.weighted_minhash import WeightedMinHashScheme, weighted_signatures
from neardup.tables import EditSignatures, Int64s, SetSketches, Signatures, Texts
from neardup.text.normalise import Normalisation
from neardup.text.shingles import HASH_VERSION, ShingleScheme, shingle_lists, shingle_set_sizes
from neardup.text.weighted_sets import WeightedScheme, weighted_sets

SketchKind = Literal["minhash", "weighted", "smallest", "modulo", "edit"]
SketchRows = Signatures | SetSketches | EditSignatures
KindScheme = MinHashScheme | WeightedMinHashScheme | SmallestScheme | ModuloScheme | EditScheme


@dataclass(frozen=True)
class SketchMaker:
    """All that turns texts into sketches.

    Parameters
    ----------
    scheme
        That of the kind.
    shingles
        How texts become sets; None for ``edit``.
    normalisation
        What is folded away before, for ``edit``; a part of ``shingles`` for all others.
    weights
        What shingles weigh, for ``weighted`` only.
    """

    scheme: KindScheme
    shingles: ShingleScheme | None
    normalisation: Normalisation
    weights: WeightedScheme | None = None

    def describe(self) -> dict[str, Any]:
        """Give all that decides a sketch, as plain values: sketches are compared if it is equal."""
        fields = {} if self.shingles is None else self.shingles.describe()
        if self.shingles is None:
            fields = vars(self.normalisation) | {
                "hash_version": HASH_VERSION,
                "unicode_version": unicodedata.unidata_version,
            }
        if self.weights is not None:
            fields |= self.weights.describe()
        return fields | self.scheme.describe()

    def make(self, texts: Texts) -> SketchRows:
        """Sketch texts, one after another in the order given."""
        scheme, shingles = self.scheme, self.shingles
        if isinstance(scheme, EditScheme):
            return edit_signatures(self.fold(texts), scheme)
        assert shingles is not None
        if isinstance(scheme, SmallestScheme | ModuloScheme):
            return sketch_sets(fingerprint_shingles(texts, shingles, scheme), scheme)
        tokens = shingles.tokenizer.hash_tokens(texts)
        if isinstance(scheme, WeightedMinHashScheme):
            assert self.weights is not None
            sets = weighted_sets(tokens, shingles, self.weights)
            return Signatures(weighted_signatures(sets, scheme), sets.sizes, sets.totals)
        lists = shingle_lists(tokens, shingles)
        return Signatures(minhash_signatures(lists, scheme), shingle_set_sizes(lists))

    def fold(self, texts: Texts) -> Texts:
        """Fold away what does not count, as for ``edit``, which cuts texts into no tokens."""
        if self.normalisation == Normalisation(casefold=False):
            return texts
        import pyarrow as pa

        strings = self.normalisation.apply_form(texts.to_arrow())
        folded = [self.normalisation.fold_text(text) for text in strings.to_pylist()]
        return Texts.from_arrow(pa.array(folded, pa.large_string()))


def join_rows(parts: Sequence[SketchRows]) -> SketchRows:
    """Put sketches of one scheme one after another; there is at least one part."""
    first = parts[0]
    if isinstance(first, SetSketches):
        return join_sketches([part for part in parts if isinstance(part, SetSketches)])
    if isinstance(first, Signatures):
        signatures = [part for part in parts if isinstance(part, Signatures)]
        totals = [part.totals for part in signatures if part.totals is not None]
        return Signatures(
            np.concatenate([part.values for part in signatures]),
            np.concatenate([part.sizes for part in signatures]),
            np.concatenate(totals) if totals else None,
        )
    edits = [part for part in parts if isinstance(part, EditSignatures)]
    sizes = np.concatenate([np.diff(part.offsets) for part in edits])
    offsets: Int64s = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return EditSignatures(
        np.concatenate([part.symbols for part in edits]),
        offsets,
        np.concatenate([part.lengths for part in edits]),
    )
