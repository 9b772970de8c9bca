"""Chains of hits made into passages: ends moved, verified, and each stretch reported once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from neardup.kernels.text import weights
from neardup.passages.chains import Hit, Run, hull, split_chain, without_inner
from neardup.passages.ends import grow_equal, refine_ends
from neardup.passages.scheme import PassageScheme
from neardup.passages.weights import inverse_frequencies
from neardup.tables import Int64s, Uint64s
from neardup.text.weighting import DocumentFrequencies, term_frequencies

Passage = tuple[Hit, float]


class Settler:
    """Makes passages of what was found for one query in one document.

    Passages are as similar as ``threshold`` asks for. Their ends are looked for up to ``reach``
    tokens away. With ``apart`` both texts are one, of which two passages do not overlap, and have
    so many tokens between them at least.
    """

    def __init__(
        self,
        texts: tuple[Uint64s, Uint64s],
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
        threshold: Fraction,
        reach: int,
        apart: int | None = None,
    ) -> None:
        self._tokens, self._others = texts
        self._scheme, self._frequencies = scheme, frequencies
        self._threshold, self._reach, self._apart = threshold, reach, apart

    def settle(self, chains: Sequence[Sequence[Run]]) -> list[Passage]:
        """Make passages of chains, of which those with most evidence come first.

        Passages that overlap in both texts become one where what one adds to the other is similar
        enough; else one that lies half within a better one, in both texts, is left out.
        """
        kept: list[Passage] = []
        for chain in chains:
            whole = hull([run.whole for run in chain])
            if any(passage.holds(whole) for passage, _ in kept):
                continue
            for passage in self._settle_chain(chain):
                self._keep(kept, passage)
        return without_inner(kept)

    def _keep(self, kept: list[Passage], passage: Passage) -> None:
        """Add a passage to those that have more evidence, as part of one where it can be."""
        for number, (other, _) in enumerate(kept):
            share = other.common_share(passage[0])
            if not share:
                continue
            both = other.joined(passage[0])
            similarity = self._similarity(both)
            if similarity is not None and self._worth(both) > self._worth(other):
                kept[number] = both, similarity
                return
            if share >= 0.5:
                return
        kept.append(passage)

    def _settle_chain(self, chain: Sequence[Run]) -> list[Passage]:
        """Make passages of a chain that are as similar as asked for, as few as can be."""
        passages: list[Passage] = []
        # Not by recursion: a chain may have thousands of hits, and lose one at a time.
        parts = [chain]
        while parts:
            part = parts.pop()
            settled = self._make_passage(part)
            if settled is not None:
                self._append_joined(passages, settled)
            elif len(part) > 1 or len(part[0].hits) > 1:
                parts += reversed(split_chain(part))
        return passages

    def _make_passage(self, chain: Sequence[Run]) -> Passage | None:
        """Make one passage of a chain, if that is as similar as asked for.

        Ends that were refined may lie behind a difference that makes it less similar than asked
        for; then they are only moved over equal tokens.
        """
        tokens, others = self._tokens, self._others
        whole = hull([run.whole for run in chain])
        refined = refine_ends(tokens, others, whole, self._reach, self._threshold)
        ends = [grow_equal(tokens, others, refined), grow_equal(tokens, others, whole), whole]
        for hit in dict.fromkeys(ends):
            similarity = self._similarity(hit)
            if similarity is not None:
                return hit, similarity
        return None

    def _append_joined(self, passages: list[Passage], last: Passage) -> None:
        """Append a passage, as one with those before it as long as that is similar enough.

        A chain is parted at its gaps, and not always where it is least similar.
        """
        while passages:
            both = passages[-1][0].joined(last[0])
            similarity = self._similarity(both)
            if similarity is None:
                break
            last = both, similarity
            passages.pop()
        passages.append(last)

    def _similarity(self, hit: Hit) -> float | None:
        """Give the similarity of two passages; None if it is below the threshold.

        None also for passages of one text that overlap.
        """
        if self._apart is not None and hit.start < hit.query_stop + self._apart:
            return None
        shared, either = self._compare(hit)
        threshold = self._threshold
        if shared * threshold.denominator < either * threshold.numerator:
            return None
        return shared / either

    def _worth(self, hit: Hit) -> int:
        """Return by how much two passages share more than the threshold asks for."""
        shared, either = self._compare(hit)
        return shared * self._threshold.denominator - either * self._threshold.numerator

    def _compare(self, hit: Hit) -> tuple[int, int]:
        """Weigh what two passages share, and what either has.

        With binary frequencies copies count here, too: as a set a long passage is its vocabulary,
        of which two spellings of one text share little though they share most of their words.
        """
        query = self._tokens[hit.query_start : hit.query_stop]
        document = self._others[hit.start : hit.stop]
        hashes, numbers = np.unique(np.concatenate([query, document]), return_inverse=True)
        inverses = inverse_frequencies(hashes, self._scheme, self._frequencies)
        tf = self._scheme.weighting.tf
        of_both = []
        for part in (numbers[: len(query)], numbers[len(query) :]):
            counts = np.bincount(part, minlength=len(hashes)).astype(np.int64)
            table = term_frequencies("raw" if tf == "binary" else tf, int(counts.max()))
            weighed: Int64s = np.empty(len(hashes), np.int64)
            weights.fill_weights(counts, table, inverses, weighed)
            of_both.append(weighed)
        shared, either = np.minimum(*of_both).sum(), np.maximum(*of_both).sum()
        return int(shared), max(int(either), 1)
