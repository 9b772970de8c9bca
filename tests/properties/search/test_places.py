"""Places are those of the tokens, in every script and form."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import PassageIndex
from neardup.index.store import create_index
from neardup.passages.windows import make_passage_scheme
from tests.examples import examples
from tests.oracles import spans
from tests.oracles.tokens import Options
from tests.properties.search.cases import add, new_folder
from tests.strategies import GAPS, any_text, assigned_only

FOREIGN = ["naïve", "nai\u0308ve", "STRASSE", "straße", "日本語", "ไทย", "ﬁne", "ｆｕｌｌ", "Å"]
FOREIGN += ["\u212b", "가", "가각", "x_6", "½", "①", "\U0001f600", "a", "b", "\u0301"]


@given(
    words=st.lists(st.sampled_from(FOREIGN), min_size=1, max_size=25),
    gap=st.sampled_from([" ", "", *GAPS, " \u0301", "…"]),
    texts=st.lists(any_text, max_size=2),
    kind=st.sampled_from(["words", "whitespace", "characters"]),
    form=st.sampled_from([None, "NFC", "NFKC"]),
    casefold=st.booleans(),
    accents=st.booleans(),
    data=st.data(),
)
@examples(100)
def test_search__places_are_those_of_the_tokens(
    words, gap, texts, kind, form, casefold, accents, data
):
    chosen = Options(casefold, form, accents)
    texts = [assigned_only(text) for text in (gap.join(words), *texts)]
    located = [spans.locate(text, kind, chosen) for text in texts]
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text)))
    query = text[start : start + data.draw(st.integers(0, 12))]
    scheme = make_passage_scheme(
        min_tokens=2, num_perm=8, tokenizer=kind, casefold=casefold, unicode_form=form,
        strip_accents=accents, tf="raw",
    )  # fmt: skip
    with new_folder() as folder:
        create_index(folder, scheme.describe())
        add(folder, {str(i): text for i, text in enumerate(texts)}, cut=2, tokens=1)
        index = PassageIndex.open(folder)
        table = index.search([query], Fraction(1, 2), recall="0.99", with_text=True).passages
        assert len(index) == len(texts)
    for row in table.to_pylist():
        number = int(row["doc_id"])
        tokens, text = located[number], texts[number]
        assert row["doc_text"] == text[row["doc_start"] : row["doc_end"]]
        assert row["query_text"] == query[row["query_start"] : row["query_end"]]
        assert (row["query_start"], row["query_end"]) == all_of(query, kind, chosen)
        edges = [len(text[: row[name]].encode()) for name in ("doc_start", "doc_end")]
        # Of several tokens of one character, it may be that only some belong to the passage.
        firsts = [i for i, token in enumerate(tokens) if token[1] == edges[0]]
        lasts = [i for i, token in enumerate(tokens) if token[2] == edges[1]]
        if len(firsts) > 1 or len(lasts) > 1:
            continue
        inside = [token for token, _, _ in tokens[firsts[0] : lasts[0] + 1]]
        again = [token for token, _, _ in spans.locate(row["doc_text"], kind, chosen)]
        if not is_changed_by_neighbours(text, row["doc_start"], row["doc_end"], chosen):
            assert again == inside
        wanted = [token for token, _, _ in spans.locate(query, kind, chosen)]
        assert row["similarity"] == pytest.approx(multiset_jaccard(inside, wanted))


def all_of(text: str, kind: str, chosen: Options) -> tuple[int, int]:
    """Tell where the first token starts and the last one ends, in characters."""
    tokens = spans.locate(text, kind, chosen)
    data = text.encode()
    return len(data[: tokens[0][1]].decode()), len(data[: tokens[-1][2]].decode())


def is_changed_by_neighbours(text: str, start: int, end: int, chosen: Options) -> bool:
    """Tell whether normalisation of a cut-out text may differ because of what is around it."""
    import unicodedata

    if chosen.unicode_form is None:
        return False
    parts = (text[:start], text[start:end], text[end:])
    whole = unicodedata.normalize(chosen.unicode_form, text)
    return whole != "".join(unicodedata.normalize(chosen.unicode_form, part) for part in parts)


def multiset_jaccard(x: list[bytes], y: list[bytes]) -> float:
    kinds = {*x, *y}
    shared = sum(min(x.count(kind), y.count(kind)) for kind in kinds)
    return shared / sum(max(x.count(kind), y.count(kind)) for kind in kinds)
