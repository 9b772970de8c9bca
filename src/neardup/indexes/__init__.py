"""What indexes of documents and of passages have in common, on disk and in use.

    INDEX/
      manifest.json         replaced as a whole; what it does not name is no part of the index
      write.lock            one writer at a time; write.lock.holder tells others who it is
      segments/NAME/        arrays (.npy) and tables (.arrow)
      removed/NAME.npy      numbers of the documents that a segment has lost
      tail/NAME.log         documents that wait for a segment; the manifest says how far it goes
      extra/NAME.npy        arrays that belong to no segment

A writer takes the lock, removes what an earlier, killed one left, writes new files under names that
are not in use, and stores a manifest. Readers take no lock: they see the old manifest or the new.
A handle keeps an index open: it checks each file once, however often the index changes. Nothing
here knows what the arrays mean; a kind of index derives its own handle.
"""
