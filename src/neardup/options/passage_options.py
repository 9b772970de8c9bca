"""Options of jobs that find or cut out passages."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from neardup.errors import InvalidParameterError
from neardup.options.choices import (
    AlignmentSummary,
    CutPreset,
    CutUnit,
    DocumentUnit,
    InverseFrequency,
    Number,
    PassageMeasure,
    PassagePresetName,
    TermFrequency,
)
from neardup.options.groups import (
    MIN_TOKENS,
    THRESHOLD,
    AgainstOptions,
    BandOptions,
    KeepOptions,
    ReadingOptions,
    SeedOptions,
    TokenOptions,
    WeightOptions,
    WhereOptions,
)
from neardup.options.kinds import Choice, CountOrPercent, Text, Whole
from neardup.options.option import Options, but, no_effect, option
from neardup.options.presets import Preset, PresetOptions, preset_option

# The least recall of searches by min-hashes.
DEFAULT_RECALL = Fraction(99, 100)


class PassageTokenOptions(TokenOptions):
    """Tokens of passages and their weights, None by default."""

    heading = "Matching"

    tf: TermFrequency | None = option(WeightOptions.known["tf"], default=None, usual="binary")
    idf: InverseFrequency | None = option(WeightOptions.known["idf"], default=None, usual="unary")
    differs = but(ngram={"usual": "1"})


class PassageSchemeOptions(SeedOptions, PassageTokenOptions):
    """Options of a passage index except ``min_tokens``, None by default."""

    heading = "Matching"

    num_perm: int | None = option(
        BandOptions.known["num_perm"],
        default=None,
        kind=Whole(8, 1024, or_none=True),
        help="Hash functions; 0 compares all that may be similar.",
        usual="64",
        more="An index without hash functions takes a third of the room and misses nothing, but "
        "long queries take longer.",
    )


class PassageOptions(PresetOptions, PassageSchemeOptions):
    """Options of an index of passages."""

    preset: PassagePresetName | None = preset_option(PassagePresetName)
    min_tokens: int = option(MIN_TOKENS, default=50, usual="")
    num_perm: int = 64
    tf: TermFrequency = "binary"
    idf: InverseFrequency = "unary"
    seed: int = 42
    tokenizer: str | Path = "words"
    ngram: int = 1

    @classmethod
    def row(cls, preset: Preset, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options that a preset chooses for an index."""
        found = preset.passages
        return {} if found is None else {"min_tokens": found.min_tokens, **found.scheme}


# The most that a passage may weigh, as a multiple of the weight that it contains.
MOST_TIMES = 20


class PassageMatchOptions(Options):
    """Measure, recall and form of matching passages."""

    heading = "Matching"

    measure: PassageMeasure = option(
        "jaccard, or containment: the share of the query found.",
        default="jaccard",
        more="A passage that contains the query may be longer; --threshold and --min-tokens apply "
        "to the query.",
    )
    recall: Number | None = option(
        BandOptions.known["recall"], default=None, usual="0.99; 1 without min-hashes"
    )
    with_text: bool = option("Add the texts of the passages.", default=False, heading="Output")
    places: bool = option(
        "Add line and column where passages begin.", default=False, heading="Output"
    )
    place_marker: str | None = option(
        "Cite passages by the last match of this regular expression.",
        Text(),
        default=None,
        more="Such as '^(\\w+ \\d+:\\d+)': the last match at or before the passage, or its first "
        "group.",
        metavar="REGEX",
        heading="Output",
    )

    # An option of whoever reads inputs.
    document: DocumentUnit | None = None

    @property
    def most_times(self) -> int:
        """Return a passage's most weight as a multiple, or 0."""
        return 0 if self.measure == "jaccard" else MOST_TIMES

    @property
    def has_places(self) -> bool:
        """Return whether places of passage starts are reported."""
        return self.places or self.place_marker is not None or self.document == "folder"


