"""How large archives may be: a small file can unpack to more than any disk holds."""

from __future__ import annotations

from neardup.errors import InvalidInputError

MOST_MEMBERS = 1_000_000
MOST_BYTES = 1 << 30
MOST_TIMES = 100
"""An archive may hold ``MOST_BYTES``, or ``MOST_TIMES`` its own size if that is more.

So may what is read at once of an Arrow or Parquet file. Text is compressed by a factor of 3 to 10,
and rows that repeat by more, which the first of the two allows for.
"""

UNPACK = "unpack it and name the folder"
"""What to do about an archive that is not read."""


def most_bytes(size: int) -> int:
    """Return how much an archive of a size may hold."""
    return max(MOST_BYTES, MOST_TIMES * size)


def too_large(archive: str, limit: int) -> InvalidInputError:
    """Return the error for an archive that holds more than ``limit`` bytes."""
    message = (
        f"the archive unpacks to more than {limit:,} bytes, the larger of {MOST_BYTES:,} and "
        f"{MOST_TIMES} times its own size; if it was not made to fill disks, {UNPACK}"
    )
    return InvalidInputError(message, path=archive)


def check_unpacked(n_bytes: int, size: int | None, where: str, path: str | None) -> None:
    """Raise InvalidInputError if unpacked data takes more memory than ``size`` allows."""
    limit = most_bytes(size or 0)
    if n_bytes > limit:
        message = (
            f"{where} takes {n_bytes:,} bytes of memory, more than the {limit:,} that are read at "
            f"once: the larger of {MOST_BYTES:,} and {MOST_TIMES} times the data as they are "
            "stored; if they are not damaged, write fewer rows at a time, or not compressed"
        )
        raise InvalidInputError(message, path=path)


def too_many(archive: str) -> InvalidInputError:
    """Return the error for an archive of more than ``MOST_MEMBERS``."""
    message = f"the archive has more than {MOST_MEMBERS:,} members; {UNPACK}"
    return InvalidInputError(message, path=archive)
