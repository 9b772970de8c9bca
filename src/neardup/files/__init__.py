"""Reading rows from files, URLs and memory, and writing them."""
