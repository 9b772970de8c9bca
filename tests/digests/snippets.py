"""Python calls over the public interface; what counts is the value of the last expression."""

# ruff: noqa: E501 - a command is a line
from __future__ import annotations

SETUP = """
import json
import pathlib
import pyarrow as pa

def read(name):
    lines = pathlib.Path(name).read_text(encoding="utf-8").split("\\n")
    return [json.loads(line) for line in lines if line]

rows, others = read("docs.jsonl"), read("others.jsonl")
chapters, editions = read("1818.jsonl"), read("1831.jsonl")
texts = [row["text"] for row in rows]
names = ["Miller", "Muller", "Moeller", "Miler", "Smith", "Smyth"]
quote = "a path 2 metres wide all around a garden of 18 by 24 metres, on the outside"

def parts(result):
    return [repr(result), result.removed, result.clusters, result.kept, result.summary]

def make_index(**options):
    index = neardup.PassageIndex.create("idx", min_tokens=20, **options)
    index.add("pages.jsonl", id_column="id")
    return index

def keep_documents(**options):
    index = neardup.DocumentIndex.create("kept", **options)
    index.add("docs.jsonl", id_column="id")
    return index
"""

_DEDUPLICATE = [
    "parts(neardup.deduplicate('docs.jsonl', id_column='id'))",
    "parts(neardup.deduplicate(texts, threshold='0.7', measure='cosine', method='exact'))",
    "parts(neardup.deduplicate(rows, id_column='id', keep='max:score', clusters='components'))",
    "parts(neardup.deduplicate(rows, against=others, keep='longest', id_column='id', audit=50))",
    "parts(neardup.deduplicate(pa.Table.from_pylist(rows), id_column='id', tokenizer='characters'))",
    "parts(neardup.deduplicate(pa.Table.from_pylist(rows).to_batches()[0], id_column='id', ngram=2))",
    "import pandas\nparts(neardup.deduplicate(pandas.DataFrame(rows), id_column='id', threshold=0.6))",
    "import polars\nparts(neardup.deduplicate(polars.DataFrame(rows), id_column='id', seed=3))",
    "parts(neardup.deduplicate('docs.jsonl', id_column='id', tokenizer=lambda text: text.split()))",
    "parts(neardup.deduplicate(pathlib.Path('tree'), ngram=3))",
    "r = neardup.deduplicate('tree', ngram=3)\n[repr(r), r.removed, r.clusters, r.summary]",
    "parts(neardup.deduplicate(rows, id_column='id', measure='weighted-jaccard', tf='log', idf='smooth'))",
    "parts(neardup.deduplicate(rows, bands=(20, 5), casefold=False, unicode_form='NFKC',"
    " strip_accents=True, occurrences='numbered', method='exact', workers=1))",
    "r = neardup.deduplicate('docs.csv')\nr.write('out')\npathlib.Path('out/removed/docs.csv').read_text()",
    "r = neardup.deduplicate(rows)\nr.write('out', format='parquet')\n"
    "import pyarrow.parquet as pq\n"
    "[[str(p), pq.read_table(p)] for p in sorted(pathlib.Path('out').rglob('*.parquet'))]",
    "r = neardup.deduplicate('docs.jsonl')\nr.write('out')\nr.write('out')",
    "parts(neardup.deduplicate([]))",
    "parts(neardup.deduplicate('bad.jsonl', on_error='skip'))",
    "r = neardup.deduplicate('bad.jsonl', on_error='skip')\n[repr(r), r.removed, r.clusters, r.summary]",
    "calls = []\n"
    "neardup.deduplicate(rows, workers=1, progress=lambda *seen: calls.append(seen))\ncalls[-6:]",
]  # fmt: skip

_PAIRS = [
    "r = neardup.find_pairs(rows, id_column='id')\n[repr(r), r, r.summary, r.counts]",
    "r = neardup.find_pairs(texts, [row['text'] for row in others], ngram=1, threshold=0.6)\n[repr(r), r]",
    "r = neardup.find_pairs(names, max_distance=2)\n[repr(r), r, r.summary]",
    "neardup.find_pairs(names, measure='edit', threshold='0.5', casefold=True, top=3)",
    "neardup.find_pairs(pa.table({'text': texts}), top=2, per_document=True, measure='containment')",
    "import polars\nneardup.find_pairs(polars.DataFrame(rows), others, id_column='id', method='minhash')",
    "neardup.find_pairs(rows, measure='overlap', threshold=50, algorithm='allpairs')",
    "from fractions import Fraction\nneardup.find_pairs(rows, threshold=Fraction(2, 3), measure='dice')",
    "from decimal import Decimal\nneardup.find_pairs(rows, threshold=Decimal('0.55'), tokenizer='bytes')",
    "neardup.find_pairs(rows, measure='weighted-jaccard', idf='standard', threshold='0.6')",
    "neardup.find_pairs(rows, limit=3)",
    "neardup.find_pairs([])",
]  # fmt: skip

