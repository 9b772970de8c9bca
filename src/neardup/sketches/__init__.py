"""Short summaries of documents that allow estimates of their similarity.

A kind of sketches is a ``SketchKind`` (kind) in a module or folder of its own: minhash,
weighted_minhash, smallest, modulo, edit. ``registry`` lists the kinds, and no other module names
them. ``signatures`` is shared by minhash and weighted, ``samples`` by smallest and modulo.
``from_texts`` makes sketches from texts, and ``table_format`` stores them.
"""
