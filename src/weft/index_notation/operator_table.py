"""Table of operators, with one row for each.

Merge lattices, C code, dtypes and the reference results of tests are all read from this table. A row says how an
operator is spelled in C, and which NumPy ufunc means the same (and so gives its dtype rule). A row also has the
operator's identity, annihilators and algebraic properties. To add an operator, add a row. An operator for which NumPy
has no ufunc (``real``, conversions to a dtype, repetitions of an operator) has a :class:`~.table_functions.Function`
instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..records import record, replace
from . import table_functions as functions


@record
class Near:
    """Implicit operand that decides a result beside some values of the other operand.

    Consider the other operand's values on one side of zero. If the implicit operand decides beside two values of this
    side, the operand decides beside all values between the two. A look at both ends of a range is therefore enough.
    """

    position: int  # the position of the implicit operand
    value: Any = None  # the operand's fill value; None means any
    result: Any = None  # the result that the operand decides; None means its fill value
    # True if the operand decides beside most values, as zero does in a quotient. A result is then planned to be as
    # sparse as the operand.
    usual: bool = False

    def takes(self, value: Any) -> bool:
        """Return whether ``value`` is the fill value of this row; NaN equals NaN."""
        return self.value is None or value == self.value or (value != value and self.value != self.value)


@record
class Operator:
    """One operator of the table."""

    name: str  # name in the table: NumPy's, without clashes
    arity: int  # number of operands, 1 to 3
    # C spelling: a C infix or prefix operator (``"+"``), ``"call:NAME"`` for a prelude function that is overloaded by a
    # dtype suffix (``weft_NAME_float64``), ``"cast"`` for a conversion to the result's dtype, or ``"?:"`` for a choice.
    c: str
    # The NumPy ufunc with the same meaning, which gives dtypes (``resolve_dtypes``) and the tests' reference results.
    ufunc: Callable[..., Any]
    identity: Any = None  # Two-sided identity, ``op(identity, x) == x == op(x, identity)``; None if there is none
    right_identity: Any = None  # Identity on the right alone, such as 0 of subtraction
    # Pairs ``(position, value)``: an implicit operand of that value makes the result that value (0 in a product).
    annihilators: tuple[tuple[int, Any], ...] = ()
    # Implicit operands that decide beside some values of the other operand. Each call looks up if these operands decide
    # beside all values that the other operand holds.
    near_annihilators: tuple[Near, ...] = ()
    # An expression to suggest whose result an implicit operand always decides; ``{0}`` and ``{1}`` are the operands.
    instead: str = ""
    # As long as no operand changes its sign, the result rises or falls with each operand. The extremes of the result
    # are then those at the ends of ranges. With ``"rounded"``, kernels may round otherwise than NumPy.
    monotone: Literal["", "exact", "rounded"] = ""
    idempotent: bool = False  # True if ``op(x, x) == x``
    # For an operator without identity: reductions start from the lowest (-1) or highest (1) value of their dtype.
    extreme: int = 0
    # For an operator without identity: true if reductions start from the value of their dtype that has all bits.
    all_bits: bool = False
    # True if NaN beside a number gives the number. Reductions of floating-point numbers then start from NaN.
    skips_nan: bool = False
    # Positions at which an implicit operand decides the result, whatever its fill value is.
    absorbs: tuple[int, ...] = ()
    absorbed: Any = None  # the result that these operands decide; None means their fill value
    absent: Any = None  # the result for an implicit operand of unknown value, which the user of the operator guarantees
    # True if an element whose first operand is false gets no entry, and any other does, where entries are appended.
    leaves_out: bool = False
    # True if the first operand, a boolean, says which of the others is the result: the second one if it is true.
    chooses: bool = False
    symbol: str | None = None  # Spelling in index notation, such as ``+``; None if the operator is called by name
    precedence: int = 0  # Binding strength of ``symbol`` in printed text
    # The derivative by each operand, as index notation of the operands ``x``, ``y``, ``z`` and the result ``value``. If
    # the derivative is not a product with the operand's tangent, it is the tangent of the result, with ``dot`` for that
    # of the operand. ``"0"`` is the derivative of a piecewise constant function; None says that there is none.
    partials: tuple[str, ...] | None = None
    # The gradient of each operand, where it is not that of the tangent read backwards; ``dot`` is the result's.
    adjoints: tuple[str, ...] | None = None

    @property
    def has_identity(self) -> bool:
        """True if a reduction of no values has a result, as in NumPy: sums, products, any and all."""
        return getattr(self.ufunc, "identity", None) is not None

    def start(self, dtype: str) -> Any:
        """Return the value from which a reduction starts, or None.

        The start is the identity, or else the value of ``dtype`` that changes no other value.

        Examples
        --------
        >>> OPERATORS["maximum"].start("int8"), OPERATORS["add"].start("int8")
        (-128, 0)
        """
        if self.identity is not None or not (self.extreme or self.all_bits):
            return self.identity
        kind = np.dtype(dtype).kind
        # All bits of a boolean, of a signed integer (-1) and of an unsigned integer.
        if self.all_bits:
            return kind == "b" or (-1 if kind == "i" else int(np.iinfo(dtype).max))
        if kind == "b":
            return self.extreme > 0
        if kind in "iu":
            limits = np.iinfo(dtype)
            return int(limits.min if self.extreme < 0 else limits.max)
        # Any number replaces NaN, also infinity.
        if self.skips_nan:
            return complex(math.nan, 0) if kind == "c" else math.nan
        infinity = math.inf * self.extreme
        return complex(infinity, infinity) if kind == "c" else infinity

    def annihilates(self, position: int, value: Any) -> bool:
        """Return whether an implicit operand ``value`` at ``position`` decides the result alone."""
        return position in self.absorbs or any(p == position and value == v for p, v in self.annihilators)

    def implicit(self, position: int, *operands: Any) -> Any:
        """Return the result for an implicit operand at ``position`` beside numbers, with that operand's fill value.

        An annihilator decides beside any number, as it does beside a tensor: the result differs from NumPy's beside
        infinity and NaN. Beside other numbers a zero has the sign that NumPy gives it.

        Examples
        --------
        >>> [float(OPERATORS["multiply"].implicit(0, 0.0, number)) for number in (math.inf, math.nan, -2.0)]
        [0.0, 0.0, -0.0]
        """
        with np.errstate(all="ignore"):
            found = self.ufunc(*operands)
        decided = operands[position] if self.absorbed is None else self.absorbed
        return decided if self.annihilates(position, operands[position]) and found != decided else found

    def near(self, position: int, value: Any) -> tuple[Near, ...]:
        """Return the rows of ``near_annihilators`` for an implicit operand ``value`` at ``position``."""
        return tuple(n for n in self.near_annihilators if n.position == position and n.takes(value))

    def collapses(self, value: Any) -> bool:
        """Return whether reducing any number of copies of ``value`` gives the result for one copy.

        Examples
        --------
        >>> OPERATORS["maximum"].collapses(3), OPERATORS["multiply"].collapses(0), OPERATORS["add"].collapses(1)
        (True, True, False)
        """
        # The sign of a product of negative zeros depends on how many there are.
        return self.idempotent or (self.annihilates(0, value) and math.copysign(1, value.real) > 0)

    def chosen(self, condition: Any) -> int | None:
        """Return the position of the operand that an implicit condition chooses; None if it is not known."""
        known = self.chooses and isinstance(condition, (bool, int, float, complex, np.generic))
        return (1 if condition else 2) if known else None

    def is_identity(self, position: int, value: Any) -> bool:
        """Return whether ``value`` at ``position`` of a binary operator leaves the other operand unchanged."""
        if self.arity != 2:
            return False
        if self.identity is not None and value == self.identity:
            return True
        return position == 1 and self.right_identity is not None and value == self.right_identity


# Implicit operands that several rows have: see ``annihilators`` and ``near_annihilators``.
_BOTH_ZERO = ((0, 0), (1, 0))
_INFINITE = tuple(Near(position, sign * math.inf) for position in (0, 1) for sign in (1, -1))
_ANY = (Near(0), Near(1))
_QUOTIENT = tuple(Near(0, value, usual=True) for value in (0, math.inf, -math.inf, math.nan))
_FROM_ZERO = (Near(0, 0, usual=True),)
_COMPARED = tuple(Near(position, None, answer) for position in (0, 1) for answer in (False, True))


def _called(arity: int, names: str, **properties: Any) -> list[Operator]:
    """Return rows for NumPy's ufuncs ``names``, each computed by the prelude function of its name."""
    return [Operator(name, arity, f"call:{name}", getattr(np, name), **properties) for name in names.split()]


