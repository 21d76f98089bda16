# ruff: noqa: I001, N807
"""The names of weft for checkers of types; ``make stubs`` makes this file of ``_api.py`` and ``__init__.py``."""

from . import array_api as array_api
from . import autograd as autograd
from . import csgraph as csgraph
from . import dask as dask
from . import errors as errors
from . import fft as fft
from . import interop as interop
from . import jax as jax
from . import lib as lib
from . import linalg as linalg
from . import testing as testing
from . import torch as torch
from . import xarray as xarray
from .config import config as config
from .errors import WeftError as WeftError
from .formats import Compressed as Compressed
from .formats import Dense as Dense
from .formats import Format as Format
from .formats import LevelFormat as LevelFormat
from .formats import Singleton as Singleton
from .formats import formats as formats
from .formats import register_format as register_format
from .interop import to_scipy as to_scipy
from .interop.arrow_tables import from_table as from_table
from .interop.arrow_tables import to_table as to_table
from .interop.networkx_graphs import from_networkx as from_networkx
from .interop.pandas_series import from_series as from_series
from .interop.peer_classes import COO as COO
from .interop.peer_classes import DOK as DOK
from .interop.peer_classes import GCXS as GCXS
from .interop.peer_classes import SparseArray as SparseArray
from .interop.peer_classes import asCOO as asCOO
from .interop.peer_classes import as_coo as as_coo
from .interop.peer_classes import asnumpy as asnumpy
from .interop.peer_classes import bsr_array as bsr_array
from .interop.peer_classes import coo_array as coo_array
from .interop.peer_classes import csc_array as csc_array
from .interop.peer_classes import csr_array as csr_array
from .interop.peer_classes import dia_array as dia_array
from .interop.peer_classes import diagonalize as diagonalize
from .interop.peer_classes import dok_array as dok_array
from .interop.peer_classes import elemwise as elemwise
from .interop.peer_classes import lil_array as lil_array
from .interop.peer_classes import nanreduce as nanreduce
from .interop.scipy_builders import block_array as block_array
from .interop.scipy_builders import block_diag as block_diag
from .interop.scipy_builders import bmat as bmat
from .interop.scipy_builders import diags as diags
from .interop.scipy_builders import diags_array as diags_array
from .interop.scipy_builders import eye_array as eye_array
from .interop.scipy_builders import find as find
from .interop.scipy_builders import issparse as issparse
from .interop.scipy_builders import kronsum as kronsum
from .interop.scipy_builders import rand as rand
from .interop.scipy_builders import random_array as random_array
from .interop.scipy_builders import spdiags as spdiags
from .io import TensorFile as TensorFile
from .io import load as load
from .io import load_npz as load_npz
from .io import open as open
from .io import read_mtx as read_mtx
from .io import read_tns as read_tns
from .io import save as save
from .io import save_npz as save_npz
from .io import write_mtx as write_mtx
from .io import write_tns as write_tns
from .numpy_api.apply_along import apply_along_axis as apply_along_axis
from .numpy_api.apply_along import apply_over_axes as apply_over_axes
from .numpy_api.apply_along import piecewise as piecewise
from .numpy_api.apply_along import polyval as polyval
from .numpy_api.assign_functions import copyto as copyto
from .numpy_api.assign_functions import fill_diagonal as fill_diagonal
from .numpy_api.assign_functions import place as place
from .numpy_api.assign_functions import put as put
from .numpy_api.assign_functions import put_along_axis as put_along_axis
from .numpy_api.assign_functions import putmask as putmask
from .numpy_api.comparing import allclose as allclose
from .numpy_api.comparing import array_equal as array_equal
from .numpy_api.comparing import array_equiv as array_equiv
from .numpy_api.comparing import isclose as isclose
from .numpy_api.convolution import convolve as convolve
from .numpy_api.convolution import correlate as correlate
from .numpy_api.covariance import corrcoef as corrcoef
from .numpy_api.covariance import cov as cov
from .numpy_api.creation import arange as arange
from .numpy_api.creation import array as array
from .numpy_api.creation import copy as copy
from .numpy_api.creation import empty as empty
from .numpy_api.creation import empty_like as empty_like
from .numpy_api.creation import eye as eye
from .numpy_api.creation import from_dlpack as from_dlpack
from .numpy_api.creation import full as full
from .numpy_api.creation import full_like as full_like
from .numpy_api.creation import geomspace as geomspace
from .numpy_api.creation import identity as identity
from .numpy_api.creation import linspace as linspace
from .numpy_api.creation import logspace as logspace
from .numpy_api.creation import meshgrid as meshgrid
from .numpy_api.creation import ones as ones
from .numpy_api.creation import ones_like as ones_like
from .numpy_api.creation import zeros as zeros
from .numpy_api.creation import zeros_like as zeros_like
from .numpy_api.cumulative import cumprod as cumprod
from .numpy_api.cumulative import cumsum as cumsum
from .numpy_api.cumulative import cumulative_prod as cumulative_prod
from .numpy_api.cumulative import cumulative_sum as cumulative_sum
from .numpy_api.cumulative import diff as diff
from .numpy_api.cumulative import interp as interp
from .numpy_api.cumulative import nancumprod as nancumprod
from .numpy_api.cumulative import nancumsum as nancumsum
from .numpy_api.diagonals import diag as diag
from .numpy_api.diagonals import diag_indices_from as diag_indices_from
from .numpy_api.diagonals import diagflat as diagflat
from .numpy_api.diagonals import diagonal as diagonal
from .numpy_api.diagonals import trace as trace
from .numpy_api.diagonals import tri as tri
from .numpy_api.diagonals import tril as tril
from .numpy_api.diagonals import tril_indices_from as tril_indices_from
from .numpy_api.diagonals import triu as triu
from .numpy_api.diagonals import triu_indices_from as triu_indices_from
from .numpy_api.differences import ediff1d as ediff1d
from .numpy_api.differences import gradient as gradient
from .numpy_api.differences import trapezoid as trapezoid
from .numpy_api.dtypes import astype as astype
from .numpy_api.dtypes import bool as bool
from .numpy_api.dtypes import can_cast as can_cast
from .numpy_api.dtypes import complex128 as complex128
from .numpy_api.dtypes import complex64 as complex64
from .numpy_api.dtypes import e as e
from .numpy_api.dtypes import finfo as finfo
from .numpy_api.dtypes import float32 as float32
from .numpy_api.dtypes import float64 as float64
from .numpy_api.dtypes import iinfo as iinfo
from .numpy_api.dtypes import inf as inf
from .numpy_api.dtypes import int16 as int16
from .numpy_api.dtypes import int32 as int32
from .numpy_api.dtypes import int64 as int64
from .numpy_api.dtypes import int8 as int8
from .numpy_api.dtypes import isdtype as isdtype
from .numpy_api.dtypes import nan as nan
from .numpy_api.dtypes import newaxis as newaxis
from .numpy_api.dtypes import pi as pi
from .numpy_api.dtypes import promote_types as promote_types
from .numpy_api.dtypes import result_type as result_type
from .numpy_api.dtypes import uint16 as uint16
from .numpy_api.dtypes import uint32 as uint32
from .numpy_api.dtypes import uint64 as uint64
from .numpy_api.dtypes import uint8 as uint8
from .numpy_api.info import Info as _Info
from .numpy_api.insert_delete import append as append
from .numpy_api.insert_delete import compress as compress
from .numpy_api.insert_delete import delete as delete
from .numpy_api.insert_delete import extract as extract
from .numpy_api.insert_delete import insert as insert
from .numpy_api.insert_delete import resize as resize
from .numpy_api.insert_delete import trim_zeros as trim_zeros
from .numpy_api.linalg import cross as cross
from .numpy_api.linalg import dot as dot
from .numpy_api.linalg import inner as inner
from .numpy_api.linalg import matmul as matmul
from .numpy_api.linalg import matvec as matvec
from .numpy_api.linalg import outer as outer
from .numpy_api.linalg import tensordot as tensordot
from .numpy_api.linalg import vdot as vdot
from .numpy_api.linalg import vecdot as vecdot
from .numpy_api.linalg import vecmat as vecmat
from .numpy_api.manipulation import atleast_1d as atleast_1d
from .numpy_api.manipulation import atleast_2d as atleast_2d
from .numpy_api.manipulation import atleast_3d as atleast_3d
from .numpy_api.manipulation import broadcast_arrays as broadcast_arrays
from .numpy_api.manipulation import broadcast_shapes as broadcast_shapes
from .numpy_api.manipulation import broadcast_to as broadcast_to
from .numpy_api.manipulation import expand_dims as expand_dims
from .numpy_api.manipulation import flip as flip
from .numpy_api.manipulation import fliplr as fliplr
from .numpy_api.manipulation import flipud as flipud
from .numpy_api.manipulation import matrix_transpose as matrix_transpose
from .numpy_api.manipulation import moveaxis as moveaxis
from .numpy_api.manipulation import pad as pad
from .numpy_api.manipulation import permute_dims as permute_dims
from .numpy_api.manipulation import ravel as ravel
from .numpy_api.manipulation import repeat as repeat
from .numpy_api.manipulation import reshape as reshape
from .numpy_api.manipulation import roll as roll
from .numpy_api.manipulation import rollaxis as rollaxis
from .numpy_api.manipulation import rot90 as rot90
from .numpy_api.manipulation import squeeze as squeeze
from .numpy_api.manipulation import swapaxes as swapaxes
from .numpy_api.manipulation import take as take
from .numpy_api.manipulation import take_along_axis as take_along_axis
from .numpy_api.manipulation import tile as tile
from .numpy_api.manipulation import transpose as transpose
from .numpy_api.moments import mean as mean
from .numpy_api.moments import nanmean as nanmean
from .numpy_api.moments import nanstd as nanstd
from .numpy_api.moments import nanvar as nanvar
from .numpy_api.moments import std as std
from .numpy_api.moments import var as var
from .numpy_api.reductions import all as all
from .numpy_api.reductions import amax as amax
from .numpy_api.reductions import amin as amin
from .numpy_api.reductions import any as any
from .numpy_api.reductions import count_nonzero as count_nonzero
from .numpy_api.reductions import max as max
from .numpy_api.reductions import min as min
from .numpy_api.reductions import nanmax as nanmax
from .numpy_api.reductions import nanmin as nanmin
from .numpy_api.reductions import nanprod as nanprod
from .numpy_api.reductions import nansum as nansum
from .numpy_api.reductions import prod as prod
from .numpy_api.reductions import sum as sum
from .numpy_api.searching import argmax as argmax
from .numpy_api.searching import argmin as argmin
from .numpy_api.searching import argwhere as argwhere
from .numpy_api.searching import flatnonzero as flatnonzero
from .numpy_api.searching import isin as isin
from .numpy_api.searching import nonzero as nonzero
from .numpy_api.searching import searchsorted as searchsorted
from .numpy_api.searching import where as where
from .numpy_api.select_list import choose as choose
from .numpy_api.select_list import select as select
from .numpy_api.sets import intersect1d as intersect1d
from .numpy_api.sets import setdiff1d as setdiff1d
from .numpy_api.sets import setxor1d as setxor1d
from .numpy_api.sets import union1d as union1d
from .numpy_api.sets import unique as unique
from .numpy_api.sets import unique_all as unique_all
from .numpy_api.sets import unique_counts as unique_counts
from .numpy_api.sets import unique_inverse as unique_inverse
from .numpy_api.sets import unique_values as unique_values
from .numpy_api.sorting import argpartition as argpartition
from .numpy_api.sorting import argsort as argsort
from .numpy_api.sorting import lexsort as lexsort
from .numpy_api.sorting import median as median
from .numpy_api.sorting import nanmedian as nanmedian
from .numpy_api.sorting import nanpercentile as nanpercentile
from .numpy_api.sorting import nanquantile as nanquantile
from .numpy_api.sorting import partition as partition
from .numpy_api.sorting import percentile as percentile
from .numpy_api.sorting import quantile as quantile
from .numpy_api.sorting import sort as sort
from .numpy_api.stacking import array_split as array_split
from .numpy_api.stacking import block as block
from .numpy_api.stacking import column_stack as column_stack
from .numpy_api.stacking import concat as concat
from .numpy_api.stacking import concatenate as concatenate
from .numpy_api.stacking import dsplit as dsplit
from .numpy_api.stacking import dstack as dstack
from .numpy_api.stacking import hsplit as hsplit
from .numpy_api.stacking import hstack as hstack
from .numpy_api.stacking import kron as kron
from .numpy_api.stacking import split as split
from .numpy_api.stacking import stack as stack
from .numpy_api.stacking import unstack as unstack
from .numpy_api.stacking import vsplit as vsplit
from .numpy_api.stacking import vstack as vstack
from .numpy_api.statistics import average as average
from .numpy_api.statistics import bincount as bincount
from .numpy_api.statistics import digitize as digitize
from .numpy_api.statistics import histogram as histogram
from .numpy_api.statistics import nanargmax as nanargmax
from .numpy_api.statistics import nanargmin as nanargmin
from .numpy_api.statistics import ptp as ptp
from .numpy_api.ufuncs import around as around
from .numpy_api.ufuncs import clip as clip
from .numpy_api.ufuncs import divmod as divmod
from .numpy_api.ufuncs import isneginf as isneginf
from .numpy_api.ufuncs import isposinf as isposinf
from .numpy_api.ufuncs import round as round
from .numpy_api.unlisted_ufuncs import frexp as frexp
from .numpy_api.unlisted_ufuncs import map as map
from .numpy_api.unlisted_ufuncs import modf as modf
from .operations.shapes import iscomplexobj as iscomplexobj
from .operations.shapes import isrealobj as isrealobj
from .operations.shapes import ndim as ndim
from .operations.shapes import shape as shape
from .operations.shapes import size as size
from .runtime import get_num_threads as get_num_threads
from .runtime import set_num_threads as set_num_threads
from .tensor import SparseTensor as SparseTensor
from .tensor import asarray as asarray
from .tensor import from_coords as from_coords
from .tensor import from_levels as from_levels
from .tensor import random as random
from .tensor.derivative import derivative as derivative
from .tensor.derivative import jvp as jvp
from .tensor.derivative import value_and_grad as value_and_grad
from .tensor.derivative import vjp as vjp
from .tensor.display import spy as spy
from .tensor.einsum import compile as compile
from .tensor.einsum import einsum as einsum
from .tensor.einsum import einsum_path as einsum_path
from .tensor.einsum import evaluate as evaluate
from .tensor.einsum import explain as explain
from .tensor.lazy import compute as compute
from .tensor.lazy import fused as fused
from .tensor.lazy import lazy as lazy
from .tensor.query import query as query
from .tensor.types import binary as _binary
from .tensor.types import mapped as _mapped
from .tensor.types import unary as _unary
from .versions import show_versions as show_versions

