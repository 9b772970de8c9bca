"""What the pages say is what the package does."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import shlex
import struct
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.cli import cli, run
from neardup.kernels.hashing import hash_bytes, mix_words
from neardup.kernels.logarithm import logarithms
from neardup.kernels.weights import fill_weights
from neardup.matching.bands import choose_banding
from neardup.matching.measures import make_measure
from neardup.passages.query import Query, make_queries
from neardup.passages.scheme import make_passage_scheme
from neardup.sketches.edit_signature import EditScheme, edit_signatures
from neardup.sketches.minhash import MinHashScheme, _lanes, band_keys, minhash_signatures
from neardup.sketches.rabin import draw_polynomial, rabin_shingle_lists
from neardup.sketches.super_shingles import SuperShingleRule
from neardup.tables import ShingleLists, Texts, TokenLists
from neardup.text.normalise import Normalisation
from neardup.text.shingles import (
    HASH_VERSION,
    digest_token_lists,
    make_shingle_scheme,
    shingle_lists,
)
from neardup.text.tokenizers import make_tokenizer
from neardup.text.weighting import DocumentFrequencies, term_frequencies
from tests.kernels.test_consistent import KNOWN
from tests.oracles import broder, rabin, weighted
from tests.oracles import edit_signature as edit_oracle
from tests.oracles import hashing as oracle
from tests.oracles.tokens import Options, tokenize

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples/README.md", *DOCS]
COMMAND_LINE = ROOT / "docs/command-line.md"

# Pages that may not be there yet.
MAY_BE_MISSING = {ROOT / "benchmarks/README.md"}

# Set to 1, it makes test_command_line__help_is_current write the help texts instead.
UPDATE = "NEARDUP_UPDATE_DOCS"


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """Give the text below a heading, up to the next one."""
    return re.split(rf"(?m)^#+ {re.escape(heading)}$", page(name))[1].split("\n#", 1)[0]


def tables(name: str, heading: str) -> list[list[list[str]]]:
    """Give the cells of all tables of a section, without the tables' heads."""
    blocks = re.findall(r"(?:^\|.*\n)+", section(name, heading) + "\n", re.MULTILINE)
    return [[line.strip("| ").split(" | ") for line in block.splitlines()[2:]] for block in blocks]


def values(cell: str) -> list:
    """Read the code spans of a cell: hexadecimal numbers, or JSON."""
    spans = re.findall(r"`(.+?)`", cell)
    return [int(s, 16) if s.startswith("0x") else json.loads(s) for s in spans]


def vectors(heading: str, *, table: int = 0) -> list[list]:
    """Read a table of known answers; a cell with one value stands for it, else for a list."""
    rows = tables("docs/hashing.md", heading)[table]
    cells = [[values(cell) for cell in row] for row in rows]
    return [[cell[0] if len(cell) == 1 else cell for cell in row] for row in cells]


def token_bytes(token: str | int) -> bytes:
    return token.encode() if isinstance(token, str) else token.to_bytes(8, "little", signed=True)


def hashed(tokens: list[str]) -> list[int]:
    return [oracle.hash_token(token.encode()) for token in tokens]


def token_lists(tokens: list[str]) -> TokenLists:
    return TokenLists(np.array(hashed(tokens), np.uint64), np.array([0, len(tokens)]))


def text_lists(text: str) -> Texts:
    return Texts.from_arrow(pa.array([text]))


# docs/hashing.md


def test_hashing_page__version():
    assert f"hash\nversion {HASH_VERSION}" in page("docs/hashing.md")


def test_hashing_page__constants():
    block = re.search(r"```text\n(GOLDEN.*?)```", page("docs/hashing.md"), re.DOTALL)
    constants = dict(re.findall(r"(\w+) += (0x\w+)", block[1]))
    assert len(constants) == 4
    for name, value in constants.items():
        assert int(value, 16) == getattr(oracle, name)


def test_hashing_page__mixer():
    for z, mixed in vectors("Mixer"):
        assert oracle.mix(z) == mixed
        assert mix_words(np.array([z], np.uint64)).tolist() == [mixed]


