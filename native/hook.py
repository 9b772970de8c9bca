"""What hatchling runs when it builds a wheel, or an editable installation: see ``ahead.py``.

The compiled module goes into the wheel, or beside the kernels' sources, and is kept under a digest
of all that it is made of, so that it is made once. Where it cannot be made, because there is no
compiler, or the processor is none that is known, the wheel has none and requires Numba, which
compiles kernels as they are called.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))

import ahead

# Of these it is made. Bounded above: ahead.py and _on_call.py use classes that are no promise.
NUMBA = "numba>=0.63,<0.69"
NUMPY = "numpy>=2"
ZIG = "ziglang>=0.13"
_IN_PACKAGE = f"neardup/kernels/{ahead.MODULE}"


class NativeBuildHook(BuildHookInterface[Any]):
    """Puts the compiled module into the wheel, or into the source tree."""

    def dependencies(self) -> list[str]:
        """Return what the build needs besides hatchling."""
        if why_not() or kept_module().exists():
            return []
        return [NUMBA, NUMPY, *([] if ahead.compiler() else [ZIG])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the module, unless it is kept; say what takes time."""
        beside = ahead.KERNELS / ahead.MODULE
        if reason := why_not():
            self.app.display_warning(f"neardup: {reason}; kernels are compiled as they are called")
            build_data["dependencies"].append(NUMBA)
            if version == "editable":
                beside.unlink(missing_ok=True)
            return
        kept = kept_module()
        if not kept.exists():
            self.app.display_info("neardup: compiling kernels, about a minute on two cores")
            try:
                kept.parent.mkdir(parents=True, exist_ok=True)
            except OSError:
                kept = Path(tempfile.mkdtemp()) / ahead.MODULE
            ahead.compile_module(kept, ahead.levels())
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{_platform()}"
        if version == "editable":
            shutil.copyfile(kept, beside)
        else:
            build_data["force_include"][str(kept)] = _IN_PACKAGE


def why_not() -> str | None:
    """Return why kernels cannot be compiled ahead here; None if they can."""
    if os.environ.get("NEARDUP_JIT", "0") not in ("", "0"):
        return "NEARDUP_JIT is set"
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python has no stable interface for compiled modules"
    if not ahead.levels():
        return "this processor is none for which kernels are compiled ahead"
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        return "there is no Python.h, which a package such as python3-dev has"
    return None


def kept_module() -> Path:
    """Return the file that the module is kept in, whose name is a digest of all it is made of."""
    digest = hashlib.sha256()
    facts = [NUMBA, NUMPY, sysconfig.get_platform(), *ahead.levels()]
    digest.update("\0".join(facts).encode())
    sources = {source.name: source for source in ahead.HERE.glob("*.[cp]*")}
    for source in ahead.KERNELS.rglob("*.py"):
        sources[f"kernels/{source.relative_to(ahead.KERNELS).as_posix()}"] = source
    for name, source in sorted(sources.items()):
        digest.update(name.encode() + b"\0" + source.read_bytes() + b"\0")
    folder = os.environ.get("NEARDUP_CACHE_DIR") or "~/.cache/neardup"
    return Path(folder).expanduser() / "native" / digest.hexdigest()[:32] / ahead.MODULE


def _platform() -> str:
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
