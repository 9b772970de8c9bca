"""How work is run: threads, memory, progress, and what is stored safely on the way.

``scratch`` has the folders in which outputs are made, and ``work`` those in which a run keeps what
it has done, so that it can go on if it was stopped.
"""
