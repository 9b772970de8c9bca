"""The scheme of a passage index, and its text windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.index.open_index import check_restored, described_tokenizer
from neardup.kernels.arrays import sealed
from neardup.kernels.common.hashing import function_seeds
from neardup.kernels.passage import lookups, window_kernels
from neardup.kernels.passage.lookups import QueryTokens
from neardup.kernels.passage.window_kernels import Occurrences, WindowRoom
from neardup.kernels.sketch import weighted_minhash
from neardup.options.choices import InverseFrequency, TokenizerChoice
from neardup.options.groups import ShingleOptions
from neardup.options.passage_options import PassageOptions
from neardup.tables import Bools, Floats, Int32s, Int64s, TokenLists, Uint32s, Uint64s
from neardup.text.shingles import ShingleScheme, shingle_scheme
from neardup.text.tokenizers import ShingledTokenizer, Tokenizer, shingle_tokens
from neardup.text.weighting import DocumentFrequencies, Weighting, term_frequencies


@dataclass(frozen=True)
class PassageScheme:
    """Scheme of a passage index: equal schemes yield equal windows.

    Units of a text are ``shingles``: tokens, or runs of ``ngram`` tokens. ``weighting`` defines the
    effect of copies. Passages of ``min_tokens`` tokens are certainly found; half of it doubles the
    size of the windows. With ``num_perm`` hash functions, estimates of a similarity J have a
    standard error of sqrt(J (1 - J) / num_perm); 0 stores no windows: all candidates are compared.
    """

    shingles: ShingleScheme
    min_tokens: int = 50
    num_perm: int = 64
    weighting: Weighting = field(default_factory=Weighting)
    seed: int = 42

    def __post_init__(self) -> None:
        check_length(self.min_tokens, self.shingles.ngram)

    @property
    def tokenizer(self) -> Tokenizer:
        """Tokenizer that returns shingles of ``ngram`` tokens."""
        plain, ngram = self.shingles.tokenizer, self.shingles.ngram
        return plain if ngram == 1 else ShingledTokenizer(plain, ngram)

    @property
    def least_shingles(self) -> int:
        """Shingles of a passage of ``min_tokens`` tokens."""
        return self.count_shingles(self.min_tokens)

    def shingle(self, tokens: TokenLists) -> TokenLists:
        """Return the shingles of token lists."""
        ngram = self.shingles.ngram
        return tokens if ngram == 1 else shingle_tokens(tokens, ngram)

    def count_shingles(self, n_tokens: int) -> int:
        """Return a passage's shingle count, given its token count."""
        return max(n_tokens - self.shingles.ngram + 1, 1)

    def count_tokens(self, n_shingles: int) -> int:
        """Return a passage's token count, given its shingle count."""
        return n_shingles + self.shingles.ngram - 1

    @property
    def seeds(self) -> Uint64s:
        """A 64-bit seed per hash function."""
        return function_seeds(self.seed, self.num_perm)

    def with_idf(self, idf: InverseFrequency) -> PassageScheme:
        """Return the scheme with another inverse frequency of tokens."""
        return replace(self, weighting=replace(self.weighting, idf=idf))

    def describe(self) -> dict[str, Any]:
        """Return all parameters of the windows, as plain values."""
        shingles = self.shingles.describe()
        del shingles["occurrences"]
        return {
            **shingles,
            "min_tokens": self.min_tokens,
            "num_perm": self.num_perm,
            **self.weighting.describe(),
            "seed": self.seed,
        }


def check_length(min_tokens: int, ngram: int) -> None:
    """Check that a passage of ``min_tokens`` tokens has a shingle."""
    if min_tokens < ngram:
        message = (
            f"min_tokens must be at least ngram, got {min_tokens} and {ngram}: a passage of fewer "
            "tokens has no shingle"
        )
        raise InvalidParameterError(message, "min_tokens", "ngram")


def make_passage_scheme(**given: Any) -> PassageScheme:
    """Make a scheme from ``PassageOptions`` by name."""
    options = PassageOptions(**given)
    return PassageScheme(
        shingle_scheme(options.part(ShingleOptions)),
        options.min_tokens,
        options.num_perm,
        Weighting(options.tf, options.idf),
        options.seed,
    )


