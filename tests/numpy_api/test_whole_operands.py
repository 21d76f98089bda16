"""Functions that need every element (``linalg``, ``fft``): NumPy's, on tensors that store them."""

import numpy as np
import pytest

import weft

rng = np.random.default_rng(3)
M = rng.random((4, 4)) + 4 * np.eye(4)
H = M + M.T
BATCH = np.stack([H, H + np.eye(4), H * 2])
R = rng.random((2, 5, 3))
b = rng.random(4)

LINALG = {
    "cholesky": [(H,), (BATCH,)],
    "cond": [(M,)],
    "det": [(M,), (BATCH,)],
    "eig": [(M,)],
    "eigh": [(H,), (BATCH,)],
    "eigvals": [(M,)],
    "eigvalsh": [(H,), (BATCH,)],
    "inv": [(M,), (BATCH,), (M.astype(np.complex64),)],
    "lstsq": [(R[0], rng.random(5))],
    "matrix_rank": [(M,), (np.ones((3, 3)),), (BATCH,)],
    "pinv": [(R,), (R[0],)],
    "qr": [(R,), (R[0].astype(np.float32),)],
    "slogdet": [(M,), (BATCH,)],
    "solve": [(M, b), (M, M), (BATCH, np.stack([M] * 3))],
    "svd": [(R,), (R[0],)],
    "svdvals": [(R,), (R[0],)],
    "tensorinv": [(rng.random((2, 2, 4)),)],
    "tensorsolve": [(rng.random((4, 2, 2)), b)],
}
FFT = (
    "fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft", "fft2", "ifft2", "rfft2",
    "irfft2",
)  # fmt: skip


def same(found, wanted):
    if isinstance(wanted, tuple):
        assert type(found) is type(wanted)
        for x, y in zip(found, wanted, strict=True):
            same(x, y)
        return
    if isinstance(wanted, np.ndarray) and wanted.ndim:
        assert isinstance(found, weft.SparseTensor)
        assert found.format == "dense"
        found = found.todense()
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", LINALG)
def test_linalg(name):
    for given in LINALG[name]:
        wanted = getattr(np.linalg, name)(*given)
        same(getattr(weft.linalg, name)(*map(weft.asarray, given)), wanted)
        if name != "inv":  # which SciPy has for sparse matrices
            stored = weft.asarray(given[0], format="coo")  # with every element
            same(getattr(weft.linalg, name)(stored, *given[1:]), wanted)
            with pytest.raises(weft.errors.UnsupportedError, match=rf"linalg\.{name} needs every .*shape=.* use "):
                getattr(np.linalg, name)(weft.zeros(given[0].shape), *given[1:])


def test_options_and_right_hand_sides():
    same(weft.linalg.svd(weft.asarray(R), full_matrices=False), np.linalg.svd(R, full_matrices=False))
    same(weft.linalg.qr(weft.asarray(R), mode="complete"), np.linalg.qr(R, mode="complete"))
    same(weft.linalg.cholesky(weft.asarray(H), upper=True), np.linalg.cholesky(H, upper=True))
    same(weft.linalg.solve(weft.asarray(M), weft.eye(4)), np.linalg.solve(M, np.eye(4)))
    same(weft.linalg.inv(M), np.linalg.inv(M))
    same(weft.linalg.matrix_norm(weft.asarray(BATCH), ord=2), np.linalg.matrix_norm(BATCH, ord=2))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        weft.linalg.inv(weft.asarray(np.zeros((2, 2))))


@pytest.mark.parametrize("name", FFT)
def test_fft(name):
    x = rng.random((4, 6))
    same(getattr(weft.fft, name)(weft.asarray(x)), getattr(np.fft, name)(x))
    same(getattr(np.fft, name)(weft.asarray(x)), getattr(np.fft, name)(x))
    with pytest.raises(weft.errors.UnsupportedError, match=rf"fft\.{name} needs every element of <SparseTensor"):
        getattr(weft.fft, name)(weft.zeros((4, 6)))


def test_what_belongs_to_transforms():
    same(weft.fft.fftfreq(7, d=0.5), np.fft.fftfreq(7, 0.5))
    same(weft.fft.rfftfreq(8, dtype=np.float32), np.fft.rfftfreq(8).astype(np.float32))
    with pytest.raises(ValueError, match="device"):
        weft.fft.fftfreq(7, device="gpu")
    x = np.arange(35.0).reshape(5, 7) * (rng.random((5, 7)) < 0.4)
    for format in ("csr", "dense"):
        A = weft.asarray(x, format=format)
        for name in ("fftshift", "ifftshift"):
            for axes in (None, 0, (1,), (-1, 0)):
                found = getattr(weft.fft, name)(A, axes=axes)
                np.testing.assert_array_equal(found.todense(), getattr(np.fft, name)(x, axes=axes))
            assert found.format == format


def test_the_strict_namespace():
    A = weft.asarray(M, format="csr")
    xp = A.__array_namespace__()
    for found, wanted in (
        (xp.sum(A), M.sum()),
        (xp.linalg.vector_norm(A), np.linalg.norm(M)),
        (xp.linalg.det(A), np.linalg.det(M)),
        (xp.linalg.slogdet(A).logabsdet, np.linalg.slogdet(M)[1]),
        (xp.any(A), np.True_),
        (xp.vecdot(A[0], A[1]), M[0] @ M[1]),
    ):
        assert isinstance(found, weft.SparseTensor)
        assert (found.shape, found.dtype) == ((), wanted.dtype)
        np.testing.assert_allclose(found.todense(), wanted)
    assert xp.float64 is weft.float64
    assert xp.result_type(xp.float32, xp.int8) == np.float32
    assert xp.linalg.__name__ == "weft.array_api.linalg"
    assert {*dir(xp)} >= {*dir(weft)}
    assert {*dir(xp.linalg)} >= {"svd", "matmul"}
    with pytest.raises(AttributeError, match="no attribute 'summ'"):
        xp.summ  # noqa: B018
