"""Speed of the text kernels in one process and one thread: ``passes.py CORPUS --passes 7``.

Texts are in memory before the clock starts. The stage functions are those of the package, called
as ``neardup.reading.sign`` calls them: slice by slice. Prints seconds of every pass as JSON.
"""

from __future__ import annotations

import time
from fractions import Fraction

from benchmarks.measuring.clocks import Seconds, StageClock
from benchmarks.measuring.passes import report_passes
from neardup.matching.bands import choose_banding
from neardup.reading.sign import SLICE_BYTES
from neardup.sketches.minhash import MinHashScheme, band_keys, minhash_signatures
from neardup.tables import Texts
from neardup.text.shingles import (
    digest_token_lists,
    make_shingle_scheme,
    shingle_lists,
    shingle_sets,
)

SHINGLES = make_shingle_scheme("words", ngram=5)
SIGNATURES = MinHashScheme(num_perm=128)
# What `neardup dedup` works with by default.
BANDING = choose_banding(Fraction(8, 10), Fraction(99, 100), num_perm=128)
DEDUP_SIGNATURES = MinHashScheme(num_perm=BANDING.num_perm)


def to_signatures(texts: Texts) -> Seconds:
    """Go from text to 128-value signatures and nothing else."""
    start = time.perf_counter()
    for part in texts.slices(SLICE_BYTES):
        token_lists = SHINGLES.tokenizer.hash_tokens(part)
        minhash_signatures(shingle_lists(token_lists, SHINGLES), SIGNATURES)
    return {"text to signatures": time.perf_counter() - start}


def first_pass(texts: Texts) -> Seconds:
    """Do all that ``dedup`` does with a text when it first reads it."""
    start = time.perf_counter()
    for part in texts.slices(SLICE_BYTES):
        token_lists = SHINGLES.tokenizer.hash_tokens(part)
        digest_token_lists(token_lists)
        signatures = minhash_signatures(shingle_lists(token_lists, SHINGLES), DEDUP_SIGNATURES)
        band_keys(signatures, BANDING.bands, BANDING.rows)
    return {"first pass of dedup": time.perf_counter() - start}


def second_pass(texts: Texts) -> Seconds:
    """Do what ``dedup`` does with the texts that are to be compared."""
    start = time.perf_counter()
    for part in texts.slices(SLICE_BYTES):
        shingle_sets(part, SHINGLES)
    return {"second pass of dedup": time.perf_counter() - start}


def stages(texts: Texts) -> Seconds:
    """Time each stage of the way to band keys by itself."""
    clock = StageClock()
    for part in texts.slices(SLICE_BYTES):
        clock.start()
        token_lists = SHINGLES.tokenizer.hash_tokens(part)
        clock.end("fold and hash tokens")
        digest_token_lists(token_lists)
        clock.end("digests")
        lists = shingle_lists(token_lists, SHINGLES)
        clock.end("shingles")
        signatures = minhash_signatures(lists, SIGNATURES)
        clock.end("signatures")
        band_keys(signatures, BANDING.bands, BANDING.rows)
        clock.end("band keys")
    return clock.seconds


def main() -> None:
    """Time passes over a corpus and print them."""
    works = (to_signatures, stages, first_pass, second_pass)
    report_passes("Time passes over a corpus and print them.", lambda _: works, 7)


if __name__ == "__main__":
    main()
