"""Pages of pairs that several people judge, each under a name: who has said what is kept."""

from __future__ import annotations

import errno
import json
import random

import httpx
import pyarrow.csv as pc
import pytest

import neardup
from neardup.cli import run
from neardup.errors import InvalidInputError, InvalidParameterError, WriteError
from neardup.service import reviews
from neardup.service.reviews import open_reviews
from tests.browser.review_pages import RECORDS, record_pairs
from tests.service.conftest import TOKEN

PAIRS = record_pairs().pairs.select(["id_a", "id_b"]).to_pylist()
LABELS = "judge.labels.csv"


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "judge.html"
    neardup.review(record_pairs(), RECORDS, order="file").write(path)
    return path


@pytest.fixture
def running(start, page):
    return start(review=[page])


def say(running, reviewer, pair, label, note="", **headers):
    said = {"reviewer": reviewer, "pair": pair, "label": label, "note": note}
    address = f"{running.url}/reviews/judge/labels"
    return httpx.post(address, json=said, headers=headers, timeout=60).status_code


def said_by(running, reviewer):
    return running.get("/reviews/judge/labels", reviewer=reviewer).json()


def test_reviews__each_reviewer_has_labels_of_their_own(running, page):
    assert said_by(running, "anna") == []
    assert say(running, "anna", 0, "yes", "see") == 204
    assert say(running, " ben ", 0, "no") == 204
    assert say(running, "ben", 2, "unsure", "too; short") == 204
    assert said_by(running, "anna") == [[0, "yes", "see"]]
    assert said_by(running, "ben") == [[0, "no", ""], [2, "unsure", "too; short"]]
    table = pc.read_csv(page.with_name(LABELS))
    assert table.select(["id_a", "id_b"]).to_pylist() == [PAIRS[0], PAIRS[2]]
    assert table["label"].to_pylist() == ["disagreed", "unsure"]
    similarities = record_pairs().pairs["similarity"].to_pylist()
    assert table["similarity"].to_pylist() == similarities[::2]
    # The last word counts, and one that is taken back is none.
    assert say(running, "ben", 0, "yes") == say(running, "ben", 2, "") == 204
    assert said_by(running, "ben") == [[0, "yes", ""]]


def test_reviews__labels_are_read_by_all_else(running, page, capsys, monkeypatch):
    monkeypatch.chdir(page.parent)
    for reviewer, words in (("anna", "yes no yes"), ("ben", "yes no no")):
        for pair, word in enumerate(words.split()):
            assert say(running, reviewer, pair, word) == 204
    assert "2 labelled pairs" in neardup.report(record_pairs(), labels=LABELS).html
    again = neardup.review(record_pairs(), RECORDS, labels=LABELS).html
    assert '["anna","yes"],["ben","no"]' in again
    assert run(["review", "--merge", LABELS, "-o", "merged.csv"]) == 0
    assert "anna and ben agree on 2 of 3 pairs" in capsys.readouterr().out
    chosen = neardup.choose(LABELS, RECORDS, text_column="title", measure="jaccard")
    assert chosen.removed["id"].to_pylist() == [PAIRS[0]["id_b"]]


def test_reviews__go_on_where_they_were(page):
    [review] = open_reviews([page])
    review.keep(reviews.Said("anna", 1, "no", "a note"))
    with pytest.raises(WriteError, match="another service keeps labels"):
        open_reviews([page])
    review.close()
    labels = page.with_name(LABELS)
    # What is said of a pair that the page no longer has stays.
    with labels.open("a") as file:
        file.write('"x","y","yes",,"","yes",""\n')
    [review] = open_reviews([page])
    assert review.said_by("anna") == [(1, "no", "a note")]
    review.keep(reviews.Said("anna", 0, "yes"))
    ids = [PAIRS[0]["id_a"], PAIRS[1]["id_a"], "x"]
    assert pc.read_csv(labels)["id_a"].to_pylist() == ids
    review.close()


def test_reviews__notes_alone_are_read_again(page):
    [review] = open_reviews([page])
    review.keep(reviews.Said("anna", 0, "", "which of them?"))
    review.close()
    [review] = open_reviews([page])
    assert review.said_by("anna") == [(0, "", "which of them?")]
    review.close()
    assert "0 labelled pairs" in neardup.report(record_pairs(), labels=page.with_name(LABELS)).html


def test_reviews__in_blocks_the_file_is_the_same(page, monkeypatch):
    """Whoever judges what, in whatever order, and takes it back: as if all were written anew."""
    rng, reference, contents = random.Random(7), [], []
    for _ in range(40):
        word, note = rng.choice(["yes", "no", "unsure", ""]), rng.choice(["", 'a "b",\nc'])
        reference.append(reviews.Said(rng.choice(["anna", "ben"]), rng.randrange(3), word, note))
    for rows in (1, 2, 1000):
        monkeypatch.setattr(reviews, "_BLOCK", rows)
        [review] = open_reviews([page])
        for said in reference:
            review.keep(said)
        contents.append(page.with_name(LABELS).read_bytes())
        kept = {name: review.said_by(name) for name in ("anna", "ben")}
        review.close()
        [review] = open_reviews([page])
        assert {name: review.said_by(name) for name in ("anna", "ben")} == kept
        review.keep(reviews.Said("anna", 1, "yes"))
        review.close()
        page.with_name(LABELS).unlink()
    assert len(set(contents)) == 1