def restore_scheme(
    description: Mapping[str, Any], tokenizer: TokenizerChoice | None = None
) -> PassageScheme:
    """Restore a scheme from ``describe``, given its ``tokenizer.json``, if it has one."""
    tokenizer = described_tokenizer(description, tokenizer)
    options = {key: description[key] for key in PassageOptions.known if key in description}
    scheme = make_passage_scheme(**(options | {"tokenizer": tokenizer}))
    check_restored(scheme.describe(), description)
    return scheme


# Count any number of copies of a token.
ALL_COPIES = 2**31 - 1

# Buffer size in windows: per token, per ``min_tokens`` of tokens, and a reserve. If it overflows,
# texts are processed in several rounds, a large one from its start again. Unused memory is not
# allocated.
_LEAST_ROOM, _ROOM, _SPARE_ROOM = 2, 2, 1 << 16


@dataclass(frozen=True)
class WindowLists:
    """All windows of texts under one hash function, by key.

    A window is the sub-texts that start at tokens a to b and end at c to d, both inclusive.
    ``keys`` ascend; ``starts`` are a, counted through all texts, and ascend within a key; ``spans``
    are b - a, c - b and d - c.
    """

    keys: Uint64s
    starts: Uint32s
    spans: Uint32s

    def __len__(self) -> int:
        return len(self.keys)


NO_WINDOWS = WindowLists(
    np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty((0, 3), np.uint32)
)


def number_tokens(tokens: Uint64s) -> tuple[Int32s, Uint64s]:
    """Return numbers of tokens by first appearance, and the distinct tokens."""
    encoded = pa.array(tokens).dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary.to_numpy()


def group_occurrences(token_lists: TokenLists) -> Occurrences:
    """Enumerate the distinct tokens of each text, and their positions.

    Cost: about 20 ns per token; memory 24 bytes per token while it runs, up to 24 afterwards.
    """
    values, offsets = token_lists.values, token_lists.offsets
    n, longest = len(values), int(np.diff(offsets).max(initial=0))
    slots: Int32s = np.empty(1 << max(1, (2 * longest - 1).bit_length()), np.int32)
    numbers: Int32s = np.empty(n, np.int32)
    type_offsets: Int64s = np.empty(len(offsets), np.int64)
    type_hashes: Uint64s = np.empty(n, np.uint64)
    type_starts: Int64s = np.zeros(n + 1, np.int64)
    positions: Int32s = np.empty(n, np.int32)
    n_types = window_kernels.group_occurrences(
        values, offsets, slots, numbers, type_offsets, type_hashes, type_starts, positions
    )
    type_hashes, type_starts = type_hashes[:n_types].copy(), type_starts[: n_types + 1].copy()
    return sealed(Occurrences(offsets, type_offsets, type_hashes, type_starts, positions, numbers))


def multiset_windows(
    texts: Occurrences, seed: int, min_tokens: int, most_copies: int = ALL_COPIES
) -> WindowLists:
    """List all windows with ``min_tokens`` tokens under one hash function.

    ``most_copies`` of each token count: all copies yield min-hashes of multisets, 1 of sets.
    """

    def list_from(first_text: int, *scratch: Any) -> tuple[Any, Any]:
        return window_kernels.multiset_windows(
            texts, first_text, most_copies, np.uint64(seed), min_tokens, *scratch
        )

    return _list_all(texts, min_tokens, list_from)


def weighted_windows(
    texts: Occurrences, log_weights: Floats, seed: int, min_tokens: int
) -> WindowLists:
    """List all windows under one function of consistent weighted sampling.

    ``log_weights`` are the logarithms of the weights of each type's copies, at the indexes of its
    positions; minus infinity for no weight.
    """

    def list_from(first_text: int, *scratch: Any) -> tuple[Any, Any]:
        return window_kernels.weighted_windows(
            texts, log_weights, first_text, np.uint64(seed), min_tokens, *scratch
        )

    return _list_all(texts, min_tokens, list_from)


