"""The names of ``weft.fft`` for checkers of types: NumPy's transforms are not seen in the source."""

from typing import Any, Literal, Protocol, TypeAlias

from numpy.typing import DTypeLike

from .tensor.sparse_tensor import SparseTensor

_Norm: TypeAlias = Literal["backward", "ortho", "forward"] | None
_Axes: TypeAlias = tuple[int, ...] | None

class _OfLine(Protocol):
    def __call__(
        self, a: Any, n: int | None = None, axis: int = -1, norm: _Norm = None, out: Any = None
    ) -> SparseTensor: ...

class _OfPlane(Protocol):
    def __call__(
        self, a: Any, s: _Axes = None, axes: tuple[int, int] = (-2, -1), norm: _Norm = None, out: Any = None
    ) -> SparseTensor: ...

class _OfAxes(Protocol):
    def __call__(
        self, a: Any, s: _Axes = None, axes: _Axes = None, norm: _Norm = None, out: Any = None
    ) -> SparseTensor: ...

fft: _OfLine
ifft: _OfLine
rfft: _OfLine
irfft: _OfLine
hfft: _OfLine
ihfft: _OfLine
fft2: _OfPlane
ifft2: _OfPlane
rfft2: _OfPlane
irfft2: _OfPlane
fftn: _OfAxes
ifftn: _OfAxes
rfftn: _OfAxes
irfftn: _OfAxes

def fftfreq(n: int, /, d: float = 1.0, *, dtype: DTypeLike | None = None, device: Any = None) -> SparseTensor: ...
def rfftfreq(n: int, /, d: float = 1.0, *, dtype: DTypeLike | None = None, device: Any = None) -> SparseTensor: ...
def fftshift(x: Any, /, axes: int | _Axes = None) -> SparseTensor: ...
def ifftshift(x: Any, /, axes: int | _Axes = None) -> SparseTensor: ...
