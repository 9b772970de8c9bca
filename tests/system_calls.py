"""Killing a process, or failing it, at each system call by which it changes files.

The system itself stops the process before each such call of any of its threads (seccomp), and the
process that has started it looks at the call and lets it pass, lets it fail, or kills (ptrace).
Whatever writes is seen: Python, Arrow, a library of the system. Linux on x86-64 only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

IS_SUPPORTED = sys.platform == "linux" and platform.machine() == "x86_64"

# Calls that change what a file descriptor stands for, with the place of that argument.
_BY_DESCRIPTOR = {
    1: ("write", 0), 18: ("pwrite64", 0), 20: ("writev", 0), 296: ("pwritev", 0),
    328: ("pwritev2", 0), 40: ("sendfile", 0), 326: ("copy_file_range", 2), 275: ("splice", 2),
    77: ("ftruncate", 0), 285: ("fallocate", 0), 74: ("fsync", 0), 75: ("fdatasync", 0),
    277: ("sync_file_range", 0), 91: ("fchmod", 0), 93: ("fchown", 0),
}  # fmt: skip
# Calls that change what a path stands for, with the places of folder and path; None: this folder.
_BY_PATH = {
    82: ("rename", None, 0), 264: ("renameat", 0, 1), 316: ("renameat2", 0, 1),
    83: ("mkdir", None, 0), 258: ("mkdirat", 0, 1), 84: ("rmdir", None, 0),
    87: ("unlink", None, 0), 263: ("unlinkat", 0, 1), 86: ("link", None, 1),
    265: ("linkat", 2, 3), 88: ("symlink", None, 1), 266: ("symlinkat", 1, 2),
    76: ("truncate", None, 0), 85: ("creat", None, 0), 90: ("chmod", None, 0),
    268: ("fchmodat", 0, 1), 280: ("utimensat", 0, 1), 188: ("setxattr", None, 0),
}  # fmt: skip
# Opening changes files where its flags say so: the places of folder, path and flags.
_OPENING = {2: ("open", None, 0, 1), 257: ("openat", 0, 1, 2)}
_WATCHED = {*_BY_DESCRIPTOR, *_BY_PATH, *_OPENING}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

# What the system answers when it fails; it has no room unless said otherwise.
_ERRORS = {
    "fsync": errno.EIO, "fdatasync": errno.EIO, "sync_file_range": errno.EIO,
    "unlink": errno.EACCES, "unlinkat": errno.EACCES, "rmdir": errno.EACCES,
    "rename": errno.EACCES, "renameat": errno.EACCES, "renameat2": errno.EACCES,
    "chmod": errno.EPERM, "fchmod": errno.EPERM, "fchmodat": errno.EPERM,
}  # fmt: skip
# What works on a full disk, too.
_FREES = {"unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2", "chmod", "fchmod"}

_SECCOMP_STOP, _NEW_PROCESS_STOPS = 7, (1, 2, 3)
_OPTIONS = 1 << 7 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 20
_ALL_THREADS = 0x40000000


class UntraceableError(Exception):
    """The system lets no process look at another one's calls."""


@dataclass
class Trial:
    """What became of a process.

    ``calls`` are those by which it changed files, as it asked for them; ``code`` is its exit code,
    negative a signal; ``was_hit`` tells whether it came to the call in question.
    """

    calls: list[str] = field(default_factory=list)
    code: int = 0
    was_hit: bool = False


def run_until(
    work: Callable[[], int], folder: Path, position: int = sys.maxsize, how: str = "kill"
) -> Trial:
    """Do something in a forked process, and stop it before its call number ``position``.

    This process has no other children and starts no threads, for it forks.

    Parameters
    ----------
    work
        Returns the exit code.
    folder
        Calls that change something elsewhere are not counted.
    how
        ``kill``; ``fail``, that call alone; ``full``, that call and all after it that need room.

    Raises
    ------
    UntraceableError
        If the system does not permit it, as in some containers.
    """
    child = os.fork()
    if not child:
        try:
            _be_traced()
        except OSError:
            os._exit(98)
        try:
            code = work()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
            code = 99
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return _Tracer(child, str(folder), position, how).follow()


