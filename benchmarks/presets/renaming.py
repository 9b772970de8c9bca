"""Programs with other names and other comments, as whoever hides a copy makes them."""

from __future__ import annotations

import io
import keyword
import random
import re
import string
import tokenize

_WORDS = ("some other words say what this does", "checked twice", "see the notes", "first the rest")

# Of C++, JavaScript and Java together: these are not renamed.
_LISTED = """
abstract assert async await auto bool boolean break byte case catch char class const constexpr
continue debugger default delete do double else enum explicit export extends extern false final
finally float for friend from function get goto if implements import in inline instanceof int
interface let long mutable namespace native new noexcept null nullptr of operator override
package private protected public register restrict return set short signed sizeof static struct
super switch synchronized template this throw throws transient true try typedef typeof typename
undefined union unsigned using var virtual void volatile while with yield __restrict
__extension__ __attribute__ __inline
"""
_KEYWORDS = frozenset(_LISTED.split())
_PARTS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`]*`)
    |(?P<pattern>(?<=[=(,:!&|?])[ ]?/(?![/*])(?:\\.|\[[^]\n]*\]|[^/\\\n])+/\w*)|(?P<number>\d[\w.]*)
    |(?P<directive>^[ \t]*\#[^\n]*)|(?P<name>[A-Za-z_$][\w$]*)|(?P<rest>.)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


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


def rename_braces(program: str, seed: int) -> str:
    """Rename all that is no keyword in C, JavaScript or Java, and change all comments."""
    rng = random.Random(seed)
    names = _Names(rng)

    def changed(match: re.Match[str]) -> str:
        text, kind = match[0], match.lastgroup
        if kind == "comment":
            return f"/* {rng.choice(_WORDS)} */" if rng.random() < 0.5 else " "
        return names[text] if kind == "name" and text not in _KEYWORDS else text

    return _PARTS.sub(changed, program)
