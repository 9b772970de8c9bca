"""Find the documents of an index that resemble a text.

Candidates share a MinHash band key, pass filters, and are compared exactly. ``segment`` stores
immutable segments, ``delta`` holds documents in memory, ``index`` is a reader's view of both,
``lookup`` searches them, and ``additions`` and ``session`` make the next state.
"""
