"""Digests of all that neardup writes and prints, to prove that a change leaves them as they were.

Record with the version before, record with the version after, compare:

    python -m tests.digests.record --neardup OLD/bin/neardup -o before.json --calls old-calls.json
    python -m tests.digests.record --neardup NEW/bin/neardup -o after.json --calls new-calls.json
    python -m tests.digests.record --compare before.json after.json
    python -m tests.digests.record --compare old-calls.json new-calls.json

``--data DIR`` adds commands on real text that is not part of the repository; ``--forks`` starts
neardup once instead of for every command, which takes a third of the time. The commands are data,
in ``corpora``, ``passages``, ``sketches``, ``refusals`` and ``real``; ``snippets`` has the
Python calls. ``canonical`` says what counts as equal: everything but times, memory, versions,
threads and the bytes of Parquet files, whose schemas and rows count. Every command works in a
folder of its own with the files that ``inputs`` makes of ``examples/``.
"""
