"""Short summaries of documents that allow estimates of their similarity.

``kind`` has the base class of all kinds of sketches. ``minhash`` has signatures of sets and of
weighted sets, ``samples`` the kinds smallest and modulo, ``edit`` signatures for edit distance.
``registry`` looks kinds up, makes and stores sketches. ``greedy`` clusters samples.
"""
