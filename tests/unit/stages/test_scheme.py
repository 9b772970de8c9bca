"""The scheme of a deduplication, made again of its summary."""

from __future__ import annotations

import json

import numpy as np
import pytest

import neardup
from neardup.errors import InvalidParameterError, SketchMismatchError
from neardup.files.memory import rows_source
from neardup.jobs.explain import restore_scheme
from neardup.options.documents import DedupOptions
from neardup.reading.sign import sign_block
from neardup.stages.options import plan_deduplication
from tests.arrays import make_texts
from tests.calls import grouped
from tests.each import each_of

TEXTS = ["One two three four", "one Two three FOUR", "été 12 34 five six", "ete 56 78 five six"]


def cut(text):
    return text.split("e")


@pytest.mark.slow
@each_of(
    "options",
    [
        {},
        {"tokenizer": "characters", "ngram": 3, "casefold": True},
        {"strip_accents": True, "unicode_form": "NFKC"},
        {"occurrences": "numbered"},
        {"measure": "containment", "threshold": "0.123456789", "num_perm": 256},
        {"measure": "weighted-jaccard", "idf": "unary", "tf": "log"},
        {"tokenizer": cut},
    ],
)
def test_restore_scheme__keys_and_sets_as_of_the_run(options):
    plan = plan_deduplication(DedupOptions(**options))
    summary = neardup.deduplicate(TEXTS, **grouped(**options)).summary
    # As it comes out of a file.
    scheme = restore_scheme(json.loads(json.dumps(summary)), options.get("tokenizer"))
    assert scheme.measure == plan.measure
    assert scheme.reading.banding == plan.banding
    (block,) = rows_source(TEXTS).blocks()
    keys = sign_block(block, plan.reading).keys
    for i, one in enumerate(TEXTS):
        for j, other in enumerate(TEXTS):
            shared = np.flatnonzero(keys[i] == keys[j]).tolist()
            assert list(scheme.shared_bands(make_texts([one, other]))) == shared


def test_restore_scheme__tokenizer_needed_or_not():
    summary = neardup.deduplicate(TEXTS, text=neardup.TextOptions(tokenizer=cut)).summary
    with pytest.raises(InvalidParameterError, match=r"cut, which is not among what was written"):
        restore_scheme(summary)
    with pytest.raises(SketchMismatchError, match="tokenizer"):
        restore_scheme(summary, str.split)
    summary = neardup.deduplicate(TEXTS).summary
    assert restore_scheme(summary, "words") == restore_scheme(summary)
    with pytest.raises(InvalidParameterError, match="leave tokenizer out"):
        restore_scheme(summary, "characters")


def test_restore_scheme__other_unicode_version_is_no_reason():
    summary = neardup.deduplicate(TEXTS).summary
    summary["scheme"]["unicode_version"] = "1.0"
    assert restore_scheme(summary) is not None
    summary["scheme"]["hash_version"] = 0
    with pytest.raises(SketchMismatchError, match="hash_version"):
        restore_scheme(summary)