class _Tracer:
    """The process that looks at each call of another, until that one has ended."""

    def __init__(self, child: int, folder: str, position: int, how: str) -> None:
        self.child, self.folder, self.position, self.how = child, folder, position, how
        self.trial = Trial()
        self.known = {child}

    def follow(self) -> Trial:
        if not os.WIFSTOPPED(os.waitpid(self.child, _ALL_THREADS)[1]):
            raise UntraceableError
        _ptrace(0x4200, self.child, 0, _OPTIONS)
        _ptrace(7, self.child, 0, 0)
        while True:
            thread, status = os.waitpid(-1, _ALL_THREADS)
            if os.WIFSTOPPED(status):
                self._resume(thread, status)
            elif thread == self.child:
                self.trial.code = os.waitstatus_to_exitcode(status)
                return self.trial

    def _resume(self, thread: int, status: int) -> None:
        event, sent = status >> 16, os.WSTOPSIG(status)
        if event == _SECCOMP_STOP:
            if name := self._change_of(thread):
                self._decide(thread, name)
            sent = 0
        elif event in _NEW_PROCESS_STOPS or thread not in self.known:
            # The first stop of a thread or process is ours.
            sent = 0
        self.known.add(thread)
        _ptrace(7, thread, 0, sent)

    def _change_of(self, thread: int) -> str | None:
        """Return the name of a call if it changes something in the folder."""
        number, arguments = _call_of(thread)
        if number not in _WATCHED:
            # The thread has ended meanwhile.
            return None
        if number in _BY_DESCRIPTOR:
            name, place = _BY_DESCRIPTOR[number]
            path = _descriptor_path(thread, arguments[place])
        else:
            name, base, place, *flags = _BY_PATH.get(number) or _OPENING[number]
            if flags and not arguments[flags[0]] & _WRITES:
                return None
            here = "cwd" if base is None else _as_descriptor(arguments[base])
            path = os.path.join(_link(thread, here), _string(thread, arguments[place]))
        return name if path.startswith(self.folder) else None

    def _decide(self, thread: int, name: str) -> None:
        here = len(self.trial.calls)
        self.trial.calls.append(name)
        if here < self.position or (self.how != "full" and here > self.position):
            return
        self.trial.was_hit = True
        if self.how == "kill":
            os.kill(self.child, signal.SIGKILL)
        elif self.how == "fail":
            _refuse(thread, _ERRORS.get(name, errno.ENOSPC))
        elif name not in _FREES:
            _refuse(thread, errno.ENOSPC)


def _be_traced() -> None:
    """Have the parent told of each call that may change files, from now on."""
    _ptrace(0, 0, 0, 0)
    numbers = sorted(_WATCHED)
    n = len(numbers)
    # Load the number; where it is one of these, jump to the last line; else allow.
    lines = [struct.pack("HBBI", 0x20, 0, 0, 0)]
    lines += [struct.pack("HBBI", 0x15, n - i, 0, number) for i, number in enumerate(numbers)]
    lines += [
        struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000),
        struct.pack("HBBI", 0x06, 0, 0, 0x7FF00000),
    ]
    program = ctypes.create_string_buffer(b"".join(lines))
    header = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in ((38, 1, 0), (22, 2, ctypes.create_string_buffer(header))):
        if libc.prctl(*arguments, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")
    os.kill(os.getpid(), signal.SIGSTOP)


def _ptrace(request: int, thread: int, address: int, data: object) -> int:
    call = ctypes.CDLL(None, use_errno=True).ptrace
    call.restype = ctypes.c_long
    call.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    result: int = call(request, thread, address, data)
    if result == -1 and ctypes.get_errno() not in (0, errno.ESRCH):
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")
    return result


def _call_of(thread: int) -> tuple[int, tuple[int, ...]]:
    """Return the number and the arguments of the call before which a thread stands."""
    buffer = ctypes.create_string_buffer(88)
    _ptrace(0x420E, thread, 88, ctypes.addressof(buffer))
    number, *arguments = struct.unpack_from("7Q", buffer.raw, 24)
    return number, tuple(arguments)


def _refuse(thread: int, code: int) -> None:
    """Let no call be made in the place of this one, and an error be its answer."""
    # Where the registers orig_rax and rax lie in the area of a thread.
    _ptrace(6, thread, 15 * 8, ctypes.c_void_p(-1 & (1 << 64) - 1))
    _ptrace(6, thread, 10 * 8, ctypes.c_void_p(-code & (1 << 64) - 1))


def _string(thread: int, address: int) -> str:
    with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        data = b""
        while b"\0" not in data:
            # As far as the end of a page, behind which there may be none.
            data += memory.read(4096 - (address + len(data)) % 4096)
    return os.fsdecode(data.partition(b"\0")[0])


def _as_descriptor(value: int) -> str:
    number = ctypes.c_int(value & 0xFFFFFFFF).value
    return "cwd" if number < 0 else f"fd/{number}"


def _descriptor_path(thread: int, value: int) -> str:
    return _link(thread, _as_descriptor(value))


def _link(thread: int, name: str) -> str:
    try:
        return os.readlink(f"/proc/{thread}/{name}")
    except OSError:
        return ""
