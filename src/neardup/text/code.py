"""Programs as tokens that stay when names, values, comments and layout change.

Pygments' lexers cut a program. Names, those of types too, are all one token, numbers another and
strings a third; other keywords, operators and punctuation stand for themselves; comments,
documentation in strings, directives of a preprocessor and white space are left out.

References
----------
Schleimer, Wilkerson, Aiken (2003), Winnowing: local algorithms for document fingerprinting, which
compares runs of such tokens.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from pygments import __version__
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String

# By whom programs are cut: other versions may cut otherwise.
LEXERS = f"pygments {__version__}"

# What stands for tokens of a kind; none of them can be a token of a program.
NAME, NUMBER, STRING = " name", " number", " string"
# Names one behind the other, as of a package; parts of a keyword of several words; and of what a
# lexer has no kind for, such as punctuation.
_NAMES = re.compile(r"[^\s.]+|\.")
_WORDS, _PIECES = re.compile(r"\S+"), re.compile(r"\w+|[^\w\s]")
_DEPTHS = {**dict.fromkeys("([{", 1), **dict.fromkeys(")]}", -1)}

# The language of a program is what its first line says, or else that of whose lines it has most, of
# equal ones the first. The name of its file has no part in it: the same text is the same tokens
# wherever it stands.
_FIRST_LINES = {
    "php": r"\s*<\?php",
    "python": r"#!.*python",
    "perl": r"#!.*perl",
    "ruby": r"#!.*ruby",
    "javascript": r"#!.*node",
    "bash": r"#!.*sh\b",
}
_ACCESS = r"(?:public|private|protected|internal)"
_LINES = {
    "python": r"(?:async )?def \w+ *\(.*|class \w+ *(?:\(.*\) *)?:|from [\w. ]+ import .*"
    r"|import [\w.]+(?: as \w+)?|(?:elif|except|if|for|while|with) .*:|(?:else|try|finally) *:"
    r"|@[\w.]+ *(?:\(.*\))?|\w+ = [\[{(]|\"\"\".*",
    "cpp": r"# *(?:include|define|ifn?def|endif|undef|pragma)\b.*|template ?<.*>|namespace \w* ?\{"
    r"|using namespace .*|(?:static|extern|inline|typedef|struct|unsigned|virtual|const char)\b.*"
    r"|(?:int|void|char|bool|double|float|size_t|long)[ *]+\w+[(\[ ;=].*|.*\w->\w.*;",
    "java": r"package [\w.]+;|import (?:static )?[\w.*]+;|@Override|(?:public |final |abstract )+"
    rf"(?:class|interface|enum) \w+.*|{_ACCESS} (?:static |final |abstract |synchronized )*"
    rf"[\w<>\[\], ]+\(.*|{_ACCESS} (?:static |final )*[\w<>\[\]]+ \w+(?: =.*)?;",
    "csharp": rf"using [\w.]+;|namespace [\w.]+|{_ACCESS} .*\{{ ?get;.*"
    rf"|{_ACCESS} (?:override|async|virtual|readonly|sealed|partial) .*|foreach \(.*"
    r"|(?:public|internal) (?:static |sealed |partial |abstract )*(?:class|interface) \w+"
    r"(?: : .*)?",
    "javascript": r"(?:export |async )*function ?\*?\w*\(.*|(?:export )?(?:const|let|var)"
    r" (?:[\w$]+(?:: .*)?(?: ?=.*|[,;].*)|[{\[].*)"
    r"|import .* from ['\"].*|.*\brequire\(['\"].*|.*=> ?[{(].*|export (?:default|class|type)\b.*"
    r"|(?:module\.)?exports\b.*|['\"]use strict['\"];?|.* [!=]== .*[{;]|.*\bfunction ?\(.*",
    "go": r"package \w+|import \(|func [\w(].*\{|type \w+ (?:struct|interface) ?\{|\w.* := .*"
    r"|if err != nil \{|defer .*",
    "rust": r"(?:pub(?:\(\w+\))? )?(?:async |unsafe |const )*fn \w+.*|(?:pub )?use \w+::.*"
    r"|impl\b.*\{|let (?:mut )?\w+(?:: .*)? =.*|#!?\[\w+.*\]|(?:pub )?(?:mod|enum|trait) \w+.*\{"
    r"|match .*\{",
    "ruby": r"def [\w.]+[?!=]?(?:\(.*\))?|end|module [A-Z]\w*|class [A-Z]\w*(?: < [\w:]+)?|.* do"
    r"(?: \|.*\|)?|require(?:_relative)? ['\"].*|elsif .*|attr_\w+ :.*|unless .*[^{]",
    "perl": r"use (?:strict|warnings|[A-Z][\w:]*)\b.*;|(?:my|our|local) [$@%(].*|sub \w+ *\{?"
    r"|.*=~ .*|package [\w:]+;|1;|.*\bshift;|.*[$@]_\b.*",
    "bash": r"fi|done|esac|then|do|(?:el)?if \[.*|if .*; then|(?:for|while) .*; do"
    r"|\w+=(?:\$.*|\".*\"|\w*)|\w+ ?\(\) ?\{|;;|echo .*[^;]|export \w+=.*",
    "sql": r"(?i:(?:select|insert into|create|alter|drop|update|delete from|group by|order by|grant"
    r"|comment on) .*)",
    "lua": r"local (?:function )?\w+.*|function [\w.:]+\(.*\)|end[),]+|.* then|elseif .*",
}
# Of programs that have none of these: comments and strings as most languages have them.
_OTHERWISE = "cpp"
# Characters that are looked at; the rest of a program is in the same language.
_LOOKED_AT = 8000


@cache
def _marks() -> tuple[dict[str, re.Pattern[str]], dict[str, re.Pattern[str]]]:
    """Return what first lines, and what any lines of a language match."""
    first = {name: re.compile(line) for name, line in _FIRST_LINES.items()}
    lines = {
        name: re.compile(rf"^[ \t]*(?:{line})[ \t\r]*$", re.MULTILINE)
        for name, line in _LINES.items()
    }
    return first, lines


def guess_language(text: str) -> str:
    """Return the language of a program, as Pygments calls it, by the lines that it begins with."""
    first, lines = _marks()
    start = text[:_LOOKED_AT]
    for name, mark in first.items():
        if mark.match(start):
            return name
    counts = {name: len(mark.findall(start)) for name, mark in lines.items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else _OTHERWISE


def cut_programs(texts: Sequence[str]) -> list[list[tuple[str, int, int]]]:
    """Cut programs into tokens, each with its place; any text is one, whatever is wrong in it."""
    # Made anew for each call: lexers are no promise to be shared by threads.
    lexers: dict[str, Any] = {}
    found = []
    for text in texts:
        language = guess_language(text)
        if language not in lexers:
            lexers[language] = get_lexer_by_name(language)
        # To a lexer lines end so, and comments with their lines.
        lined = text.replace("\r\n", "\n").replace("\r", "\n") + "\n"
        tokens = _tokens(lined, lexers[language], has_docstrings=language == "python")
        found.append(list(_placed(tokens, text)))
    return found


def _placed(tokens: Iterator[tuple[str, int, int]], text: str) -> Iterator[tuple[str, int, int]]:
    """Move tokens from where they stand in a text of one newline for two characters."""
    longer = [match.start() - i for i, match in enumerate(re.finditer("\r\n", text))]
    n_characters = len(text)
    for token, start, stop in tokens:
        if longer:
            start, stop = start + bisect_left(longer, start), stop + bisect_left(longer, stop)
        # An open string may have taken the newline at the end.
        yield token, start, min(stop, n_characters)


def _tokens(text: str, lexer: Any, *, has_docstrings: bool) -> Iterator[tuple[str, int, int]]:
    """Give the tokens of a program with their places, one behind the other."""
    # The string that is being read in parts, where all before it has stopped, and open brackets.
    first, stop, is_comment, depth = -1, 0, False, 0
    for start, kind, value in (*lexer.get_tokens_unprocessed(text), (len(text), Comment, "")):
        # Some say that there is nothing somewhere; the last is ours.
        if start < stop or not (value or kind is Comment):
            continue
        is_string = kind in String
        if first >= 0 and not (is_string and start == stop):
            is_alone = has_docstrings and not depth and _is_alone(text, first, stop)
            if not (is_comment or is_alone or text[first:stop].isspace()):
                yield STRING, first, stop
            first, is_comment = -1, False
        stop = start + len(value)
        if is_string:
            first = start if first < 0 else first
            is_comment |= kind in String.Doc
        elif kind not in Comment:
            for token, offset, end in _parts(kind, value):
                depth += _DEPTHS.get(token, 0)
                yield token, start + offset, start + end


@lru_cache(1 << 16)
def _parts(kind: Any, value: str) -> list[tuple[str, int, int]]:
    """Return the tokens of what a lexer takes for one, each with its place in that."""
    if kind in Number:
        return [(NUMBER, 0, len(value))]
    if kind in Name or kind in Keyword.Type:
        names = ((match[0], match.span()) for match in _NAMES.finditer(value))
        return [("." if name == "." else NAME, *span) for name, span in names]
    if kind in Keyword or kind in Operator:
        return [(match[0], *match.span()) for match in _WORDS.finditer(value)]
    pieces = ((match[0], match.span()) for match in _PIECES.finditer(value))
    return [(NAME if piece.isalnum() or len(piece) > 1 else piece, *span) for piece, span in pieces]


def _is_alone(text: str, start: int, stop: int) -> bool:
    """Whether there is nothing else on the lines of a string, which is documentation then."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    after = text[stop : text.find("\n", stop)]
    return not before.strip() and not after.strip()
