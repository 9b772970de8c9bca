"""The example program by which two parties ask and answer with true and false."""

from __future__ import annotations

import importlib.util
import json
import random
import threading
import urllib.error
import urllib.request

import pytest

import neardup
from tests.calls import grouped
from tests.docs.pages import ROOT

OPTIONS = {"kind": "modulo", "modulus": 4, "seed": 99, "id_column": "id"}


@pytest.fixture(scope="module")
def presence():
    spec = importlib.util.spec_from_file_location("presence", ROOT / "examples" / "presence.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def texts():
    generator = random.Random(8)
    return [" ".join(f"w{generator.randrange(10**6)}" for _ in range(6000)) for _ in range(3)]


def sketched(texts, **more):
    rows = [{"id": f"secret {i}", "text": text} for i, text in enumerate(texts)]
    return neardup.sketch(rows, **grouped(**OPTIONS | more))


def questions_of(texts):
    """A part, it with some words changed, an unknown text, one too short, and an empty one."""
    part = texts[1].split()[1000:3000]
    changed = [f"x{i}" if i % 100 == 0 else word for i, word in enumerate(part)]
    unknown = [f"u{i}" for i in range(2000)]
    return sketched([" ".join(words) for words in (part, changed, unknown, part[:300], [])])


@pytest.fixture
def server(presence, texts):
    answers = presence.Answers(sketched(texts), most=12)
    with presence.make_server(answers, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_presence__true_or_false_and_no_more(presence, texts, server, tmp_path, capsys):
    questions = questions_of(texts)
    assert presence.ask(server, questions) == [True, True, False, False, False]
    questions.write(tmp_path / "asked.parquet")
    presence.main(["ask", str(tmp_path / "asked.parquet"), server])
    assert capsys.readouterr().out.splitlines() == ["true", "true", "false", "false", "false"]
    with pytest.raises(urllib.error.HTTPError) as caught:
        presence.ask(server, questions)
    with caught.value as answer:
        assert answer.code == 429
        assert json.load(answer) == {"error": "no more questions are answered"}


def test_presence__other_schemes(presence, texts, server):
    with pytest.raises(urllib.error.HTTPError) as caught:
        presence.ask(server, sketched(texts[:1], seed=1))
    with caught.value as answer:
        error = json.load(answer)["error"]
    assert "seed 1 and 99" in error
    with pytest.raises(neardup.InvalidParameterError, match=r"modulo.*minhash"):
        presence.Answers(neardup.sketch(["a"]))


def test_presence__single_shingles_cannot_be_asked_for(presence, texts):
    """A sketch that says that it is the whole set would else be answered exactly."""
    known = sketched(texts)
    answers = presence.Answers(known)
    own = known.to_arrow().slice(0, 1)
    table = own.to_pydict()
    for n_values, expected in ((1, False), (99, False), (100, True)):
        columns = table | {"sketch": [table["sketch"][0][:n_values]], "size": [4 * n_values]}
        forged = neardup.Sketches.from_arrow(presence.pa.table(columns, schema=own.schema))
        assert answers.answer(presence.make_question(forged)) == [expected]
