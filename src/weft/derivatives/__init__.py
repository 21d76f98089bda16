"""Derivatives of index notation, which are index notation again: rules of operators, pullbacks, and whole passes."""

from .programs import (
    BackwardPass,
    backward_pass,
    differentiable,
    gradient_statement,
    has_complex_parts,
    pattern_of,
    tangent,
    with_kept,
)
from .pullback import Gradient

__all__ = [
    "BackwardPass",
    "Gradient",
    "backward_pass",
    "differentiable",
    "gradient_statement",
    "has_complex_parts",
    "pattern_of",
    "tangent",
    "with_kept",
]
