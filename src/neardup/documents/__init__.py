"""An index of documents: which documents of a collection are similar to a text.

A document is found by its MinHash band keys, told apart by filters, and compared exactly. Segments
(``segment``) never change; ``index`` is what a reader sees of them, ``lookup`` asks them,
``additions``, ``removals`` and ``compaction`` make the next state.
"""
