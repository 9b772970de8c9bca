"""Near-duplicate removal with gaoya, the fastest way it allows.

gaoya's own analyzer makes the shingles, in Rust and on all cores, from words that are cut and
casefolded here; that was faster than handing it finished shingles. Its documents have words
separated by spaces, with underscores (which it would cut at) exchanged for another connector, so
its shingles are ours except that it joins the words without a space. It gives every document of
fewer than five words the same signature, so those are matched here, by equality. A block is
inserted and then queried with the parallel calls, and its removed documents are taken out again,
which keeps buckets short.
"""

from __future__ import annotations

from gaoya.minhash import MinHashStringIndex

from benchmarks.peers.pipeline import (
    NGRAM,
    Block,
    Survivors,
    map_blocks,
    parse_options,
    read_lines,
    words_of,
)

CONNECTOR = "\N{CHARACTER TIE}"


def cut(block: Block) -> list[tuple[str, str, int]]:
    """Return id, words joined by spaces, and number of words for the documents of a block."""
    documents = [words_of(line) for line in read_lines(block)]
    return [
        (name, " ".join(words).replace("_", CONNECTOR), len(words)) for name, words in documents
    ]


def main() -> None:
    """Run the whole job."""
    options = parse_options(__doc__)
    survivors = Survivors(options)
    # Signatures of 32 bits, candidates not filtered by their estimated similarity.
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=0.0,
        num_bands=options.bands,
        band_size=options.rows,
        analyzer="word",
        ngram_range=(NGRAM, NGRAM),
        id_container="smallvec",
    )
    first_short: dict[str, int] = {}
    for documents in map_blocks(cut, options):
        start = len(survivors.ids)
        long = [
            (number, text)
            for number, (_, text, n_words) in enumerate(documents, start)
            if n_words >= NGRAM
        ]
        numbers = [number for number, _ in long]
        texts = [text for _, text in long]
        index.par_bulk_insert_docs(numbers, texts)
        found = dict(zip(numbers, index.par_bulk_query(texts), strict=True))
        for number, (name, text, n_words) in enumerate(documents, start):
            if n_words >= NGRAM:
                if not survivors.add(name, found[number]):
                    index.remove(number)
            elif n_words > 0:
                survivors.add(name, [first_short.setdefault(text, number)])
            else:
                survivors.add(name, ())
    survivors.write()


if __name__ == "__main__":
    main()
