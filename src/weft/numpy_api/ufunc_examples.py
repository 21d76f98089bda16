"""Examples of the functions of single elements, for docstrings that are made of tables.

The first entries of a row are the operands: lists become coo tensors. The last entry is the printed result.
"""

from __future__ import annotations

_ROWS: dict[str, tuple[str, ...]] = {
    "abs absolute": ("[0.0, -1.5, 2.0]", "array([0. , 1.5, 2. ])"),
    "acos arccos": ("[0.0, 0.5, -0.5]", "array([1.57079633, 1.04719755, 2.0943951 ])"),
    "acosh arccosh": ("[1.0, 2.0, 10.0]", "array([0.        , 1.3169579 , 2.99322285])"),
    "add": ("[0.0, 3.0, -1.0]", "[0.0, 4.0, 2.0]", "array([0., 7., 1.])"),
    "angle": ("[0.0, 1.0 + 2.0j]", "array([0.        , 1.10714872])"),
    "arcsin asin": ("[0.0, 0.5, -0.5]", "array([ 0.        ,  0.52359878, -0.52359878])"),
    "arcsinh asinh": ("[0.0, 1.0, 2.0]", "array([0.        , 0.88137359, 1.44363548])"),
    "arctan atan": ("[0.0, 1.0, 2.0]", "array([0.        , 0.78539816, 1.10714872])"),
    "arctan2 atan2": ("[0.0, 3.0, -1.0]", "[0.0, 4.0, 2.0]", "array([ 0.        ,  0.64350111, -0.46364761])"),
    "arctanh atanh": ("[0.0, 0.5, -0.5]", "array([ 0.        ,  0.54930614, -0.54930614])"),
    "bitwise_and": ("[0, 6, 5]", "[0, 3, 4]", "array([0, 2, 4])"),
    "bitwise_count": ("[0, 1, 6]", "array([0, 1, 2], dtype=uint8)"),
    "bitwise_invert bitwise_not invert": ("[0, 1, 6]", "array([-1, -2, -7])"),
    "bitwise_left_shift left_shift": ("[0, 1, 6]", "1", "array([ 0,  2, 12])"),
    "bitwise_or": ("[0, 6, 5]", "[0, 3, 4]", "array([0, 7, 5])"),
    "bitwise_right_shift right_shift": ("[0, 1, 6]", "1", "array([0, 0, 3])"),
    "bitwise_xor": ("[0, 6, 5]", "[0, 3, 4]", "array([0, 5, 1])"),
    "cbrt": ("[0.0, 1.0, 8.0]", "array([0., 1., 2.])"),
    "ceil": ("[0.0, -1.5, 2.0]", "array([ 0., -1.,  2.])"),
    "conj conjugate": ("[0.0, 1.0 + 2.0j]", "array([0.+0.j, 1.-2.j])"),
    "copysign": ("[0.0, 3.0, 1.0]", "[1.0, 2.0, -5.0]", "array([ 0.,  3., -1.])"),
    "cos": ("[0.0, 1.0, 2.0]", "array([ 1.        ,  0.54030231, -0.41614684])"),
    "cosh": ("[0.0, 1.0, 2.0]", "array([1.        , 1.54308063, 3.76219569])"),
    "deg2rad radians": ("[0.0, 90.0, 180.0]", "array([0.        , 1.57079633, 3.14159265])"),
    "degrees rad2deg": ("[0.0, 1.0, 2.0]", "array([  0.        ,  57.29577951, 114.59155903])"),
    "divide true_divide": ("[0.0, 3.0, -7.0]", "2.0", "array([ 0. ,  1.5, -3.5])"),
    "equal": ("[0.0, 3.0, -1.0]", "[0.0, 1.0, 2.0]", "array([ True, False, False])"),
    "exp": ("[0.0, 1.0, 2.0]", "array([1.        , 2.71828183, 7.3890561 ])"),
    "exp2": ("[0.0, 1.0, 2.0]", "array([1., 2., 4.])"),
    "expm1": ("[0.0, 1.0, 2.0]", "array([0.        , 1.71828183, 6.3890561 ])"),
    "fabs": ("[0.0, -1.5, 2.0]", "array([0. , 1.5, 2. ])"),
    "fix": ("[0.0, -1.5, 2.0]", "array([ 0., -1.,  2.])"),
    "float_power": ("[0.0, 3.0, -7.0]", "2.0", "array([ 0.,  9., 49.])"),
    "floor": ("[0.0, -1.5, 2.0]", "array([ 0., -2.,  2.])"),
    "floor_divide": ("[0.0, 3.0, -7.0]", "2.0", "array([ 0.,  1., -4.])"),
    "fmax": ("[0.0, 3.0, -1.0]", "[0.0, 4.0, 2.0]", "array([0., 4., 2.])"),
    "fmin": ("[0.0, 3.0, -1.0]", "[0.0, 4.0, 2.0]", "array([ 0.,  3., -1.])"),
    "fmod": ("[0.0, 3.0, -7.0]", "2.0", "array([ 0.,  1., -1.])"),
    "gcd": ("[0, 6, 9]", "[0, 4, 6]", "array([0, 2, 3])"),
    "greater": ("[0.0, 3.0, -1.0]", "[0.0, 1.0, 2.0]", "array([False,  True, False])"),
    "greater_equal": ("[0.0, 3.0, -1.0]", "[0.0, 1.0, 2.0]", "array([ True,  True, False])"),
    "heaviside": ("[0.0, 3.0, -1.0]", "0.5", "array([0.5, 1. , 0. ])"),
    "hypot": ("[0.0, 3.0, -1.0]", "[0.0, 4.0, 2.0]", "array([0.        , 5.        , 2.23606798])"),
    "i0": ("[0.0, 1.0, 2.0]", "array([1.        , 1.26606588, 2.2795853 ])"),
    "imag": ("[0.0, 1.0 + 2.0j]", "array([0., 2.])"),
    "iscomplex": ("[0.0, 1.0 + 2.0j]", "array([False,  True])"),
    "isfinite": ('[0.0, float("inf"), float("nan")]', "array([ True, False, False])"),
    "isinf": ('[0.0, float("inf"), float("nan")]', "array([False,  True, False])"),
    "isnan": ('[0.0, float("inf"), float("nan")]', "array([False, False,  True])"),
    "isreal": ("[0.0, 1.0 + 2.0j]", "array([ True, False])"),
    "lcm": ("[0, 6, 9]", "[0, 4, 6]", "array([ 0, 12, 18])"),
    "ldexp": ("[0.0, 1.5]", "3", "array([ 0., 12.])"),
    "less": ("[0.0, 3.0, -1.0]", "[0.0, 1.0, 2.0]", "array([False, False,  True])"),
    "less_equal": ("[0.0, 3.0, -1.0]", "[0.0, 1.0, 2.0]", "array([ True, False,  True])"),
    "log": ("[1.0, 2.0, 10.0]", "array([0.        , 0.69314718, 2.30258509])"),
    "log10": ("[1.0, 2.0, 10.0]", "array([0.     , 0.30103, 1.     ])"),
    "log1p": ("[0.0, 1.0, 2.0]", "array([0.        , 0.69314718, 1.09861229])"),
    "log2": ("[1.0, 2.0, 10.0]", "array([0.        , 1.        , 3.32192809])"),
    "logaddexp": ("[0.0, 3.0]", "[0.0, 1.0]", "array([0.69314718, 3.12692801])"),
    "logaddexp2": ("[0.0, 3.0]", "[0.0, 1.0]", "array([1.        , 3.32192809])"),
    "logical_and": ("[0, 3, 2]", "[0, 4, 0]", "array([False,  True, False])"),
    "logical_not": ("[0.0, 3.0]", "array([ True, False])"),
    "logical_or": ("[0, 3, 2]", "[0, 4, 0]", "array([False,  True,  True])"),
    "logical_xor": ("[0, 3, 2]", "[0, 4, 0]", "array([False, False,  True])"),
    "maximum": ("[0.0, 3.0, -1.0]", "[0.0, 4.0, 2.0]", "array([0., 4., 2.])"),
    "minimum": ("[0.0, 3.0, -1.0]", "[0.0, 4.0, 2.0]", "array([ 0.,  3., -1.])"),
    "mod remainder": ("[0.0, 3.0, -7.0]", "2.0", "array([0., 1., 1.])"),
    "multiply": ("[0.0, 3.0, -1.0]", "[0.0, 4.0, 2.0]", "array([ 0., 12., -2.])"),
    "nan_to_num": ('[0.0, 1.0, float("nan")]', "array([0., 1., 0.])"),
    "negative": ("[0.0, -1.5, 2.0]", "array([-0. ,  1.5, -2. ])"),
    "nextafter": ("[0.0, 1.0]", "2.0", "array([5.e-324, 1.e+000])"),
    "not_equal": ("[0.0, 3.0, -1.0]", "[0.0, 1.0, 2.0]", "array([False,  True,  True])"),
    "positive": ("[0.0, -1.5, 2.0]", "array([ 0. , -1.5,  2. ])"),
    "pow power": ("[0.0, 3.0, -7.0]", "2.0", "array([ 0.,  9., 49.])"),
    "real": ("[0.0, 1.0 + 2.0j]", "array([0., 1.])"),
    "reciprocal": ("[1.0, -2.0, 4.0]", "array([ 1.  , -0.5 ,  0.25])"),
    "rint": ("[0.0, -1.5, 2.0]", "array([ 0., -2.,  2.])"),
    "sign": ("[0.0, -1.5, 2.0]", "array([ 0., -1.,  1.])"),
    "signbit": ("[0.0, -0.0, -1.5]", "array([False, False,  True])"),
    "sin": ("[0.0, 1.0, 2.0]", "array([0.        , 0.84147098, 0.90929743])"),
    "sinc": ("[0.0, 0.5, 1.5]", "array([ 1.        ,  0.63661977, -0.21220659])"),
    "sinh": ("[0.0, 1.0, 2.0]", "array([0.        , 1.17520119, 3.62686041])"),
    "spacing": ("[1.0, 1000.0]", "array([2.22044605e-16, 1.13686838e-13])"),
    "sqrt": ("[0.0, 4.0, 9.0]", "array([0., 2., 3.])"),
    "square": ("[0.0, -1.5, 2.0]", "array([0.  , 2.25, 4.  ])"),
    "subtract": ("[0.0, 3.0, -1.0]", "[0.0, 4.0, 2.0]", "array([ 0., -1., -3.])"),
    "tan": ("[0.0, 1.0, 2.0]", "array([ 0.        ,  1.55740772, -2.18503986])"),
    "tanh": ("[0.0, 1.0, 2.0]", "array([0.        , 0.76159416, 0.96402758])"),
    "trunc": ("[0.0, -1.5, 2.0]", "array([ 0., -1.,  2.])"),
}
EXAMPLES = {name: row for names, row in _ROWS.items() for name in names.split()}
"""The rows by the names of the functions."""


def with_example(name: str, text: str) -> str:
    """Return a docstring with the example of a function at its end.

    Examples
    --------
    >>> with_example("square", "Square the elements.").splitlines()[-2:]
    ['>>> weft.square(x).todense()', 'array([0.  , 2.25, 4.  ])']
    """
    if name not in EXAMPLES:
        return text
    *operands, result = EXAMPLES[name]
    lines, arguments = ["import weft"], []
    for letter, operand in zip("xy", operands, strict=False):
        is_list = operand.startswith("[")
        arguments.append(letter if is_list else operand)
        if is_list:
            lines.append(f'{letter} = weft.asarray({operand}, format="coo")')
    lines.append(f"weft.{name}({', '.join(arguments)}).todense()")
    code = "".join(f">>> {line}\n" for line in lines)
    return f"{text.rstrip()}\n\nExamples\n--------\n{code}{result}\n"
