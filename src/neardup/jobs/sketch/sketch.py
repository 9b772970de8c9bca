"""Sketches of documents: a few bytes each, to be compared where the texts are not at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import RowBlock, Source
from neardup.files.texts import TextBlock, read_text_block
from neardup.jobs.document_options import DocumentOptions
from neardup.jobs.sketch.sketches import Sketches
from neardup.options.choices import (
    Fingerprint,
    InverseFrequency,
    Occurrences,
    OnError,
    SketchKind,
    TermFrequency,
    UnicodeForm,
    WindowHash,
)
from neardup.options.jobs import FUNCTIONS
from neardup.options.option import no_effect
from neardup.reading.frequencies import count_shingles
from neardup.reading.plan import SLICE_BYTES, WEIGHTED_SLICE_BYTES
from neardup.runtime.progress import Progress, no_progress
from neardup.runtime.runner import Runner
from neardup.runtime.threads import map_ordered
from neardup.sketches.edit.signature import EditScheme
from neardup.sketches.rows import SketchMaker, SketchRows, join_rows
from neardup.sketches.storage import KIND_SCHEMES
from neardup.tables import Texts
from neardup.text.weighted_sets import WeightedScheme
from neardup.text.weighting import Weighting

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction

_WEIGHTS = ("tf", "idf", "idf_from")
_OF_SETS = ("tokenizer", "ngram")


@dataclass(frozen=True, kw_only=True)
class SketchOptions(DocumentOptions):
    """Everything that decides sketches; see ``sketch`` for the meanings.

    None stands for the default of a kind, so that an option that it does not have is noticed.
    """

    known = FUNCTIONS["sketch"]

    kind: SketchKind = "minhash"
    num_perm: int | None = None
    size: int | None = None
    modulus: int | None = None
    fingerprint: Fingerprint | None = None
    tf: TermFrequency | None = None
    idf: InverseFrequency | None = None
    idf_from: Any = None
    compression: int | None = None
    neighbourhood: int | None = None
    hash: WindowHash | None = None
    letters: int | None = None
    residue: int | None = None
    seed: int | None = None


def make_maker(options: SketchOptions) -> SketchMaker:
    """Check what goes with what, before any work starts.

    Raises
    ------
    InvalidParameterError
        For the first option that has no effect on sketches of this kind, or a residue out of range.
    """
    own = KIND_SCHEMES[options.kind]
    _check_own(options, tuple(own.__dataclass_fields__))
    given = {name: getattr(options, name, None) for name in own.__dataclass_fields__}
    scheme = own(**{name: value for name, value in given.items() if value is not None})
    if isinstance(scheme, EditScheme):
        plan = replace(options, tokenizer="characters", ngram=1).sketch_plan()
        return SketchMaker(scheme, None, plan.shingles.normalisation)
    weights = None
    if options.kind == "weighted":
        options = replace(options, ngram=options.ngram or 1)
        weights = WeightedScheme(Weighting(options.tf or "raw", options.idf or "unary"))
        if options.idf_from is not None and not weights.needs_frequencies:
            raise no_effect("idf_from", "with idf unary", "choose another idf", "idf")
    shingles = options.sketch_plan().shingles
    return SketchMaker(scheme, shingles, shingles.normalisation, weights)


def _check_own(options: SketchOptions, names: tuple[str, ...]) -> None:
    """Raise if an option was given that sketches of this kind do not have."""
    where = f"on sketches of kind {options.kind}"
    weights = _WEIGHTS if options.kind == "weighted" else ()
    known = {option.name for option in fields(DocumentOptions)} | {"kind", *names, *weights}
    unknown = [option.name for option in fields(SketchOptions) if option.name not in known]
    if options.kind == "edit":
        unknown += _OF_SETS
    for name in unknown:
        if getattr(options, name) is not None:
            raise no_effect(name, where, "choose another kind", "kind")
    if options.kind in ("edit", "weighted") and options.occurrences != "set":
        raise no_effect("occurrences", where, "choose another kind", "kind")
    if options.modulus is not None and options.size is not None:
        raise no_effect("size", "with a modulus", "leave out modulus", "modulus")


def sketch_sources(
    sources: Sequence[Source],
    options: SketchOptions,
    *,
    idf_sources: Sequence[Source] | None = None,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> Sketches:
    """Sketch all documents of some sources; those of ``idf_sources`` are counted, if there are any.

    The rest as of ``sketch``.
    """
    maker = make_maker(options)
    n_workers = Runner(workers, progress).workers
    plan = options.sketch_plan()
    if maker.weights and maker.weights.needs_frequencies:
        reference = sources if idf_sources is None else idf_sources
        counted = replace(plan, shingles=maker.shingles or plan.shingles)
        frequencies = count_shingles([reference], counted, Runner(n_workers, progress))
        maker = replace(maker, weights=replace(maker.weights, frequencies=frequencies))
    slice_bytes = WEIGHTED_SLICE_BYTES if maker.weights else SLICE_BYTES

    def sign_block(item: tuple[Source, RowBlock]) -> tuple[TextBlock, SketchRows]:
        rows = read_text_block(*item, plan.columns, skip_bad=plan.skip_bad)
        texts = Texts.from_arrow(rows.texts)
        parts = [maker.make(part) for part in texts.slices(slice_bytes)]
        # Texts are not kept: they would fill the memory.
        return replace(rows, texts=rows.texts.slice(0, 0)), join_rows(parts)

    done = 0
    blocks: list[TextBlock] = []
    parts: list[SketchRows] = [maker.make(Texts.from_arrow(pa.array([], pa.large_string())))]
    work = ((source, block) for source in sources for block in source.blocks())
    for block, part in map_ordered(sign_block, work, n_workers):
        blocks.append(block)
        parts.append(part)
        done += len(block)
        progress("sketch", done, None)
    ids = pa.concat_arrays([pa.array([], pa.large_string()), *(block.ids for block in blocks)])
    _check_unique(ids)
    skipped = tuple(row for block in blocks for row in block.skipped)
    return Sketches(maker.describe(), ids, join_rows(parts), skipped)


def _check_unique(ids: pa.Array) -> None:
    if pc.count_distinct(ids).as_py() == len(ids):
        return
    counts = pc.value_counts(ids)
    repeated = pc.filter(counts.field("values"), pc.greater(counts.field("counts"), 1))
    message = f"id {repeated[0].as_py()!r} comes twice; ids must differ, choose another id_column"
    raise InvalidInputError(message)


def sketch(
    data: Any,
    *,
    kind: SketchKind = "minhash",
    num_perm: int | None = None,
    size: int | None = None,
    modulus: int | None = None,
    fingerprint: Fingerprint | None = None,
    tf: TermFrequency | None = None,
    idf: InverseFrequency | None = None,
    idf_from: Any = None,
    compression: int | None = None,
    neighbourhood: int | None = None,
    hash: WindowHash | None = None,  # noqa: A002 - the option's name everywhere
    letters: int | None = None,
    residue: int | None = None,
    seed: int | None = None,
    tokenizer: str | Path | TokenFunction | None = None,
    ngram: int | None = None,
    occurrences: Occurrences = "set",
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    text_column: str = "text",
    id_column: str | None = None,
    lines: bool = False,
    on_error: OnError = "raise",
    workers: int | None = None,
    progress: Progress = no_progress,
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
    fingerprint
        Of ``smallest`` and ``modulo``: how shingles are hashed, ``mixer`` (the default) or
        ``rabin``.
    tf, idf, idf_from
        What shingles weigh, for ``weighted``; ``raw`` and ``unary`` by default. With another idf
        documents of ``idf_from`` are counted, those of ``data`` without it; only sketches that
        rest on the same counts can be compared.
    compression, neighbourhood, hash, letters, residue
        Of ``edit``: characters for a symbol, 100 by default; characters of a window; how windows
        are hashed; how many symbols there are; see ``sketches.edit.signature.EditScheme``.
    seed
        Selects the hash functions; None is 42.
    tokenizer, ngram, occurrences, casefold, unicode_form, strip_accents, fold_digits
        How texts become sets of shingles; as for ``deduplicate``. Shingles are of 5 tokens, for
        ``weighted`` of 1. ``edit`` takes characters, and the last four only.
    text_column, id_column, lines, on_error, workers, progress
        As for ``deduplicate``.

    Returns
    -------
    The sketches: ``write`` puts them into a file, ``to_arrow`` gives a table; ``estimate`` compares
    them. There is no text in them.

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
        fingerprint=fingerprint,
        tf=tf,
        idf=idf,
        idf_from=idf_from,
        compression=compression,
        neighbourhood=neighbourhood,
        hash=hash,
        letters=letters,
        residue=residue,
        seed=seed,
        tokenizer=tokenizer,
        ngram=ngram,
        occurrences=occurrences,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
        text_column=text_column,
        id_column=id_column,
        on_error=on_error,
    )
    make_maker(options)
    return sketch_sources(
        resolve_inputs(data, lines=lines),
        options,
        idf_sources=None if idf_from is None else resolve_inputs(idf_from, lines=lines),
        workers=workers,
        progress=progress,
    )
