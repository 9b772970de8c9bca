"""The options of jobs that find passages in documents, and cut them out."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from neardup.errors import InvalidParameterError
from neardup.options.choices import (
    AlignMeasure,
    AlignmentSummary,
    CutPreset,
    CutUnit,
    Data,
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
    WITH_TEXT,
    BandOptions,
    KeepOptions,
    SeedOptions,
    TextAgainstOptions,
    TextReadingOptions,
    TokenOptions,
    WeightOptions,
    WhereOptions,
)
from neardup.options.kinds import Choice, CountOrPercent, Text, Whole
from neardup.options.option import Options, but, no_effect, option
from neardup.options.presets import Preset, PresetOptions, preset_option

# Of what is found by min-hashes, unless recall or hits are given.
DEFAULT_RECALL = Fraction(99, 100)


class PassageSchemeOptions(SeedOptions, TokenOptions):
    """What decides an index of passages, but for ``min_tokens``; None is the default."""

    num_perm: int | None = option(
        BandOptions.known["num_perm"],
        default=None,
        kind=Whole(8, 1024, within="8 and 1,024", or_none=True),
        help="Hash functions; 0: none, all that may be similar is compared.",
        usual="64",
        python="Hash functions, 8 to 1,024; None is 64. More of them find passages with fewer "
        "vain comparisons; the index grows with their number. 0: none; a third of the size, made "
        "in a fraction of the time, and nothing is missed, but long queries take longer: all that "
        "may be similar is compared.",
    )
    tf: TermFrequency | None = option(
        WeightOptions.known["tf"],
        default=None,
        help="What a token weighs by how often a passage has it; binary: once is enough.",
        usual="binary",
        python="What a token, or a shingle, weighs: ``binary`` (once is as good as often; the "
        "default), ``raw``, ``log``, ``squared`` or ``saturating``.",
    )
    idf: InverseFrequency | None = option(
        WeightOptions.known["idf"],
        default=None,
        help="What it weighs by how few documents have it; unary: all the same.",
        usual="unary",
        python="That times ``unary`` (1; the default), ``standard``, ``smooth`` or "
        "``probabilistic``, counted over the documents of the first addition.",
    )
    differs = but(
        ngram={
            "help": "Tokens in a shingle; passages are compared by their shingles.",
            "usual": "1",
            "python": "Tokens in a shingle, 1 to 65,536; None is 1. Passages are compared by their "
            "shingles, runs of ``ngram`` tokens, so that the order of words counts; 1: by their "
            "tokens.",
        }
    )


class PassageOptions(PresetOptions, PassageSchemeOptions):
    """Everything that decides an index of passages."""

    preset: PassagePresetName | None = preset_option(
        PassagePresetName, "tokenizer", "casefold", "ngram", "min_tokens", "idf"
    )
    min_tokens: int = option(MIN_TOKENS, default=50, usual="")
    num_perm: int = 64
    tf: TermFrequency = "binary"
    idf: InverseFrequency = "unary"
    seed: int = 42
    tokenizer: str | Path = "words"
    ngram: int = 1

    @classmethod
    def row(cls, preset: Preset, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what is chosen for an index."""
        found = preset.passages
        return {} if found is None else {"min_tokens": found.min_tokens, **found.scheme}


# How many times as much as what it holds a passage may weigh.
MOST_TIMES = 20


class ContainedOptions(Options):
    """What of two passages must be similar: both as wholes, or one to a part of the other."""

    measure: AlignMeasure = option(
        "jaccard: of what two passages have, the share that both have; containment: the share of "
        "the query that a passage holds, which may be longer.",
        default="jaccard",
        python="``jaccard``, what both have over what either has; or ``containment``, what both "
        "have over what the query has, so that the other may be longer, and weigh up to "
        f"{MOST_TIMES} times as much. Of those that hold enough the one of the greatest Tversky "
        f"index is taken, in which a token that the query has not counts one of {MOST_TIMES}.",
    )

    @property
    def most_times(self) -> int:
        """How many times as much a passage may weigh; 0 where both are to be similar."""
        return 0 if self.measure == "jaccard" else MOST_TIMES


