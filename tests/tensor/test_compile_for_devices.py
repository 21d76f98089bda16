"""``weft.compile(device=...)``: CUDA text without a GPU, the report, and what is refused."""

import pickle

import numpy as np
import pytest

import weft
from weft.__main__ import main
from weft.errors import DeviceError

SPMV = "y(i) = A(i,j)*x(j)"


def test_source_is_cuda():
    kernel = weft.compile(SPMV, A="csr", device="cuda")
    assert "WEFT_KERNEL(weft_evaluate_1)(" in kernel.source
    assert "pA2 += 2" in kernel.source
    assert kernel.stages["cuda"] == kernel.source
    assert pickle.loads(pickle.dumps(kernel)).source == kernel.source
    assert weft.compile(SPMV, A="csr", device="cpu").source == weft.compile(SPMV, A="csr").source != kernel.source


def test_optimisations_are_switched_off():
    with weft.config.override(disable={"lanes"}):
        assert "lane" not in weft.compile(SPMV, A="csr", device="cuda").source.rpartition("WEFT_KERNEL")[2]
    with weft.config.override(disable={"equal-shares"}):
        assert "pA2 += 2" in weft.compile(SPMV, A="csr", device="cuda").source


def test_explain_says_what_lanes_share():
    report = weft.compile(SPMV, A="csr", device="cuda").explain()
    assert "device: 1 kernel, 2 lanes share each loop over pA2" in report
    assert "one thread for each iteration" in weft.compile(SPMV, A="ell", device="cuda").explain()


def test_results_are_dense_or_share_a_structure():
    dense = weft.compile("Y(i,j) = T(i,j,k)*v(k)", T="csf", device="cuda")
    shared = weft.compile("C(i,j) = A(i,j)*U(i,k)*V(j,k)", A="ell", device="cuda")
    assert "Y: dense" in repr(dense)
    assert "C: ell" in repr(shared)


@pytest.mark.parametrize(
    ("text", "formats", "dtype", "reason"),
    [
        ("C(i,k) = A(i,j)*B(j,k)", {"A": "csr", "B": "csr", "C": "csr"}, "float64", "a structure of its own"),
        ("C(i,j) = A(i,j) + B(i,j)", {"A": "csr", "B": "csr", "C": "csr"}, "float64", "a structure of its own"),
        (SPMV, {"A": "csr"}, "complex128", "y is complex128, and devices compute with bool"),
        ("y(j) = prod(i, A(i,j))", {"A": "csr"}, "float64", "no loops compute"),
    ],
)
def test_what_devices_do_not_do_is_named(text, formats, dtype, reason):
    with pytest.raises(DeviceError, match=reason) as caught:
        weft.compile(text, dtypes={"A": dtype}, device="cuda", **formats)
    assert "to_device('cpu')" in str(caught.value) or dtype == "complex128"


def test_operands_on_the_cpu_are_refused():
    kernel = weft.compile(SPMV, A="csr", device="cuda")
    with pytest.raises(DeviceError, match=r"compiled for cuda.*\(2, 2\) is on the CPU; pass tensors of to_device"):
        kernel(weft.eye(2, format="csr"), np.ones(2))
    with pytest.raises(DeviceError, match="no device 'gpu'"):
        weft.compile(SPMV, A="csr", device="gpu")


def test_command_line(capsys):
    assert main([SPMV, "-f", "A:csr", "--device", "cuda"]) == 0
    assert capsys.readouterr().out == weft.compile(SPMV, A="csr", device="cuda").source
