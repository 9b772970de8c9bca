"""What all kernels need: types of arrays, hashes, sorting, exact products, numbers of strings."""
