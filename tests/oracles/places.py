"""Lines and columns of texts by counting, which is slow."""

from __future__ import annotations


def line_and_column(text: str, place: int) -> str:
    """Return where a character is; a line ends behind its line feed, or a lone carriage return."""
    line, column = 1, 1
    for here in range(place):
        character, next_one = text[here], text[here + 1 : here + 2]
        if character == "\n" or (character == "\r" and next_one != "\n"):
            line, column = line + 1, 1
        else:
            column += 1
    return f"line {line:,}, column {column:,}"
