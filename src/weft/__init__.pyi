# ruff: noqa: I001, N807
"""The names of weft for checkers of types: a test makes this file of __init__.py, with --update-golden."""

from . import array_api as array_api
from . import csgraph as csgraph
from . import errors as errors
from . import fft as fft
from . import interop as interop
from . import linalg as linalg
from .array_api.dtypes import astype as astype
from .array_api.dtypes import bool as bool
from .array_api.dtypes import can_cast as can_cast
from .array_api.dtypes import complex128 as complex128
from .array_api.dtypes import complex64 as complex64
from .array_api.dtypes import e as e
from .array_api.dtypes import finfo as finfo
from .array_api.dtypes import float32 as float32
from .array_api.dtypes import float64 as float64
from .array_api.dtypes import iinfo as iinfo
from .array_api.dtypes import inf as inf
from .array_api.dtypes import int16 as int16
from .array_api.dtypes import int32 as int32
from .array_api.dtypes import int64 as int64
from .array_api.dtypes import int8 as int8
from .array_api.dtypes import isdtype as isdtype
from .array_api.dtypes import nan as nan
from .array_api.dtypes import newaxis as newaxis
from .array_api.dtypes import pi as pi
from .array_api.dtypes import promote_types as promote_types
from .array_api.dtypes import result_type as result_type
from .array_api.dtypes import uint16 as uint16
from .array_api.dtypes import uint32 as uint32
from .array_api.dtypes import uint64 as uint64
from .array_api.dtypes import uint8 as uint8
from .array_api.info import Info as _Info
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
from .io import load as load
from .io import load_npz as load_npz
from .io import read_mtx as read_mtx
from .io import read_tns as read_tns
from .io import save as save
from .io import save_npz as save_npz
from .io import write_mtx as write_mtx
from .io import write_tns as write_tns
from .runtime import get_num_threads as get_num_threads
from .runtime import set_num_threads as set_num_threads
from .tensor import SparseTensor as SparseTensor
from .tensor import asarray as asarray
from .tensor import from_coords as from_coords
from .tensor import from_levels as from_levels
from .tensor import random as random
from .tensor.applying import apply_along_axis as apply_along_axis
from .tensor.applying import apply_over_axes as apply_over_axes
from .tensor.applying import piecewise as piecewise
from .tensor.applying import polyval as polyval
from .tensor.building import block_array as block_array
from .tensor.building import block_diag as block_diag
from .tensor.building import bmat as bmat
from .tensor.building import diags as diags
from .tensor.building import diags_array as diags_array
from .tensor.building import eye_array as eye_array
from .tensor.building import find as find
from .tensor.building import issparse as issparse
from .tensor.building import kronsum as kronsum
from .tensor.building import rand as rand
from .tensor.building import random_array as random_array
from .tensor.building import spdiags as spdiags
from .tensor.choosing import choose as choose
from .tensor.choosing import select as select
from .tensor.comparing import allclose as allclose
from .tensor.comparing import array_equal as array_equal
from .tensor.comparing import array_equiv as array_equiv
from .tensor.comparing import isclose as isclose
from .tensor.convolution import convolve as convolve
from .tensor.convolution import correlate as correlate
from .tensor.covariance import corrcoef as corrcoef
from .tensor.covariance import cov as cov
from .tensor.creation import arange as arange
from .tensor.creation import array as array
from .tensor.creation import copy as copy
from .tensor.creation import empty as empty
from .tensor.creation import empty_like as empty_like
from .tensor.creation import eye as eye
from .tensor.creation import from_dlpack as from_dlpack
from .tensor.creation import full as full
from .tensor.creation import full_like as full_like
from .tensor.creation import geomspace as geomspace
from .tensor.creation import identity as identity
from .tensor.creation import linspace as linspace
from .tensor.creation import logspace as logspace
from .tensor.creation import meshgrid as meshgrid
from .tensor.creation import ones as ones
from .tensor.creation import ones_like as ones_like
from .tensor.creation import zeros as zeros
from .tensor.creation import zeros_like as zeros_like
from .tensor.cumulative import cumprod as cumprod
from .tensor.cumulative import cumsum as cumsum
from .tensor.cumulative import cumulative_prod as cumulative_prod
from .tensor.cumulative import cumulative_sum as cumulative_sum
from .tensor.cumulative import diff as diff
from .tensor.cumulative import interp as interp
from .tensor.cumulative import nancumprod as nancumprod
from .tensor.cumulative import nancumsum as nancumsum
from .tensor.diagonals import diag as diag
from .tensor.diagonals import diag_indices_from as diag_indices_from
from .tensor.diagonals import diagflat as diagflat
from .tensor.diagonals import diagonal as diagonal
from .tensor.diagonals import tri as tri
from .tensor.diagonals import tril as tril
from .tensor.diagonals import tril_indices_from as tril_indices_from
from .tensor.diagonals import triu as triu
from .tensor.diagonals import triu_indices_from as triu_indices_from
from .tensor.differences import ediff1d as ediff1d
from .tensor.differences import gradient as gradient
from .tensor.differences import trapezoid as trapezoid
from .tensor.display import spy as spy
from .tensor.editing import append as append
from .tensor.editing import compress as compress
from .tensor.editing import delete as delete
from .tensor.editing import extract as extract
from .tensor.editing import insert as insert
from .tensor.editing import resize as resize
from .tensor.editing import trim_zeros as trim_zeros
from .tensor.functions import compile as compile
from .tensor.functions import einsum as einsum
from .tensor.functions import einsum_path as einsum_path
from .tensor.functions import evaluate as evaluate
from .tensor.functions import explain as explain
from .tensor.linalg import cross as cross
from .tensor.linalg import dot as dot
from .tensor.linalg import inner as inner
from .tensor.linalg import matmul as matmul
from .tensor.linalg import matvec as matvec
from .tensor.linalg import outer as outer
from .tensor.linalg import tensordot as tensordot
from .tensor.linalg import trace as trace
from .tensor.linalg import vdot as vdot
from .tensor.linalg import vecdot as vecdot
from .tensor.linalg import vecmat as vecmat
from .tensor.manipulation import atleast_1d as atleast_1d
from .tensor.manipulation import atleast_2d as atleast_2d
from .tensor.manipulation import atleast_3d as atleast_3d
from .tensor.manipulation import broadcast_arrays as broadcast_arrays
from .tensor.manipulation import broadcast_shapes as broadcast_shapes
from .tensor.manipulation import broadcast_to as broadcast_to
from .tensor.manipulation import expand_dims as expand_dims
from .tensor.manipulation import flip as flip
from .tensor.manipulation import fliplr as fliplr
from .tensor.manipulation import flipud as flipud
from .tensor.manipulation import matrix_transpose as matrix_transpose
from .tensor.manipulation import moveaxis as moveaxis
from .tensor.manipulation import pad as pad
from .tensor.manipulation import permute_dims as permute_dims
from .tensor.manipulation import ravel as ravel
from .tensor.manipulation import repeat as repeat
from .tensor.manipulation import reshape as reshape
from .tensor.manipulation import roll as roll
from .tensor.manipulation import rollaxis as rollaxis
from .tensor.manipulation import rot90 as rot90
from .tensor.manipulation import squeeze as squeeze
from .tensor.manipulation import swapaxes as swapaxes
from .tensor.manipulation import take as take
from .tensor.manipulation import take_along_axis as take_along_axis
from .tensor.manipulation import tile as tile
from .tensor.manipulation import transpose as transpose
from .tensor.mapping import frexp as frexp
from .tensor.mapping import map as map
from .tensor.mapping import modf as modf
from .tensor.masked import nanstd as nanstd
from .tensor.masked import nanvar as nanvar
from .tensor.moments import nanmean as nanmean
from .tensor.peer_arrays import COO as COO
from .tensor.peer_arrays import DOK as DOK
from .tensor.peer_arrays import GCXS as GCXS
from .tensor.peer_arrays import SparseArray as SparseArray
from .tensor.peer_arrays import asCOO as asCOO
from .tensor.peer_arrays import as_coo as as_coo
from .tensor.peer_arrays import asnumpy as asnumpy
from .tensor.peer_arrays import bsr_array as bsr_array
from .tensor.peer_arrays import coo_array as coo_array
from .tensor.peer_arrays import csc_array as csc_array
from .tensor.peer_arrays import csr_array as csr_array
from .tensor.peer_arrays import dia_array as dia_array
from .tensor.peer_arrays import diagonalize as diagonalize
from .tensor.peer_arrays import dok_array as dok_array
from .tensor.peer_arrays import elemwise as elemwise
from .tensor.peer_arrays import lil_array as lil_array
from .tensor.peer_arrays import nanreduce as nanreduce
from .tensor.query import query as query
from .tensor.reductions import nanmax as nanmax
from .tensor.reductions import nanmin as nanmin
from .tensor.searching import argmax as argmax
from .tensor.searching import argmin as argmin
from .tensor.searching import argwhere as argwhere
from .tensor.searching import flatnonzero as flatnonzero
from .tensor.searching import isin as isin
from .tensor.searching import nonzero as nonzero
from .tensor.searching import searchsorted as searchsorted
from .tensor.searching import where as where
from .tensor.sets import intersect1d as intersect1d
from .tensor.sets import setdiff1d as setdiff1d
from .tensor.sets import setxor1d as setxor1d
from .tensor.sets import union1d as union1d
from .tensor.sets import unique as unique
from .tensor.sets import unique_all as unique_all
from .tensor.sets import unique_counts as unique_counts
from .tensor.sets import unique_inverse as unique_inverse
from .tensor.sets import unique_values as unique_values
from .tensor.shapes import iscomplexobj as iscomplexobj
from .tensor.shapes import isrealobj as isrealobj
from .tensor.shapes import ndim as ndim
from .tensor.shapes import shape as shape
from .tensor.shapes import size as size
from .tensor.sorting import argpartition as argpartition
from .tensor.sorting import argsort as argsort
from .tensor.sorting import lexsort as lexsort
from .tensor.sorting import median as median
from .tensor.sorting import nanmedian as nanmedian
from .tensor.sorting import nanpercentile as nanpercentile
from .tensor.sorting import nanquantile as nanquantile
from .tensor.sorting import partition as partition
from .tensor.sorting import percentile as percentile
from .tensor.sorting import quantile as quantile
from .tensor.sorting import sort as sort
from .tensor.stacking import array_split as array_split
from .tensor.stacking import block as block
from .tensor.stacking import column_stack as column_stack
from .tensor.stacking import concat as concat
from .tensor.stacking import concatenate as concatenate
from .tensor.stacking import dsplit as dsplit
from .tensor.stacking import dstack as dstack
from .tensor.stacking import hsplit as hsplit
from .tensor.stacking import hstack as hstack
from .tensor.stacking import kron as kron
from .tensor.stacking import split as split
from .tensor.stacking import stack as stack
from .tensor.stacking import unstack as unstack
from .tensor.stacking import vsplit as vsplit
from .tensor.stacking import vstack as vstack
from .tensor.statistics import average as average
from .tensor.statistics import bincount as bincount
from .tensor.statistics import digitize as digitize
from .tensor.statistics import histogram as histogram
from .tensor.statistics import nanargmax as nanargmax
from .tensor.statistics import nanargmin as nanargmin
from .tensor.statistics import ptp as ptp
from .tensor.types import Binary as _Binary
from .tensor.types import Count as _Count
from .tensor.types import Extreme as _Extreme
from .tensor.types import Mapped as _Mapped
from .tensor.types import Mean as _Mean
from .tensor.types import Spread as _Spread
from .tensor.types import Sum as _Sum
from .tensor.types import Test as _Test
from .tensor.types import Unary as _Unary
from .tensor.ufuncs import around as around
from .tensor.ufuncs import clip as clip
from .tensor.ufuncs import divmod as divmod
from .tensor.ufuncs import isneginf as isneginf
from .tensor.ufuncs import isposinf as isposinf
from .tensor.ufuncs import round as round
from .tensor.writing import copyto as copyto
from .tensor.writing import fill_diagonal as fill_diagonal
from .tensor.writing import place as place
from .tensor.writing import put as put
from .tensor.writing import put_along_axis as put_along_axis
from .tensor.writing import putmask as putmask

