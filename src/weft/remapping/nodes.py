from __future__ import annotations
from dataclasses import dataclass


class IndexExpr:
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Axis(IndexExpr):
    number: int


@dataclass(frozen=True, slots=True)
class Constant(IndexExpr):
    value: int


@dataclass(frozen=True, slots=True)
class Counter(IndexExpr):
    over: tuple


@dataclass(frozen=True, slots=True)
class Binary(IndexExpr):
    op: str
    left: IndexExpr
    right: IndexExpr


def axes_of(e):
    match e:
        case Axis(number=n):
            return {n}
        case Counter(over=o):
            return set().union(*map(axes_of, o)) if o else set()
        case Binary(left=a, right=b):
            return axes_of(a) | axes_of(b)
    return set()


def to_text(e, names):
    match e:
        case Axis(number=n):
            return names[n]
        case Constant(value=v):
            return str(v)
        case Counter(over=o):
            return "#" + ",".join(to_text(x, names) for x in o)
        case Binary(op=op, left=a, right=b):
            return to_text(a, names) + op + to_text(b, names)
