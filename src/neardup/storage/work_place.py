"""Where a work folder lies: making and locking it, finding those of earlier runs, removing it.

One is called ``.NAME.neardup-work-DIGEST``. Its process has locked ``write.lock`` in it for as long
as it lives; the system frees the lock of a killed one.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import WriteError
from neardup.storage.files import store_file, sync_folder
from neardup.storage.lock import HOLDER, LOCK, find_holder, store_holder
from neardup.storage.scratch import NO_LOCKS

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOG = "tasks.log"
KEY = "key.json"
_MIDDLE = ".neardup-work-"
_DIGEST = re.compile(r"[0-9a-f]{12}")
# Others may remove a folder before it is locked.
_TRIES = 10
# For as long as others take to see that a folder is no longer in use: some have the lock for that.
_PATIENCE = 0.3


class WorkPlace:
    """A folder that is made, locked and removed as a whole, by the process that made this object.

    Parameters
    ----------
    parent
        Folder that it lies in; made with it, if need be.
    name
        What the run is called, such as its output.
    digest
        In hex; of what the folder is for.
    """

    def __init__(self, parent: Path, name: str, digest: str) -> None:
        self.parent, self.name = parent, name
        self.path = parent / f".{name}{_MIDDLE}{digest[:12]}"
        # Folders above that were made for this one.
        self.made: list[Path] = []
        self._process = os.getpid()
        self._lock: BaseFileLock | None = None

    def exists(self) -> bool:
        """Return whether there is a folder, of whichever run."""
        return os.path.lexists(self.path)

    @property
    def is_locked(self) -> bool:
        """Whether this object holds the lock; some file systems have no locks."""
        return self._lock is not None

    def enter(self, patience: float = _PATIENCE) -> None:
        """Make the folder if it is not there, and lock it within some seconds."""
        for _ in range(_TRIES):
            self._make()
            lock = _lock_of(self.path)
            try:
                lock.acquire(timeout=patience, poll_interval=_PATIENCE / 10)
            except TimeoutError:
                raise self._is_taken() from None
            except FileNotFoundError:
                continue
            except (OSError, NotImplementedError) as error:
                if isinstance(error, OSError) and error.errno not in NO_LOCKS:
                    raise
                # There nobody finds out whether another run is at work.
                break
            # Whoever had it may have removed it just before.
            if (self.path / LOCK).exists():
                self._lock = lock
                break
            lock.release()
        else:
            message = "others remove each new folder"
            raise OSError(errno.EAGAIN, message)
        store_holder(self.path)

    def note(self, key: Mapping[str, Any]) -> None:
        """Store what the folder is for, and which folders were made for it by any process."""
        made_before = _load(self.path).get("made")
        if isinstance(made_before, list):
            above = (*reversed(self.parent.parents), self.parent)
            self.made = [path for path in above if path in self.made or str(path) in made_before]
        content = {"key": key, "made": list(map(str, self.made))}
        store_file(self.path / KEY, json.dumps(content, indent=1).encode())

    def leave(self) -> None:
        """Free the lock; the folder stays."""
        if self._process != os.getpid():
            return
        with contextlib.suppress(OSError):
            (self.path / HOLDER).unlink()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def clear(self) -> None:
        """Remove everything but the lock and its holder, the log first."""
        # Without it, the other files are leftovers of nothing.
        (self.path / LOG).unlink(missing_ok=True)
        for path in self.path.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in (LOCK, HOLDER):
                path.unlink()

    def remove(self) -> None:
        """Remove the folder and what was made for it, as far as that is possible."""
        if self._process != os.getpid():
            # A copy of the process that owns it has come to its end.
            return
        with contextlib.suppress(OSError):
            self.clear()
        self.leave()
        with contextlib.suppress(OSError):
            (self.path / LOCK).unlink(missing_ok=True)
            self.path.rmdir()
            for folder in reversed(self.made):
                folder.rmdir()

    def others(self) -> list[Path]:
        """Return the work folders of the same name that are for something else, oldest first."""
        prefix = f".{self.name}{_MIDDLE}"
        found: list[tuple[int, Path]] = []
        with contextlib.suppress(OSError), os.scandir(self.parent) as entries:
            for entry in entries:
                if (
                    entry.name.startswith(prefix)
                    and _DIGEST.fullmatch(entry.name[len(prefix) :])
                    and entry.name != self.path.name
                    and entry.is_dir(follow_symlinks=False)
                ):
                    path = self.parent / entry.name
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, path))
        return [path for _, path in sorted(found)]

    def remove_others(self, paths: Collection[Path] | None = None) -> list[Path]:
        """Remove the work folders of the same name that no process has locked; return them.

        Of these only some, if their ``paths`` are given.
        """
        removed = []
        for path in self.others():
            if paths is not None and path not in paths:
                continue
            other = WorkPlace(self.parent, self.name, path.name[-12:])
            with contextlib.suppress(OSError):
                # The lock of a living process raises WriteError, which is an OSError.
                other.enter(patience=0)
                if other.is_locked:
                    other.remove()
                    removed.append(path)
        return removed

    def _make(self) -> None:
        """Make the folder, for its owner only: it may hold texts."""
        missing = [path for path in (self.parent, *self.parent.parents) if not path.exists()]
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                self.made.append(folder)
                sync_folder(folder.parent)
        if self.path.is_symlink():
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        with contextlib.suppress(FileExistsError):
            self.path.mkdir(mode=0o700)
            sync_folder(self.parent)

    def _is_taken(self) -> WriteError:
        holder = find_holder(self.path) or "another process"
        return WriteError(
            f"the same command is at work in {self.path} already: {holder}; "
            "wait until that is done, or end it"
        )


def key_in(folder: Path) -> dict[str, Any] | None:
    """Return what a work folder is for; None if that cannot be found out."""
    key = _load(folder).get("key")
    return key if isinstance(key, dict) else None


def _load(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / KEY).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _lock_of(folder: Path) -> BaseFileLock:
    from filelock import FileLock

    # One thread may take it and another free it.
    return FileLock(folder / LOCK, thread_local=False)
