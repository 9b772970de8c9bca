"""The stage sign: each document as a digest, band keys and a few numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.files.rows import RowBlock
from neardup.reading.plan import ReadingPlan
from neardup.sketches.minhash import MinHashScheme, band_keys, minhash_signatures
from neardup.sketches.weighted_minhash import WeightedMinHashScheme, weighted_signatures
from neardup.tables import Digests, Int64s, Texts, TokenLists, Uint64s
from neardup.text.shingles import digest_token_lists, shingle_lists
from neardup.text.weighted_sets import weighted_sets

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.matching.bands import Banding


@dataclass(frozen=True)
class SignedBlock:
    """What is worked out of a block's documents; arrays have a row for each.

    ``keys`` has shape (n_documents, n_bands). ``n_tokens`` is -1 for a skipped row.
    """

    numbers: Int64s
    n_tokens: Int64s
    digests: Digests
    keys: Uint64s
    text_bytes: int
    lengths: Int64s | None
    ids: pa.Array | None
    order: pa.Array | None
    skipped: list[tuple[int, str]]


def sign_block(block: RowBlock, plan: ReadingPlan) -> SignedBlock:
    """Parse a block and work out its documents' token counts, digests and band keys."""
    import pyarrow.compute as pc

    parsed = block.parse(plan.columns, skip_bad=plan.skip_bad)
    texts = Texts.from_arrow(parsed.text)
    n_documents = len(texts)
    n_tokens = np.empty(n_documents, np.int64)
    digests = np.empty((n_documents, 2), np.uint64)
    n_bands = plan.banding.bands if plan.banding else 0
    keys = np.empty((n_documents, n_bands), np.uint64)
    start = 0
    for part in texts.slices(plan.slice_bytes):
        token_lists = plan.shingles.tokenizer.hash_tokens(part)
        rows = slice(start, start + len(part))
        n_tokens[rows] = np.diff(token_lists.offsets)
        digests[rows] = digest_token_lists(token_lists)
        if plan.minhash and plan.banding:
            keys[rows] = _band_keys(token_lists, digests[rows], plan, plan.minhash, plan.banding)
        start += len(part)
    if parsed.text.null_count:
        n_tokens[parsed.text.is_null().to_numpy(zero_copy_only=False)] = -1
    lengths = None
    if plan.with_lengths:
        lengths = pc.fill_null(pc.utf8_length(parsed.text), 0).to_numpy().astype(np.int64)
    return SignedBlock(
        numbers=block.numbers,
        n_tokens=n_tokens,
        digests=Digests(digests, n_tokens > 0),
        keys=keys,
        text_bytes=int(texts.offsets[-1] - texts.offsets[0]),
        lengths=lengths,
        ids=parsed.id,
        order=parsed.order,
        skipped=parsed.skipped,
    )


def _band_keys(
    token_lists: TokenLists,
    digests: Uint64s,
    plan: ReadingPlan,
    scheme: MinHashScheme,
    banding: Banding,
) -> Uint64s:
    if plan.weighted is None or not isinstance(scheme, WeightedMinHashScheme):
        signatures = minhash_signatures(shingle_lists(token_lists, plan.shingles), scheme)
        return band_keys(signatures, banding.bands, banding.rows)
    sets = weighted_sets(token_lists, plan.shingles, plan.weighted)
    keys = band_keys(weighted_signatures(sets, scheme), banding.bands, banding.rows)
    # What weighs nothing is similar to nothing, so it should meet nothing but its copies.
    weightless = sets.totals == 0
    keys[weightless] = digests[weightless, :1]
    return keys