_PASSAGES = [
    "neardup.align(chapters, editions, id_column='id')",
    "neardup.align(chapters, editions, id_column='id', with_text=True, min_tokens=30)",
    "neardup.align('questions.jsonl', 'pages.jsonl', id_column='id', min_tokens=12, tf='raw', idf='smooth')",
    "neardup.align([chapters[0]['text']], [editions[0]['text']], threshold='0.7', max_documents=2)",
    "neardup.align('questions.jsonl', make_index(), id_column='id')",
    "neardup.align(['a b c'], ['a b c'])",
    "neardup.align(chapters, editions, id_column='id', ngram=2, hits=20, tokenizer=str.split)",
    "neardup.align(chapters, editions, id_column='id', tokenizer=len)",
    "neardup.align([], [])",
    "neardup.align(chapters + editions, within=True)",
    "neardup.cut(chapters + editions, id_column='id')",
    "neardup.cut('pages.jsonl', exact=True, min_tokens=12, replacement='[...]').kept",
    "neardup.cut(['a b c'] * 3, unit='lines', min_tokens=2).removed",
    "neardup.cut([], unit='paragraphs')",
    "i = make_index()\n[repr(i), len(i), i.info()]",
    "make_index().search(quote, 0.5)",
    "make_index(ngram=2).search(quote, 0.5, hits=24, report='windows')",
    "i = make_index(num_perm=32, tf='raw', idf='standard', seed=9)\n"
    "[i.search('questions.jsonl', '0.4', id_column='id')]",
    "make_index().search([quote, 'nothing'], '0.5', with_text=True, recall=0.8, workers=1)",
    "make_index().search(pa.table({'text': [quote]}), '0.5', with_text=True)",
    "i = make_index()\nadded = i.add(rows, id_column='id')\n"
    "[vars(added), i.remove(['forum-1', 'd003']), repr(i), i.compact(), i.info(),"
    " i.search('few.jsonl', 0.9, id_column='id')]",
    "make_index()\ni = neardup.PassageIndex.open('idx')\n[len(i), i.search('questions.jsonl', '0.7')]",
    "neardup.PassageIndex.open('idx')",
    "i = make_index()\ni.add('pages.jsonl', id_column='id')",
    "make_index().remove('bakery')",
    "make_index().remove(['nobody'])",
    "make_index().search(quote, 80)",
    "make_index().search(quote, 0.5, report='worst')",
    "neardup.PassageIndex.create('tree')",
    "neardup.PassageIndex.create('idx', min_tokens=0)",
    "neardup.PassageIndex.create('idx', min_tokens=3, ngram=4)",
    "neardup.PassageIndex.create('idx', tokenizer=str.split)",
    "make_index().search(quote, 0.5, hits=9, recall=0.5)",
    "make_index()\npath = pathlib.Path('idx/index.sqlite')\npath.write_bytes(path.read_bytes() + b' ')\nneardup.PassageIndex.open('idx')",
    "import filelock\ni = make_index()\n"
    "with filelock.FileLock('idx/write.lock'):\n"
    "    try:\n        i.remove(['forum-1']); said = 'nothing'\n"
    "    except neardup.errors.IndexLockedError as error:\n        said = str(error)\nsaid",
    "make_index()\nneardup.align('questions.jsonl', neardup.PassageIndex.open('idx'), seed=3)",
]  # fmt: skip

_SKETCHES = [
    *(
        f"s = neardup.sketch(rows, id_column='id', kind={kind!r})\ne = neardup.estimate(s)\n"
        "[repr(s), s.kind, s.scheme, len(s), s.to_arrow(), repr(e), e, e.summary]"
        for kind in ("minhash", "weighted", "smallest", "modulo", "edit")
    ),
    "s = neardup.sketch(texts, kind='modulo')\nc = neardup.cluster_sketches(s, '0.7')\n"
    "[repr(c), c.clusters, c.summary]",
    "s = neardup.sketch(rows, kind='smallest', size=64)\n"
    "neardup.cluster_sketches(s, representative='popular').clusters",
    "s = neardup.sketch(rows, kind='weighted', tf='log', idf='smooth')\n"
    "s.write('s.parquet')\nt = neardup.Sketches.read('s.parquet')\n"
    "neardup.estimate(t, 's.parquet', threshold=0.7, workers=1)",
    "s = neardup.sketch(rows)\n"
    "neardup.estimate(neardup.Sketches.from_arrow(s.to_arrow()), neardup.sketch(others), threshold='0.5')",
    "s = neardup.sketch(chapters + editions, kind='edit', compression=20)\n"
    "neardup.estimate(s)",
    "s = neardup.sketch(rows, kind='modulo', size=50)\n"
    "[repr(s), s.summary, neardup.estimate(s, measure='containment', threshold='0.5')]",
    "import pandas\nneardup.sketch(pandas.DataFrame(rows), num_perm=16, ngram=2).to_arrow()",
    "neardup.estimate(neardup.sketch(texts), neardup.sketch(texts, seed=1))",
    "neardup.estimate(neardup.sketch(texts), limit=3)",
    "r = neardup.report(neardup.find_pairs(rows, id_column='id'), rows, id_column='id')\n[repr(r), r.html]",
    "r = neardup.review(neardup.find_pairs(rows, id_column='id'), rows, id_column='id')\n[repr(r), r.html]",
    "neardup.estimate('missing.parquet')",
    "neardup.estimate('docs.parquet')",
    "neardup.sketch(rows, kind='cosine')",
    "neardup.sketch(rows, size=3)",
    "neardup.cluster_sketches(neardup.sketch(rows))",
    "neardup.Sketches.from_arrow(pa.table({'id': ['a']}))",
    "s = neardup.sketch(rows)\ns.write('s.parquet')\ns.write('s.parquet')",
    "neardup.sketch(rows).write('s.csv')",
]  # fmt: skip

