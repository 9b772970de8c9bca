"""Compiles all kernels to one extension module, for one or more levels of instructions.

Numba compiles Python to LLVM's code as it does when a kernel is called; what it does then in
memory is done here to object files, with its public ahead-of-time code generator in place of the
one that runs what it makes. (``numba.pycc`` does so too, but is deprecated, and its functions keep
the interpreter lock.) The types are worked out once; LLVM optimises for each level. One process per
core takes the next source file until all are compiled. Each process infers the types of shared
helpers once: files of passages and the others are taken by different processes, the largest first,
and the smallest by any. Machine code does not depend on what a process compiled before, so that the
same sources and versions give the same bytes.

Run as a program: ``python native/ahead.py MODULE [LEVEL...]`` makes the module. Its processes run
``--worker FOLDER LEVEL...``, which reads names of source files from standard input.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "src"
KERNELS = SOURCES / "neardup" / "kernels"

# In ascending order; the best that a processor has is taken when the module is loaded.
LEVELS_OF = {
    "x86_64": ("x86-64", "x86-64-v3", "x86-64-v4"),
    "aarch64": ("generic",),
    "arm64": ("generic",),
}
# Linux's names of the instructions that a level adds to the one before.
_FLAGS_OF = {
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
_SUFFIX = ".abi3.so" if os.name != "nt" else ".pyd"
MODULE = f"_native{_SUFFIX}"


def levels() -> tuple[str, ...]:
    """Return the levels to compile for; none where kernels cannot be compiled ahead.

    That is the best level of this machine's processor. With ``NEARDUP_LEVELS=all``, or where the
    processor's instructions are unknown, it is every level of its family.
    """
    machine = "x86_64" if platform.machine() == "AMD64" else platform.machine()
    known = LEVELS_OF.get(machine, ())
    flags = _processor_flags()
    if len(known) < 2 or os.environ.get("NEARDUP_LEVELS") == "all" or not flags:
        return known
    best = known[0]
    for level in known[1:]:
        if not flags >= _FLAGS_OF[level]:
            break
        best = level
    return (best,)


def _processor_flags() -> set[str]:
    """Return Linux's names of the processor's instructions; none on other systems."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return set()
    flags = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return set(flags[1].split()) if flags else set()


def compiler() -> list[str] | None:
    """Return the command of a C compiler; None if there is none."""
    if explicit := os.environ.get("CC"):
        return explicit.split()
    found = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if found is not None:
        return [found]
    try:
        import_module("ziglang")
    except ImportError:
        return None
    return [sys.executable, "-m", "ziglang", "cc"]


def compile_module(module: Path, chosen: Sequence[str]) -> None:
    """Compile all kernels for some levels to an extension module.

    Raises
    ------
    subprocess.CalledProcessError
        If a part or the C compiler fails; what it says has gone to standard error.
    """
    sources = sorted(KERNELS.rglob("[!_]*.py"), key=lambda each: (-each.stat().st_size, each))
    names = [source.relative_to(KERNELS).with_suffix("").parts for source in sources]
    queue = deque(name for name in names if name[0] == "passage")
    queue.extend(name for name in reversed(names) if name[0] != "passage")
    n_processes = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with ThreadPoolExecutor(n_processes) as pool:
            takes = [(queue.popleft, queue.pop)[k % 2] for k in range(n_processes)]
            workers = [pool.submit(_run_worker, queue, take, folder, chosen) for take in takes]
        parts = [part for worker in workers for part in worker.result()]
        entries = sorted((each for part in parts for each in part["entries"]), key=_name_of)
        (folder / "kernels.h").write_text(_table(entries, chosen, parts[0]["digest"]))
        _link(folder, entries, chosen)
        # Whole or not at all, beside others who build.
        partial = module.with_name(f"{os.getpid()}.partial")
        shutil.copyfile(folder / MODULE, partial)
        partial.replace(module)


def _name_of(entry: dict[str, Any]) -> str:
    return str(entry["name"])


