"""What the array API standard (2025.12) asks of a namespace beyond functions of tensors; ``weft`` is that namespace."""