def test_hashing_page__tokens():
    rows = vectors("Tokens")
    assert {len(token_bytes(token)) for token, _ in rows} >= {0, 1, 7, 8, 9}
    for token, value in rows:
        assert oracle.hash_token(token_bytes(token)) == value
        assert hash_bytes(token_bytes(token)) == value
        given = make_tokenizer(lambda _, token=token: [token], Normalisation(casefold=False))
        assert given.hash_tokens(text_lists("")).values.tolist() == [value]


def test_hashing_page__tokens_in_kernels():
    words = make_tokenizer("words", Normalisation())
    answers = {token: value for token, value in vectors("Tokens") if str(token).isalnum()}
    assert words.hash_tokens(text_lists("Straße")).values.tolist() == [answers["strasse"]]
    for token in ("a", "hello", "漢", "abcdefgh", "abcdefghi"):
        assert words.hash_tokens(text_lists(token)).values.tolist() == [answers[token]]


def test_hashing_page__shingles():
    for tokens, value in vectors("Shingles"):
        assert oracle.hash_shingle(hashed(tokens)) == value
        for ngram in (len(tokens), len(tokens) + 1):
            found = shingle_lists(token_lists(tokens), make_shingle_scheme("bytes", ngram=ngram))
            assert found.values.tolist() == [value]


def test_hashing_page__numbered_shingles():
    rows = vectors("Numbered shingles")
    tokens = rows[0][0]
    assert [[tokens, x] for x in (1, 2, 3)] == [row[:2] for row in rows]
    expected = {element for _, _, element in rows}
    assert oracle.number_occurrences([oracle.hash_shingle(hashed(tokens))] * 3) == expected
    # The shingle of two tokens comes three times in "a hello a hello a hello".
    scheme = make_shingle_scheme("bytes", ngram=2, occurrences="numbered")
    assert expected < set(shingle_lists(token_lists(tokens * 3), scheme).values.tolist())


def test_hashing_page__digests():
    for tokens, *digest in vectors("Digest for exact copies"):
        assert list(oracle.digest(hashed(tokens))) == digest
        assert digest_token_lists(token_lists(tokens)).tolist() == [digest]


def test_hashing_page__lane_masks():
    for seed, lane, *masks in vectors("Lanes"):
        assert list(oracle.lane_masks(seed, lane)) == masks
        assert [part[lane] for part in _lanes(MinHashScheme(lane + 1, seed))] == masks


def test_hashing_page__lane_values():
    for shingle, seed, lane, value in vectors("Lanes", table=1):
        assert oracle.lane_value(shingle, *oracle.lane_masks(seed, lane)) == value
        alone = ShingleLists(np.array([shingle], np.uint64), np.array([0, 1]))
        assert minhash_signatures(alone, MinHashScheme(lane + 1, seed))[0, lane] == value


def test_hashing_page__signatures():
    masks = [oracle.lane_masks(42, lane) for lane in range(4)]
    for tokens, ngram, signature in vectors("Signature"):
        assert oracle.signature(oracle.hash_shingles(hashed(tokens), ngram), masks) == signature
        shingles = shingle_lists(token_lists(tokens), make_shingle_scheme("bytes", ngram=ngram))
        assert minhash_signatures(shingles, MinHashScheme(4, 42)).tolist() == [signature]


def test_hashing_page__band_keys():
    for band, lanes, key in vectors("Band keys"):
        assert oracle.band_key(lanes, band) == key
        rows = len(lanes)
        signature = np.zeros((1, rows * (band + 1)), np.uint32)
        signature[0, band * rows :] = lanes
        assert band_keys(signature, band + 1, rows)[0, band] == key


def bits_of(number: float) -> int:
    return int.from_bytes(struct.pack(">d", number), "big")


def queries_of(tokens: list[str], **options: object) -> list[Query]:
    return list(make_queries(token_lists(tokens), make_passage_scheme(**options), None))


def test_hashing_page__seeds_of_passages():
    for seed, f, value in vectors("Seeds"):
        start = oracle.mix(seed ^ oracle.GOLDEN)
        assert oracle.mix((start + (f + 1) * oracle.GOLDEN) & oracle.ALL) == value
        assert make_passage_scheme(seed=seed).seeds[f] == value