class HitsOptions(Options):
    """How surely passages are found."""

    recall: Number | None = option(
        BandOptions.known["recall"],
        default=None,
        help="Least probability that a passage at the threshold is found; 1: all are compared that "
        "may be similar.",
        usual="0.99; 1 without min-hashes",
        python="Least probability with which a passage at the threshold is found; one that is more "
        "similar is found with a greater one. 1: all that may be similar is compared, which takes "
        "longer for long queries. None is 0.99, or 1 of an index without min-hashes.",
    )
    hits: int | None = option(
        "Min-hashes in common at least, instead of choosing their number for the recall.",
        Whole(1),
        default=None,
        python="Least number of min-hashes that a passage has in common with a query, instead "
        "of choosing it for the recall; ``num_perm * threshold``, rounded up: all whose "
        "estimated similarity reaches the threshold, and no others.",
        metavar="N",
    )

    def check_together(self) -> None:
        """Raise if both are given."""
        super().check_together()
        if self.recall is not None and self.hits is not None:
            message = (
                "recall and hits both say how surely passages are found, so that only one of them "
                "can be given; leave out the other"
            )
            raise InvalidParameterError(message, "recall", "hits")


class PlaceOptions(Options):
    """Where passages begin, as people cite it."""

    places: bool = option(
        "Also print line and column where passages begin.",
        default=False,
        python="Add ``query_place`` and ``doc_place``, line and column of the texts where passages "
        "begin.",
    )
    place_marker: str | None = option(
        "Tell it by what the text itself has, such as '^(\\w+ \\d+:\\d+)': the last match at or "
        "before the passage, or its first group.",
        Text(),
        default=None,
        python="Tell it, as with ``places``, by what the text itself has, where there is such: a "
        "regular expression of RE2, in which ``^`` is the beginning of a line, such as "
        '``r"^(\\w+ \\d+:\\d+)"``. It is the last match at or before the passage, or its first '
        "group.",
        metavar="REGEX",
    )

    # An option of whoever reads inputs.
    document: DocumentUnit | None = None

    @property
    def has_places(self) -> bool:
        """Whether it is told where passages begin."""
        return self.places or self.place_marker is not None or self.document is not None


class AlignOptions(WhereOptions, ContainedOptions, HitsOptions, PlaceOptions, TextAgainstOptions):
    """What decides the result of an alignment."""

    preset: PassagePresetName | None = preset_option(
        PassagePresetName,
        *("threshold", "recall", "min_tokens", "tokenizer", "casefold", "ngram", "idf"),
        python="; an index has its own, but for ``threshold`` and ``recall``",
    )
    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        help="Least similarity of two passages, in (0, 1]; an exact decimal.",
        usual="0.5; by containment 0.65",
        python="Least similarity of two passages, in (0, 1], taken as the exact decimal. None: "
        "0.5, by containment 0.65.",
    )
    min_tokens: int | None = option(
        MIN_TOKENS,
        default=None,
        kind=Whole(1),
        help="Tokens of the shortest passage, in either text.",
        usual="50; by containment 40; that of the index",
        python="Tokens of the shortest passage to report; of either text, because one may have "
        "lost some. Passages of so many (with an index: of one and a half times its "
        "``min_tokens``) are sure to hold a window that is looked up. None: 50, by containment "
        "40, or the index's.",
    )
    max_documents: int | str | None = option(
        "Leave out what more than N documents have, of OTHER or else of INPUT, such as "
        "licences and headers; P% is a share of them, of two at least.",
        CountOrPercent(),
        default=None,
        python="Leave out what more than so many documents of ``b``, or else of ``a``, have, "
        'such as licences and headers; ``"10%"`` is a share of them, of two at least.',
        metavar="N|P%",
    )
    within: bool = option(
        "Without --against: also passages that a document has twice.",
        default=False,
        python="Without ``b``: find also passages that one document has twice; the earlier "
        "place is the query's, and the two do not overlap.",
    )
    summary: AlignmentSummary | None = option(
        "documents: one row a pair of documents, with how much of either the other has.",
        Choice(AlignmentSummary, "documents or None"),
        default=None,
        python='``"documents"``: report also how much each pair of documents shares, as '
        "``document_pairs`` of the result, which is then its table.",
    )
    with_text: bool = option(WITH_TEXT, default=False)

    differs = but(
        measure={
            "help": "jaccard: of what two passages have, the share that both have; containment: of "
            "the query's passage, the share that is in the document's, which may be longer; "
            "doc-containment: of the document's; max-containment: of the shorter one.",
            "python": "``jaccard``, what both passages have over what either has; "
            "``containment``, over what that of ``a`` has, so that the other may be longer, as "
            "what a summary sums up; ``doc-containment``, over what that of ``b`` has; "
            "``max-containment``, one or the other. With them ``threshold`` and ``min_tokens`` are "
            "those of the passage that is contained.",
        },
        recall={
            "help": "Least probability that a passage of --min-tokens at the threshold is found, "
            "its words changed independently: windows are looked up below the threshold for it.",
            "usual": "0.99 for rewording, 0.95 by containment; else windows are looked up at the "
            "threshold",
            "python": "Least probability with which a passage of ``min_tokens`` tokens at the "
            "threshold is found, its words changed independently of each other. Windows are looked "
            "up as low as that takes; the lower, the longer it takes. None: windows are looked up "
            "at the threshold, by containment with 0.95, of a preset by what it chooses.",
        },
        hits={
            "help": "Look up windows by min-hashes, so many in common at least.",
            "python": "Look up windows by min-hashes, of which a passage has at least so many in "
            "common with a window; ``num_perm * threshold``, rounded up: all whose estimated "
            "similarity reaches the threshold, and no others. None: every window that is similar "
            "enough is found, without min-hashes.",
        },
    )

    def check_together(self) -> None:
        """Raise if some of these options exclude each other."""
        super().check_together()
        if self.measure != "jaccard":
            for name in ("hits", "within"):
                if getattr(self, name):
                    raise no_effect(name, f"with {self.measure}", "ask for jaccard", "measure")