__version__: str
__array_api_version__: str
abs: _Unary
absolute: _Unary
acos: _Unary
acosh: _Unary
add: _Binary
all: _Test
amax: _Extreme
amin: _Extreme
angle: _Mapped
any: _Test
arccos: _Unary
arccosh: _Unary
arcsin: _Unary
arcsinh: _Unary
arctan: _Unary
arctan2: _Binary
arctanh: _Unary
asin: _Unary
asinh: _Unary
atan: _Unary
atan2: _Binary
atanh: _Unary
bitwise_and: _Binary
bitwise_count: _Mapped
bitwise_invert: _Unary
bitwise_left_shift: _Binary
bitwise_not: _Unary
bitwise_or: _Binary
bitwise_right_shift: _Binary
bitwise_xor: _Binary
cbrt: _Unary
ceil: _Unary
conj: _Unary
conjugate: _Unary
copysign: _Binary
cos: _Unary
cosh: _Unary
count_nonzero: _Count
deg2rad: _Unary
degrees: _Unary
divide: _Binary
equal: _Binary
exp: _Unary
exp2: _Unary
expm1: _Unary
fabs: _Mapped
fix: _Mapped
float_power: _Binary
floor: _Unary
floor_divide: _Binary
fmax: _Binary
fmin: _Binary
fmod: _Binary
gcd: _Binary
greater: _Binary
greater_equal: _Binary
heaviside: _Binary
hypot: _Binary
i0: _Mapped
imag: _Unary
invert: _Unary
iscomplex: _Mapped
isfinite: _Unary
isinf: _Unary
isnan: _Unary
isreal: _Mapped
lcm: _Binary
ldexp: _Binary
left_shift: _Binary
less: _Binary
less_equal: _Binary
log: _Unary
log10: _Unary
log1p: _Unary
log2: _Unary
logaddexp: _Binary
logaddexp2: _Binary
logical_and: _Binary
logical_not: _Unary
logical_or: _Binary
logical_xor: _Binary
max: _Extreme
maximum: _Binary
mean: _Mean
min: _Extreme
minimum: _Binary
mod: _Binary
multiply: _Binary
nan_to_num: _Mapped
nanprod: _Sum
nansum: _Sum
negative: _Unary
nextafter: _Binary
not_equal: _Binary
positive: _Unary
pow: _Binary
power: _Binary
prod: _Sum
rad2deg: _Unary
radians: _Unary
real: _Unary
reciprocal: _Unary
remainder: _Binary
right_shift: _Binary
rint: _Unary
sign: _Unary
signbit: _Unary
sin: _Unary
sinc: _Mapped
sinh: _Unary
spacing: _Mapped
sqrt: _Unary
square: _Unary
std: _Spread
subtract: _Binary
sum: _Sum
tan: _Unary
tanh: _Unary
true_divide: _Binary
trunc: _Unary
var: _Spread

def __array_namespace_info__() -> _Info: ...
def __dir__() -> list[str]: ...