ABSENT_ANSWERS = {False: "false where absent", True: "true where absent"}
"""Operators that state the boolean result for implicit entries, by that result.

The result depends on the value of a scalar, which only the scalar's owner knows. Index notation cannot spell these
operators.
"""

_REPETITIONS = functions.repetitions(lambda op, dtype: OPERATORS[op].start(dtype))

OPERATORS: dict[str, Operator] = {
    row.name: row
    for row in (
        Operator("add", 2, "+", np.add, identity=0, symbol="+", precedence=1,
                 near_annihilators=_INFINITE, monotone="rounded"),
        Operator("subtract", 2, "-", np.subtract, right_identity=0, symbol="-", precedence=1, monotone="rounded"),
        Operator("multiply", 2, "*", np.multiply, identity=1, annihilators=_BOTH_ZERO, symbol="*", precedence=2,
                 monotone="rounded"),
        Operator("divide", 2, "/", np.true_divide, right_identity=1, symbol="/", precedence=2, monotone="exact",
                 near_annihilators=_QUOTIENT, instead="{0}*(1/{1})"),
        Operator("negative", 1, "-", np.negative, symbol="-", precedence=3, monotone="exact"),
        Operator("minimum", 2, "call:minimum", np.minimum,
                 idempotent=True, extreme=1, near_annihilators=_ANY, monotone="exact"),
        Operator("maximum", 2, "call:maximum", np.maximum,
                 idempotent=True, extreme=-1, near_annihilators=_ANY, monotone="exact"),
        Operator("fmin", 2, "call:fmin", np.fmin,
                 idempotent=True, extreme=1, skips_nan=True, near_annihilators=_ANY, monotone="exact"),
        Operator("fmax", 2, "call:fmax", np.fmax,
                 idempotent=True, extreme=-1, skips_nan=True, near_annihilators=_ANY, monotone="exact"),
        # Reductions with these operators are of booleans, whose extremes are the identities.
        Operator("logical_and", 2, "call:logical_and", np.logical_and, annihilators=_BOTH_ZERO, idempotent=True,
                 extreme=1),
        Operator("logical_or", 2, "call:logical_or", np.logical_or, idempotent=True, extreme=-1),
        Operator("logical_xor", 2, "call:logical_xor", np.logical_xor, extreme=-1),
        Operator("bitwise_and", 2, "&", np.bitwise_and, annihilators=_BOTH_ZERO, idempotent=True, all_bits=True),
        Operator("bitwise_or", 2, "|", np.bitwise_or, identity=0, idempotent=True),
        Operator("bitwise_xor", 2, "^", np.bitwise_xor, identity=0),
        Operator("equal", 2, "==", np.equal, near_annihilators=(Near(0, 0, False), Near(1, 0, False))),
        Operator("not_equal", 2, "!=", np.not_equal, near_annihilators=(Near(0, 0, True), Near(1, 0, True))),
        Operator("less", 2, "<", np.less, near_annihilators=_COMPARED),
        Operator("less_equal", 2, "<=", np.less_equal, near_annihilators=_COMPARED),
        Operator("greater", 2, ">", np.greater, near_annihilators=_COMPARED),
        Operator("greater_equal", 2, ">=", np.greater_equal, near_annihilators=_COMPARED),
        *_called(1, "conjugate cos invert isfinite isinf isnan logical_not signbit sin tan"),
        *_called(1, "absolute ceil floor positive reciprocal rint sign sqrt square trunc", monotone="exact"),
        *_called(1, "arccos arccosh arcsin arcsinh arctan arctanh cbrt cosh deg2rad exp exp2 expm1 log log10 log1p "
                    "log2 rad2deg sinh tanh", monotone="rounded"),
        *_called(2, "copysign gcd heaviside lcm logaddexp logaddexp2 nextafter"),
        *_called(2, "hypot", monotone="rounded"),
        *_called(2, "arctan2 floor_divide fmod ldexp left_shift remainder right_shift", near_annihilators=_FROM_ZERO),
        *_called(2, "float_power power", near_annihilators=(*_FROM_ZERO, Near(0, 1), Near(1, 0, 1))),
        Operator("left", 2, "call:left", functions.left),
        Operator("select", 2, "call:select", functions.select, annihilators=((0, False), (1, 0))),
        Operator("where", 3, "?:", functions.where, chooses=True),
        Operator("kept", 2, "call:select", functions.kept, annihilators=((0, False), (1, 0)), leaves_out=True),
        *(Operator(f.__name__, 1, f"call:{f.__name__}", f)
          for f in (functions.real, functions.imag, functions.nan_as_zero, functions.nan_as_one)),
        *(Operator(f.__name__, 1, "cast", f, monotone="exact") for f in functions.CONVERSIONS),
        *(Operator(name, 1, "cast", functions.as_it_is, absent=answer) for answer, name in ABSENT_ANSWERS.items()),
        *(Operator(f.__name__, 2, f"call:{f.__name__}", f) for f in _REPETITIONS.values()),
    )
}  # fmt: skip

