"""Find the documents of an index that resemble a text.

Candidates share a MinHash band key, pass filters, and are compared exactly. ``document_segment``
stores immutable segments, ``delta`` holds documents in memory, ``open_documents`` is a reader's
view of both, and ``document_handle`` makes the next state.
"""
