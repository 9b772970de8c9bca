"""Short summaries of documents that allow estimates of their similarity.

``kind`` has the base class of all kinds, makes sketches and stores them. ``minhash`` has signatures
of sets and of weighted sets, ``samples`` the kinds smallest and modulo, ``edit`` signatures for
edit distance. ``greedy`` clusters samples.
"""
