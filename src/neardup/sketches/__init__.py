"""Short summaries of documents from which their similarity can be estimated.

A kind of sketches is a ``SketchKind`` (kind) in a module or folder of its own: minhash,
weighted_minhash, smallest, modulo, edit. ``registry`` lists them, and nothing else needs to know
which there are. What two kinds share is in a folder: signatures (minhash and weighted), samples
(smallest and modulo). ``maker`` makes sketches from texts, ``table_format`` stores them, whatever
their kind.
"""
