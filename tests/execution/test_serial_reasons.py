"""What ``explain`` says of threads: true of the C that is printed, and with a reason where one thread does all."""

import pytest

import weft

SUM, SCALED = "C(i,j) = A(i,j) + B(i,j)", "C(i,j) = 2*A(i,j)"
ROWS, COLUMNS = "y(i) = A(i,j)*x(j)", "y(j) = A(i,j)*x(i)"


def parallel(text, **formats):
    (line,) = [line for line in weft.explain(text, **formats).splitlines() if line.startswith("parallel")]
    return line


@pytest.mark.parametrize(
    ("text", "format", "reason"),
    [
        (SUM, "csf", "the loop over i merges A and B"),
        (SUM, "coo", "the loop over i merges A and B"),
        (SUM, "hash", "several nests of loops, one after the other, list the entries of C"),
        (SUM, "hyb", "capped finds places by what came before"),
        (SCALED, "jad", "iterations of the loop over #i append to the same parts of C"),
        (SCALED, "banded", "banded asks for several counts of entries"),
        ("C(i,k) = A(i,j)*B(j,k)", "bsr", "several values for one place are added up in the order in which they come"),
        ("Y(i,k) = A(i,j)*X(j,k)", "dok", "entries of A with the same i might come to different threads"),
        ("Y(j,k) = A(i,j)*X(i,k)", "csr", "iterations of the loop over i add to the same elements of Y; where there"),
    ],
)
def test_why_one_thread_does_all(text, format, reason):
    formats = {name: "dense" if name in "XY" else format for name in "ABXY" if f"{name}(" in text}
    assert parallel(text, **formats).startswith(f"parallel: nothing, since {reason}")


@pytest.mark.parametrize("text", [ROWS, COLUMNS, "s = A(i,j)"])
@pytest.mark.parametrize("format", ["csr", "coo", "ell", "sell", "jad", "hicoo", "dok", "bsr", "hash"])
def test_what_is_said_of_threads_is_what_is_printed(text, format):
    formats = {"A": format, **({"x": "dense"} if "x(" in text else {})}
    shares = "weft_parallel(" in weft.compile(text, **formats).source
    assert parallel(text, **formats).startswith("parallel: nothing, since ") is not shares
