"""Records of the sections on joins, as files and as sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora.files import corpus, first_lines
from benchmarks.corpora.records import given_files
from benchmarks.measuring.environments import cache_folder
from benchmarks.measuring.jobs import Job, Report, Settings, neardup_job, own_report

# The scripts that join in processes of their own.
SET_JOIN, EDIT_JOIN = "joins/set_join.py", "joins/edit_join.py"
THRESHOLDS = ("0.5", "0.7", "0.9")

# A corpus that is read only where somebody has it.
GIVEN = "descriptions"
QUICK_RECORDS = 500


@dataclass(frozen=True)
class Shape:
    """Records of a corpus, and what their sets consist of; case is folded.

    ``most`` takes only the first records.
    """

    corpus: str
    tokenizer: str
    ngram: int
    most: int | None = None

    @property
    def elements(self) -> str:
        """Name the elements of a set."""
        return f"{self.ngram}-grams of {self.tokenizer}"


TITLES = Shape("titles", "characters", 3, most=20_000)
DESCRIPTIONS = (Shape(GIVEN, "words", 3), Shape(GIVEN, "characters", 3))
LICENCES = Shape("licences", "words", 5)


def at_hand(*shapes: Shape) -> list[Shape]:
    """Return the shapes with a corpus; one must be given by NEARDUP_REAL_TEXTS."""
    return [shape for shape in shapes if shape.corpus != GIVEN or GIVEN in given_files()]


def thresholds(settings: Settings) -> tuple[str, ...]:
    """Return the thresholds to measure at."""
    return ("0.8",) if settings.quick else THRESHOLDS


def source_of(settings: Settings, name: str, most: int | None = None) -> Path:
    """Return the file of a corpus or of its first records; of few if all is to be quick."""
    if settings.quick:
        most = QUICK_RECORDS
    return corpus(name) if most is None else first_lines(corpus(name), most)


def prepare_sets(settings: Settings, shape: Shape) -> tuple[Path, int]:
    """Cut records into sets; return these, as the scripts want them named, and their number.

    The first sets are a fair sample of all.
    """
    source = source_of(settings, shape.corpus, shape.most)
    stem = cache_folder() / f"sets-{shape.corpus}-{shape.ngram}-{shape.tokenizer}"
    arguments = (str(source), str(stem), "--tokenizer", shape.tokenizer, "--ngram")
    report = own_report(settings, "joins/shingle_sets.py", *arguments, str(shape.ngram))
    return stem, report["records"]


def together(reports: list[Report]) -> Report:
    """Put the times of several reports of the same work into one."""
    times = {
        name: [time for report in reports for time in report[name]] for name in ("seconds", "cpu")
    }
    return {**reports[0], **times}


def pairs_job(settings: Settings, source: Path, *options: str) -> Job:
    """Return the job ``neardup pairs SOURCE``."""
    return neardup_job(settings, "pairs", "pairs.parquet", str(source), *options)
