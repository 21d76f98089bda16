from ..ir.builder import add, lit, mul, sub
from ..ir.nodes import Binary as B
from .nodes import *


def emit(e, coords, locals=None):
    match e:
        case Axis(number=n):
            return coords[n]
        case Constant(value=v):
            return lit(v)
        case Binary(op="+", left=a, right=b):
            return add(emit(a, coords), emit(b, coords))
        case Binary(op="-", left=a, right=b):
            return sub(emit(a, coords), emit(b, coords))
        case Binary(op="*", left=a, right=b):
            return mul(emit(a, coords), emit(b, coords))
        case Binary(op=op, left=a, right=b):
            return B(op, emit(a, coords), emit(b, coords))
