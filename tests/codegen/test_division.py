import numpy as np
import pytest

from ir.examples import tensor
from weft.compiler import generate
from weft.config import config
from weft.ir import Block, Declare, For, Function, Parallel, Param, Set, Store, While
from weft.ir.builder import add, block, lit, load, lt, maximum, var
from weft.ir.nodes import Binary

from .compiled import module

i = var("i")
N, Q, R = (tensor(name, 1, vals="int64", output=name != "N") for name in "NQR")
D = Param("D", (var("D1_dim"),), (), var("D_vals", "int64*"))
(SIZE,) = D.dimensions
LARGEST = 2**63 - 1


def divided(divisor):
    """``Q(i) = N(i) / divisor`` and ``R(i) = N(i) % divisor``."""
    value = load(N.vals, i)
    stores = [Store(p.vals, i, Binary(op, value, divisor)) for p, op in ((Q, "/"), (R, "%"))]
    return Function("divided", (Q, R, N, D), For(i, lit(0), N.dimensions[0], block(*stores)))


def divisors():
    powers = [1 << k for k in range(63)]
    near = [p + d for p in powers for d in (-1, 0, 1) if p + d > 0]
    rng = np.random.default_rng(0)
    drawn = [int(2.0**e) for e in rng.uniform(0, 62.9, 200)]
    return sorted({*near, *drawn, 10, 200, 1_000_003, LARGEST, LARGEST - 1})


def dividends(d):
    """Multiples of ``d`` and what is beside them, of all sizes and both signs."""
    rng = np.random.default_rng(d & 0xFFFF)
    factors = {0, 1, 2, LARGEST // d, LARGEST // d // 2, *(int(2.0**e) for e in rng.uniform(0, 63, 40))}
    found = {f * d + k for f in factors for k in (-1, 0, 1)} | {LARGEST, LARGEST - 1}
    return [n for n in {*found, *(-n for n in found)} if abs(n) <= LARGEST]


def test_every_quotient_is_exact():
    kernel = module(divided(maximum(SIZE, lit(1))))["divided"]
    for d in divisors():
        values = dividends(d)
        n = np.array(values, np.int64)
        q, r = np.empty_like(n), np.empty_like(n)
        vector = (len(n),), ()
        assert kernel((*vector, q), (*vector, r), (*vector, n), ((d,), (), n)) == 0
        exact = [abs(value) // d * (1 if value >= 0 else -1) for value in values]
        assert q.tolist() == exact
        assert r.tolist() == [value - e * d for value, e in zip(values, exact, strict=True)]


@pytest.mark.parametrize("divisor", [SIZE, maximum(SIZE, lit(1))], ids=str)
def test_nothing_is_divided(divisor):
    text = generate([divided(divisor)], config.code)
    assert " / D1_dim" not in text
    assert text.count("reciprocal_of_D1_dim = weft_reciprocal(D1_dim)") == 1


def test_a_size_of_zero_divides_as_one():
    n = np.array([5, -3, 0])
    q, r = np.empty_like(n), np.empty_like(n)
    vector = (3,), ()
    module(divided(maximum(SIZE, lit(1))))["divided"]((*vector, q), (*vector, r), (*vector, n), ((0,), (), n))
    assert q.tolist() == n.tolist()
    assert not r.any()


def test_outside_loops_divisions_stay():
    quotient = Binary("/", load(N.vals, lit(0)), SIZE)
    function = Function("once", (Q, N, D), Store(Q.vals, lit(0), quotient))
    assert "weft_reciprocal" not in generate([function], config.code)


def test_what_hides_a_size_is_no_size():
    hidden = Block((Declare(SIZE, lit(3)), divided(SIZE).body))
    assert "weft_reciprocal" not in generate([Function("hidden", (Q, R, N, D), hidden)], config.code)


def test_in_loops_of_all_kinds():
    n = np.arange(50)
    store = Store(Q.vals, i, Binary("/", load(N.vals, i), SIZE))
    count = N.dimensions[0]
    loops = {
        "while": block(Declare(i, lit(0)), While(lt(i, count), block(store, Set(i, add(i, lit(1)))))),
        "parallel": Parallel(var("threads"), Block(), For(i, lit(0), count, store), Block()),
    }
    for name, loop in loops.items():
        function = Function(f"by_{name}", (Q, N, D), loop)
        assert "weft_quotient" in generate([function], config.code)
        q = np.empty_like(n)
        assert module(function)[f"by_{name}"](((50,), (), q), ((50,), (), n), ((7,), (), n), threads=2) == 0
        assert (q == n // 7).all()
