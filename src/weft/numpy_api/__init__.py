"""Functions by NumPy's names, for tensors and whatever stands beside them."""
