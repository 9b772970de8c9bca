"""Tokens of a program by definition: what Pygments says of each character, and runs of that."""

from __future__ import annotations

from itertools import groupby

from pygments.lexers import get_lexer_by_name
from pygments.token import Token


def kinds_of_characters(text: str, language: str) -> list[tuple[int, object]]:
    """Give for each character the number of the lexer's token that it is in, and its kind."""
    found = [(-1, Token.Text)] * len(text)
    lexer = get_lexer_by_name(language)
    for number, (start, kind, value) in enumerate(lexer.get_tokens_unprocessed(text)):
        for place in range(start, min(start + len(value), len(text))):
            found[place] = (number, kind)
    return found


def program_tokens(text: str, language: str) -> list[bytes]:
    """Cut a program: names, numbers and strings by kind, other things as they are written."""
    text = text.replace("\r\n", "\n").replace("\r", "\n") + "\n"
    kinds = kinds_of_characters(text, language)

    def part_of(place: int) -> tuple[object, ...]:
        number, kind = kinds[place]
        if kind in Token.Literal.String:
            return ("string",)
        for name in (Token.Comment, Token.Name, Token.Keyword, Token.Operator):
            if kind in name:
                return (name, number)
        if kind in Token.Literal.Number:
            return ("number", number)
        return (Token.Text,)

    found: list[bytes] = []
    open_brackets = 0
    for part, run in groupby(range(len(text)), key=part_of):
        places = list(run)
        written = text[places[0] : places[-1] + 1]
        if part[0] == "string":
            is_doc = any(kinds[place][1] in Token.Literal.String.Doc for place in places)
            line_before = text[: places[0]].rpartition("\n")[2]
            line_after = text[places[-1] + 1 :].partition("\n")[0]
            is_alone = not line_before.strip() and not line_after.strip() and not open_brackets
            is_counted = not is_doc and not (is_alone and language == "python")
            if is_counted and not written.isspace():
                found.append(b" string")
        elif part[0] == "number":
            found.append(b" number")
        elif part[0] is Token.Name or kinds[places[0]][1] in Token.Keyword.Type:
            for names in written.split():
                for number, name in enumerate(names.split(".")):
                    found += [b"."] * (number > 0) + [b" name"] * (name != "")
        elif part[0] in (Token.Keyword, Token.Operator):
            found += [word.encode() for word in written.split()]
        elif part[0] is not Token.Comment:
            for piece, letters in groupby(written, key=is_word_part):
                letters = list(letters)
                if not piece:
                    found += [letter.encode() for letter in letters if not letter.isspace()]
                    open_brackets += sum(letter in "([{" for letter in letters)
                    open_brackets -= sum(letter in ")]}" for letter in letters)
                else:
                    found.append(b"_" if letters == ["_"] else b" name")
    return found


def is_word_part(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