def _list_all(
    texts: Occurrences, min_tokens: int, list_from: Callable[..., tuple[Any, Any]]
) -> WindowLists:
    """List all windows of texts, enlarging the buffer on overflow."""
    n_tokens = len(texts.positions)
    room = max(n_tokens // _LEAST_ROOM, _ROOM * n_tokens // min_tokens) + _SPARE_ROOM
    active, steps = window_kernels.make_scratch(int(np.diff(texts.offsets).max(initial=0)))
    parts: list[tuple[Uint64s, Uint32s, Uint32s]] = []
    done, n_texts = 0, len(texts.offsets) - 1
    while done < n_texts or not parts:
        keys: Uint64s = np.empty(room, np.uint64)
        starts: Uint32s = np.empty(room, np.uint32)
        spans: Uint32s = np.empty((room, 3), np.uint32)
        rows = WindowRoom(keys, starts, spans)
        reached, n_windows = list_from(done, active, steps, rows)
        parts.append((keys[:n_windows], starts[:n_windows], spans[:n_windows]))
        if reached == done:
            room *= 4
        done = reached
    if len(parts) == 1:
        return _by_key(*parts[0])
    return _by_key(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _by_key(keys: Uint64s, starts: Uint32s, spans: Uint32s) -> WindowLists:
    order = np.argsort(keys, kind="stable")
    return WindowLists(keys[order], starts[order], spans[order])


# Token weights of texts under a scheme, and the resulting windows.


def window_lister(
    token_lists: TokenLists, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> Callable[[int], WindowLists]:
    """Return a function that lists the windows of texts under a seed."""
    texts = group_occurrences(token_lists)
    weighting = scheme.weighting
    if weighting.counts_only:
        most = 1 if weighting.tf == "binary" else ALL_COPIES
        return lambda seed: multiset_windows(texts, seed, scheme.least_shingles, most)
    log_weights = text_log_weights(texts, scheme, frequencies)
    return lambda seed: weighted_windows(texts, log_weights, seed, scheme.least_shingles)


def text_log_weights(
    texts: Occurrences, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> Floats:
    """Return log weights of tokens per copy count, by type."""
    weighting = scheme.weighting
    counts = np.diff(texts.type_starts)
    table = term_frequencies(weighting.tf, int(counts.max(initial=0)))
    inverses = inverse_frequencies(texts.type_hashes, scheme, frequencies)
    log_weights: Floats = np.empty(len(texts.positions), np.float64)
    weighted_minhash.fill_log_weights(texts.type_starts, len(counts), table, inverses, log_weights)
    return log_weights


def inverse_frequencies(
    hashes: Uint64s, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> Floats:
    """Return inverse document frequencies of tokens, all 1 without counts."""
    if frequencies is None:
        return np.ones(len(hashes), np.float64)
    return frequencies.idf_of(hashes, scheme.weighting.idf)


# Queries: searched texts as weighted tokens and min-hashes.


@dataclass(frozen=True)
class PassageQueries:
    """Searched texts, as parts of one list of tokens."""

    wanted: QueryTokens
    scheme: PassageScheme

    def __len__(self) -> int:
        return len(self.wanted.starts)

    def weigh(self, first: int, stop: int) -> Int64s:
        """Return query weights, scaled by ``kernels.sketch.weighted_minhash``."""
        totals: Int64s = np.empty(stop - first, np.int64)
        lookups.weigh_queries(self.wanted, first, totals)
        return totals

    def hash(self, chosen: Int64s) -> tuple[npt.NDArray[np.uint64], Bools]:
        """Return the identities of each query's least hash values.

        A row per query, and a mask of queries with a weighted token; other rows are invalid, and
        their queries find nothing.
        """
        weighting, seeds = self.scheme.weighting, self.scheme.seeds
        keys = np.zeros((len(chosen), len(seeds)), np.uint64)
        have_weight: Bools = np.empty(len(chosen), np.bool_)
        if weighting.counts_only:
            most_copies = 1 if weighting.tf == "binary" else ALL_COPIES
            lookups.least_keys(self.wanted, chosen, most_copies, seeds, keys, have_weight)
        else:
            lookups.weighted_keys(self.wanted, chosen, seeds, keys, have_weight)
        return keys, have_weight


def gather_queries(
    tokens: Uint64s,
    starts: Int64s,
    stops: Int64s,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
) -> PassageQueries:
    """Make queries of the parts of a token list."""
    numbers, hashes = number_tokens(tokens)
    inverses = inverse_frequencies(hashes, scheme, frequencies)
    longest = int((stops - starts).max(initial=0))
    most = min(longest, int(np.bincount(numbers).max(initial=0)))
    table = term_frequencies(scheme.weighting.tf, most + 1)
    wanted = QueryTokens(numbers, starts, stops, hashes, inverses, table, longest)
    return PassageQueries(sealed(wanted), scheme)
