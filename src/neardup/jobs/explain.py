"""``explain``: why a document was removed or kept, recomputed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.files.rows import ColumnNames
from neardup.index.index import check_restored
from neardup.matching.bands import Banding
from neardup.matching.measures import Measure, make_measure
from neardup.matching.verify import similar_to_first
from neardup.options.groups import ShingleOptions
from neardup.reading.sign import ReadingPlan, with_frequencies
from neardup.reports.examples import Document, compare_documents, example_lines, printable
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.sketches.minhash import MinHashScheme, WeightedMinHashScheme
from neardup.stages.output import Outcome, ShownTexts, Side, texts_of_documents
from neardup.stages.tables import ReadCollection
from neardup.tables import Floats, Int64s, Texts
from neardup.text.shingles import make_shingle_scheme
from neardup.text.tokenizers import TokenFunction, named_tokenizer
from neardup.text.weighting import WeightedScheme, Weighting, count_documents, frequency_lists

# Unit of integer weights.
_WEIGHT_UNIT = 2.0**-20


@dataclass(frozen=True)
class TextComparison:
    """An explained document compared with its keeper or nearest neighbour.

    ``common`` and ``sizes`` are numbers of shingles, or sums of weights: common ones, and all of
    each document. Both share a bucket in ``shared_bands``, numbered from 0; None without bands.
    """

    similarity: float
    common: float
    sizes: tuple[float, float]
    shared_bands: tuple[int, ...] | None
    n_bands: int | None


@dataclass(frozen=True, repr=False)
class ExplainResult:
    """The reason why a document was removed or kept.

    ``other`` is the keeper of a removed document; for a kept document, its nearest neighbour among
    all kept ones, None if no other shares a shingle with it. ``comparison`` is None if a text or
    the weights are unknown, ``removal``, the row of ``removed.parquet``, None for a kept document.
    ``note`` says what is missing and why.
    """

    document: Document
    other: Document | None
    comparison: TextComparison | None
    removal: dict[str, Any] | None
    cluster_id: int
    cluster_size: int
    measure: str
    threshold: float
    note: str = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._headline()})"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """Return the decision, the similarity and the differences as text."""
        lines = [self._headline(), f"  it is in {_place_of(self.document)}"]
        if self.other is not None and self.removal is not None:
            lines.append(f"  {printable(self.other.id)} is in {_place_of(self.other)}")
        if self.cluster_size > 1:
            size = counted(self.cluster_size, "document")
            lines.append(f"  cluster {self.cluster_id}, of {size}")
        lines += [f"  {sentence}" for sentence in self._compared()]
        if self.note:
            lines.append(f"  {self.note}")
        if self.other is not None and None not in (self.document.text, self.other.text):
            example = compare_documents("Differences", self.document, self.other)
            lines += ["", *example_lines(example)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the texts as plain values."""
        found = self.comparison
        other = self.other
        return {
            "id": self.document.id,
            "file": self.document.file,
            "row": self.document.row,
            "is_in": "kept" if self.removal is None else "removed",
            "removal": self.removal,
            "cluster_id": self.cluster_id,
            "cluster_size": self.cluster_size,
            "measure": self.measure,
            "threshold": self.threshold,
            "other": other and {"id": other.id, "file": other.file, "row": other.row},
            "similarity": found and found.similarity,
            "common_shingles": found and found.common,
            "shingles": found and list(found.sizes),
            "shared_bands": found and found.shared_bands and list(found.shared_bands),
            "bands": found and found.n_bands,
            "note": self.note or None,
        }

    def _headline(self) -> str:
        own = printable(self.document.id)
        if self.removal is None:
            n_removed = self.cluster_size - 1
            gone = f"; {counted(n_removed, 'document')} removed in favour of it"
            return f"{own} was kept{gone if n_removed else ''}"
        noted = self.removal["similarity"]
        why = ""
        if noted is not None:
            why = f": {self.measure} similarity {_number(noted)}, threshold {self.threshold:g}"
        if self.removal["exact_copy"]:
            why = ": it has the same tokens"
        where = {"input": "", "against": " of the other collection"}
        of = where.get(self.removal["kept_in"], ", which the index denies")
        return f"{own} was removed in favour of {printable(str(self.removal['kept_id']))}{of}{why}"

    def _compared(self) -> list[str]:
        found, other = self.comparison, self.other
        if found is None or other is None:
            return []
        what = "of weight in common" if self.measure == "weighted-jaccard" else "shingles in common"
        sizes = " and ".join(f"{size:,.10g}" for size in found.sizes)
        value = _number(found.similarity)
        if self.removal is None:
            threshold = "" if self.threshold is None else f", threshold {self.threshold:g}"
            first = f"nearest kept document: {printable(other.id)}, in {_place_of(other)}"
            first = f"{first}; {self.measure} similarity {value}{threshold}"
        else:
            first = f"computed again: {self.measure} similarity {value}"
            noted = self.removal["similarity"]
            if noted is not None and abs(noted - found.similarity) > 1e-9:
                first += f", not {_number(noted)}: the texts are not those that were compared, or "
                first += "other documents link the two"
        sentences = [first, f"{found.common:,.10g} {what}, of {sizes}"]
        if found.shared_bands is not None:
            n_shared = len(found.shared_bands)
            sentences.append(f"{n_shared:,} of {found.n_bands:,} bands have both in one bucket")
        return sentences


