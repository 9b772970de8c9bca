"""Short summaries of documents from which their similarity can be estimated.

A kind of sketches is a ``SketchKind`` (kind) in a module or folder of its own: minhash,
weighted_minhash, smallest, modulo, edit. ``registry`` lists them, and nothing else needs to know
which there are. ``signatures`` has what minhash and weighted share, ``samples`` what smallest and
modulo share. ``from_texts`` makes sketches from texts, and ``table_format`` stores them.
"""
