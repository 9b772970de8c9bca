"""Sketches of documents: a few bytes each, to be compared where the texts are not at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.files.ids import check_unique, choose_id_column, join_ids
from neardup.files.input_options import check_effect
from neardup.files.inputs import passed_over
from neardup.files.passes import ReadingPass, TextBlock, read_text_block
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import RowBlock, Source
from neardup.jobs.sketch.options import SketchOptions, make_maker
from neardup.jobs.sketch.sketches import Sketches
from neardup.options.choices import (
    Fingerprint,
    InputFormat,
    InverseFrequency,
    Occurrences,
    OnError,
    SketchKindName,
    TermFrequency,
    UnicodeForm,
    WindowHash,
)
from neardup.reading.sign import SLICE_BYTES, WEIGHTED_SLICE_BYTES, ReadingPlan
from neardup.reading.signed_batches import count_shingles
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner
from neardup.sketches.kind import AnyKind, SketchRows, to_column
from neardup.sketches.registry import SketchMaker
from neardup.sketches.table_format import BlockPlaces, cut_texts, join_places
from neardup.tables import Int64s, Texts, Uint64s

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


@dataclass(frozen=True)
class _SketchedBlock:
    """Some documents of a source and their sketches; of ``documents`` the texts are gone.

    Row i is of document ``owners[i]``, of which it has a block if there are ``places``.
    """

    source: str
    documents: TextBlock
    rows: SketchRows
    digests: Uint64s
    owners: Int64s
    places: BlockPlaces | None


def sketch_sources(
    sources: Sequence[Source],
    options: SketchOptions,
    *,
    idf_sources: Sequence[Source] | None = None,
    runner: Runner,
) -> Sketches:
    """Sketch all documents of some sources; those of ``idf_sources`` are counted, if there are any.

    The rest as of ``sketch``.
    """
    check_effect(options, sources, idf_sources or ())
    maker, plan = make_maker(options), options.reading_plan()
    columns = choose_id_column(plan.columns, sources)
    plan = replace(plan, columns=columns)
    if maker.texts.weights.needs_frequencies:
        with runner.stage("count"):
            reference = sources if idf_sources is None else idf_sources
            maker = _count_frequencies(maker, reference, plan, runner)
    with runner.stage("sketch") as note:
        blocks = list(_sketch_blocks(sources, maker, plan, options.blocks, runner))
        nothing = maker.make(Texts.from_arrow(pa.array([], pa.large_string())))
        rows = maker.kind.join_rows([nothing, *(block.rows for block in blocks)])
        no_digests: Uint64s = np.empty((0, 2), np.uint64)
        digests = to_column(np.concatenate([no_digests, *(block.digests for block in blocks)]))
        ids = join_ids([block.documents.ids for block in blocks])
        check_unique([ids], lambda document: _place(blocks, document), columns)
        note(documents=len(ids))
        places = None
        if options.blocks is not None:
            starts = np.cumsum([0, *(len(block.documents) for block in blocks)])
            owners = [start + block.owners for start, block in zip(starts, blocks, strict=False)]
            ids = ids.take(pa.array(np.concatenate([np.empty(0, np.int64), *owners])))
            found = [block.places for block in blocks if block.places is not None]
            places = join_places(options.blocks, found)
    skipped = tuple(row for block in blocks for row in block.documents.skipped)
    left_out = passed_over(sources, idf_sources or ())
    return Sketches(
        maker.describe(), ids, rows, skipped, runner.seconds, left_out, columns, digests, places
    )


def _count_frequencies(
    maker: SketchMaker[AnyKind], reference: Sequence[Source], plan: ReadingPlan, runner: Runner
) -> SketchMaker[AnyKind]:
    """Count in how many documents each shingle is, and weigh by that."""
    texts = maker.texts
    frequencies = count_shingles(
        [(reference, plan.columns)], replace(plan, shingles=texts.shingles), runner
    )
    weights = replace(texts.weights, frequencies=frequencies)
    return replace(maker, texts=replace(texts, weights=weights))


def _sketch_blocks(
    sources: Sequence[Source],
    maker: SketchMaker[AnyKind],
    plan: ReadingPlan,
    block_size: int | None,
    runner: Runner,
) -> Iterator[_SketchedBlock]:
    """Read all documents and sketch them, some at a time; or blocks of a size of them."""
    slice_bytes = WEIGHTED_SLICE_BYTES if maker.kind.is_weighted else SLICE_BYTES

    def sketch_block(source: Source, block: RowBlock) -> _SketchedBlock:
        documents = read_text_block(source, block, plan.columns, skip_bad=plan.skip_bad)
        texts = Texts.from_arrow(documents.texts)
        owners, places = np.arange(len(texts)), None
        if block_size is not None:
            is_bytes = pa.types.is_large_binary(documents.texts.type)
            texts, owners, places = cut_texts(texts, block_size, is_bytes=is_bytes)
        made = [maker.make_with_digests(part) for part in texts.slices(slice_bytes)]
        rows = maker.kind.join_rows([rows for rows, _ in made])
        digests = np.concatenate([digests for _, digests in made])
        # Texts are not kept: they would fill the memory.
        documents = replace(documents, texts=documents.texts.slice(0, 0))
        return _SketchedBlock(source.name, documents, rows, digests, owners, places)

    for _, sketched in ReadingPass("sketch", sources, runner).map(sketch_block, sources):
        yield sketched


def _place(blocks: list[_SketchedBlock], document: int) -> tuple[str, int]:
    """Return the source of a document, and its row there."""
    starts = np.cumsum([0, *(len(block.documents) for block in blocks)])
    number = int(np.searchsorted(starts, document, side="right")) - 1
    block = blocks[number]
    return block.source, int(block.documents.numbers[document - starts[number]])


def sketch(
    data: Any,
    *,
    kind: SketchKindName = "minhash",
    num_perm: int | None = None,
    size: int | None = None,
    modulus: int | None = None,
    tf: TermFrequency | None = None,
    idf: InverseFrequency | None = None,
    idf_from: Any = None,
    compression: int | None = None,
    neighbourhood: int | None = None,
    hash: WindowHash | None = None,  # noqa: A002 - the option's name everywhere
    letters: int | None = None,
    residue: int | None = None,
    seed: int | None = None,
    blocks: int | None = None,
    tokenizer: str | Path | TokenFunction | None = None,
    ngram: int | None = None,
    occurrences: Occurrences = "set",
    fingerprint: Fingerprint | None = None,
    fingerprint_bits: int | None = None,
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    input_format: InputFormat = "auto",
    encoding: str | None = None,
    delimiter: str | None = None,
    lines: bool = False,
    main_text: bool = False,
    alternative_texts: bool = False,
    on_error: OnError = "raise",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Sketches:
    """Sketch documents: a few bytes each, from which similarities are estimated.

    Parameters
    ----------
    data
        Documents, in any form that ``deduplicate`` takes.
    kind
        ``minhash``: Jaccard similarity from a fixed number of positions. ``weighted``: weighted
        Jaccard similarity likewise. ``smallest``: the ``size`` smallest hashes of a set, for
        Jaccard similarity with less error. ``modulo``: the hashes that a modulus divides, for
        containment too. ``edit``: symbols of some windows, for edit distance.
    num_perm
        Positions of ``minhash`` and ``weighted``, 1 to 65,536; None is 128.
    size
        Of ``smallest``, None is 256; of ``modulo`` without a modulus the least that a sketch is
        expected to have, None is 100. 1 to 1,048,576.
    modulus
        Of ``modulo``: None chooses a power of two for each document, by its size.
    tf, idf, idf_from
        What shingles weigh, for ``weighted``; ``raw`` and ``unary`` by default. With another idf
        documents of ``idf_from`` are counted, those of ``data`` without it; only sketches that
        rest on the same counts can be compared.
    compression, neighbourhood, hash, letters, residue
        Of ``edit``: characters for a symbol, 100 by default; characters of a window; how windows
        are hashed; how many symbols there are; see ``sketches.edit.signature.EditScheme``.
    seed
        Selects the hash functions; None is 42.
    blocks
        Sketch blocks of so many characters of each document, or bytes if texts are bytes, instead
        of the whole; the last has half to one and a half of that. A sketch then has the ``start``
        and ``end`` of its block, and estimates say where in a document they are.
    tokenizer, ngram, occurrences, casefold, unicode_form, strip_accents, fold_digits
        How texts become sets of shingles; as for ``deduplicate``. Shingles are of 5 tokens, for
        ``weighted`` of 1. ``edit`` takes characters, and the last four only.
    fingerprint, fingerprint_bits
        How shingles are hashed; as for ``deduplicate``. Not for ``edit``.
    text_column, id_column, input_format, encoding, delimiter, lines
        As for ``deduplicate``.
    main_text, alternative_texts, on_error, workers, progress
        As for ``deduplicate``.

    Returns
    -------
    The sketches: ``write`` puts them into a file, ``to_arrow`` returns a table, and ``estimate``
    compares them. There is no text in them.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``; also for an option that sketches of this kind do not have.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents. Ioffe (2010), Improved
    consistent sampling, weighted minhash and L1 sketching. Coates (2011), A fast metric of document
    similarity.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "the cat sat on a mat", "a dog"]
    >>> sketches = neardup.sketch(texts, kind="smallest", ngram=1)
    >>> neardup.estimate(sketches, threshold=0.8).pairs.select(["id_a", "id_b"]).to_pylist()
    [{'id_a': '0', 'id_b': '1'}]
    """
    options = SketchOptions(
        kind=kind,
        num_perm=num_perm,
        size=size,
        modulus=modulus,
        tf=tf,
        idf=idf,
        idf_from=idf_from,
        compression=compression,
        neighbourhood=neighbourhood,
        hash=hash,
        letters=letters,
        residue=residue,
        seed=seed,
        blocks=blocks,
        tokenizer=tokenizer,
        ngram=ngram,
        occurrences=occurrences,
        fingerprint=fingerprint,
        fingerprint_bits=fingerprint_bits,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
        text_column=text_column,
        id_column=id_column,
        input_format=input_format,
        encoding=encoding,
        delimiter=delimiter,
        lines=lines,
        main_text=main_text,
        alternative_texts=alternative_texts,
        on_error=on_error,
    )
    make_maker(options)
    with Runner(workers, progress) as runner:
        sources = resolve_inputs(data, options)
        idf_sources = None if idf_from is None else resolve_inputs(idf_from, options)
        return sketch_sources(sources, options, idf_sources=idf_sources, runner=runner)
