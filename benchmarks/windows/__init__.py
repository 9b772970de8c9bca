"""Every sub-text of one text put into windows, beside AllAlign."""
