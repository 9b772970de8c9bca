"""Every option once: kinds of values, the table of options, and which job has which of them."""
