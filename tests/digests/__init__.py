"""Digests of all that commands write and print, to prove that a change leaves them as they were.

Record with the version before, record with the version after, compare:

    python -m tests.digests.record --neardup OLD/bin/neardup -o before.json
    python -m tests.digests.record --neardup NEW/bin/neardup -o after.json
    python -m tests.digests.record --compare before.json after.json

``cases`` lists the commands. Everything counts but times, memory, versions, threads and the bytes
of Parquet files, whose schemas and rows count. Every case works in a folder of its own with the
files that ``inputs`` makes of ``examples/``.
"""
