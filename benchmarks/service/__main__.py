"""Look-ups, or durable insertions, a second over HTTP, in an index of documents on disk.

Usage: python -m benchmarks.service [--documents N] [--clients N] [--seconds S] [--adding] FOLDER
       python -m benchmarks.service [--documents N] [--clients N] [--seconds S] --inserting FOLDER

FOLDER keeps the index for the next run. With --adding another process adds documents meanwhile.
With --inserting clients insert a copy of it, each waiting until what it has inserted is durable.
Texts have 300 to 1,000 bytes of words drawn as in language; half of the look-ups are near copies of
documents, the others like nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.service.load import make_request, run_load

_WORDS = (60, 200)
_VOCABULARY = 50_000
_REQUESTS = 4_000
_ADD = """
import sys, time
import neardup
from benchmarks.service.__main__ import texts
index = neardup.DocumentIndex.open(sys.argv[1])
n = len(index)
begin = time.monotonic()
while time.monotonic() - begin < float(sys.argv[2]):
    new = texts(1000, seed=n)
    index.add([{"id": str(n + i), "text": text} for i, text in enumerate(new)], workers=1)
    n += 1000
    time.sleep(0.5)
"""


def texts(n: int, seed: int) -> Iterator[str]:
    """Make texts of words; few of them are frequent."""
    generator = random.Random(seed)
    words = [f"w{number:x}" for number in range(_VOCABULARY)]
    weights = [1 / (rank + 10) for rank in range(_VOCABULARY)]
    pool = generator.choices(words, weights, k=1 << 20)
    for _ in range(n):
        n_words = generator.randint(*_WORDS)
        start = generator.randrange(len(pool) - n_words)
        chosen = pool[start : start + n_words]
        generator.shuffle(chosen)
        yield " ".join(chosen)


def build(folder: Path, n_documents: int) -> None:
    """Make the index, if it is not there yet."""
    if (folder / "index").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "in.jsonl").open("w") as file:
        for number, text in enumerate(texts(n_documents, seed=1)):
            file.write(json.dumps({"id": str(number), "text": text}) + "\n")
    command = ["index", "build", "--kind", "documents", "index", "in.jsonl"]
    subprocess.run([sys.executable, "-m", "neardup", *command], cwd=folder, check=True)


def look_ups(folder: Path, n: int) -> list[str]:
    """Make texts to look up: documents with a word changed, and texts that are like nothing."""
    generator = random.Random(2)
    found = []
    with (folder / "in.jsonl").open() as file:
        for line in file:
            if len(found) == n // 2:
                break
            words = json.loads(line)["text"].split()
            words[generator.randrange(len(words))] = "changed"
            found.append(" ".join(words))
    found += texts(n - len(found), seed=3)
    generator.shuffle(found)
    return found


def insertions(port: int, n: int) -> list[bytes]:
    """Make requests that insert documents durably."""
    path = "/v1/indexes/index/insert"
    return [
        make_request(
            *("127.0.0.1", port, path),
            {"id": f"{time.time_ns()}-{number}", "text": text, "durable": True},
        )
        for number, text in enumerate(texts(n, seed=4))
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--adding", action="store_true")
    parser.add_argument("--inserting", action="store_true")
    chosen = parser.parse_args()
    build(chosen.folder, chosen.documents)
    command = [sys.executable, "-m", "neardup", "serve", "index", "--port", "0", "--json"]
    if chosen.inserting:
        shutil.copytree(chosen.folder / "index", chosen.folder / "copy", dirs_exist_ok=True)
        command += ["--writable"]
        command[4] = "index=copy"
    with (chosen.folder / "log").open("w") as log:
        service = subprocess.Popen(
            command, cwd=chosen.folder, stdout=subprocess.PIPE, stderr=log, text=True
        )
    assert service.stdout is not None
    try:
        port = int(json.loads(service.stdout.readline())["url"].rpartition(":")[2])
        path = "/v1/indexes/index/query"
        requests = [
            make_request("127.0.0.1", port, path, {"text": text})
            for text in look_ups(chosen.folder, _REQUESTS)
        ]
        if chosen.inserting:
            run_load("127.0.0.1", port, requests, n_clients=4, seconds=2)
            requests = insertions(port, _REQUESTS * 25)
            print(
                run_load(
                    *("127.0.0.1", port, requests),
                    n_clients=chosen.clients,
                    seconds=chosen.seconds,
                )
            )
            return
        # Kernels are loaded, and files come into memory.
        run_load("127.0.0.1", port, requests, n_clients=4, seconds=5)
        adding = None
        if chosen.adding:
            arguments = [os.fspath(chosen.folder / "index"), str(chosen.seconds)]
            adding = subprocess.Popen([sys.executable, "-c", _ADD, *arguments])
            time.sleep(1)
        print(
            run_load("127.0.0.1", port, requests, n_clients=chosen.clients, seconds=chosen.seconds)
        )
        if adding is not None:
            adding.wait()
    finally:
        service.terminate()
        service.wait()
        if chosen.inserting:
            shutil.rmtree(chosen.folder / "copy")


if __name__ == "__main__":
    main()