def _run_worker(
    queue: deque[tuple[str, ...]],
    take: Callable[[], tuple[str, ...]],
    folder: Path,
    chosen: Sequence[str],
) -> list[dict[str, Any]]:
    """Have a process compile files from an end of the queue until it is empty."""
    command = [sys.executable, str(HERE / "ahead.py"), "--worker", str(folder), *chosen]
    parts = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(IndexError):
            while True:
                process.stdin.write(".".join(take()) + "\n")
                process.stdin.flush()
                answer = process.stdout.readline()
                if not answer:
                    queue.clear()
                    raise subprocess.CalledProcessError(process.wait(), command)
                parts.append(json.loads(answer))
    return parts


def _table(entries: list[dict[str, Any]], chosen: Sequence[str], digest: str) -> str:
    """Return the table by which ``entry.c`` finds and calls the kernels."""
    declared = [
        f"int {_symbol(entry['name'], level)}(const uint64_t *, uint64_t *);"
        for entry in entries
        for level in range(len(chosen))
    ]
    rows = [
        f'  {{"{entry["name"]}", "{entry["parameters"]}", {entry["n_parameters"]}, '
        f'"{entry["results"]}", '
        f"{{{', '.join(_symbol(entry['name'], level) for level in range(len(chosen)))}}}}},"
        for entry in entries
    ]
    return "\n".join(
        [
            f"#define N_KERNELS {len(entries)}",
            f"#define N_LEVELS {len(chosen)}",
            f"#define MOST_WORDS {max(entry['n_words'] for entry in entries)}",
            f"#define MOST_RESULTS {max(1, *(len(entry['results']) for entry in entries))}",
            f'#define DIGEST "{digest}"',
            *declared,
            "typedef int Function(const uint64_t *, uint64_t *);",
            "typedef struct { const char *name, *parameters; int n_parameters;",
            "                 const char *results; Function *functions[N_LEVELS]; } Entry;",
            "typedef struct { const Entry *entry; Function *function; } Call;",
            f"static const char *const LEVELS[] = {{{', '.join(map(json.dumps, chosen))}}};",
            "static const Entry ENTRIES[] = {",
            *rows,
            "};",
            "",
        ]
    )


def _symbol(name: str, level: int) -> str:
    return f"neardup_{level}_{name.replace('.', '_')}"


def _link(folder: Path, entries: list[dict[str, Any]], chosen: Sequence[str]) -> None:
    import numpy as np

    command = compiler()
    if command is None:
        raise FileNotFoundError("there is no C compiler")
    objects = [
        f"{_symbol(entry['name'], level)}.o" for level in range(len(chosen)) for entry in entries
    ]
    python = sysconfig.get_path("include")
    options = ["-O2", "-std=c11", "-fPIC", "-shared", "-s", "-DPy_LIMITED_API=0x030b0000"]
    if sys.platform == "darwin":
        options = [*options, "-undefined", "dynamic_lookup"]
    shutil.copyfile(HERE / "entry.c", folder / "entry.c")
    arguments = [*options, f"-I{python}", f"-I{np.get_include()}", "-I.", "entry.c", *objects]
    subprocess.run([*command, *arguments, "-o", MODULE, "-lm"], cwd=folder, check=True)


# ---- What a worker does ----