def copy_value(token: int, seed: int, x: int) -> int:
    return oracle.mix((oracle.mix(token ^ seed) + x * oracle.GOLDEN) & oracle.ALL)


def test_hashing_page__copies():
    for token, seed, x, value in vectors("Copies"):
        assert copy_value(*hashed([token]), seed, x) == value
        assert make_passage_scheme().seeds[0] == seed


def test_hashing_page__weights():
    rows = vectors("Weights")
    assert len({row[0] for row in rows}) == 5
    for tf, idf, f, n_documents, n, weight in rows:
        exact = weighted.term_frequency(tf, f) * weighted.inverse_frequency(idf, n, n_documents)
        assert weighted.scaled(exact) == weight
        known = DocumentFrequencies(
            np.array([1], np.uint64), np.array([max(n, 1)], np.int64), n_documents
        )
        inverse = known.idf_of(np.array([1 if n else 2], np.uint64), idf)
        found = np.empty(1, np.int64)
        fill_weights(np.array([f], np.int64), term_frequencies(tf, f), inverse, found)
        assert found.tolist() == [weight]


def test_hashing_page__logarithm():
    for x, expected in vectors("Logarithm"):
        number = struct.unpack(">d", x.to_bytes(8, "big"))[0]
        found = np.empty(1)
        logarithms(np.array([number]), found)
        assert bits_of(found[0]) == expected
        assert weighted.errors_in_last_bits(number, float(found[0])) < 1


def test_hashing_page__consistent_weighted_sampling():
    rows = vectors("Consistent weighted sampling")
    assert set(map(tuple, rows)) <= set(KNOWN)
    for token, seed, weight, order, identity in rows:
        [[_, ln_a, expected]] = weighted.active(token, seed, [weight])
        assert expected == identity
        bits = bits_of(float(ln_a))
        # Forty digits and the formula in floats may differ in the last bit.
        assert abs((bits ^ (oracle.ALL if bits >> 63 else 1 << 63)) - order) <= 4


def test_hashing_page__min_hashes_of_passages():
    rows = vectors("Min-hashes of passages")
    assert {row[1] for row in rows} == {"binary", "raw", "log", "squared", "saturating"}
    for tokens, tf, *identities in rows:
        [query] = queries_of(tokens, tf=tf)
        assert query.keys[:2].tolist() == identities
        counts = Counter(hashed(tokens))
        for seed, identity in zip(
            make_passage_scheme().seeds[:2].tolist(), identities, strict=True
        ):
            if tf in ("binary", "raw"):
                values = [
                    copy_value(token, seed, x)
                    for token, count in counts.items()
                    for x in range(1, (count if tf == "raw" else 1) + 1)
                ]
                assert oracle.mix(min(values)) == identity
            else:
                scaled = {
                    token: weighted.scaled(weighted.term_frequency(tf, count))
                    for token, count in counts.items()
                }
                assert weighted.minimum(seed, scaled) == identity


def test_hashing_page__rabin_polynomials():
    for seed, polynomial in vectors("Rabin fingerprints"):
        drawn = next(p for p in rabin.candidates(seed) if rabin.is_irreducible(p))
        assert drawn == draw_polynomial(seed) | 1 << 64 == polynomial


@pytest.mark.parametrize("table", [1, 2])
def test_hashing_page__rabin_fingerprints(table):
    polynomial = dict(vectors("Rabin fingerprints"))[42]
    rows = vectors("Rabin fingerprints", table=table)
    assert len(rows) > 2
    for given, remainder, shingle in rows:
        if table == 1:
            string = given.encode()
            source: Texts | TokenLists = text_lists(given)
        else:
            string = b"".join(token.to_bytes(8, "big") for token in hashed(given))
            source = token_lists(given)
        assert rabin.fingerprint(string, polynomial) == remainder
        assert oracle.mix(remainder) == shingle
        scheme = make_shingle_scheme("bytes" if table == 1 else "words", ngram=99)
        assert rabin_shingle_lists(source, scheme).values.tolist() == [shingle]


