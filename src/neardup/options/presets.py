"""Presets: options for kinds of text or likeness.

``PRESETS`` is their table. Options of jobs with presets extend ``PresetOptions``, which fills
options left out from the table. docs/presets.md has the reasons for the values and their results.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from neardup.options.choices import PresetName
from neardup.options.kinds import Choice
from neardup.options.option import Options, option


class PassagePreset(NamedTuple):
    """Options of an alignment, with index options in ``scheme``.

    Windows are looked up at ``window_threshold``, or as low as ``recall`` takes; without either at
    the threshold. With ``is_once``, a stretch of a query is in one passage per document.
    """

    threshold: str = "0.5"
    recall: str | None = None
    window_threshold: str | None = None
    min_tokens: int = 50
    gap: int | None = None
    is_once: bool = False
    scheme: Mapping[str, Any] = MappingProxyType({})


class Preset(NamedTuple):
    """A row of the table.

    ``documents`` are options of jobs that compare whole documents, ``passages`` of jobs that find
    passages; None: it is not for these.
    ``cuts`` is whether passages found with it may be cut out.
    """

    purpose: str
    documents: Mapping[str, Any] | None = None
    passages: PassagePreset | None = None
    cuts: bool = False


NO_PRESET = PassagePreset()

# Errors of a scanner spare more shingles of characters than of words. With one character in ten
# wrong, a third of the shingles of five characters are left. Unrelated texts have an eighth of
# these in common, but would have a third of the shingles of three characters.
_SCANNED: Mapping[str, Any] = {"tokenizer": "characters", "casefold": True, "ngram": 5}
_CODE: Mapping[str, Any] = {"tokenizer": "code", "ngram": 9}

PRESETS: dict[str, Preset] = {
    "ocr": Preset(
        "scanned text with wrong characters",
        # At this low threshold, more functions than usual save two of three comparisons.
        documents={**_SCANNED, "threshold": "0.35", "num_perm": 512},
        passages=PassagePreset(threshold="0.35", min_tokens=300, scheme=_SCANNED),
        cuts=True,
    ),
    "titles": Preset(
        "short records, such as titles, names and addresses",
        documents={
            "tokenizer": "characters",
            "casefold": True,
            "ngram": 2,
            "threshold": "0.65",
        },
    ),
    "code": Preset(
        "programs, whatever their names and comments",
        documents={**_CODE, "threshold": "0.6"},
        passages=PassagePreset(threshold="0.6", min_tokens=100, scheme=_CODE),
        cuts=True,
    ),
    # Long texts in few pieces; shorter passages are mostly phrases that recur. If a page was
    # written anew, windows are far less similar than the whole.
    "editions": Preset(
        "long texts that were revised",
        passages=PassagePreset(threshold="0.45", window_threshold="0.3", min_tokens=100),
    ),
    # A line or two, each by itself, hardly changed; shorter or less similar ones are chance.
    "quotations": Preset(
        "a line or two, hardly changed",
        passages=PassagePreset(threshold="0.6", min_tokens=15, gap=15),
    ),
    # Whole sentences in other words; rare words weigh more, because everybody has the others.
    # Their windows vary, so that they are looked up lower.
    "rewording": Preset(
        "sentences in other words",
        passages=PassagePreset(
            threshold="0.4", recall="0.99", is_once=True, scheme={"idf": "smooth"}
        ),
    ),
}


def passages_for(preset: str | None) -> PassagePreset:
    """Return the alignment options of a preset or the defaults."""
    return NO_PRESET if preset is None else PRESETS[preset].passages or NO_PRESET


def preset_option(literal: Any) -> Any:
    """Declare the preset option of a job by preset names."""
    kind = Choice(literal)
    described = "; ".join(f"{name}: {PRESETS[name].purpose}" for name in kind.values)
    return option(
        f"Options by kind of text: {', '.join(kind.values)}.",
        kind,
        default=None,
        more=f"{described}. Options that are given go before those of the preset.",
    )


class PresetOptions(Options):
    """Options of a job with presets for missing options.

    A subclass declares ``preset`` with the presets of its job, and implements ``row``.
    """

    heading = "Matching"

    preset: PresetName | None = preset_option(PresetName)

    @classmethod
    def row(cls, preset: Preset, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options that a preset adds to ``given``."""
        raise NotImplementedError

    @classmethod
    def implied(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options of the given preset, possibly none."""
        name = given.get("preset")
        if name is None:
            return {}
        cls.known["preset"].checked(name)
        row = cls.row(PRESETS[name], given)
        return {key: value for key, value in row.items() if key in cls.known}

    def describe_preset(self) -> dict[str, Any]:
        """Return the preset's options for a summary, possibly none."""
        return describe_preset(self.preset, self.implied(vars(self)), vars(self))


def describe_preset(
    preset: str | None, row: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the unchanged options of a preset for a summary."""
    if preset is None:
        return {}
    chosen = {
        name: float(value) if name in ("threshold", "recall") else value
        for name, value in row.items()
        if value is not None and options.get(name) == value
    }
    return {"preset": {"name": preset, "chosen": chosen}}
