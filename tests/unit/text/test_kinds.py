"""What kind of text a sample is: thresholds against texts of either kind."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import random
from pathlib import Path

import pytest

from native.manual import manual_pages
from neardup.text.kinds import are_bare_letters, are_code, are_framed, are_misread
from tests.each import each_of

ROOT = Path(__file__).parents[3]
SHARED = ROOT.parent / "shared/data"
# As hints sample them.
N_TEXTS, N_CHARACTERS = 128, 128_000
# What machines read letters as.
MISREAD = dict(zip("ehilotsnuaqwdvrmck", "cblIof5unogvcyrneh", strict=True)) | {
    "m": "rn",
    "w": "vv",
}


def sample(texts: list[str], seed: int = 0) -> list[str]:
    """Take the beginnings of some texts."""
    chosen = random.Random(seed).sample(texts, min(N_TEXTS, len(texts)))
    return [text[: N_CHARACTERS // len(chosen)] for text in chosen]


def misread(texts: list[str], share: float, seed: int = 0) -> list[str]:
    """Misread a share of the letters: most for one that is like it, some for any, some left out."""
    drawn = random.Random(seed)

    def read(letter: str) -> str:
        if letter.isspace() or drawn.random() >= share:
            return letter
        kind = drawn.random()
        if kind < 0.1:
            return ""
        if kind < 0.2:
            return letter + drawn.choice(".,'-")
        return MISREAD.get(letter.lower(), drawn.choice("etaoin"))

    return ["".join(map(read, text)) for text in texts]


def licences() -> list[str]:
    with gzip.open(ROOT / "examples/licences.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def files(pattern: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(pattern))]


PROSE = {
    "licences": licences,
    "pages with examples": lambda: files("docs/*.md"),
    "manual": lambda: list(manual_pages().values()),
    "notes": lambda: [(ROOT / "CHANGELOG.md").read_text(encoding="utf-8")],
}
PROGRAMS = {
    "Python": lambda: files("src/neardup/**/*.py"),
    "tests": lambda: files("tests/**/*.py"),
    "C": lambda: files("native/*.c"),
    "JavaScript": lambda: files("src/neardup/*/templates/*.js"),
}
JAVA = """
package org.example.text;

import java.util.ArrayList;

/** Counts words. */
public final class Counter {
    private final Map<String, Integer> counts = new HashMap<>();

    public void add(String word) {
        counts.merge(word, 1, Integer::sum);
    }

