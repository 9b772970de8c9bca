"""Tokenizers: what a text is cut into, each token as a 64-bit hash.

A tokenizer is a class in a module of its own. ``named`` is the table of those that have a name;
``choice`` makes one of what a user may name.
"""

from neardup.text.tokenizers.choice import make_tokenizer
from neardup.text.tokenizers.functions import TokenFunction
from neardup.text.tokenizers.tokenizer import Tokenizer

__all__ = ["TokenFunction", "Tokenizer", "make_tokenizer"]
