"""Near-duplicate removal with rensa, the fastest way its version 0.5 allows.

Sketches are full-set R-MinHash made a block at a time with ``RMinHash.from_token_sets``; the rho
pipeline is not used because it samples positions instead of reading every shingle. Only
documents that stay go into the index, so a query finds keepers and buckets stay short. The batch
calls of the index give flags without partners (``query_duplicate_flags_matrix_one_shot``) or all
pairs of a cluster (``query_all``), and neither was faster: the index takes a fiftieth of the time.
"""

from __future__ import annotations

from functools import partial

from rensa import RMinHash, RMinHashLSH

from benchmarks.peers.pipeline import (
    Block,
    Survivors,
    map_blocks,
    parse_options,
    read_lines,
    shingles_of,
    words_of,
)

SEED = 42


def sketch(block: Block, num_perm: int) -> tuple[list[str], list[RMinHash | None]]:
    """Return ids and sketches of a block; no sketch for a document without words."""
    documents = [words_of(line) for line in read_lines(block)]
    token_sets = [shingles_of(words) for _, words in documents]
    sketches = RMinHash.from_token_sets(token_sets, num_perm=num_perm, seed=SEED)
    ids = [name for name, _ in documents]
    filled = zip(sketches, token_sets, strict=True)
    return ids, [made if tokens else None for made, tokens in filled]


def main() -> None:
    """Run the whole job."""
    options = parse_options(__doc__)
    survivors = Survivors(options)
    # The threshold plays no part in insert and query, only in is_similar.
    index = RMinHashLSH(threshold=0.8, num_perm=options.num_perm, num_bands=options.bands)
    for ids, sketches in map_blocks(partial(sketch, num_perm=options.num_perm), options):
        for name, made in zip(ids, sketches, strict=True):
            number = len(survivors.ids)
            if made is None:
                survivors.add(name, ())
            elif survivors.add(name, index.query(made)):
                index.insert(number, made)
    survivors.write()


if __name__ == "__main__":
    main()
