"""Find the documents of an index that resemble a text.

Candidates share a MinHash band key, pass filters, and are compared exactly. ``segment`` stores
immutable segments, ``delta`` holds documents in memory, ``lookup`` is a reader's view of both, and
``index`` makes the next state.
"""