class AlignOptions(WhereOptions, PassageMatchOptions, AgainstOptions, PassageTokenOptions):
    """Options of an alignment and of its own index."""

    heading = "Matching"

    preset: PassagePresetName | None = preset_option(PassagePresetName)
    threshold: Number | None = option(THRESHOLD, default=None, usual="0.5; by containment 0.65")
    min_tokens: int | None = option(
        MIN_TOKENS,
        default=None,
        kind=Whole(1, 98_304),
        help="Tokens of the shortest passage, in either text.",
        usual="50; by containment 40; that of the index",
    )
    max_documents: int | str | None = option(
        "Leave out windows that more than N documents share.",
        CountOrPercent(),
        default=None,
        more="Such as licences and headers. The documents are those of OTHER, or else of INPUT; "
        "P% is a share of them, two at least.",
        metavar="N|P%",
    )
    within: bool = option("Also passages that one document has twice.", default=False)
    summary: AlignmentSummary | None = option(
        "documents: write one row per pair of documents.",
        Choice(AlignmentSummary),
        default=None,
    )
    differs = but(
        recall={"usual": "0.99 for rewording, 0.95 by containment; else windows at the threshold"},
        idf={"usual": "unary; smooth for rewording; by containment standard"},
    )

    def check_together(self) -> None:
        """Raise if options exclude each other."""
        super().check_together()
        if self.measure != "jaccard" and self.within:
            raise no_effect("within", f"with {self.measure}", "ask for jaccard", "measure")


class SearchOptions(WhereOptions, PresetOptions, PassageMatchOptions, ReadingOptions):
    """Options of a search for passages."""

    heading = "Matching"

    preset: PassagePresetName | None = preset_option(PassagePresetName)
    threshold: Number = option(THRESHOLD, default="0.8")

    def check_together(self) -> None:
        """Raise if options exclude each other."""
        super().check_together()
        if self.measure != "jaccard" and self.recall is not None:
            where = "with containment, of which nothing is missed"
            raise no_effect("recall", where, "ask for jaccard", "measure")

    @classmethod
    def row(cls, preset: Preset, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options that a preset chooses for a search."""
        return {} if preset.passages is None else {"threshold": preset.passages.threshold}


class CutOptions(WhereOptions, PresetOptions, SeedOptions, TokenOptions, AgainstOptions):
    """Options of the ``cut`` function."""

    heading = "Matching"

    preset: CutPreset | None = preset_option(CutPreset)
    unit: CutUnit | None = option(
        "Cut passages, paragraphs, lines or sentences.",
        default=None,
        usual="passages",
        more="Paragraphs are separated by blank lines; sentences are any three in a row. Units "
        "other than passages are cut if they are equal token by token.",
    )
    exact: bool = option("Cut only passages that are equal token by token.", default=False)
    threshold: Number | None = option(THRESHOLD, default=None, usual="0.8")
    min_tokens: int | None = option(
        MIN_TOKENS,
        default=None,
        kind=Whole(1, 2**31 - 1),
        help="Tokens of the shortest unit that is cut.",
        usual="50; 5 of other units",
    )
    min_documents: int | None = option(
        "Cut only what at least N documents have.",
        Whole(2),
        default=None,
        more="Such as menus and footers. Without it, repeats within one document are cut, too.",
        metavar="N",
    )
    keep: str = option(
        KeepOptions.known["keep"],
        default="first",
        more=f"{KeepOptions.known['keep'].more} The copy of the first document stays. With "
        "--unit lines or paragraphs also none: every copy is cut.",
    )
    replacement: str = option("Text in the place of each cut.", default="")
    recall: Number | None = option(
        BandOptions.known["recall"],
        default=None,
        usual="1; 0.99 if --num-perm or --seed are given",
    )
    num_perm: int | None = option(PassageSchemeOptions.known["num_perm"], default=None, usual="64")
    differs = but(ngram={"usual": "1"})

    @classmethod
    def row(cls, preset: Preset, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return preset options for passages."""
        found = preset.passages
        if given.get("unit") in ("paragraphs", "lines", "sentences"):
            message = "a preset of cut is for passages; leave out unit, or the preset"
            raise InvalidParameterError(message, "preset", "unit")
        if found is None:
            return {}
        row = {"threshold": found.threshold, "min_tokens": found.min_tokens, **found.scheme}
        if not given.get("exact"):
            return row
        return {name: row[name] for name in row if name not in ("ngram", "threshold")}
