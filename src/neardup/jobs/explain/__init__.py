"""Why a document stayed or went, proved anew from the texts that a deduplication has written."""
