"""Builder of one corpus: ``python -m benchmarks.corpora.build mixed`` prints its path."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpora.documents import first_part, prepare
from benchmarks.corpora.packaged import CORPORA
from benchmarks.corpora.records import RECORDS, given_files

if TYPE_CHECKING:
    from benchmarks.corpora.documents import Corpus


def all_corpora() -> dict[str, Corpus]:
    """Return the corpora of the package index and of given files, by name."""
    return given_files() | CORPORA | RECORDS


def main() -> None:
    """Build the corpus that is named."""
    corpora = all_corpora()
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("name", choices=sorted(corpora))
    parser.add_argument("--folder", type=Path, help="where the file goes (default: the cache)")
    parser.add_argument("--first", type=float, metavar="MB", help="also cut the first MB off")
    options = parser.parse_args()
    path = prepare(options.name, corpora[options.name], options.folder)
    if options.first is not None:
        path = first_part(path, options.first)
    print(path)


if __name__ == "__main__":
    main()