def work(folder: Path, chosen: Sequence[str]) -> None:
    """Compile the source files that standard input names; write a line of JSON for each."""
    import llvmlite.binding as llvm
    from numba.core import codegen
    from numba.core.registry import cpu_target
    from numba.core.runtime import rtsys

    from neardup.kernels import _on_call
    from neardup.kernels._compile import source_digest

    class Unoptimised(codegen.AOTCodeLibrary):
        """What Numba makes of a function, linked with what that calls, as it is."""

        def _optimize_final_module(self) -> None:
            pass

        def get_pointer_to_function(self, name: str) -> int:
            """Say that there is one: nothing that is compiled here is called here."""
            self._ensure_finalized()
            return 1

    class FrontEnd(codegen.AOTCPUCodegen):
        _library_class = Unoptimised

        def set_env(self, env_name: str, env: Any) -> None:
            pass

    class BackEnd(codegen.AOTCPUCodegen):
        """Optimises for a level, and takes vectors as wide as it has."""

        def _customize_tm_features(self) -> str:
            return "-prefer-256-bit" if platform.machine() in ("x86_64", "AMD64") else ""

    # Nothing is called from Python here, and code that is kept between runs is not wanted.
    _on_call.OPTIONS.update(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    _on_call.cache_folder = lambda: None
    context = cpu_target.target_context
    rtsys.initialize(context)
    context._internal_codegen = FrontEnd("neardup")
    backs = [BackEnd(level, level) for level in chosen]

    # Of millions of objects few are in cycles; the search for these took 8 % of the time.
    gc.set_threshold(50_000, 20, 1_000)
    digest = source_digest(KERNELS)
    for line in sys.stdin:
        name = line.strip()
        import_module(f"neardup.kernels.{name}")
        entries = []
        # Only this file's: those that it imports are in the queue, too.
        for kernel in [each for each in _on_call.KERNELS if each.name.rpartition(".")[0] == name]:
            [result] = kernel.compile().overloads.values()
            library, entry = _with_plain_entry(context, kernel, result)
            code = _without_history(str(library._final_module))
            for level, back in enumerate(backs):
                symbol = _symbol(kernel.name, level)
                made = back.create_library(kernel.name)
                made._final_module = module = llvm.parse_assembly(code.replace(_ENTRY, symbol))
                for value in (*module.functions, *module.global_variables):
                    if not value.is_declaration and value.name != symbol:
                        value.linkage = "internal"
                made._optimize_final_module()
                (folder / f"{symbol}.o").write_bytes(back._tm.emit_object(module))
            entries.append(entry)
        sys.stdout.write(json.dumps({"entries": entries, "digest": digest}) + "\n")
        sys.stdout.flush()


def _without_history(code: str) -> str:
    """Return LLVM's code without paths of sources and without Numba's numbers of functions.

    Exceptions that are raised carry the path of the source, which no wheel should hold. Numba
    numbers functions in the order in which a process meets them.
    """
    code = re.sub(
        r'(@\.const\.pickledata\.\d+ = [^\n]*\[\d+ x i8\]) c"[^\n]*"',
        r"\1 zeroinitializer",
        code,
    )
    numbers: dict[str, str] = {}
    return re.sub(
        r"(?<=[A-Za-z_0-9])B\d+v\d+(?=B)",
        lambda match: numbers.setdefault(match[0], f"B0v{len(numbers)}"),
        code,
    )


_ENTRY = "neardup_entry"


def _with_plain_entry(context: Any, kernel: Any, result: Any) -> tuple[Any, dict[str, Any]]:
    """Give a kernel a function of C that takes its arguments as words; see ``entry.c``."""
    from llvmlite import ir

    library = context._internal_codegen.create_library(kernel.name)
    library.add_linking_library(result.library)
    module = library.create_ir_module(kernel.name)
    word = ir.IntType(64)
    signature = result.signature
    made = ir.Function(
        module, ir.FunctionType(ir.IntType(32), [word.as_pointer(), word.as_pointer()]), _ENTRY
    )
    builder = ir.IRBuilder(made.append_basic_block())
    words = _Words(context, builder, made.args[0])
    arguments = [words.take(kind) for kind in signature.args]
    callee = context.declare_function(module, result.fndesc)
    status, value = context.call_conv.call_function(
        builder, callee, signature.return_type, signature.args, arguments
    )
    results = words.put(signature.return_type, value, made.args[1])
    builder.ret(builder.select(status.is_ok, ir.Constant(ir.IntType(32), 0), status.code))
    library.add_ir_module(module)
    library.finalize()
    entry = {
        "name": kernel.name,
        "parameters": "".join(words.letters),
        "n_parameters": len(signature.args),
        "n_words": words.n,
        "results": results,
    }
    return library, entry


class _Words:
    """Numba's values from words of 64 bits, and back; ``letters`` say how, for ``entry.c``."""

    def __init__(self, context: Any, builder: Any, words: Any) -> None:
        self.letters: list[str] = []
        self.n = 0
        self._context, self._builder, self._words = context, builder, words

    def take(self, kind: Any) -> Any:
        """Return the value of the next words."""
        from numba import types

        if isinstance(kind, types.Array):
            return self._array(kind)
        if isinstance(kind, types.BaseTuple):
            self.letters.append(f"({len(kind)}")
            values = [self.take(each) for each in kind]
            return self._context.make_tuple(self._builder, kind, values)
        self.letters.append(_letter(kind))
        word = self._next()
        if isinstance(kind, types.Float):
            return self._builder.bitcast(word, self._context.get_value_type(kind))
        wanted = self._context.get_value_type(kind)
        return word if wanted == word.type else self._builder.trunc(word, wanted)

    def _next(self) -> Any:
        from llvmlite import ir

        place = self._builder.gep(self._words, [ir.Constant(ir.IntType(64), self.n)])
        self.n += 1
        return self._builder.load(place)

    def _array(self, kind: Any) -> Any:
        from numba import types
        from numba.core import cgutils
        from numba.np import arrayobj, numpy_support

        dtype = numpy_support.as_dtype(kind.dtype)
        mode = "w" if kind.mutable else "r"
        self.letters.append(f"[{dtype.kind}{dtype.itemsize}{kind.ndim}{mode}")
        builder = self._builder
        intp = self._context.get_value_type(types.intp)
        array = self._context.make_array(kind)(self._context, builder)
        data = builder.inttoptr(self._next(), array.data.type)
        shape = [self._next() for _ in range(kind.ndim)]
        itemsize = intp(dtype.itemsize)
        strides, stride = [], itemsize
        for length in reversed(shape):
            strides.insert(0, stride)
            stride = builder.mul(stride, length)
        arrayobj.populate_array(
            array,
            data=data,
            shape=cgutils.pack_array(builder, shape, intp),
            strides=cgutils.pack_array(builder, strides, intp),
            itemsize=itemsize,
            meminfo=None,
            parent=None,
        )
        return array._getvalue()

    def put(self, kind: Any, value: Any, results: Any) -> str:
        """Write what a kernel returns to words; return their letters."""
        from llvmlite import ir
        from numba import types

        builder, word = self._builder, ir.IntType(64)
        if kind == types.none:
            return ""
        if isinstance(kind, types.BaseTuple):
            values = [(each, builder.extract_value(value, i)) for i, each in enumerate(kind)]
        else:
            values = [(kind, value)]
        for i, (each, item) in enumerate(values):
            if isinstance(each, types.Float):
                item = builder.bitcast(item, word)
            elif item.type != word:
                is_signed = getattr(each, "signed", False)
                item = (builder.sext if is_signed else builder.zext)(item, word)
            builder.store(item, builder.gep(results, [ir.Constant(word, i)]))
        return "".join(_letter(each) for each, _ in values)


def _letter(kind: Any) -> str:
    from numba import types

    if isinstance(kind, types.Boolean):
        return "?"
    if isinstance(kind, types.Float):
        assert kind.bitwidth == 64, kind
        return "d"
    return "q" if kind.signed else "Q"


if __name__ == "__main__":
    os.environ["NEARDUP_JIT"] = "1"
    sys.path.insert(0, str(SOURCES))
    if sys.argv[1:2] == ["--worker"]:
        from numba.core.compiler_lock import global_compiler_lock

        with global_compiler_lock:
            work(Path(sys.argv[2]), sys.argv[3:])
    else:
        compile_module(Path(sys.argv[1]), sys.argv[2:] or levels())