    public int of(String word) {
        return counts.getOrDefault(word, 0);
    }
}
"""


@each_of("name", PROSE)
def test_prose__is_neither_code_nor_misread(name):
    texts = PROSE[name]()
    for seed in range(5):
        assert not are_code(sample(texts, seed))
        assert not are_misread(sample(texts, seed))


@each_of("name", PROGRAMS)
def test_programs__are_code_and_not_misread(name):
    texts = PROGRAMS[name]()
    assert texts
    for seed in range(5):
        assert are_code(sample(texts, seed))
        assert not are_misread(sample(texts, seed))


def test_code__of_java_and_mixed_with_prose():
    prose = sample(licences())[:2]
    assert are_code([JAVA])
    assert are_code([JAVA, JAVA, JAVA, *prose])
    assert not are_code([JAVA, *prose])
    assert not are_code([])
    # A page with examples: a third of its lines are of code.
    assert not are_code(["\n".join(["An example of it is", "as follows below:", "x = 1"] * 9)])
    assert are_code(["\n".join(["An example of it is", "y = f(2)", "x = 1"] * 9)])
    # Too few lines to tell.
    assert not are_code(["return x;", "y = 1"])
    # What is between comments counts, not how many of these there are.
    assert are_code(["# a comment\n" * 40 + "import os\nx = os.getcwd()\nprint(x)\n"])
    # Lines that no one has written take no time.
    assert not are_code(["x(" * 1_000_000])


@pytest.mark.parametrize("share", [0.01, 0.03, 0.05, 0.1])
def test_misread__letters_are_seen(share):
    """Of three texts, whatever the seed; each about 128,000 characters."""
    long = [text for text in licences() if len(text) > 1500]
    for texts in (long, files("docs/*.md"), list(manual_pages().values())):
        for seed in range(3):
            assert are_misread(misread(sample(texts, seed), share, seed))


def test_misread__few_words_say_nothing():
    assert not are_misread([])
    assert not are_misread(["the section of the scction"])
    known = "section " * 100
    # One is a slip, of which there have to be five.
    assert not are_misread([known + "scction"])
    assert are_misread([known, "sectlon scction soction saction se0tion"])
    # Words that are as frequent are words, and accents, first letters and endings make others.
    assert not are_misread([known + "scction " * 50])
    assert not are_misread(["konnte " * 100 + "könnte " * 5])
    assert not are_misread([known + "faction auction sections sectio sectiox sectoin"])


# Article 1 of the Universal Declaration of Human Rights, or its beginning.
ALPHABETS = {
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "Lao": "ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີ, ສິດທິ, ເສລີພາບແລະຄວາມສະເໝີພາບເທົ່າທຽມກັນ",
    "Khmer": "មនុស្សទាំងអស់ កើតមកមានសេរីភាព និងសមភាព ក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ",
    "Burmese": "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း",
}
OTHERS = {
    "Chinese": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。",
    "Japanese": "すべての人間は、生まれながらにして自由であり、かつ、平等である。",
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "Arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
    "English": "All human beings are born free and equal in dignity and rights.",
}


def test_letters__of_alphabets_without_spaces():
    assert [name for name, text in ALPHABETS.items() if not are_bare_letters([text])] == []
    assert [name for name, text in OTHERS.items() if are_bare_letters([text])] == []
    assert not are_bare_letters([])
    # Most tokens decide.
    thai, english = ALPHABETS["Thai"], OTHERS["English"]
    assert are_bare_letters([thai, english])
    assert not are_bare_letters([thai, 9 * (english + " ")])


# Collections that are not part of the repository.

CLEAN = {
    "bible-en-ot/verses.tsv.xz": [4, 5, 6, 7],
    "debian-descriptions/descriptions.jsonl.xz": ["text"],
    "eval-contamination/gsm8k-train.jsonl.xz": ["question"],
    "frankenstein-editions/chapters.jsonl.xz": ["text"],
    "kafka-docs-versions/docs.jsonl.xz": ["text"],
    "license-texts/texts.jsonl.xz": ["text"],
    "record-linkage/cora.records.jsonl.xz": ["f_title"],
    "rfc-revisions/docs.jsonl.xz": ["text"],
    "shakespeare-editions/plays.jsonl.xz": ["text"],
    "tang-poems-editions/poems.tsv.xz": [4],
    "wikipedia-edits/edits.jsonl.xz": ["before"],
}


def read(name: str, column: str | int) -> list[str]:
    if not (SHARED / name).exists():
        pytest.skip("the shared collections are not there")
    with lzma.open(SHARED / name, "rt", encoding="utf-8", newline="") as lines:
        if isinstance(column, int):
            rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            return [row[column] for row in rows][1:]
        return [str(json.loads(line).get(column)) for line in lines]


@pytest.mark.statistics
@pytest.mark.parametrize("name", CLEAN)
def test_collections__are_clean_prose(name):
    for column in CLEAN[name]:
        texts = read(name, column)
        for seed in range(5):
            part = sample(texts, seed)
            assert not are_code(part)
            assert not are_misread(part)
            assert not are_bare_letters(part)


@pytest.mark.statistics
@pytest.mark.parametrize("share", [0.01, 0.03, 0.05, 0.1])
@pytest.mark.parametrize("name", ["rfc-revisions/docs.jsonl.xz", "license-texts/texts.jsonl.xz"])
def test_collections__misread(name, share):
    texts = [text for text in read(name, "text") if len(text) > 3000]
    for seed in range(5):
        assert are_misread(misread(sample(texts, seed), share, seed))


def framed(text, seed, n_entries):
    """Put the menu and the footer of a site around a text."""
    site = random.Random(seed)
    entries = [f"{site.choice('abcdef') * 3} entry {site.randrange(99)}" for _ in range(n_entries)]
    footer = ["Copyright of all pages by the owner of this site", "About us, contact, imprint"]
    return "\n".join([*entries, text, *(footer if n_entries else [])])


@each_of("name", PROSE)
def test_framed__where_most_of_a_page_is_of_its_site(name):
    texts = list(dict.fromkeys(text[:400] for text in PROSE[name]()))
    # One line, as paragraphs are, so that all pages differ.
    texts = [f"{number}. " + " ".join(text.split()) for number, text in enumerate(texts)] * 120
    texts = [f"{number} {text}" for number, text in enumerate(texts[:120])]
    rng = random.Random(1)
    for n_sites in (1, 5):
        assert not are_framed([framed(text, rng.randrange(n_sites), 0) for text in texts])
        assert are_framed([framed(text, rng.randrange(n_sites), 60) for text in texts])


@each_of("name", PROSE)
def test_framed__no_texts_as_they_are(name):
    assert not are_framed(PROSE[name]())


def test_framed__copies_and_few_pages_are_not():
    page = "\n".join(f"line {n} of the page" for n in range(30))
    assert not are_framed([page] * 100)
    assert not are_framed([])
    assert not are_framed([""] * 100)
    pages = [f"{page}\nand {n}" for n in range(10)]
    assert are_framed(pages)
    assert not are_framed(pages[:9])