def test_hashing_page__samples_of_sets():
    rows = vectors("Permutation and samples")
    assert {row[0] for row in rows} == {"smallest", "modulo"}
    assert {row[3] for row in rows} == {"mixer", "rabin"}
    polynomial = dict(vectors("Rabin fingerprints"))[42]
    for kind, size, modulus, fingerprint, text, m, found in rows:
        expected = found if isinstance(found, list) else [found]
        tokens = hashed(text.split())
        if fingerprint == "mixer":
            shingles = oracle.hash_shingles(tokens, 2)
        else:
            parts = [token.to_bytes(8, "big") for token in tokens]
            shingles = rabin.shingles(parts, 2, polynomial)
        permuted = broder.permute(shingles, 42)
        if kind == "smallest":
            assert broder.smallest(permuted, size) == expected
        else:
            assert m == (modulus or broder.fitting_modulus(len(permuted), size))
            assert broder.multiples(permuted, m) == expected
        options = {"size": size, "modulus": modulus, "fingerprint": fingerprint}
        sketches = neardup.sketch([text], kind=kind, ngram=2, **options)
        assert sketches.rows.values.tolist() == expected
        assert sketches.rows.moduli.tolist() == [m]


def test_hashing_page__edit_signatures():
    rows = vectors("Edit signatures")
    shown = re.search(
        r"`(\".*\")`, compression (\d+), neighbourhood (\d+)", page("docs/hashing.md")
    )
    text, compression, neighbourhood = (json.loads(value) for value in shown.groups())
    assert {row[0] for row in rows} == {"mixed", "sum"}
    for kind, letters, residue, positions, symbols in rows:
        expected = list(zip(positions, symbols, strict=True))
        options = {"residue": residue, "letters": letters}
        signed = edit_oracle.sign(text, compression, neighbourhood, is_sum=kind == "sum", **options)
        assert signed == expected
        scheme = EditScheme(compression, neighbourhood, kind, **options)
        found = edit_signatures(text_lists(text), scheme, with_positions=True)
        pairs = zip(found.positions.tolist(), found.symbols.tolist(), strict=True)
        assert list(pairs) == expected


# docs/guarantees.md


def test_guarantees_page__super_shingles():
    shown = re.search(
        r"6 groups of 14, 2 of 6: r = (.*?)\. They", page("docs/guarantees.md"), re.DOTALL
    )
    rows = [pair.split() for pair in shown[1].split(",")]
    assert len(rows) == 4
    for resemblance, probability in rows:
        places = len(probability.split(".")[1])
        found = SuperShingleRule(6, 14, 2).probability(float(resemblance))
        assert f"{found:.{places}f}" == probability


def test_guarantees_page__tokens():
    rows = tables("docs/guarantees.md", "Tokens")[1]
    assert len(rows) > 5
    for name, *cells in rows:
        kind = name.strip("`")
        text, expected = (values(cell)[0] for cell in cells)
        normalisation = Normalisation(casefold=kind == "words")
        assert tokenize(text, kind, Options(normalisation.casefold)) == [
            token.encode() for token in expected
        ]
        found = make_tokenizer(kind, normalisation).hash_tokens(text_lists(text))
        assert found.values.tolist() == hashed(expected)


def test_guarantees_page__containment():
    ratios, found = re.findall(
        r"\| (?:size ratio|found with probability) \| (.*) \|", page("docs/guarantees.md")
    )
    least = make_measure("containment", "0.8").least_jaccard
    banding = choose_banding(least, Fraction("0.99"), 128)
    for ratio, probability in zip(ratios.split(" | "), found.split(" | "), strict=True):
        jaccard = 0.8 / (1 + int(ratio) - 0.8)
        assert f"{banding.candidate_probability(jaccard):.3f}" == probability


# docs/command-line.md


def all_commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    """Give a group and all commands below it, in the order in which they are defined."""
    yield name, group
    context = click.Context(group)
    # A list of commands would be by name; that of a group that loads them late has their order.
    for child in list(group.commands) or group.list_commands(context):
        command = group.get_command(context, child)
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{name} {child}")
        else:
            yield f"{name} {child}", command


