"""Programs with other names and other comments, as whoever hides a copy makes them."""

from __future__ import annotations

import io
import keyword
import random
import string
import tokenize

_WORDS = ("some other words say what this does", "checked twice", "see the notes", "first the rest")


class _Names:
    """New names for old ones, each of them always the same, of any length and case."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._known = rng, {}

    def __getitem__(self, old: str) -> str:
        if old not in self._known:
            size = self._rng.randint(1, 14)
            letters = string.ascii_letters + "_"
            self._known[old] = "".join(self._rng.choices(letters, k=size)) + str(len(self._known))
        return self._known[old]


def rename_python(program: str, seed: int) -> str:
    """Rename all that is no keyword, the built-in names too; change all comments, drop docstrings.

    Strings and numbers stay.
    """
    rng = random.Random(seed)
    names = _Names(rng)
    lines = program.splitlines(keepends=True)
    changes = []
    last = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        kind, text = token.type, token.string
        if kind == tokenize.NAME and not keyword.iskeyword(text):
            changes.append((token, names[text]))
        elif kind == tokenize.COMMENT:
            changes.append((token, f"# {rng.choice(_WORDS)}" if rng.random() < 0.5 else ""))
        elif kind == tokenize.STRING and last in (tokenize.NEWLINE, tokenize.INDENT):
            changes.append((token, '""'))
        if kind not in (tokenize.NL, tokenize.COMMENT):
            last = kind
    for token, text in reversed(changes):
        (first, start), (last_line, stop) = token.start, token.end
        rest = lines[last_line - 1][stop:]
        lines[first - 1 : last_line] = [lines[first - 1][:start] + text + rest]
    return "".join(lines)