_EQUAL = "select(equal(x, y), 0.5*dot)"  # equal operands share the gradient of the lesser or the greater one
_LESS, _GREATER = (f"select({name}(x, y), dot) + {_EQUAL}" for name in ("less", "greater"))
_X_IS_NAN, _Y_IS_NAN = (f"select(not_equal({name}, {name}), dot)" for name in "xy")
_PARTIALS = {
    "add": ("1", "1"), "subtract": ("1", "-1"), "multiply": ("y", "x"), "divide": ("1/y", "-value/y"),
    "negative": ("-1",), "positive": ("1",), "left": ("1", "0"),
    "minimum": (_LESS, _GREATER), "maximum": (_GREATER, _LESS),
    # NaN beside a number is not the result.
    "fmin": (f"{_LESS} + {_Y_IS_NAN}", f"{_GREATER} + {_X_IS_NAN}"),
    "fmax": (f"{_GREATER} + {_Y_IS_NAN}", f"{_LESS} + {_X_IS_NAN}"),
    "select": ("0", "select(x, dot)"), "kept": ("0", "select(x, dot)"),
    "where": ("0", "select(x, dot)", "select(logical_not(x), dot)"),
    "nan_as_zero": ("select(equal(x, x), dot)",), "nan_as_one": ("select(equal(x, x), dot)",),
    "conjugate": ("conjugate(dot)",), "real": ("real(dot)",), "imag": ("imag(dot)",),
    "absolute": ("real(conjugate(sign(x))*dot)",),
    "square": ("2*x",), "sqrt": ("0.5/value",), "cbrt": ("1/(3*square(value))",), "reciprocal": ("-square(value)",),
    "exp": ("value",), "expm1": ("value + 1",), "exp2": (f"{math.log(2)}*value",),
    "log": ("1/x",), "log1p": ("1/(1 + x)",), "log2": (f"{1 / math.log(2)}/x",), "log10": (f"{1 / math.log(10)}/x",),
    "sin": ("cos(x)",), "cos": ("-sin(x)",), "tan": ("1 + square(value)",),
    "sinh": ("cosh(x)",), "cosh": ("sinh(x)",), "tanh": ("1 - square(value)",),
    "arcsin": ("1/sqrt(1 - square(x))",), "arccos": ("-1/sqrt(1 - square(x))",), "arctan": ("1/(1 + square(x))",),
    "arcsinh": ("1/sqrt(1 + square(x))",), "arccosh": ("1/(sqrt(x - 1)*sqrt(x + 1))",),
    "arctanh": ("1/(1 - square(x))",), "deg2rad": (f"{math.pi / 180}",), "rad2deg": (f"{180 / math.pi}",),
    "arctan2": ("y/(square(x) + square(y))", "-x/(square(x) + square(y))"), "hypot": ("x/value", "y/value"),
    "logaddexp": ("exp(x - value)", "exp(y - value)"), "logaddexp2": ("exp2(x - value)", "exp2(y - value)"),
    # A constant power has no derivative beside 0**0; the logarithm is not taken where the power is 0.
    **dict.fromkeys(("power", "float_power"),
                    ("select(not_equal(y, 0), y*power(x, y - 1))", "select(not_equal(x, 0), log(x))*value")),
    "fmod": ("1", "-trunc(x/y)"), "remainder": ("1", "-floor_divide(x, y)"), "ldexp": ("ldexp(dot, y)", "0"),
    "heaviside": ("0", "select(equal(x, 0), dot)"),
    "copysign": ("sign(x)*copysign(1.0, y)", "0"), "nextafter": ("1", "0"),
    "complex64": ("1",), "complex128": ("1",), "float32": ("real(dot)",), "float64": ("real(dot)",),
    **dict.fromkeys((f.__name__ for f in functions.CONVERSIONS if f.__name__[0] not in "fc"), ("0",)),
    **dict.fromkeys(("ceil", "floor", "rint", "sign", "trunc"), ("0",)),
    **dict.fromkeys(("isfinite", "isinf", "isnan", "logical_not", "signbit"), ("0",)),
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), ("0", "0")),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor", "floor_divide"), ("0", "0")),
}  # fmt: skip

