"""What ``explain`` says of threads: true of the C that is printed, and with a reason where one thread does all."""

import re
from pathlib import Path

import pytest

import weft

PAGE = Path(__file__).parents[2] / "docs/explanation/accuracy_and_threads.md"

SUM, SCALED = "C(i,j) = A(i,j) + B(i,j)", "C(i,j) = 2*A(i,j)"
ROWS, COLUMNS = "y(i) = A(i,j)*x(j)", "y(j) = A(i,j)*x(i)"


def parallel(text, **formats):
    (line,) = [line for line in weft.explain(text, **formats).splitlines() if line.startswith("parallel")]
    return line


@pytest.mark.parametrize(
    ("text", "format", "reason"),
    [
        (SUM, "dok", "several nests of loops, one after the other, list the entries of C"),
        (SCALED, {"A": "csr", "C": "hyb"}, "capped finds places by what came before"),
        (SCALED, "jad", "iterations of the loop over #i append to the same parts of C"),
        (SCALED, "banded", "banded asks for several counts of entries"),
        ("Y(i,k) = A(i,j)*X(j,k)", "dok", "entries of A with the same i might come to different threads"),
        ("Y(j,k) = A(i,j)*X(i,k)", "csr", "iterations of the loop over i add to the same elements of Y; where there"),
    ],
)
def test_why_one_thread_does_all(text, format, reason):
    if not isinstance(format, dict):
        format = {name: "dense" if name in "XY" else format for name in "ABXY" if f"{name}(" in text}
    assert parallel(text, **format).startswith(f"parallel: nothing, since {reason}")


def test_the_page_lists_what_stays_on_one_thread():
    """Each reason that is given is in the table, with other names; and each row is a reason that is given."""
    told = set()
    for text in (SUM, SCALED, "C(i,j) = 2*A(j,i)", "Y(i,k) = A(i,j)*X(j,k)", "y(j) = A(i,j)*x(i)", "s = A(i,j)"):
        for format in ("csr", "csf", "ell", "jad", "hyb", "sell", "hash", "dok", "lil", "bsr", "banded"):
            formats = {"A": format} | ({"B": format} if "B(" in text else {}) | ({"C": format} if "C(" in text else {})
            told.add(parallel(text, **formats, **{n: "dense" for n in "xXY" if f"{n}(" in text}))
    told.add(parallel(SCALED, A="csr", C="bsr"))
    told.add(parallel(SCALED, A="csc", C="ell"))
    told.add(parallel(SUM, A="csr", B="csr", C="csc"))
    told.add(parallel("Y(j,k) = A(i,j)*X(i,k)", A="csr", X="dense", Y="dense"))
    told.add(parallel("s = A(i,j)*B(i,j)", A="csf", B="csf"))
    reasons = {line.removeprefix("parallel: nothing, since ") for line in told if "nothing, since" in line}
    table = PAGE.read_text(encoding="utf-8").split('behind "parallel: nothing, since":')[1].split("\n\n")[1]
    rows = [_pattern(line.split(" | ")[0].removeprefix("| ")) for line in table.splitlines()[2:]]
    assert [r for r in reasons if not any(re.match(row, r) for row in rows)] == []
    assert [row for row in rows if not any(re.match(row, r) for r in reasons)] == []


def _pattern(row):
    """What a row of the table says, of any variables and tensors, and of each of the levels that it names."""
    row = re.sub(r"(\w+) \((.*?)\)", lambda m: f"(?:{'|'.join([m[1], *m[2].split(', ')])})\\S*", row)
    return re.sub(r"(?<!\w)(#?[ij]|[ABCY])\b", r"\\S+", row)


@pytest.mark.parametrize("text", [ROWS, COLUMNS, "s = A(i,j)"])
@pytest.mark.parametrize("format", ["csr", "coo", "ell", "sell", "jad", "hicoo", "dok", "bsr", "hash"])
def test_what_is_said_of_threads_is_what_is_printed(text, format):
    formats = {"A": format, **({"x": "dense"} if "x(" in text else {})}
    shares = "weft_parallel(" in weft.compile(text, **formats).source
    assert parallel(text, **formats).startswith("parallel: nothing, since ") is not shares
