"""The table of functions in the documentation: it is made here, and true."""

from pathlib import Path

import numpy as np
import pytest
from tests.array_api.states import DEVIATIONS, EXPLANATIONS, NUMPY, PEERS, STANDARD, STATES, WHY, state_of

import weft

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "array_api.md"
NAMES = [name for group in (STANDARD, NUMPY, PEERS) for names in group.values() for name in names.split()]


def found(name):
    place, _, name = f"weft.{name}".rpartition(".")
    place = weft if place == "weft" else getattr(weft, place.removeprefix("weft."), None)
    return hasattr(place, name), getattr(place, name, None)


def page() -> str:
    counts = {state: sum(state_of(name) == state for name in NAMES) for state in EXPLANATIONS}
    own = [n for names in STANDARD.values() for n in names.split()]
    passing = [n for n in own if state_of(n) != "unsupported"]
    lines = [
        "# The array API standard and NumPy's functions",
        "",
        "<!-- made by tests/array_api/test_states.py: change tests/array_api/states.py and run it with"
        " --update-golden -->",
        "",
        f"`weft` is a namespace of the array API standard {weft.__array_api_version__}; NumPy's functions called on a"
        " `SparseTensor` are weft's of the same name.",
        f"Of the standard's {len(own)} names weft has {len(passing)}.",
        "",
        "| state | names | meaning |",
        "|---|---|---|",
        *(f"| {state} | {counts[state]} | {text} |" for state, text in EXPLANATIONS.items()),
    ]
    for title, group in (
        ("The standard", STANDARD),
        ("NumPy beyond it", NUMPY),
        ("scipy.sparse and sparse beyond it", PEERS),
    ):
        lines += [
            "",
            f"## {title}",
            "",
            "| group | " + " | ".join(EXPLANATIONS) + " |",
            "|---|" + "---|" * len(EXPLANATIONS),
        ]
        for kind, names in group.items():
            cells = [
                ", ".join(f"`{n}`" for n in sorted(names.split()) if state_of(n) == state) for state in EXPLANATIONS
            ]
            lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "## What NumPy computes otherwise than the standard says",
        "",
        "weft computes what NumPy computes.",
        "",
        *(f"- `{name}`: {what}" for name, what in DEVIATIONS.items()),
        "",
        "## Why some are unsupported",
        "",
        *(f"- `{k}…`: {why}" if k else f"- others: {why}" for k, why in WHY.items()),
        "",
    ]
    return "\n".join(lines)


def test_the_page(request):
    if request.config.getoption("--update-golden"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("name", NAMES)
def test_a_state_is_what_is_there(name):
    is_there, function = found(name)
    match state_of(name):
        case "unsupported":
            if is_there:
                with pytest.raises(NotImplementedError, match="use"):
                    function(weft.eye(2))
        case "whole operands":
            with pytest.raises(NotImplementedError, match="which is sparse; use"):
                function(weft.zeros((2, 2)))
        case _:
            assert is_there


def test_every_function_of_numpy_has_a_state():
    no_operands = """
        array2string array_repr array_str asanyarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix
        bartlett base_repr binary_repr blackman bmat busday_count busday_offset common_type datetime_as_string
        datetime_data diag_indices format_float_positional format_float_scientific frombuffer fromfile fromfunction
        fromiter frompyfunc fromregex fromstring genfromtxt get_include get_printoptions getbufsize geterr
        geterrcall hamming hanning indices info is_busday isfortran isnat isscalar issubdtype iterable ix_ kaiser
        load loadtxt mask_indices may_share_memory min_scalar_type mintypecode nested_iters printoptions
        ravel_multi_index require row_stack save savetxt savez savez_compressed set_printoptions setbufsize seterr
        seterrcall shares_memory show_config show_runtime test tril_indices triu_indices typename unravel_index
        linalg.LinAlgError
    """  # windows, printing, files, memory, dates, and what makes ndarrays of numbers
    places = (("", np), ("linalg.", np.linalg), ("fft.", np.fft))
    functions = {
        prefix + name
        for prefix, place in places
        for name in place.__all__
        if callable(getattr(place, name)) and not (prefix == "" and isinstance(getattr(place, name), type))
    }
    assert functions - set(no_operands.split()) <= set(NAMES)


def test_every_public_function_has_a_state():
    tools = """
        Compressed Dense Format LevelFormat Singleton SparseTensor TensorFile WeftError array_api autograd compile
        config csgraph derivative jax jvp torch value_and_grad vjp
        compute dask errors evaluate explain fft fused lazy
        formats from_coords from_levels from_networkx from_series from_table get_num_threads interop lib
        linalg load load_npz open query random
        read_mtx read_tns register_format save save_npz set_num_threads show_versions spy testing to_scipy to_table
        write_mtx write_tns xarray
    """
    assert {n for n in dir(weft) if not n.startswith("_")} - set(tools.split()) <= set(NAMES)
    assert {n for names in STATES.values() for n in names.split()} <= set(NAMES)


def test_the_namespace():
    x = weft.eye(3)
    xp = x.__array_namespace__()
    assert xp is weft.array_api
    info = xp.__array_namespace_info__()
    assert info.default_device() == x.device
    assert set(info.dtypes(kind="integral")) == {f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)}
    assert info.default_dtypes()["complex floating"] == np.complex128
    assert info.capabilities()["boolean indexing"]
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="version"):
        x.__array_namespace__(api_version="1999.01")
    assert xp.result_type(x, xp.complex64) == np.complex128
    assert xp.can_cast(x, "float32") is False
    assert xp.finfo(x).bits == 64
    assert xp.astype(x, xp.int8).dtype == np.int8
    assert xp.isdtype(x.dtype, "real floating")
