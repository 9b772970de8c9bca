"""What all kernels need: hashes, sorting, exact products, numbers of strings."""
