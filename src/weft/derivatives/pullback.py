"""Reverse mode: the gradient of each operand from that of the result; and forward mode, by the same rules."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping

from ..index_notation import explicit_sums, free_variables, rename_variables, tensors, variables
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from ..index_notation.traversal import accesses
from ..records import record
from ..trees import fold
from .rules import ZERO, Value, gradient_of, of_reduction, tangent_of


@record
class Gradient:
    """Gradient of an operand: an expression over indices that differ, without sampling."""

    tensor: str
    indices: tuple[str, ...]
    value: Expr
    identities: tuple[str, ...]  # names of the identity matrices that the expression reads


def unused_name(base: str, taken: Collection[str]) -> str:
    """Return ``base``, or the first of ``base1``, ``base2`` and so on that is not taken."""
    return next(name for k in itertools.count() if (name := f"{base}{k or ''}") not in taken)


def sum_of(terms: Iterable[Expr]) -> Expr | None:
    """Return a sum of terms, equal ones as a multiple; None for no terms."""
    counted: dict[Expr, int] = {}
    for term in terms:
        counted[term] = counted.get(term, 0) + 1
    total: Expr | None = None
    for term, times in counted.items():
        part = term if times == 1 else Apply("multiply", (Literal(times), term))
        if total is None:
            total = part
        elif isinstance(part, Apply) and part.op == "negative":
            total = Apply("subtract", (total, part.args[0]))
        else:
            total = Apply("add", (total, part))
    return total


class Pullback:
    """The gradients of an assignment, whose sums are explicit.

    At each part of the expression, the gradient of the part has no variables but those of the part: it is summed over
    all others, so that nested sums become nested sums.
    """

    def __init__(self, assignment: Assignment, wrt: Collection[str], cotangent: str, value: Value, conjugate: bool):
        self.assignment, self.wrt, self.value, self.conjugate = assignment, wrt, value, conjugate
        self.taken = {*tensors(assignment), *variables(assignment), cotangent}
        self.target = Access(cotangent, assignment.target.indices)
        self.accesses = [self.target, *accesses(assignment.value)]
        self.terms: dict[str, list[Expr]] = {name: [] for name in wrt}
        self.indices: dict[str, tuple[str, ...]] = {}
        self.identities: dict[tuple[str, int], str] = {}
        self._pull(assignment.value, self.target, assignment.target.indices)

    def gradients(self) -> tuple[Gradient, ...]:
        return tuple(map(self._gradient, self.wrt))

    def _gradient(self, name: str) -> Gradient:
        indices = self.indices.get(name)
        if indices is None:
            own = next(a for a in self.accesses if a.tensor == name)
            indices = self._apart(own.indices)
        used = tuple([i for (tensor, _), i in self.identities.items() if tensor == name])
        return Gradient(name, indices, sum_of(self.terms[name]) or ZERO, used)

    def _active(self, expr: Expr) -> bool:
        return any(access.tensor in self.wrt for access in expr.distinct_accesses)

    def _pull(self, expr: Expr, bar: Expr, scope: tuple[str, ...]) -> None:
        """Pass the gradient ``bar`` of a part on to the operands; ``scope`` are the variables of both."""
        if not self._active(expr):
            return
        free = free_variables(expr)
        match expr:
            case Access():
                self._contribute(expr, self._total(bar, scope, free))
            case Apply(args=args):
                for n, arg in enumerate(args):
                    if self._active(arg):
                        part = gradient_of(expr, n, bar, self.value, self.conjugate)
                        if part is not None:
                            self._pull(arg, part, scope)
            case Reduce(vars=over):
                bar = self._total(bar, scope, free)
                part = of_reduction(expr, bar, self.value, self.conjugate)
                if part is not None:
                    self._pull(expr.body, part, (*free, *over))

    def _total(self, bar: Expr, scope: tuple[str, ...], kept: tuple[str, ...]) -> Expr:
        """Sum a gradient over the variables of its scope that are not kept."""
        over = tuple([v for v in scope if v not in kept])
        if not over:
            return bar
        for v in over:
            if v not in free_variables(bar):
                bar = Apply("left", (bar, self._carrier(v, scope)))
        match bar:
            case Apply(op="negative", args=(inner,)):
                return Apply("negative", (Reduce("add", over, inner),))
        return Reduce("add", over, bar)

    def _carrier(self, v: str, scope: tuple[str, ...]) -> Expr:
        """Return an expression that has a variable, which says how many values the variable takes."""
        having = [a for a in self.accesses if v in a.indices]
        best = min(having, key=lambda a: (len(set(a.indices) - set(scope)), len(a.indices)))
        others = tuple(dict.fromkeys(i for i in best.indices if i not in scope))
        return Reduce("logical_or", others, Apply("bool", (best,))) if others else best

    def _apart(self, indices: tuple[str, ...]) -> tuple[str, ...]:
        """Return indices without repetitions."""
        distinct: list[str] = []
        for v in indices:
            if v in distinct:
                v = unused_name(v, self.taken)
                self.taken.add(v)
            distinct.append(v)
        return tuple(distinct)

    def _contribute(self, access: Access, bar: Expr) -> None:
        """Add the gradient of one access to that of its operand."""
        apart = self._apart(access.indices)
        for axis, (v, other) in enumerate(zip(access.indices, apart, strict=True)):
            if v != other:
                key = access.tensor, axis
                if key not in self.identities:
                    self.identities[key] = unused_name("identity", self.taken)
                    self.taken.add(self.identities[key])
                bar = Apply("select", (Access(self.identities[key], (v, other)), bar))
        first = self.indices.setdefault(access.tensor, apart)
        # Bound variables get other names than those that are free now and then.
        both = Access("", tuple(dict.fromkeys((*first, *apart))))
        bar = explicit_sums(Assignment(both, bar)).value
        self.terms[access.tensor].append(rename_variables(bar, dict(zip(apart, first, strict=True))))


def push_forward(assignment: Assignment, tangents: Mapping[str, str], value: Value = lambda expr: expr) -> Expr:
    """Return the tangent of the result of an assignment, whose sums are explicit, for tangents of operands by name."""

    def push(node: Expr, dots: list[Expr | None]) -> Expr | None:
        """Return the tangent of a part of the expression from those of the parts below; None for zero."""
        match node:
            case Access(tensor=tensor, indices=indices) if tensor in tangents:
                return Access(tangents[tensor], indices)
            case Apply():
                parts = [tangent_of(node, n, dot, value) for n, dot in enumerate(dots) if dot is not None]
                return sum_of(part for part in parts if part is not None)
            case Reduce(vars=over) if dots[0] is not None:
                part = of_reduction(node, dots[0], value)
                if part is not None and not set(over) <= set(free_variables(part)):
                    part = Apply("left", (part, node.body))  # which says how many values the variables take
                return None if part is None else Reduce("add", over, part)
        return None

    return fold(assignment.value, push) or ZERO
