"""Makes the pages of the gallery: python -m docs.gallery.make [--data DIR] [NAME...].

They are kept compressed; the site unpacks them.
Pages of examples are made of what is in the repository; the others need the files that README.md
lists, in DIR. ``pictures.py`` makes the pictures.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import neardup

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Page:
    """A page of the gallery: where its texts are from, who may use them, and what makes it.

    ``make`` takes the folder of data and one for its own files; ``needs`` is a file of the first.
    """

    source: str
    address: str
    licence: str
    make: Callable[[Path, Path], Any]
    needs: str | None = None


def licences(_: Path, __: Path) -> Any:
    """Deduplicate licence texts, with an audit."""
    texts = EXAMPLES / "licences.jsonl.gz"
    return neardup.report(neardup.deduplicate(texts, threshold="0.9", id_column="id", audit=500))


def leakage(_: Path, own: Path) -> Any:
    """Search pages for the questions of a test."""
    pages, questions = EXAMPLES / "pages.jsonl", EXAMPLES / "questions.jsonl"
    index = neardup.PassageIndex.create(own / "index", min_tokens=20)
    index.add(pages, id_column="id")
    found = index.search(questions, "0.7", id_column="id")
    return neardup.report(found, questions, against=pages, id_column="id")


def frankenstein(data: Path, own: Path) -> Any:
    """Align the beginning of a chapter in manuscript and in two editions."""
    chapters = {
        "f1818_vol_1_chapter_iii": "1818, I iii",
        "f1831_chapter_iv": "1831, iv",
        "fMS_box_c56_chap_5": "manuscript, 5",
    }
    rows = [
        {"id": chapters[row["doc"]], "text": row["text"][:2000]}
        for row in lines(data / "chapters.jsonl.xz")
        if row["doc"] in chapters
    ]
    texts = saved(rows, own / "chapters.jsonl")
    found = neardup.align(texts, preset="editions", id_column="id")
    return neardup.report(found, texts, id_column="id")


def packages(data: Path, own: Path) -> Any:
    """Deduplicate descriptions of packages of one family."""
    rows = [row for row in lines(data / "descriptions.jsonl.xz") if row["id"].startswith("fcitx5")]
    texts = saved(rows, own / "packages.jsonl")
    found = neardup.deduplicate(texts, threshold="0.7", id_column="id", audit=500)
    return neardup.report(found)


def rfcs(data: Path, own: Path) -> Any:
    """Deduplicate long RFCs of which portions may be shown; the newer one stays."""
    numbered = [(int(row["id"].removeprefix("rfc")), row) for row in lines(data / "docs.jsonl.xz")]
    rows = [row for number, row in numbered if number >= 7000 and len(row["text"]) > 60_000]
    texts = saved(rows[::-1], own / "rfcs.jsonl")
    return neardup.report(neardup.deduplicate(texts, threshold="0.5", id_column="id"))


def poems(data: Path, own: Path) -> Any:
    """Link two editions of poems; right are those of one author and title."""
    with lzma.open(data / "poems.tsv.xz", "rt", encoding="utf-8") as file:
        head, *rest = (line.rstrip("\n").split("\t") for line in file)
    labels = [line.split("\t")[:2] for line in (data / "pairs.tsv").read_text().splitlines()[1:]]
    labels = [(a, b) for a, b in labels if int(a.removeprefix("A")) < 1500]
    named = {each for pair in labels for each in pair}
    rows = [dict(zip(head, line, strict=True)) for line in rest if line[0] in named]
    first, second = (
        saved([row for row in rows if row["edition"] == edition], own / f"edition-{edition}.jsonl")
        for edition in "AB"
    )
    found = neardup.find_pairs(
        first, second, threshold="0.2", tokenizer="characters", ngram=2, id_column="id"
    )
    right = [{"id_a": a, "id_b": b} for a, b in labels]
    return neardup.report(found, first, against=second, labels=right, id_column="id")


PAGES = {
    "licences": Page(
        "texts of ScanCode Toolkit 32.5.0 (aboutcode.org and nexB Inc.)",
        "https://github.com/aboutcode-org/scancode-toolkit",
        "the collection is under CC-BY-4.0; the texts are licences and notices",
        licences,
    ),
    "frankenstein": Page(
        "Frankenstein Variorum, commit 6065acb2fa7c; text without mark-up",
        "https://github.com/FrankensteinVariorum/fv-data",
        "the novel is in the public domain; the repository is under the Unlicense, headers of its "
        "files name CC BY-SA 3.0; credit: Frankenstein Variorum Project",
        frankenstein,
        "chapters.jsonl.xz",
    ),
    "leakage": Page(
        "written for neardup", "https://github.com/neardup/neardup", "Apache-2.0", leakage
    ),
    "packages": Page(
        "descriptions of packages of Debian 12, main",
        "https://www.debian.org/distrib/packages",
        "each is under the free licence of its package",
        packages,
        "descriptions.jsonl.xz",
    ),
    "rfcs": Page(
        "RFCs of the IETF, named by their numbers; unmodified portions",
        "https://www.rfc-editor.org/",
        "portions of less than a fifth of each, by 3.c of the IETF Trust's legal provisions",
        rfcs,
        "docs.jsonl.xz",
    ),
    "poems": Page(
        "Complete Tang Poems in two editions, npm package chinese-poetry 2.0.1",
        "https://www.npmjs.com/package/chinese-poetry",
        "the poems are in the public domain, the collection is under the MIT licence",
        poems,
        "poems.tsv.xz",
    ),
}


def lines(path: Path) -> Iterable[dict[str, Any]]:
    """Read JSON lines, compressed or not."""
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def saved(rows: Rows, path: Path) -> Path:
    """Write rows to a file, whose name the page shows."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def made(name: str, data: Path) -> str:
    """Make a page, with the source of its texts at its end."""
    page = PAGES[name]
    with TemporaryDirectory() as own:
        html: str = page.make(data, Path(own)).html
    foot = '<footer class="page-foot">\n'
    assert html.count(foot) == 1
    place = urlsplit(page.address)
    told = f"Texts: {page.source} ({place.netloc}{place.path}). Licence: {page.licence}."
    return html.replace(foot, f"{foot}<p>{escape(told)}</p>\n")


def keep(name: str, html: str) -> None:
    """Keep a page, compressed."""
    packed = lzma.compress(html.encode(), preset=9 | lzma.PRESET_EXTREME)
    (HERE / f"{name}.html.xz").write_bytes(packed)


def kept(name: str) -> str:
    """Return a page that is kept."""
    return lzma.decompress((HERE / f"{name}.html.xz").read_bytes()).decode()


def unpack(name: str, folder: Path = HERE) -> Path:
    """Write a page that is kept as HTML into a folder, and return where it is."""
    path = folder / f"{name}.html"
    path.write_text(kept(name), encoding="utf-8", newline="\n")
    return path


def main() -> None:
    """Make the pages that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of what README.md lists")
    parser.add_argument("names", nargs="*", choices=[*PAGES, []], help="pages; all by default")
    parser.add_argument("--unpack", action="store_true", help="make none; unpack those kept")
    given = parser.parse_args()
    for name in given.names or PAGES:
        if given.unpack:
            unpack(name)
            continue
        needs = PAGES[name].needs
        if needs and not (given.data and (given.data / needs).exists()):
            parser.exit(1, f"{name} needs {needs}; give the folder of it by --data\n")
        keep(name, made(name, given.data or HERE))


if __name__ == "__main__":
    main()
