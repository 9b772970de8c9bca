"""Store an index as a SQLite database and immutable files.

    INDEX/
      index.sqlite          scheme, list of segments, removed, pending and denied documents
      segments/NAME         arrays and tables of documents, which never change
      write.lock.holder     the process that writes

A writer holds a transaction of the database, writes new segments under unused names, and commits.
Readers see the state before or after. Every row of the database and every page of a segment has a
checksum, which is verified when it is read.
"""