_COMPARE = [
    "r = neardup.compare(chapters[0]['text'], editions[0]['text'])\n[repr(r), str(r), r.to_dict(), r.report().html]",
    "r = neardup.compare('a b c d', 'a b x d', text=neardup.TextOptions(ngram=1))\n"
    "[str(r), r['jaccard'], r['edit-distance'], r.measures, r.passages, r.differences, r.sizes]",
    "neardup.compare('a', 'b', tokenizer='bytes', casefold=True)",
    "neardup.compare('a', 5)",
    "neardup.compare('', '').to_dict()",
    "neardup.compare('a', 'b')['nothing']",
    "[neardup.similarity(names[0], name, measure='edit') for name in names]",
    "neardup.similarity(texts[0], texts[1], measure='weighted-jaccard', idf='smooth', ngram=2)",
    "neardup.similarity('a', 5)",
    "neardup.extract(names[1], names, limit=3, measure='edit', casefold=True)",
    "neardup.extract(quote, {row['id']: row['text'] for row in rows}, measure='containment')",
    "neardup.extract(quote, texts, tf='raw')",
]  # fmt: skip

_EXPLAIN = [
    "r = neardup.deduplicate(rows, id_column='id', threshold='0.5')\n"
    "[(repr(e), str(e), e.to_dict()) for e in (r.explain('d086'), r.explain('d200'))]",
    "neardup.deduplicate(rows).explain('nobody')",
]  # fmt: skip

_REST = [
    "b = neardup.choose_banding('0.8')\n[repr(b), b]",
    "neardup.choose_banding('0.01')",
    "repr(neardup.Banding(16, 6))",
    "from neardup.text.forms import Normalisation\nNormalisation(unicode_form='NFD')",
    "from neardup.text.forms import Normalisation\n"
    "[dir(neardup), Normalisation(strip_accents=True).fold_text('Ünïcödé')]",
    "neardup.nothing",
    "[[n, [c.__name__ for c in getattr(neardup, n).__mro__]] for n in dir(neardup) if 'Error' in n]",
    *(
        f"neardup.deduplicate({arguments})"
        for arguments in (
            "5", "[1, 2]", "'missing.jsonl'", "[{'text': 'x'}, {'body': 'y'}]", "texts, threshold=80",
            "rows, id_column='key'", "rows, keep='max:nothing'", "texts, method='fast'",
            "texts, on_error='stop'", "texts, clusters='all'", "texts, measure='overlap'",
            "texts, ngram=0", "texts, workers=0", "texts, tokenizer='word'", "texts, seed=1.5",
            "texts, method='exact', seed=1", "[{'id': 1, 'text': 'a'}] * 2, id_column='id'",
            "pa.table({'body': ['x']})", "'bad.jsonl'", "'damaged.parquet'", "texts, nothing=1",
            "texts, threshold='x'", "texts, tokenizer=lambda text: 5", "{'text': 'x'}", "None",
        )
    ),
    *(
        f"neardup.find_pairs({arguments})"
        for arguments in (
            "texts, top=0", "names, max_distance=1, seed=2", "names, max_distance=1.5",
            "texts, measure='weighted-jaccard'", "texts, algorithm='quick'", "texts, per_document=True",
            "texts, measure='overlap'", "texts, method='minhash', measure='edit'",
        )
    ),
    *(
        f"neardup.align({arguments})"
        for arguments in (
            "texts, texts, threshold=2", "texts, 'missing.jsonl'", "texts, texts, min_tokens=-1",
            "texts, texts, num_perm=3", "texts, texts, max_documents=0", "texts, 7",
        )
    ),
]  # fmt: skip

_DOCUMENTS = [
    "i = keep_documents(threshold='0.6')\n[i.add(others).summary['documents'], i.search(rows), i.get(rows[0]['id'])]",
    "i = keep_documents()\n[i.query(text) for text in texts[:20]]",
    "i = keep_documents(columns='score', measure='containment')\n"
    "[i.insert_if_new(f'new{n}', text) for n, text in enumerate(texts[:20])] + [i.commit(), len(i)]",
    "i = keep_documents()\nj = neardup.open_index('kept')\n[len(j), j.remove([rows[0]['id']]).summary['removed']]",
]

SNIPPETS = [
    *_DOCUMENTS,
    *_DEDUPLICATE,
    *_PAIRS,
    *_PASSAGES,
    *_SKETCHES,
    *_COMPARE,
    *_EXPLAIN,
    *_REST,
]