def commands() -> list[str]:
    """Give the command line of every help text."""
    return [name for name, _ in all_commands(cli, "neardup")]


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run([*command.split()[1:], "--help"]) == 0
    return capsys.readouterr().out.rstrip() + "\n"


def test_command_line__help_is_current(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    text = new = COMMAND_LINE.read_text(encoding="utf-8")
    for command in commands():
        start = f"```console\n$ {command} --help\n"
        assert start in text, f"docs/command-line.md lacks a block that starts with {start!r}"
        before, rest = new.split(start)
        new = before + start + help_of(command, capsys) + "```" + rest.split("```", 1)[1]
    if os.environ.get(UPDATE) == "1":
        COMMAND_LINE.write_text(new, encoding="utf-8")
        return
    assert text == new, f"help texts differ; run the tests with {UPDATE}=1 to write them"


def test_command_line__no_help_of_removed_commands():
    shown = re.findall(r"(?m)^\$ (neardup.*) --help$", COMMAND_LINE.read_text(encoding="utf-8"))
    assert shown == commands()


def test_command_line__every_option():
    text = COMMAND_LINE.read_text(encoding="utf-8")
    for name, command in all_commands(cli, "neardup"):
        block = text.split(f"$ {name} --help\n")[1].split("```")[0]
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                for option in (*parameter.opts, *parameter.secondary_opts):
                    assert re.search(rf"(?<!\S){re.escape(option)}\b", block), (name, option)


# README.md


def first_names(row: list[str]) -> list[str]:
    """Give the names in the first cell of a row."""
    return re.findall(r"`(\w+)`", row[0])


@pytest.fixture(scope="module")
def readme_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Run the README's first command; give what it prints and the output folder."""
    out = tmp_path_factory.mktemp("readme") / "clean"
    [line] = re.findall(r"(?m)^\.venv/bin/(neardup dedup .*)$", page("README.md"))
    arguments = shlex.split(line)[1:]
    assert arguments.count("clean") == 1
    arguments = [str(out) if argument == "clean" else argument for argument in arguments]
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(io.StringIO()) as printed:
        assert run(arguments) == 0
    return printed.getvalue().replace(str(out), "clean"), out


def test_readme__sample_output(readme_run):
    printed, _ = readme_run
    shown = re.search(r"It prints\n\n```text\n(.*?)\n```", page("README.md"), re.DOTALL)[1]
    # The last line has times and memory.
    assert printed.splitlines()[:-1] == shown.splitlines()[:-1]
    pattern = r"written to clean in [\d.]+ s(, [\d,]+ MB of memory at most)?"
    for text in (printed, shown):
        assert re.fullmatch(pattern, text.splitlines()[-1])


def test_readme__files_and_columns(readme_run):
    _, out = readme_run
    for path in out.iterdir():
        name = f"`{path.name}{'/' * path.is_dir()}`"
        assert name in page("README.md")
        assert name in section("docs/command-line.md", "Output")
    _, *described = tables("docs/command-line.md", "Output")
    columns = [[first_names(row)[0] for row in table] for table in described]
    for name, expected in zip(("removed", "clusters"), columns, strict=True):
        assert pq.read_schema(out / f"{name}.parquet").names == expected
        assert f"| `{name}.parquet` | `{', '.join(expected)}`" in page("README.md")


def test_command_line__summary_keys(readme_run):
    _, out = readme_run
    summary = json.loads((out / "summary.json").read_text())
    of_run, of_scheme, of_seconds = (
        {name for row in table for name in first_names(row)}
        for table in tables("docs/command-line.md", "summary.json")
    )
    sometimes = {"skipped", "removed_beyond_survivors", "method_choice", "audit"}
    assert of_run - sometimes == set(summary) - sometimes
    assert of_scheme - {"tf", "idf"} == set(summary["scheme"])
    assert of_seconds - {"choose method", "audit", "count"} == set(summary["seconds"])


def test_command_line__audit_keys():
    texts = [f"{i} one two three four five six" for i in range(3)]
    options = {"ngram": 1, "threshold": "0.7", "method": "auto", "bands": 64, "rows": 1}
    summary = neardup.deduplicate(texts, audit=9, **options).summary
    [table] = tables("docs/command-line.md", "How documents are found, and an audit")
    assert {name for row in table for name in first_names(row)} == set(summary["audit"])
    assert {"choose method", "audit"} <= set(summary["seconds"])
    assert summary["audit"]["recall"] is not None


def test_command_line__keys_of_pairs():
    texts = ["one two three four five six", "one two three four five seven", "", None]
    ways = (
        {"ngram": 1, "threshold": "0.7", "on_error": "skip"},
        {"method": "minhash", "ngram": 1},
        {"max_distance": 5},
        {"top": 1},
    )
    rows = [{"text": text} for text in texts]
    summaries = [
        neardup.find_pairs(rows[: 4 if "on_error" in options else 3], **options).summary
        for options in ways
    ]
    of_run, of_filters = (
        {name for row in table for name in first_names(row)}
        for table in tables("docs/command-line.md", "JSON of pairs")
    )
    assert of_run == set().union(*summaries)
    assert of_filters == set().union(*(summary["filters"] for summary in summaries))
    for summary in summaries:
        assert set(summary["seconds"]) == {"read", "join"}
    _, of_scheme, _ = tables("docs/command-line.md", "summary.json")
    described = {name for row in of_scheme for name in first_names(row)}
    assert described - {"tf", "idf"} == set(summaries[1]["scheme"])


def without_times(text: str) -> list[str]:
    """Leave out times, and the sizes of files, which depend on the version of Arrow."""
    text = re.sub(r"[\d,]+ bytes, [\d,]+ a document$", "bytes", text, flags=re.MULTILINE)
    return re.sub(r"in [\d.]+ s$", "in", text.strip(), flags=re.MULTILINE).splitlines()


@pytest.mark.parametrize(
    ("name", "heading", "program"),
    [
        ("README.md", "Passages", ".venv/bin/neardup"),
        ("docs/leakage.md", "With small files", "neardup"),
        ("docs/sketches.md", "With small files", "neardup"),
        ("docs/sketches.md", "Two parties, no texts shown", "neardup"),
    ],
)
def test_commands__print_what_pages_show(name, heading, program, tmp_path, capsys, monkeypatch):
    """Blocks of commands, each followed by what they print."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    blocks = re.findall(r"(?s)```(sh|text)\n(.*?)```", section(name, heading))
    assert blocks
    assert [kind for kind, _ in blocks] == ["sh", "text"] * (len(blocks) // 2)
    capsys.readouterr()
    for (_, commands), (_, shown) in zip(blocks[::2], blocks[1::2], strict=True):
        for command in commands.replace("\\\n", " ").strip().splitlines():
            first, *arguments = shlex.split(command)
            assert first == program
            assert run(arguments) == 0
        assert without_times(capsys.readouterr().out) == without_times(shown)


def json_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    capsys.readouterr()
    assert run([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def keys_of(heading: str, *, table: int = 0) -> set[str]:
    return {
        name for row in tables("docs/command-line.md", heading)[table] for name in first_names(row)
    }


def test_command_line__keys_and_columns_of_passages(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages, questions = ROOT / "examples/pages.jsonl", ROOT / "examples/questions.jsonl"
    ids = ("--id-column", "id")
    build = json_of(capsys, "index", "build", "idx", pages, *ids, "--min-tokens", 20)
    assert set(build) == keys_of("neardup index build")
    assert set(json_of(capsys, "index", "info", "idx")) == keys_of("neardup index info")
    search = json_of(capsys, "search", "idx", questions, *ids, "-o", "hits.csv")
    assert set(search) == keys_of("JSON of search")
    windows = ("--all-windows", "-o", "windows.csv")
    json_of(capsys, "search", "idx", questions, *ids, *windows)
    align = json_of(capsys, "align", questions, *ids, "--against", "idx", "-o", "shared.parquet")
    assert set(align) == keys_of("JSON of align")
    drop = json_of(capsys, "drop", pages, *ids, "--named-in", "hits.csv", "-o", "out")
    assert set(drop) | {"skipped"} == keys_of("JSON of drop")
    columns = re.findall(r"`(\w+)`", " ".join(row[0] for row in passage_tables()[0]))
    assert pq.read_schema("shared.parquet").names == columns
    assert header_of("hits.csv") == columns
    columns = re.findall(r"`(\w+)`", " ".join(row[0] for row in passage_tables()[1]))
    assert set(header_of("windows.csv")) == set(columns)
    removed = json_of(capsys, "index", "remove", "idx", "news")
    compacted = json_of(capsys, "index", "compact", "idx")
    for name, found in (("remove", removed), ("compact", compacted)):
        [key] = found
        assert f"`{key}`" in section("docs/command-line.md", f"neardup index {name}")


SKETCH_KINDS = {
    "minhash": (),
    "weighted": (),
    "smallest": (),
    "modulo": (),
    "edit": ("--letters", 2),
}


@pytest.mark.parametrize("kind", SKETCH_KINDS)
def test_command_line__keys_and_columns_of_sketches(kind, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = ROOT / "examples/pages.jsonl"
    made = json_of(capsys, "sketch", pages, "--kind", kind, *SKETCH_KINDS[kind], "-o", "a.parquet")
    told = " ".join(row[0] for row in tables("docs/command-line.md", "JSON of sketch")[0])
    keys = set(re.findall(r"`(\w+)`", told))
    assert set(made) == keys
    info = json_of(capsys, "sketch", "--info", "a.parquet")
    assert set(info) == keys - {"skipped_rows"} | {"format", "neardup"}
    described = dict(tables("docs/command-line.md", "neardup sketch")[0])
    assert set(described) == set(SKETCH_KINDS)
    names = set(re.findall(r"`(\w+)`", described[kind])) | {"id"}
    assert set(pq.read_schema("a.parquet").names) == names
    summary = json_of(capsys, "estimate", "a.parquet", "-o", "pairs.parquet")
    told = " ".join(row[0] for row in tables("docs/command-line.md", "JSON of estimate")[0])
    assert set(summary) == set(re.findall(r"`(\w+)`", told))
    rows = tables("docs/command-line.md", "neardup estimate")[0]
    [columns] = [row[1] for row in rows if kind in row[0].split(", ")]
    expected = ["id_a", "id_b", *re.findall(r"`(\w+)`", columns)]
    assert pq.read_schema("pairs.parquet").names == expected


def test_command_line__keys_of_compare(tmp_path, capsys):
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name} one two three four five six")
    told = json_of(capsys, "compare", tmp_path / "a", tmp_path / "b")
    assert set(told) == keys_of("JSON of compare")
    [passage], measures = told["passages"], told["measures"]
    rows = dict(tables("docs/command-line.md", "JSON of compare")[0])
    described = {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in rows.items()}
    assert described["`passages`"] == set(passage)
    assert described["`measures`"] == set(measures[0])
    assert described["`sizes`"] == {"a", "b", *told["sizes"]["a"]}
    assert set(measures[0]["estimates"][0]) == keys_of("JSON of compare", table=1)
    assert set(told["differences"]) == keys_of("JSON of compare", table=2)
    elements = {measure["elements"] for measure in measures}
    text = section("docs/command-line.md", "JSON of compare")
    assert all(f"`{name}`" in text for name in elements)


def passage_tables() -> list[list[list[str]]]:
    return tables("docs/command-line.md", "neardup search")


def header_of(name: str) -> list[str]:
    return shlex.split(Path(name).read_text().splitlines()[0].replace(",", " "))


# All pages


def anchors(text: str) -> set[str]:
    """Give the anchors of headings as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?s)```.*?```", "", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links__lead_somewhere(path):
    text = re.sub(r"(?s)```.*?```", "", path.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if target in MAY_BE_MISSING and not target.exists():
            continue
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_lines__at_most_100_characters(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    # Rows of tables cannot be broken.
    long = [number for number, line in enumerate(lines, 1) if len(line) > 100 and line[0] != "|"]
    assert long == []


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_examples__give_what_they_show(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"(?s)```python\n(>>>.*?)```", path.read_text(encoding="utf-8"))
    examples = doctest.DocTestParser().get_doctest("".join(blocks), {}, path.name, str(path), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)
