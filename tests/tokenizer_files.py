"""Small files of tokenizers, trained on a few words."""

from __future__ import annotations

from pathlib import Path

import tokenizers

SAMPLE = ["the cat sat on the mat", "Hello the cat", "été 漢字 the ss fi straße"]


def write_byte_pairs(path: Path) -> Path:
    """Write a tokenizer of pairs of bytes, which cuts characters in pieces."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=330,
        show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(SAMPLE * 5, trainer)
    tokenizer.save(str(path))
    return path


def write_word_pieces(path: Path) -> Path:
    """Write a tokenizer of pieces of words, which normalises and puts a mark before each word."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram())
    tokenizer.normalizer = tokenizers.normalizers.NFKC()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trainer = tokenizers.trainers.UnigramTrainer(
        vocab_size=60, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    tokenizer.train_from_iterator(SAMPLE * 5, trainer)
    tokenizer.save(str(path))
    return path
