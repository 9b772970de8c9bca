"""Which kernels the jobs call, for those that are compiled ahead; a test holds the lists to it.

Those that take longest to compile come first, so that processes side by side end together. Those
that only some options or texts need are left out: they are compiled when they are called.
"""

from __future__ import annotations

from itertools import zip_longest


def _merged(*lists: tuple[str, ...]) -> tuple[str, ...]:
    """Merge lists, each name once, by their places: what takes long stays in front."""
    ranks = zip_longest(*lists)
    return tuple(dict.fromkeys(name for rank in ranks for name in rank if name is not None))


_INDEX = (
    "windows.multiset_windows",
    "spans.locate_tokens",
    "folding.fold_texts",
    "tokens.hash_tokens",
    "occurrences.group_occurrences",
    "token_places.pack_places",
    "window_lists.pack_spans",
    "postings.number_values",
    "strings.hash_strings",
    "window_lists.order_windows",
)
_SEARCH = (
    "narrowing.narrow_buckets",
    "matches.compare_regions",
    "outlines.outline_regions",
    "lookups.find_buckets",
    "spans.locate_tokens",
    "folding.fold_texts",
    "query_keys.least_keys",
    "token_places.find_places",
    "tokens.hash_tokens",
    "postings.number_values",
    "spans.count_characters",
)
_CHAINS = ("chains.link_hits", "ends.common_extent", "weights.fill_weights")
# Measures of two texts, and their estimates.
_MEASURES = (
    "shingles.number_occurrences",
    "edit_signature.sign_texts",
    "broder.smallest_sketches",
    "broder.modulo_sketches",
    "weighted_overlap.score_weighted_pairs",
    "minhash.minhash_signatures",
    "weighted_signatures.weighted_signatures",
    "overlap.score_pairs",
    "shingles.sort_sets",
    "shingles.sort_bags",
    "broder.compare_sketches",
    "logarithm.logarithms",
    "shingles.hash_shingles",
    "distinct.count_distinct",
    "overlap.score_overlaps",
    "agreement.count_equal",
)

_SIGNING = (
    "minhash.minhash_signatures",
    "folding.fold_texts",
    "filters.fill_filters",
    "tokens.hash_tokens",
    "shingles.hash_shingles",
    "tokens.digest_tokens",
    "filters.count_words",
    "minhash.band_keys",
)

KERNELS_OF = {
    "document index": (*_SIGNING, "strings.hash_strings"),
    "document search": (
        "pair_filters.sieve_pairs",
        "shingles.sort_sets",
        "entries.find_pages",
        "overlap.score_pairs",
        "entries.find_ranges",
        "entries.list_entries",
        "overlap.score_overlaps",
        *_SIGNING,
    ),
    "dedup": (
        "survivors.choose_survivors",
        "sieve.sieve_components",
        "minhash.minhash_signatures",
        "shingles.sort_sets",
        "folding.fold_texts",
        "filters.fill_filters",
        "copies.number_digests",
        "tokens.hash_tokens",
        "buckets.star_edges",
        "shingles.hash_shingles",
        "buckets.list_keys",
        "tokens.digest_tokens",
        "buckets.count_repeats",
        "union_find.union_edges",
        "filters.count_words",
        "union_find.find_roots",
        "strings.hash_strings",
        "minhash.band_keys",
        "parities.set_parities",
        "shingles.copy_sets",
    ),
    "pairs": (
        "set_join.prefix_lengths",
        "set_join.probe_records",
        "parity_rows.fill_parity_rows",
        "shingles.sort_sets",
        "folding.fold_texts",
        "copies.number_digests",
        "tokens.hash_tokens",
        "shingles.hash_shingles",
        "postings.number_values",
        "postings.leave_out_unique",
        "tokens.digest_tokens",
        "postings.sort_records",
        "overlap.score_overlaps",
        "postings.count_postings",
        "postings.fill_postings",
        "strings.hash_strings",
        "shingles.copy_sets",
    ),
    "choose": (
        "pair_choice.choose_from_pairs",
        "strings.hash_strings",
        "pair_choice.group_pairs",
    ),
    "explain": (
        "minhash.minhash_signatures",
        "overlap.score_pairs",
        "shingles.sort_sets",
        "folding.fold_texts",
        "tokens.hash_tokens",
        "shingles.hash_shingles",
        "overlap.score_overlaps",
        "tokens.digest_tokens",
        "minhash.band_keys",
    ),
    "index": _INDEX,
    "search": _SEARCH,
    "align": _merged(_SEARCH, _INDEX, _CHAINS),
    "cut": (
        "repeats.remove_repeats",
        "spans.locate_tokens",
        "folding.fold_texts",
        "tokens.hash_tokens",
        "spans.count_characters",
        "strings.hash_strings",
    ),
    "compare": _merged(_SEARCH, _INDEX, _CHAINS, _MEASURES),
    "sketch": (
        "minhash.minhash_signatures",
        "shingles.sort_sets",
        "folding.fold_texts",
        "tokens.hash_tokens",
        "tokens.digest_tokens",
        "shingles.hash_shingles",
        "strings.hash_strings",
    ),
}
