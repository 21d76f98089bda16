from __future__ import annotations
import re
from dataclasses import dataclass
from functools import lru_cache, cached_property
from ..errors import NotationError
from .nodes import *
from .nodes import to_text

__all__ = ["Remapping"]


class Remapping:
    def __init__(self, coordinates, order=None):
        self.coordinates = tuple(Axis(c) if isinstance(c, int) else c for c in coordinates)
        self.order = order if order is not None else len(self.coordinates)
        self.is_permutation = (
            len(self.coordinates) == self.order
            and all(isinstance(c, Axis) for c in self.coordinates)
            and len(set(self.coordinates)) == self.order
        )
        self._h = hash((self.coordinates, self.order))
        if self.is_permutation:
            self._m = tuple(c.number for c in self.coordinates)

    def __hash__(self):
        return self._h

    def __eq__(self, o):
        return isinstance(o, Remapping) and self.coordinates == o.coordinates and self.order == o.order

    @property
    def mode_order(self):
        if not self.is_permutation:
            raise NotationError("not a permutation", str(self), 0)
        return self._m

    @property
    def is_identity(self):
        return self.is_permutation and self._m == tuple(range(self.order))

    @classmethod
    def identity(cls, n):
        return cls(range(n), n)

    @classmethod
    @lru_cache(maxsize=256)
    def parse(cls, text, **kw):
        l, r = text.split("->")
        names = [x.strip() for x in l.strip().strip("()").split(",") if x.strip()]
        import ast

        def conv(n):
            if isinstance(n, ast.Name):
                return Axis(names.index(n.id)) if n.id in names else Constant(kw[n.id])
            if isinstance(n, ast.Constant):
                return Constant(n.value)
            ops = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%"}
            return Binary(ops[type(n.op)], conv(n.left), conv(n.right))

        out = []
        for part in r.strip()[1:-1].split(","):
            part = part.strip()
            if not part:
                continue
            if part.startswith("#"):
                out.append(Counter((Axis(names.index(part[1:])),)))
            else:
                out.append(conv(ast.parse(part, mode="eval").body))
        return cls(tuple(out), len(names))

    def inverse(self):
        known = {}
        for k, c in enumerate(self.coordinates):
            if isinstance(c, Axis):
                known.setdefault(c.number, Axis(k))
        for k, c in enumerate(self.coordinates):
            match c:
                case Binary(op="/", left=Axis(number=n), right=Constant(value=m)) if n not in known:
                    for k2, c2 in enumerate(self.coordinates):
                        if c2 == Binary("%", Axis(n), Constant(m)):
                            known[n] = Binary("+", Binary("*", Axis(k), Constant(m)), Axis(k2))
        for k, c in enumerate(self.coordinates):
            match c:
                case Binary(op="-", left=Axis(number=a), right=Axis(number=b)):
                    if a in known and b not in known:
                        known[b] = Binary("-", known[a], Axis(k))
                    elif b in known and a not in known:
                        known[a] = Binary("+", known[b], Axis(k))
        return tuple(known.get(a) for a in range(self.order))

    def extents(self, shape):
        out = []
        for c in self.coordinates:
            match c:
                case Axis(number=n):
                    out.append((0, shape[n]))
                case Binary(op="/", left=Axis(number=n), right=Constant(value=m)):
                    out.append((0, -(-shape[n] // m)))
                case Binary(op="%", right=Constant(value=m)):
                    out.append((0, m))
                case Binary(op="-", left=Axis(number=a), right=Axis(number=b)):
                    out.append((-shape[b] + 1, shape[a]))
                case _:
                    out.append(None)
        return tuple(out)

    def __str__(self):
        names = "ijklmnopqrstuvwxyzabcdefgh"[: self.order]
        return f"({','.join(names)}) -> ({','.join(to_text(c, names) for c in self.coordinates)})"
