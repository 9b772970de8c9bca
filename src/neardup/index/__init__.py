"""Store an index: one SQLite database beside immutable array files.

    INDEX/
      index.sqlite          scheme, list of segments, removed, pending and denied documents
      segments/NAME/        arrays (.npy) and tables (.arrow) of documents, which never change
      write.lock.holder     the process that writes

A writer holds a transaction of the database, writes the files of new segments under unused names,
and commits. Readers see the state before or after. Every row and every array has a checksum,
which is verified when it is read.
"""
