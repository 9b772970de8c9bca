"""Options that several commands share, in groups, and their conversion."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

from neardup.errors import InvalidParameterError

F = TypeVar("F", bound=Callable[..., Any])

MEASURES = ("jaccard", "cosine", "dice", "containment", "max-containment")
TERM_FREQUENCIES = ("binary", "raw", "log", "squared", "saturating")
INVERSE_FREQUENCIES = ("unary", "standard", "smooth", "probabilistic")


def _group(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Make one decorator of several; help lists the options in the order given."""

    def decorate(function: F) -> F:
        return reduce(lambda inner, option: option(inner), reversed(options), function)

    return decorate


def input_options(function: F) -> F:
    """Options about where documents come from."""
    return _group(
        click.option(
            "--text-column", default="text", show_default=True, help="Column of the text."
        ),
        click.option(
            "--id-column", help="Column of the ids; without it an id is <file name>:<row number>."
        ),
        click.option("--lines", is_flag=True, help="Text files hold one document a line."),
        click.option(
            "--on-error",
            type=click.Choice(["raise", "skip"]),
            default="raise",
            show_default=True,
            help="A bad row ends the run, or is kept, listed in the summary and left out. "
            "A column that a whole CSV or Parquet file lacks always ends it.",
        ),
    )(function)


def text_options(tokenizer_default: str = "words", ngram_default: str = "5") -> Callable[[F], F]:
    """Options about how texts become sets of shingles; the defaults as help describes them."""
    return _group(
        click.option(
            "--tokenizer",
            help="words, whitespace, characters, bytes, or the path of a tokenizer.json file.  "
            f"[default: {tokenizer_default}]",
        ),
        click.option("--ngram", type=int, help=f"Tokens in a shingle.  [default: {ngram_default}]"),
        click.option(
            "--occurrences",
            type=click.Choice(["set", "numbered"]),
            default="set",
            show_default=True,
            help="Shingles as a set, or each copy as an element of its own (multiset).",
        ),
        normalisation_options,
    )


def normalisation_options(function: F) -> F:
    """Options about differences between tokens that do not count."""
    return _group(
        click.option(
            "--casefold/--no-casefold",
            default=None,
            help="Upper and lower case are the same.  [default: for words only]",
        ),
        click.option(
            "--unicode-form", type=click.Choice(["NFC", "NFKC"]), help="Normalise text first."
        ),
        click.option("--strip-accents", is_flag=True, help="Accents do not count."),
        click.option("--fold-digits", is_flag=True, help="Digits of all scripts are the same."),
    )(function)


def passage_options(function: F) -> F:
    """Options about what passages are made of, and how they are hashed."""
    return _group(
        click.option(
            "--min-tokens",
            type=int,
            help="Tokens of the shortest passage that is found for certain.  [default: 50]",
        ),
        scheme_options,
    )(function)


def scheme_options(function: F) -> F:
    """Options about tokens, what they weigh, and hash functions of passages."""
    return _group(
        click.option("--num-perm", type=int, help="Hash functions.  [default: 64]"),
        click.option(
            "--tf",
            type=click.Choice(TERM_FREQUENCIES),
            help="What a token weighs by how often a passage has it; binary: once is enough.  "
            "[default: binary]",
        ),
        click.option(
            "--idf",
            type=click.Choice(INVERSE_FREQUENCIES),
            help="What it weighs by how few documents have it; unary: all the same.  "
            "[default: unary]",
        ),
        click.option("--seed", type=int, help="Selects the hash functions.  [default: 42]"),
        click.option(
            "--tokenizer",
            help="words, whitespace, characters, bytes, or the path of a tokenizer.json file.  "
            "[default: words]",
        ),
        normalisation_options,
    )(function)


def matching_options(function: F) -> F:
    """Options about what counts as similar, and how surely it is found."""
    return _group(
        click.option(
            "--measure",
            type=click.Choice([*MEASURES, "weighted-jaccard"]),
            default="jaccard",
            show_default=True,
            help="Similarity of two documents.",
        ),
        click.option(
            "--threshold",
            default="0.8",
            show_default=True,
            metavar="T",
            help="Least similarity, in (0, 1]; an exact decimal.",
        ),
        band_options,
    )(function)


def weight_options(function: F) -> F:
    """Options about what shingles weigh, for the measure with weights."""
    return _group(
        click.option(
            "--tf",
            type=click.Choice(TERM_FREQUENCIES),
            help="For weighted-jaccard: what a shingle weighs by how often a document has it.  "
            "[default: raw]",
        ),
        click.option(
            "--idf",
            type=click.Choice(INVERSE_FREQUENCIES),
            help="For weighted-jaccard: what it weighs by how few documents have it.  "
            "[default: smooth]",
        ),
    )(function)


def band_options(function: F) -> F:
    """Options about how surely similar documents are found by MinHash bands."""
    return _group(
        click.option(
            "--recall",
            metavar="P",
            help="Least probability that a pair at the threshold is found.  [default: 0.99]",
        ),
        click.option("--num-perm", type=int, help="MinHash functions at most.  [default: 128]"),
        click.option("--bands", type=int, help="Bands, instead of choosing them for the recall."),
        click.option("--rows", type=int, help="Rows in a band; goes with --bands."),
        click.option("--seed", type=int, help="Selects the hash functions.  [default: 42]"),
    )(function)


def run_options(function: F) -> F:
    """Options about how to run."""
    return _group(
        click.option("--workers", type=int, help="Threads.  [default: one a core]"),
        click.option("--quiet", is_flag=True, help="Print nothing but errors."),
        click.option(
            "--json", "as_json", is_flag=True, help="Print the result as one JSON object."
        ),
    )(function)


def spell_options(error: InvalidParameterError, command: click.Command) -> str:
    """Write an error's message with the command's options in place of the parameters it names.

    Values in quotes and names of files are left alone, whatever they read.
    """
    known = {option for parameter in command.params for option in parameter.opts}
    options = {name: "--" + name.replace("_", "-") for name in error.parameters}
    words = [re.escape(name) for name, option in options.items() if option in known]
    if not words:
        return str(error)
    pattern = rf"(?<![\w'-])(?:{'|'.join(words)})(?![\w'-]|\.\w)"
    return re.sub(pattern, lambda found: options[found[0]], str(error))


class SpellingGroup(click.Group):
    """A group whose commands' errors name their options as they are written.

    Help lists the commands in the order in which they were defined.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was chosen."""
        try:
            return super().invoke(ctx)
        except InvalidParameterError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            if command is None:
                raise
            spelled = spell_options(error, command)
            raise InvalidParameterError(spelled, *error.parameters) from error
