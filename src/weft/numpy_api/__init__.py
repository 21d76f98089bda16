"""Functions under NumPy's names, for tensors and arrays."""
