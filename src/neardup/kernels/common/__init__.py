"""Hashes, sorting, exact products and digest numbers for all kernels."""
