"""What a real browser shows of pages: ``innerText`` in the Chromium of Qt, a frame each.

Nothing is loaded from the network and no script runs; style sheets count or not, as asked for.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from tests.browser.browse import see_page

_AT_A_TIME = 10

_DOCTYPE = re.compile(
    r"\s*(?:(?:<!--.*?-->|<\?[^>]*>)\s*)*<!doctype[^>]*>", re.IGNORECASE | re.DOTALL
)
# Scripts are refused, not switched off: a page is parsed otherwise where there are none.
_POLICY = "script-src 'none'; img-src 'none'; frame-src 'none'; object-src 'none'; media-src 'none'"
_NO_STYLES = "; style-src-elem 'none'; style-src-attr 'unsafe-inline'"
_SCRIPT = """
Promise.all([...document.querySelectorAll('iframe')].map((frame) => new Promise((done) => {
  const tell = () => done(frame.contentDocument.body ? frame.contentDocument.body.innerText : '');
  frame.onload = tell;
  frame.srcdoc = frame.dataset.page;
})))
"""

_WRITE = """
(() => {
  const frame = document.querySelector('iframe');
  return JSON.parse(document.querySelector('template').content.textContent).map((page) => {
    const shown = frame.contentDocument;
    shown.open();
    shown.write(page);
    shown.close();
    return shown.body ? shown.body.innerText : '';
  });
})()
"""


def shown_texts(
    pages: Sequence[str], *, with_styles: bool = False, folders: Sequence[Path] | None = None
) -> list[str]:
    """Return what a browser shows of pages.

    Parameters
    ----------
    pages
        The pages, decoded.
    with_styles
        Their style sheets count, those of files beside them too.
    folders
        Where each page was, for such files.

    Raises
    ------
    NoBrowserError
        If there is none.
    """
    texts: list[str] = []
    for start in range(0, len(pages), _AT_A_TIME):
        some = range(start, min(start + _AT_A_TIME, len(pages)))
        prepared = [
            _prepared(pages[i], with_styles, None if folders is None else folders[i]) for i in some
        ]
        texts += _shown(prepared)
    return texts


def written_texts(pages: Sequence[str]) -> list[str]:
    """Return what a browser shows of pages that it loads nothing for, thousands in seconds.

    They are written into one frame. What an ``object`` has instead of what is refused is not there
    yet, and a page without a doctype has its quirks, which one in a frame of its own has not.

    Raises
    ------
    NoBrowserError
        If there is none.
    """
    data = escape(json.dumps([_prepared(page, False, None) for page in pages]))
    frame = '<iframe width="1200" height="800"></iframe>'
    return _values(f"{frame}<template>{data}</template>", _WRITE)


def _prepared(page: str, with_styles: bool, folder: Path | None) -> str:
    """Put what a browser is not to do at the beginning of a page, behind its type."""
    policy = _POLICY + ("" if with_styles else _NO_STYLES)
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    if folder is not None:
        head += f'<base href="{escape(folder.as_uri())}/">'
    doctype = _DOCTYPE.match(page)
    end = doctype.end() if doctype else 0
    return page[:end] + head + page[end:]


def _shown(pages: Sequence[str]) -> list[str]:
    frames = "".join(
        f'<iframe width="1200" height="800" data-page="{escape(page)}"></iframe>' for page in pages
    )
    return _values(frames, _SCRIPT)


def _values(body: str, script: str) -> list[str]:
    """Return what a script tells of a page with this body."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "frames.html")
        path.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{body}", encoding="utf-8")
        texts: list[str] = see_page(path, script).value
    return texts