def test_reviews__what_cannot_be_stored_is_not_kept(page, monkeypatch):
    [review] = open_reviews([page])
    review.keep(reviews.Said("anna", 0, "yes"))

    def fail(*_):
        message = "the disk is full"
        raise WriteError(message)

    monkeypatch.setattr(reviews, "store_file", fail)
    with pytest.raises(WriteError):
        review.keep(reviews.Said("anna", 0, "no"))
    with pytest.raises(WriteError):
        review.keep(reviews.Said("ben", 1, "no"))
    assert review.said_by("anna") == [(0, "yes", "")]
    monkeypatch.undo()
    review.keep(reviews.Said("anna", 1, "unsure"))
    table = pc.read_csv(page.with_name(LABELS))
    assert table["label_anna"].to_pylist() == ["yes", "unsure"]
    assert "label_ben" not in table.column_names
    review.close()


def test_reviews__on_a_disk_that_is_full(running, monkeypatch):
    def full(*_):
        raise WriteError("cannot write") from OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(reviews, "store_file", full)
    assert say(running, "anna", 0, "yes") == 507
    monkeypatch.undo()
    assert said_by(running, "anna") == []


def test_reviews__refuse_what_is_no_judgement(running, page):
    good = {"reviewer": "a", "pair": 0, "label": "yes"}
    for change, status in (
        ({"reviewer": " "}, 422),
        ({"reviewer": "a\nb"}, 422),
        ({"reviewer": "a" * 61}, 422),
        ({"pair": -1}, 422),
        ({"pair": 3}, 422),
        ({"label": "maybe"}, 422),
        ({"note": "n" * 2001}, 422),
        ({"note": "n" * 20_000}, 413),
        ({"more": 1}, 422),
    ):
        answer = running.post("/reviews/judge/labels", good | change)
        assert answer.status_code == status, change
    assert running.post("/reviews/judge/labels", []).status_code == 422
    assert not page.with_name(LABELS).exists()


def test_reviews__are_for_those_who_may(start, page, token_file):
    token_file.write_text(f"{TOKEN} role=read\n{TOKEN}-2 indexes=docs\n{TOKEN}-3\n")
    running = start(review=[page], token_file=token_file)

    def asked(token):
        headers = {"authorization": f"Bearer {token}"}
        got = httpx.get(f"{running.url}/reviews/judge", headers=headers, timeout=60)
        return got.status_code, say(running, "anna", 0, "yes", **headers)

    assert asked("none") == (401, 401)
    assert asked(TOKEN) == (200, 403)
    assert asked(f"{TOKEN}-2") == (403, 403)
    assert asked(f"{TOKEN}-3") == (200, 204)
    # A page of another site makes no browser judge.
    free = {"authorization": f"Bearer {TOKEN}-3", "origin": "http://example.invalid"}
    assert say(running, "anna", 0, "no", **free) == 403


def test_reviews__answer_with_nothing_of_a_file_but_its_pairs(start, page):
    written = page.read_text()
    page.write_text(written.replace("</body>", "<script>alert(1)</script></body>"))
    running = start(review=[page])
    answer = running.get("/reviews/judge")
    assert "alert(1)" not in answer.text
    assert "<title>3 pairs to judge</title>" in answer.text
    policy = answer.headers["content-security-policy"]
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert running.get("/reviews/other").status_code == 404
    # The page that is opened as a file asks nothing of any address.
    assert "connect-src" not in written


def test_reviews__of_what_is_no_page(page, tmp_path):
    other = tmp_path / "other" / "judge.html"
    other.parent.mkdir()
    other.write_bytes(page.read_bytes())
    with pytest.raises(InvalidParameterError, match="two pages are called 'judge'"):
        open_reviews([page, other])
    for text in ("<p>x", '<script type="application/json" id="review-data">{"pairs": 1}</script>'):
        other.write_text(text)
        with pytest.raises(InvalidInputError, match="no page of pairs to be judged"):
            open_reviews([other])
    other.write_bytes(page.read_bytes())
    other.with_name(LABELS).write_text("id_a,id_b,label\na,b,yes\n")
    with pytest.raises(InvalidInputError, match="do not say whose they are"):
        open_reviews([other])


def test_serve__says_where_labels_go(page, capsys, monkeypatch):
    monkeypatch.chdir(page.parent)
    assert run(["serve", "--review", "judge.html", "--check", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["reviews"] == [{"page": "/reviews/judge", "labels": LABELS}]
