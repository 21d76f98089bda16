"""By which loops a variable is visited in order."""

import numpy as np
import pytest

import weft
from weft.analysis.derived_variables import derived_variables, radix_components
from weft.formats import Compressed, Format, TensorType, parse_format
from weft.index_notation.nodes import Access

A = Access("A", ("i", "j"))


def of(format):
    return derived_variables([A], {"A": TensorType.of("float64", format)})


def test_blocks():
    found = of(parse_format("bsr", 2, blocksize=(2, 3)))
    assert radix_components("i", found) == ("i/2", "i%2")
    assert radix_components("j", found) == ("j/3", "j%3")
    assert radix_components("k", found) == ("k",)


def test_bits():
    found = of(Format("(i,j) -> (i>>3, i&7, j)", [Compressed()] * 3))
    assert radix_components("i", found) == ("i>>3", "i&7")


def test_rows_after_rows():
    found = of(Format("(i,j) -> (i*size(j)+j)", [Compressed()]))
    assert radix_components("i*size(j)+j", found) == ("i", "j")


@pytest.mark.parametrize("text", ["(i,j) -> (i+j, j)", "(i,j) -> (j-i, i)"])
def test_in_no_order(text):
    """A sum of what may be larger than the factor goes up and down."""
    format = Format(text, [Compressed(unique=False), Compressed()])
    assert radix_components(str(format.remapping).split("(")[2].split(",")[0], of(format)) == ()
    assert radix_components("j", of(Format("(i,j) -> (i, j-i)", [Compressed()] * 2))) == ()
    dense = np.arange(20.0).reshape(4, 5) % 3
    made = weft.asarray(dense, format="csr").asformat(format)
    np.testing.assert_array_equal(made.todense(), dense)
    np.testing.assert_array_equal(made.asformat("csr").todense(), dense)


def test_blocks_are_appended_row_by_row():
    B = weft.asarray(np.eye(9), format=parse_format("bsr", 2, blocksize=(3, 3)))
    stages = weft.explain("C(i,j) = 2*B(i,j)", B=B, format="csr", stages=True)
    assert "converted" not in stages.partition("== concrete")[0]
    assert "forall i/3" in stages.replace("∀", "forall ")