# The gradient of a real function's result is complex beside complex factors, and its real part alone counts.
_ADJOINTS = {"imag": ("1j*real(dot)",), "absolute": ("sign(x)*real(dot)",), "ldexp": ("ldexp(real(dot), y)", "0")}

OPERATORS |= {
    name: replace(OPERATORS[name], partials=partials, adjoints=_ADJOINTS.get(name))
    for name, partials in _PARTIALS.items()
}

_SIDES = {(0,): "left-absorbing", (1,): "right-absorbing", (0, 1): "absorbing"}

ABSORBING: dict[str, dict[tuple[tuple[int, ...], Any], str]] = {
    op: {
        (positions, result): f"{side} {op}" + ("" if result is None else f" to {result}")
        for positions, side in _SIDES.items()
        for result in dict.fromkeys(n.result for n in row.near_annihilators)
        if all(any((n.position, n.result) == (p, result) for n in row.near_annihilators) for p in positions)
    }
    for op, row in OPERATORS.items()
    if row.near_annihilators
}
"""Operators that are told that implicit operands decide alone, by operator, positions and result (None: fill values).

A user of such an operator guarantees that implicit operands at these positions give that result beside all values that
the other operand holds. Index notation cannot spell these operators.
"""

OPERATORS |= {
    name: replace(OPERATORS[op], name=name, absorbs=positions, absorbed=result, near_annihilators=(), symbol=None)
    for op, names in ABSORBING.items()
    for (positions, result), name in names.items()
}

REPETITIONS: dict[str, str] = {op: f.__name__ for op, f in _REPETITIONS.items()}
"""Operators that compute ``x op x op ... op x`` with ``k`` operands from ``k`` and ``x``, by associative operator."""

REDUCTIONS: dict[str, str] = {
    "sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum", "all": "logical_and", "any": "logical_or",
    "nanmin": "fmin", "nanmax": "fmax", "xor": "logical_xor", "bitand": "bitwise_and", "bitor": "bitwise_or",
    "bitxor": "bitwise_xor",
}  # fmt: skip
"""Associative operators by the name of their reduction in index notation: ``sum(j, ...)``."""

ALIASES: dict[str, str] = {
    "abs": "absolute", "conj": "conjugate", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin",
    "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh", "atan2": "arctan2", "pow": "power", "mod": "remainder",
    "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "radians": "deg2rad", "degrees": "rad2deg", "true_divide": "divide",
    "bitwise_not": "invert",
}  # fmt: skip
"""Operators by their other names in index notation."""


def operator(name: str) -> Operator:
    """Return the row of an operator."""
    return OPERATORS[name]