__version__: str
__array_api_version__: str
abs = _unary
absolute = _unary
acos = _unary
acosh = _unary
add = _binary
angle = _mapped
arccos = _unary
arccosh = _unary
arcsin = _unary
arcsinh = _unary
arctan = _unary
arctan2 = _binary
arctanh = _unary
asin = _unary
asinh = _unary
atan = _unary
atan2 = _binary
atanh = _unary
bitwise_and = _binary
bitwise_count = _mapped
bitwise_invert = _unary
bitwise_left_shift = _binary
bitwise_not = _unary
bitwise_or = _binary
bitwise_right_shift = _binary
bitwise_xor = _binary
cbrt = _unary
ceil = _unary
conj = _unary
conjugate = _unary
copysign = _binary
cos = _unary
cosh = _unary
deg2rad = _unary
degrees = _unary
divide = _binary
equal = _binary
exp = _unary
exp2 = _unary
expm1 = _unary
fabs = _mapped
fix = _mapped
float_power = _binary
floor = _unary
floor_divide = _binary
fmax = _binary
fmin = _binary
fmod = _binary
gcd = _binary
greater = _binary
greater_equal = _binary
heaviside = _binary
hypot = _binary
i0 = _mapped
imag = _unary
invert = _unary
iscomplex = _mapped
isfinite = _unary
isinf = _unary
isnan = _unary
isreal = _mapped
lcm = _binary
ldexp = _binary
left_shift = _binary
less = _binary
less_equal = _binary
log = _unary
log10 = _unary
log1p = _unary
log2 = _unary
logaddexp = _binary
logaddexp2 = _binary
logical_and = _binary
logical_not = _unary
logical_or = _binary
logical_xor = _binary
maximum = _binary
minimum = _binary
mod = _binary
multiply = _binary
nan_to_num = _mapped
negative = _unary
nextafter = _binary
not_equal = _binary
positive = _unary
pow = _binary
power = _binary
rad2deg = _unary
radians = _unary
real = _unary
reciprocal = _unary
remainder = _binary
right_shift = _binary
rint = _unary
sign = _unary
signbit = _unary
sin = _unary
sinc = _mapped
sinh = _unary
spacing = _mapped
sqrt = _unary
square = _unary
subtract = _binary
tan = _unary
tanh = _unary
true_divide = _binary
trunc = _unary

def __array_namespace_info__() -> _Info: ...
def __dir__() -> list[str]: ...
