"""text-dedup: its command ``minhash``, with the options of its documentation and our threshold."""

# /// script
# dependencies = [
#   "bitarray", "click<9", "click-option-group<0.6", "datasets>=2.17", "ftfy", "numpy", "psutil",
#   "regex", "rich<14", "scipy", "setuptools", "tqdm", "xxhash", "zstandard",
# ]
# [tool.field]
# tasks = ["cleaning"]
# # What else it asks for, such as Spark and UniSim, its other commands need.
# alone = ["text-dedup==0.4.0"]
# ///

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from datasets import load_from_disk


def main(task: str, source: str, target: str) -> None:
    """Write the answer to a task."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-P", "-m", "text_dedup.minhash"),
            *("--path", "json", "--data_files", source, "--split", "train"),
            *("--column", "text", "--ngram", "5", "--threshold", "0.8"),
            *("--cache_dir", f"{folder}/cache", "--output", f"{folder}/kept"),
        ]
        environment = {**os.environ, "HF_HOME": folder, "HF_HUB_OFFLINE": "1"}
        subprocess.run(command, check=True, env=environment, cwd=folder)
        kept = set(load_from_disk(f"{folder}/kept")["id"])
    with (
        Path(source).open(encoding="utf-8") as lines,
        Path(target).open("w", encoding="utf-8") as out,
    ):
        for name in (json.loads(line)["id"] for line in lines):
            if name not in kept:
                out.write(json.dumps({"removed": name}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