class AlignSchemeOptions(AlignOptions, PassageSchemeOptions):
    """What decides an alignment, and the index that it makes if it is given none."""

    differs = but(
        idf={
            "usual": "unary; smooth for rewording; by containment standard, or smooth among fewer "
            "than 5 documents",
            "python": "That times ``unary`` (1), ``standard``, ``smooth`` or ``probabilistic``, "
            "counted over the documents that are indexed. None is ``unary``; by containment it is "
            "``standard``, or ``smooth`` among fewer than 5 documents; of a preset what it "
            "chooses.",
        }
    )


class IgnoreOptions(Options):
    """What counts nowhere."""

    ignore: Data | None = option(
        "Documents whose text counts nowhere, such as a prompt or a form: runs of tokens that "
        "they have are taken for not written. May be given several times.",
        default=None,
        python="Documents, in any form that ``a`` may have, whose text counts nowhere, such as "
        "a prompt or the template of a form: runs of tokens that they have, too, are taken for "
        "not written, and passages go on behind them. A run has a tenth of the tokens of the "
        "shortest passage, four at least; a shorter document is a run as a whole. An index "
        "keeps what it has, to which nothing is similar then.",
        metavar="FILE",
        is_repeatable=True,
    )


class LookUpOptions(
    WhereOptions, PresetOptions, ContainedOptions, HitsOptions, PlaceOptions, TextReadingOptions
):
    """What decides the result of a search for passages, at whatever threshold."""

    preset: PassagePresetName | None = preset_option(PassagePresetName, "threshold")
    measure: PassageMeasure = option(
        ContainedOptions.known["measure"], default="jaccard", kind=Choice(PassageMeasure)
    )
    with_text: bool = option(WITH_TEXT, default=False)

    def check_together(self) -> None:
        """Raise if some of these options exclude each other."""
        super().check_together()
        if self.measure != "jaccard":
            for name in ("hits", "recall"):
                if getattr(self, name) is not None:
                    raise no_effect(
                        name,
                        "with containment, of which nothing is missed",
                        "ask for jaccard",
                        "measure",
                    )

    @classmethod
    def row(cls, preset: Preset, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what is chosen for a search."""
        return {} if preset.passages is None else {"threshold": preset.passages.threshold}


class SearchOptions(LookUpOptions):
    """What decides the result of a search for passages."""

    threshold: Number = option(THRESHOLD, default="0.8")


class CutOptions(WhereOptions, PresetOptions, SeedOptions, TokenOptions, TextAgainstOptions):
    """Everything that decides the result of ``cut``."""

    preset: CutPreset | None = preset_option(
        CutPreset,
        *("tokenizer", "casefold", "ngram", "threshold", "min_tokens"),
        python="; with ``exact`` neither ``ngram`` nor ``threshold``",
    )
    unit: CutUnit | None = option(
        "What goes: passages of any extent, or whole paragraphs, parted by blank lines, or lines; "
        "with --exact also any three sentences in a row.",
        default=None,
        usual="passages",
        python="``passages``, any stretches of tokens; ``paragraphs``, parted by blank lines; "
        "``lines``; or, with ``exact``, ``sentences``, any three in a row. None is ``passages``.",
    )
    exact: bool = option(
        "Only what is equal, token by token.",
        default=False,
        python="Only what is equal token by token goes: each passage of ``min_tokens`` tokens "
        "that is there twice is found, and no other. Without it passages are found by "
        "alignment, paragraphs and lines by MinHash, with the ``recall``.",
    )
    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        help="Least similarity of what goes to what stays, in (0, 1]; an exact decimal.",
        usual="0.8",
        python="Least similarity of what goes to what stays for it, in (0, 1], as the exact "
        "decimal; None is 0.8. Of passages it is that of the multisets of their tokens, of "
        "paragraphs and lines the Jaccard similarity of their shingles.",
    )
    min_tokens: int | None = option(
        MIN_TOKENS,
        default=None,
        kind=Whole(1),
        help="Tokens of the shortest thing that goes.",
        usual="50; 5 of other units",
        python="Tokens of the shortest thing that goes; None is 50, of other units 5.",
    )
    min_documents: int | None = option(
        "Only what so many documents have, such as menus and footers; without it also what one "
        "has twice.",
        Whole(2),
        default=None,
        python="Only what so many documents have goes from all but the first; None: also what "
        "one has twice. Equal passages are counted by their windows of ``min_tokens`` tokens, "
        "similar ones as the one that stays and those like it, or like most of it.",
        metavar="N",
    )
    keep: str = option(
        KeepOptions.known["keep"],
        default="first",
        help="Whose copy stays: that of the first document, longest, shortest, max:COLUMN, "
        "min:COLUMN or priority:COLUMN=A,B,C; or several, parted by commas: where two are equal by "
        "one, the next decides. With --exact and --unit lines or paragraphs also none: every copy "
        "goes.",
        python="Whose copy stays: that of the document that is ``first``, ``longest``, "
        "``shortest``, ``max:COLUMN``, ``min:COLUMN`` or ``priority:COLUMN=A,B,C``; or "
        "several, parted by commas: where two are equal by one, the next decides, and in the end "
        "the input order. With ``exact`` and unit ``lines`` or ``paragraphs`` also ``none``: every "
        "copy goes, and names another one.",
    )
    replacement: str = option(
        "What is put in the place of something that goes; else nothing.", default=""
    )
    recall: Number | None = option(
        BandOptions.known["recall"],
        default=None,
        help="Least probability that what is similar is found.",
        usual="0.99; of passages 1 unless --num-perm or --seed are given",
        python="Least probability with which something similar at the threshold is found; None "
        "is 0.99. Of passages it is that of a window, and None is 1, or 0.99 where ``num_perm`` or "
        "``seed`` are given.",
    )
    num_perm: int | None = option(
        PassageSchemeOptions.known["num_perm"],
        default=None,
        usual="64; of other units 128",
        python="Hash functions; None is 64, of paragraphs and lines 128.",
    )
    differs = but(ngram={"usual": "1; 5 of other units"})

    @classmethod
    def row(cls, preset: Preset, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what is chosen for what goes: passages, or whole units."""
        found = preset.passages
        if given.get("unit") in ("paragraphs", "lines", "sentences"):
            if preset.units is None:
                message = "preset code is for passages; leave out unit, or the preset"
                raise InvalidParameterError(message, "preset", "unit")
            row = preset.units
        elif found is not None:
            row = {
                "threshold": found.threshold,
                "min_tokens": found.min_tokens,
                **found.scheme,
            }
        if not given.get("exact"):
            return row
        return {name: row[name] for name in row if name not in ("ngram", "threshold")}
