"""Version of neardup and the source of its installation."""

from __future__ import annotations

__version__ = "0.1.0"


def pip_install(extra: str) -> str:
    """Return the command that adds an extra to this installation.

    An installation from a folder or file, such as a clone, is named by it while it exists: the
    index may have another version, or none.
    """
    # Loaded where something is missing, and not with the package.
    import json
    import shlex
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    source, options = "neardup", ""
    try:
        # PEP 610: what is there was installed from an address, not from an index.
        origin = json.loads(distribution("neardup").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    place = urlsplit(origin.get("url", ""))
    if place.scheme == "file" and Path(path := url2pathname(place.path)).exists():
        source = path
        options = "--editable " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {options}{shlex.quote(f'{source}[{extra}]')}"