def _number(value: float) -> str:
    """Format a similarity, 0 or 1 only if exact."""
    return f"{min(max(value, 0.0001), 0.9999):.4f}" if 0 < value < 1 else f"{value:.10g}"


def _place_of(document: Document) -> str:
    if document.file is None:
        return "the index"
    return f"{printable(document.file)}, row {document.row:,}"


def explain_document(
    outcome: Outcome,
    identifier: object,
    runner: Runner,
    *,
    against: ReadCollection | None = None,
    tokenizer: str | Path | TokenFunction | None = None,
) -> ExplainResult:
    """Explain the decision about a document of a deduplication.

    ``against`` is the reference collection, if it is available, and ``tokenizer`` that of the
    deduplication, if it was a file or a function.
    """
    number = _number_of(outcome, identifier)
    row = outcome.clusters.take(np.array([number])).to_pylist()[0]
    summary = outcome.summary
    scheme: DecidingScheme | None = restore_scheme(summary, tokenizer)
    note = ""
    if summary["reading"]["input_format"] == "bytes":
        scheme, note = None, "documents are bytes, so nothing is compared again"
    elif scheme and scheme.reading.needs_frequencies:
        with runner.stage("count"):
            scheme = _weighed(scheme, outcome, against)
        if scheme is None:
            note = "shingles were weighed by other documents, so nothing is compared again"
    removal = comparison = other = None
    if row["is_duplicate"]:
        place = outcome.documents.n_gone_before(number)
        shown = ShownTexts(outcome, against, runner, removed=[place], keepers=[place])
        pair, removal = shown.removal(place), shown.row(place)
        document, other = pair.first, pair.second
        if other.text is None:
            note = pair.no_text or "the other document is of a collection that was not named"
    else:
        document = _read_kept(outcome, number)
        if scheme is not None and document.text is not None:
            with runner.stage("closest"):
                other = _find_nearest(outcome, number, document, scheme, runner)
            if other is None:
                note = "no other kept document shares a shingle with it"
    if scheme is not None and other is not None and None not in (document.text, other.text):
        comparison = _compare(document, other, scheme)
    return ExplainResult(
        document=document,
        other=other,
        comparison=comparison,
        removal=removal,
        cluster_id=row["cluster_id"],
        cluster_size=row["cluster_size"],
        measure=summary["measure"],
        threshold=summary["threshold"],
        note=note,
    )


def _number_of(outcome: Outcome, identifier: object) -> int:
    wanted, first = pa.scalar(str(identifier), pa.large_string()), 0
    for batch in outcome.clusters.batches("id"):
        place = pc.index(batch["id"].cast(pa.large_string()), wanted).as_py()
        if place >= 0:
            return int(first + place)
        first += len(batch)
    message = f"no document has the id {str(identifier)!r}; clusters.parquet has all ids"
    if n_rows := outcome.summary.get("filtered_rows"):
        message += f"; {counted(n_rows, 'row')} did not meet where (--where)"
    raise InvalidParameterError(message, "id")


def _read_kept(outcome: Outcome, number: int) -> Document:
    """Return a kept document with its text."""
    row = outcome.clusters.take(np.array([number])).to_pylist()[0]
    text = outcome.texts("kept", row["file"], [row["row"]])[0]
    return Document(str(row["id"]), row["file"], row["row"], text)


def _weighed(
    scheme: DecidingScheme, outcome: Outcome, against: ReadCollection | None
) -> DecidingScheme | None:
    """Return the scheme with counted frequencies, None if they differ."""
    shingles = scheme.reading.shingles
    frequencies = count_documents(
        frequency_lists(shingles.tokenizer.hash_tokens(texts), shingles)
        for texts in _all_texts(outcome, against)
    )
    if frequencies.digest() != scheme.frequencies:
        return None
    return replace(scheme, reading=with_frequencies(scheme.reading, frequencies))


def _all_texts(outcome: Outcome, against: ReadCollection | None) -> Iterator[Texts]:
    sides: tuple[Side, Side] = ("kept", "removed")
    for side in sides:
        yield from (texts for _, texts in outcome.blocks(side))
    for source in [] if against is None else against.sources:
        assert against is not None
        for block in source.blocks():
            texts = block.parse(against.columns, skip_bad=against.skip_bad).text.drop_null()
            yield Texts.from_arrow(texts, block.language)


