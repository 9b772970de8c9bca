"""Tools of all kernels: hashes, sorting, exact products, numbers of strings."""
