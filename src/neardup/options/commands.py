"""Which options each command has: those of its job, and its own; and the headings of help."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from neardup.options.groups import (
    AgainstDataOptions,
    AgainstOptions,
    BandOptions,
    KeepOptions,
    NamedOptions,
    NormalOptions,
    OpenOptions,
    ReadingOptions,
    TextReadingOptions,
    TokenOptions,
    WhereOptions,
    WorkerOptions,
    WorkspaceOptions,
)
from neardup.options.kinds import (
    Address,
    Whole,
)
from neardup.options.option import Option, Options
from neardup.options.running import CommandOptions, OutputOptions


def _one(options: type[Options], name: str, help: str | None = None, **changes: Any) -> Option:  # noqa: A002
    """Return an option of a class, changed as said."""
    return options.known[name].but(**changes if help is None else changes | {"help": help})


def _of(options: type[Options], *names: str, **changed: Any) -> tuple[Option, ...]:
    """Return the named options of a class, or all of them, some with another help, or changed."""
    return tuple(
        _one(options, name, changed[name])
        if isinstance(changed.get(name), str)
        else options.known[name].but(**changed.get(name, {}))
        for name in names or options.known
    )


_REPORTING = _of(OutputOptions, "quiet", "as_json")
_RUN = (*_of(WorkerOptions, "workers"), *_REPORTING)


_SAME_TOKENIZER = _of(OpenOptions, "tokenizer")
_OTHER_COLUMNS = _of(AgainstOptions, "against_text_column", "against_id_column")
_TABLE = _of(OutputOptions, "output", "page", "table_format", "overwrite")
_FOLDER = _of(
    OutputOptions,
    *("output", "output_format", "tables_only", "overwrite"),
    output="Folder or URL to create; - writes the rows that stay to standard output.",
    overwrite="Replace the output folder if it exists.",
)
_OVERWRITE_PAGE = (_one(OutputOptions, "overwrite", "Replace the page if it exists."),)
_IN_FILES = _of(WorkspaceOptions, work="Folder for temporary files.")


def _against(help_text: str) -> tuple[Option, ...]:
    """Return the options of another collection; ``help_text`` says what becomes of it."""
    return (*_of(AgainstDataOptions, against=help_text), *_OTHER_COLUMNS)


# What commands with Spark say of their work folder.
_ON_SPARK = (
    "With --engine spark a rerun resumes if this is given: a folder or URL that all executors "
    "reach."
)

# What commands say of Spark that look up in an index, and begin again in threads.
_WITH_INDEX_ON_SPARK = {
    "engine": "What does the work: threads of this process, or a Spark session; its executors have "
    "to reach inputs and the index under the same paths or URLs.",
    "fresh": "With --engine spark: start over instead of going on with a run that was stopped.",
}


@cache
def _of_documents() -> dict[str, tuple[Option, ...]]:
    from neardup.options.documents import (
        DedupOptions,
        DropOptions,
        PairOptions,
        ReportOptions,
        ReviewOptions,
    )

    return {
        "dedup": (
            *_FOLDER,
            *_of(OutputOptions, "page"),
            *_of(AgainstDataOptions),
            *_of(DedupOptions),
            *_of(CommandOptions, "pairs", "engine", "fresh", "with_text"),
            *_of(WorkspaceOptions, work=f"{WorkspaceOptions.known['work'].help} {_ON_SPARK}"),
            *_RUN,
        ),
        "pairs": (
            *_TABLE,
            *_of(
                AgainstDataOptions,
                against="Pairs of one document of INPUT and one of these files, or of this index; "
                "files may be given several times.",
            ),
            *_of(PairOptions),
            *_of(WorkspaceOptions, work=f"{WorkspaceOptions.known['work'].help} {_ON_SPARK}"),
            *_of(
                CommandOptions,
                *("fresh", "engine"),
                engine="What does the work: threads of this process, or a Spark session; its "
                "executors have to reach inputs under the same paths or URLs.",
            ),
            *_RUN,
        ),
        "explain": (
            *_against(
                "The files or the index that the documents were compared against, whose texts the "
                "folder lacks; files may be given several times."
            ),
            _one(
                OpenOptions,
                "tokenizer",
                "The tokenizer.json that was used, if one was.",
                metavar="FILE",
            ),
            *_RUN,
        ),
        "drop": (
            _one(
                NamedOptions,
                "named_in",
                "Table with the ids of the documents to remove, as written by `neardup "
                "search`, `neardup align` or `neardup pairs`, a .txt file with one id a line, or a "
                "folder that `neardup dedup` has written: what went there goes.",
                kind=Address(),
                is_required=True,
            ),
            *_FOLDER,
            *_of(DropOptions),
            *_IN_FILES,
            *_RUN,
        ),
        "report": (
            _one(
                OutputOptions,
                "output",
                "Page to create, a file or URL that ends in .html; - prints its examples.",
            ),
            *_of(
                AgainstDataOptions,
                against="The other documents that RESULT names, if it was made of two collections, "
                "or the folder of an index; files may be given several times.",
            ),
            *_of(CommandOptions, "labels"),
            *_of(ReportOptions),
            *_OVERWRITE_PAGE,
            *_RUN,
        ),
        "review": (
            _one(OutputOptions, "output", "Page to create, a file or URL that ends in .html."),
            *_of(
                AgainstDataOptions,
                against="The other documents that PAIRS names, if they are of two collections, or "
                "the folder of an index; files may be given several times.",
            ),
            *_of(
                CommandOptions,
                "labels",
                labels="Pairs that were judged before, as a page has handed them out: the page "
                "begins with them, and with the pairs nearest to their best threshold.",
            ),
            *_of(ReviewOptions),
            *_OVERWRITE_PAGE,
            *_RUN,
        ),
        "plan": (
            *_of(
                DedupOptions,
                *("measure", "threshold", "recall", "num_perm", "bands", "rows"),
                measure={"usual": "jaccard"},
                threshold={"usual": "0.8"},
            ),
            *_of(OutputOptions, "as_json"),
        ),
    }


@cache
def _of_passages() -> dict[str, tuple[Option, ...]]:
    from neardup.options.passages import (
        AlignSchemeOptions,
        CutOptions,
        IgnoreOptions,
    )

    return {
        "align": (
            *_against(
                "The other collection, or the folder of an index; files may be given several "
                "times. Without it, the documents of INPUT are compared with each other."
            ),
            *_TABLE,
            *(option for option in _of(AlignSchemeOptions) if option not in _OTHER_COLUMNS),
            *_of(IgnoreOptions),
            *_of(OutputOptions, "no_text"),
            *_of(
                WorkspaceOptions,
                work=f"Folder for temporary files, such as the index. {_ON_SPARK}",
            ),
            *_of(CommandOptions, "engine", "fresh", **_WITH_INDEX_ON_SPARK),
            *_RUN,
        ),
        "cut": (
            *_FOLDER,
            *_of(OutputOptions, "page"),
            *_of(
                AgainstDataOptions,
                against="Cut out what documents of these files, or of this index, have, and "
                "nothing else; files may be given several times.",
            ),
            *_of(NamedOptions, named_in={"kind": Address()}),
            *_of(CutOptions),
            *_of(
                WorkspaceOptions,
                work="Folder for temporary files. With --exact a rerun resumes from them; a run "
                f"that fits in --memory has none, and a rerun starts over. {_ON_SPARK}",
            ),
            _one(
                CommandOptions,
                "fresh",
                "With --exact: start over instead of going on with a run that was stopped.",
            ),
            _one(
                CommandOptions,
                "engine",
                "What does the work: threads of this process, or a Spark session, but for what "
                "--named-in names; its executors have to reach inputs and output under the same "
                "paths or URLs.",
            ),
            *_RUN,
        ),
    }


@cache
def _of_indexes() -> dict[str, tuple[Option, ...]]:
    from neardup.options.documents import DocumentSchemeOptions, DocumentSearchOptions
    from neardup.options.passages import PassageOptions, SearchOptions
    from neardup.options.presets import PresetOptions

    # Of an index whose kind decides which options have an effect.
    any_scheme = (
        *_of(PresetOptions),
        *_of(
            DocumentSchemeOptions,
            *("measure", "threshold", "tf", "idf", "ngram", "occurrences", "columns"),
            measure={
                "default": None,
                "help": "Documents: similarity of two texts.",
                "usual": "jaccard",
            },
            threshold={
                "default": None,
                "help": "Documents: least similarity that can be asked for, in (0, 1]; an exact "
                "decimal.",
                "usual": "0.8",
            },
            tf={
                "help": "What a token weighs by how often it is there; of documents for "
                "weighted-jaccard.",
                "usual": "binary; raw for documents",
            },
            idf={
                "help": "What it weighs by how few documents have it; of documents for "
                "weighted-jaccard.",
                "usual": "unary; smooth for documents",
            },
            ngram={"usual": "1; 5 for documents, 1 if weighted"},
            occurrences={
                "default": None,
                "help": "Documents: shingles as a set, or each copy as an element of its own.",
                "usual": "set",
            },
            columns="Documents: keep this column with each; may be given several times.",
        ),
        *_of(
            BandOptions,
            recall="Documents: least probability that one at the threshold is found.",
            num_perm={
                "help": "Hash functions, for documents at most; 0, for passages: none.",
                "usual": "64; 128 for documents",
                "kind": Whole(0, 65536),
            },
            bands="Documents: bands, instead of choosing them for the recall.",
            rows="Documents: rows in a band; goes with --bands.",
        ),
        _one(
            PassageOptions,
            "min_tokens",
            "Passages: tokens of the shortest one that is found for certain.",
            default=None,
            usual="50",
        ),
        *_of(TokenOptions, "tokenizer", "language"),
        *_of(NormalOptions),
        _one(
            OutputOptions, "no_text", "Documents: keep hashes of their shingles instead of texts."
        ),
    )
    return {
        "index build": (
            *_of(CommandOptions, "kind"),
            *any_scheme,
            *_of(TextReadingOptions),
            *_of(WhereOptions),
            _one(OutputOptions, "overwrite", "Replace the folder if it exists."),
            *_RUN,
        ),
        "index add": (*_SAME_TOKENIZER, *_of(TextReadingOptions), *_of(WhereOptions), *_RUN),
        "index remove": (*_of(CommandOptions, "id_file", "deny"), *_REPORTING),
        "index compact": (*_SAME_TOKENIZER, *_RUN),
        "index info": (*_SAME_TOKENIZER, *_of(OutputOptions, "as_json")),
        "search": (
            *_TABLE,
            *_of(
                SearchOptions,
                *("preset", "threshold", "measure", "recall", "hits", "with_text"),
                *("places", "place_marker"),
                measure={"default": None, "usual": "jaccard"},
                threshold={
                    "default": None,
                    "usual": "0.8; of documents that of the index, with --top any",
                },
                recall={
                    "help": "Passages: least probability that one at the threshold is found.",
                    "usual": "0.99",
                },
                hits="Passages: min-hashes in common at least, instead of choosing their number "
                "for the recall.",
            ),
            _one(
                DocumentSearchOptions,
                "limit",
                "Documents: only the N that are most similar to each query.",
            ),
            *_of(DocumentSearchOptions, "top"),
            *_of(OutputOptions, "no_text"),
            *_SAME_TOKENIZER,
            *_of(TextReadingOptions),
            *_of(WhereOptions),
            *_of(
                WorkspaceOptions,
                memory=f"Passages: {WorkspaceOptions.known['memory'].help}",
                work=f"Folder for temporary files of passages. {_ON_SPARK}",
            ),
            *_of(CommandOptions, "engine", "fresh", **_WITH_INDEX_ON_SPARK),
            *_RUN,
        ),
    }


@cache
def _of_sketches() -> dict[str, tuple[Option, ...]]:
    from neardup.options.sketches import (
        ClusterOptions,
        CompareOptions,
        EstimateOptions,
        SketchOptions,
    )

    return {
        "compare": (
            *_of(OutputOptions, "html"),
            *_of(CommandOptions, "show_all"),
            *_of(CompareOptions),
            _one(
                ReadingOptions,
                "encoding",
                "Encoding of both texts, by its name in Python.",
                usual="utf-8",
            ),
            *_OVERWRITE_PAGE,
            *_RUN,
        ),
        "sketch": (
            *_of(
                OutputOptions,
                *("output", "overwrite"),
                output={"help": "File or URL to create, ending in .parquet."},
            ),
            *_of(SketchOptions),
            *_RUN,
        ),
        "estimate": (
            *_TABLE,
            *_of(EstimateOptions),
            _one(
                KeepOptions,
                "clusters",
                "smallest, modulo: write clusters of A instead of pairs. Each document "
                "joins the cluster that it resembles most, by its first member or by its most "
                "popular hashes.",
                kind=ClusterOptions.known["representative"].kind,
                default=None,
            ),
            *_RUN,
        ),
    }


@cache
def _of_services() -> dict[str, tuple[Option, ...]]:
    from neardup.options.service import ServeOptions

    return {"serve": _of(ServeOptions)}


# What makes the options of each command, so that one loads those of its own job only.
_MAKERS: dict[str, Callable[[], dict[str, tuple[Option, ...]]]] = {
    "dedup": _of_documents,
    "pairs": _of_documents,
    "compare": _of_sketches,
    "explain": _of_documents,
    "index build": _of_indexes,
    "index add": _of_indexes,
    "index remove": _of_indexes,
    "index compact": _of_indexes,
    "index info": _of_indexes,
    "search": _of_indexes,
    "align": _of_passages,
    "cut": _of_passages,
    "drop": _of_documents,
    "sketch": _of_sketches,
    "estimate": _of_sketches,
    "report": _of_documents,
    "review": _of_documents,
    "serve": _of_services,
    "plan": _of_documents,
}


class _Commands(Mapping[str, tuple[Option, ...]]):
    def __getitem__(self, name: str) -> tuple[Option, ...]:
        return _MAKERS[name]()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MAKERS)

    def __len__(self) -> int:
        return len(_MAKERS)


# Of each command, in the order in which they are checked.
COMMANDS: Mapping[str, tuple[Option, ...]] = _Commands()

# Under which heading help lists each option: headings in order, options most used first. One that
# no heading names stands behind the one that the command's table has before it. A command has
# those headings for which it has options.
GROUPS: dict[str, tuple[str, ...]] = {
    "Input": (
        *("named_in", "id_file", "text_column", "against", "against_text_column"),
        *("column", "side"),
        *(
            "input_format",
            "document",
            "encoding",
            "on_error",
            "where",
        ),
    ),
    "Text": (
        *("tokenizer", "language", "ngram", "casefold", "strip_accents", "unicode_form"),
        *("occurrences", "fingerprint"),
    ),
    "Similarity": (
        *("preset", "unit", "threshold", "measure", "pairs", "max_distance", "min_tokens"),
        *("blocking", "method", "tf", "idf_from", "audit"),
        "edit_limit",
    ),
    "Sketches": ("kind", "recall", "num_perm", "super_shingles", "compression", "seed"),
    "Choice": (
        *("keep", "clusters", "top", "limit", "min_documents"),
        *("max_documents", "ignore", "within"),
    ),
    "Access": (*("host", "token_file", "writable"),),
    "Limits": ("max_body",),
    "Output": (
        *(
            "output",
            "page",
            "labels",
            "add",
            "deny",
            "output_format",
            "show_all",
            "html",
        ),
        *("replacement", "columns", "with_columns", "summary", "with_text", "no_text"),
        *("places", "place_marker"),
        *("overwrite", "as_json"),
    ),
    "Running": (
        *(
            "engine",
            "workers",
            "memory",
            "work",
            "fresh",
            "quiet",
        ),
    ),
}
_PLACES = {
    name: (heading, number)
    for heading, names in GROUPS.items()
    for number, name in enumerate(names)
}


def grouped(options: Iterable[Option]) -> dict[str, list[Option]]:
    """Return options by their headings; those that a command does not do without come first."""
    placed: list[tuple[str, int, Option]] = []
    for each in options:
        before = placed[-1][:2] if placed else ("", 0)
        placed.append((*_PLACES.get(each.name, before), each))
    placed.sort(key=lambda found: (not found[2].is_required, found[1]))
    found = {heading: [each for place, _, each in placed if place == heading] for heading in GROUPS}
    return {heading: members for heading, members in found.items() if members}