def _find_nearest(
    outcome: Outcome, number: int, document: Document, scheme: DecidingScheme, runner: Runner
) -> Document | None:
    """Return the most similar kept document, the first on ties.

    All kept texts are read once. In a directed measure, the explained one is removable.
    """
    own = texts_of_documents(document)

    def nearest_of(block: tuple[Int64s, Texts]) -> tuple[float, int]:
        numbers, texts = block
        similarities, _, _ = _similarities(own, texts, scheme)
        similarities[numbers == number] = -1.0
        best = int(np.argmax(similarities))
        return float(similarities[best]), -int(numbers[best])

    found = max(runner.map(nearest_of, outcome.blocks("kept")))
    return _read_kept(outcome, -found[1]) if found[0] > 0 else None


def _compare(own: Document, other: Document, scheme: DecidingScheme) -> TextComparison:
    similarities, common, sizes = _similarities(
        texts_of_documents(own), texts_of_documents(other), scheme
    )
    unit = _WEIGHT_UNIT if scheme.reading.weighted else 1
    bands = scheme.shared_bands(texts_of_documents(own, other))
    return TextComparison(
        similarity=float(similarities[0]),
        common=common.item() * unit,
        sizes=(sizes[0].item() * unit, sizes[1].item() * unit),
        shared_bands=bands,
        n_bands=scheme.n_bands,
    )


def _similarities(
    own: Texts, texts: Texts, scheme: DecidingScheme
) -> tuple[Floats, Int64s, Int64s]:
    """Compare one text with others, exactly.

    Returns similarities, common parts, and all sizes, its own first. Empty sets match nothing.
    """
    sets = scheme.reading.sets_of(Texts.joined(own, texts))
    sizes = sets.totals
    others, shared = similar_to_first(sets, type(scheme.measure).lowest())
    similarities: Floats = np.zeros(len(texts))
    common: Int64s = np.zeros(len(texts), np.int64)
    common[others - 1] = shared
    own_sizes = np.full_like(shared, sizes[0])
    similarities[others - 1] = scheme.measure.similarities(shared, own_sizes, sizes[others])
    return similarities, common, sizes


# The scheme of a finished deduplication, restored from its summary.

# Another Unicode version changes a few letters of a few texts, which does not prevent an
# explanation.
_MAY_DIFFER = "unicode_version"


@dataclass(frozen=True)
class DecidingScheme:
    """The scheme of a deduplication for comparing two texts.

    ``reading`` has no bands if every pair was compared. ``frequencies`` is the digest of them.
    """

    measure: Measure
    reading: ReadingPlan
    frequencies: str | None = None

    @property
    def n_bands(self) -> int | None:
        """Number of bands, None without bands."""
        return None if self.reading.banding is None else self.reading.banding.bands

    def shared_bands(self, texts: Texts) -> tuple[int, ...] | None:
        """Return the bands, from 0, in which texts share a bucket, None without."""
        plan = self.reading
        if plan.banding is None:
            return None
        tokens = plan.shingles.tokenizer.hash_tokens(texts)
        if not np.diff(tokens.offsets).all():
            return ()
        (first, second), _ = plan.sketch(tokens)
        return tuple(np.flatnonzero(first == second).tolist())


def restore_scheme(
    summary: Mapping[str, Any], tokenizer: str | Path | TokenFunction | None = None
) -> DecidingScheme:
    """Restore the scheme of a summary.

    ``tokenizer`` is the file or the function of the deduplication, if it had one.
    """
    described, threshold = summary["scheme"], summary["threshold"]
    chosen = _tokenizer(str(described["tokenizer"]), tokenizer)
    known = {key: described[key] for key in ShingleOptions.known if key in described}
    shingles = make_shingle_scheme(**(known | {"tokenizer": chosen}))
    restored = shingles.describe()
    check_restored(
        {key: value for key, value in restored.items() if key != _MAY_DIFFER},
        {key: described.get(key) for key in restored if key != _MAY_DIFFER},
    )
    measure = make_measure(summary["measure"], threshold)
    weighted, banding, minhash = None, None, None
    if measure.is_weighted:
        weighted = WeightedScheme(Weighting(described["tf"], described["idf"]))
    if "bands" in summary and summary["method"] == "minhash":
        banding = Banding(int(summary["bands"]), int(summary["rows"]))
        kind = WeightedMinHashScheme if weighted else MinHashScheme
        minhash = kind(banding.num_perm, int(described["seed"]))
    reading = ReadingPlan(ColumnNames(), shingles, minhash, banding, weighted=weighted)
    return DecidingScheme(measure, reading, described.get("frequencies"))


def _tokenizer(
    name: str, tokenizer: str | Path | TokenFunction | None
) -> str | Path | TokenFunction:
    if named_tokenizer(name) is not None:
        if tokenizer not in (None, name):
            message = f"the documents were cut into {name}; leave tokenizer out"
            raise InvalidParameterError(message, "tokenizer")
        return name
    if tokenizer is None:
        message = (
            f"the texts were cut by {name}, which is not among what was written; give it with "
            "tokenizer"
        )
        raise InvalidParameterError(message, "tokenizer")
    return tokenizer
