"""Command line ``weft``: stages of the compiler for an expression, the demonstration, the kernel cache and files."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from . import SparseTensor, __version__, demo, load, save
from . import compile as compile_kernel
from .derivatives import gradient_statement, has_complex_parts, pattern_of
from .dtypes import VALUE_DTYPES, value_dtype
from .errors import WeftError
from .execution.conversion_request import planned_conversion
from .execution.conversion_text import ConversionReport
from .execution.listing import listing, missing
from .formats import parse_format
from .hints import did_you_mean
from .index_notation import parse, tensors, to_text
from .operations.operands import storage_of
from .optimizations import PASSES
from .playground import serve
from .runtime import cache, warming
from .scheduling.commands import parse_commands, scheduler
from .shipping import warm
from .tensor.compiled_kernel import CompiledKernel, orders, plan_of, stage_texts
from .versions import installation

EXAMPLE = 'weft "A(i,j) = B(i,j,k)*c(k)" -f A:ds -f B:sss -f c:d'
EPILOG = f"""\
commands:
  weft demo              run the main job on a real matrix, checked against SciPy
  weft cache info|clear  describe the kernels that are shipped and compiled, or empty the directory of the latter
  weft warm [FILE]       compile what WEFT_RECORD=FILE noted, or the kernels of ordinary expressions, beforehand
  weft playground        serve a page that shows each stage of the compiler while you type an expression
  weft info FILE         describe the tensor in a file (.mtx, .tns, .npz, .h5ad, ...)
  weft convert IN OUT    write it to another file; --format F stores it in another format
  weft convert --from F --to G
                         print the steps that convert a tensor from one format to another; --print for the C

formats:
  a name of the catalogue (csr, csc, coo, csf, dense, ...) or a letter for each level, d dense, s sparse,
  and then, after a colon, the order in which the levels store the axes: ds:1,0. An operand without -f is dense;
  a result without -f gets what the operands suggest.

example:
  {EXAMPLE}
"""


class UsageError(Exception):
    """Error of a command line that is not valid."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command."""
    argv = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(argv)
        sys.stdout.flush()
    except (UsageError, WeftError) as error:
        print(f"weft: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # a reader such as head has closed the pipe
        # Python flushes stdout once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"weft: error: {error}", file=sys.stderr)
        return 2
    return code


def _run(argv: list[str]) -> int:
    commands = {"demo": _demo, "cache": _cache, "info": _info, "convert": _convert, "warm": _warm,
                "playground": _playground}  # fmt: skip
    if argv and argv[0] in commands:
        return commands[argv[0]](argv[1:])
    if argv and argv[0].isidentifier():  # an expression has an equals sign
        raise UsageError(
            f"there is no command {argv[0]!r}{did_you_mean(argv[0], commands)}\n"
            f"the commands are {', '.join(commands)}; or give an expression, as in {EXAMPLE}"
        )
    return _compile(argv)


def _version() -> str:
    return f"weft {__version__}"


def _demo(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("weft demo", description="Run the main job on a real matrix.")
    parser.add_argument("--c", action="store_true", help="print all C of a kernel, not its loops alone")
    return demo.main(c=parser.parse_args(argv).c)


def _cache(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("weft cache", description="Describe or empty the directory of compiled kernels.")
    parser.add_argument("action", choices=("info", "clear"))
    action = parser.parse_args(argv).action
    if action == "clear":
        found = cache.clear()
        print(f"removed {found.entries} kernels, {found.bytes} bytes, from {found.path}")
        return 0
    print(installation())
    return 0


def _warm(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("weft warm", description="Compile kernels before they are used.")
    parser.add_argument("file", nargs="?", help="what WEFT_RECORD=FILE noted; by default, ordinary expressions")
    file = parser.parse_args(argv).file
    if file is None:
        count = warm()
    else:
        count = warming.compile_all(warming.read(file))
    print(f"{count} kernels are compiled or shipped; the cache is {cache.info().path}")
    return 0


def _playground(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "weft playground",
        description="Serve a page on the loopback address that shows each stage of the compiler for an expression. "
        "Nothing is compiled or run.",
    )
    parser.add_argument("--port", type=int, default=8737, help="8737 by default; 0 for one that is free")
    parser.add_argument("--browser", action="store_true", help="open the page in the browser")
    options = parser.parse_args(argv)
    serve(options.port, browser=options.browser)
    return 0


def _info(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("weft info", description="Describe the tensor in a file.")
    parser.add_argument("file", help="a file whose name ends in .mtx, .tns (or either with .gz or .bz2) or .npz")
    parser.add_argument("--shape", metavar="N,N,...", help="the shape, where the file does not say it (.tns)")
    parser.add_argument("--dtype", help="the dtype of the values of a .tns file")
    parser.add_argument("--start", type=int, metavar="N", help="the first coordinate of a .tns file, 0 or 1")
    parser.add_argument("--key", metavar="PATH", help="the group in a file that has several (.h5ad, .h5, .zarr)")
    options = parser.parse_args(argv)
    shape = None if options.shape is None else _shape(options.shape)
    dtype = None if options.dtype is None else _dtype(options.dtype)
    A = _loaded(options.file, start=options.start, key=options.key, shape=shape, dtype=dtype)
    size = prod(A.shape)
    print(f"shape    {' x '.join(map(str, A.shape)) or 'scalar'}")
    print(f"dtype    {A.dtype}, fill value {A.fill_value}")
    print(f"format   {A.format}: {A.layout.remapping}, levels {', '.join(map(str, A.layout.levels))}")
    count = A.asformat("coo").nnz if A.layout.is_padded else A.nnz
    padding = f"; {A.nnz} are stored with padding" if A.nnz > count else ""
    print(f"entries  {count} of {size}" + (f", {count / size:.3g}" if size else "") + padding)
    print(f"bytes    {A.nbytes}, dense {size * A.dtype.itemsize}")
    if A.ndim == 2 and A.shape[0]:
        lengths = np.diff(storage_of(A.asformat("csr")).arrays[0])
        print(f"rows     {lengths.min()} to {lengths.max()} entries, {lengths.mean():.3g} on average")
    return 0


def _loaded(path: str, **options: Any) -> SparseTensor:
    """Return the tensor in a file; raise ``UsageError`` for options that are for files of another kind."""
    try:
        return load(path, **options)
    except TypeError as error:
        raise UsageError(str(error)) from None


def _convert(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "weft convert", description="Write the tensor in a file to another file, or show how formats are converted."
    )
    files = parser.add_argument_group("files")
    files.add_argument("source", nargs="?", help="what to read: .mtx, .tns (or either with .gz or .bz2) or .npz")
    files.add_argument("target", nargs="?", help="what to write")
    files.add_argument("--format", help="the format to store it in, where the kind of file keeps formats (npz)")
    files.add_argument("--start", type=int, metavar="N", help="the first coordinate of a .tns file, 0 or 1")
    files.add_argument("--key", metavar="PATH", help="the group to read in a file that has several (.h5ad, .h5, .zarr)")
    formats = parser.add_argument_group("formats")
    formats.add_argument("--from", dest="have", metavar="FORMAT", help="the format of the source")
    formats.add_argument("--to", dest="wanted", metavar="FORMAT", help="the format of the result")
    formats.add_argument("--shape", metavar="N,N,...", help="the shape of the tensor, 4,4 by default")
    formats.add_argument("--entries", type=int, metavar="N", help="how many entries it stores, all by default")
    formats.add_argument("--dtype", help="the dtype of its values, float64 by default")
    formats.add_argument(
        "--print", action="append", dest="sections", metavar="NAME",
        help="steps (the default), ways, c, or another stage or pass, 'all' for every one, 'explain' for the report "
        "or 'passes' for the names of the passes; repeat it for several",
    )  # fmt: skip
    options = parser.parse_args(argv)
    about_formats = (options.have, options.wanted, options.shape, options.entries, options.dtype, options.sections)
    if about_formats == (None,) * len(about_formats):
        if options.target is None:
            raise UsageError("weft convert takes two files, or two formats: --from csr --to dia")
        save(options.target, _loaded(options.source, format=options.format, start=options.start, key=options.key))
        return 0
    if (options.source, options.format, options.start, options.key) != (None,) * 4:
        raise UsageError("weft convert takes two files, or --from and --to, not both")
    return _show_conversion(options)


def _show_conversion(options: argparse.Namespace) -> int:
    """Print how tensors are converted from one format to another."""
    stages = options.sections or ["steps"]
    if stages == ["passes"]:
        _print({"passes": "\n".join(PASSES)})
        return 0
    if options.have is None or options.wanted is None:
        raise UsageError("weft convert takes both --from and --to, such as --from csr --to dia")
    shape = _shape(options.shape or "4,4")
    plan = planned_conversion(
        parse_format(options.have, len(shape)),
        parse_format(options.wanted, len(shape)),
        shape,
        options.entries if options.entries is not None else prod(shape),
        _dtype(options.dtype or "float64"),
    )
    report = ConversionReport(plan)
    _print(_chosen(report, report.text, stages))
    return 0


def _dtype(text: str) -> str:
    """Return the name of a dtype."""
    try:
        return value_dtype(text).name
    except TypeError:  # of NumPy for names that it does not know, and of weft for dtypes that it does not have
        raise UsageError(f"no dtype {text!r}; the dtypes are {', '.join(VALUE_DTYPES)}") from None


def _shape(text: str) -> tuple[int, ...]:
    """Convert the sizes of axes, separated by commas.

    Examples
    --------
    >>> _shape("4,6")
    (4, 6)
    """
    if not all(n.isdecimal() for n in text.split(",")):
        raise UsageError(f"--shape takes sizes separated by commas, such as 4,4, not {text!r}")
    return tuple(map(int, text.split(",")))


def _compile(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "weft",
        description="Print the C that computes an expression in tensor index notation.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("expression", help='index notation, e.g. "y(i) = A(i,j)*x(j)"')
    parser.add_argument("-f", "--format", action="append", default=[], metavar="NAME:FORMAT", help="format of a tensor")
    parser.add_argument("--dtype", action="append", default=[], metavar="NAME:DTYPE", help="dtype, float64 by default")
    parser.add_argument(
        "--print", action="append", default=[], metavar="STAGE", dest="stages",
        help="print a stage or pass instead of the C, 'all' for every one, 'explain' for the short report, or 'passes' "
        "for the names of the passes; repeat it for several",
    )  # fmt: skip
    parser.add_argument(
        "--schedule", action="append", default=[], metavar="COMMANDS",
        help='change the loops, e.g. "split(i, i0, i1, 32); parallelize(i0)"; there are reorder, precompute and '
        "positions, too",
    )  # fmt: skip
    parser.add_argument(
        "--derivative", metavar="NAME",
        help="print the statement of the gradient by an operand; with --print or -o, compile that statement",
    )  # fmt: skip
    parser.add_argument(
        "--device", metavar="NAME", help="print the text for a device, such as cuda; it need not be there"
    )
    phases = parser.add_mutually_exclusive_group()
    phases.add_argument(
        "--assemble", dest="phase", action="store_const", const="assemble",
        help="print the C that writes the structure of a sparse result alone",
    )  # fmt: skip
    phases.add_argument(
        "--compute", dest="phase", action="store_const", const="compute",
        help="print the C that computes the values of a result whose structure is there",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FILE", help="write the C to a file")
    parser.add_argument("--version", action="version", version=_version())
    if not argv:  # without arguments, the help is more useful than an error
        parser.print_help()
        return 0
    options = parser.parse_args(argv)
    formats = _pairs(options.format, "-f")
    dtypes = {name: _dtype(text) for name, text in _pairs(options.dtype, "--dtype").items()}
    if taken := formats.keys() & {"device", "dtypes", "schedule"}:
        raise UsageError(f"'{taken.pop()}' is an argument of weft.compile; give the tensor another name")
    schedule = scheduler(parse_commands("\n".join(options.schedule)))
    expression = options.expression
    if options.derivative is not None:
        expression, formats, dtypes = _derivative(expression, options.derivative, formats, dtypes)
        if not options.output and not options.stages:
            print(expression)
            return 0
    kernel = compile_kernel(expression, dtypes=dtypes, schedule=schedule, device=options.device, **formats)
    if options.stages:
        _print(_chosen(kernel, kernel.explain(), options.stages))
    # The C is printed only if neither a file nor a stage is asked for.
    if options.output or options.phase or not options.stages:
        text = kernel.source if options.device else listing(plan_of(kernel), options.phase)
        if options.output:
            Path(options.output).write_text(text, encoding="utf-8")
        else:
            print(text, end="")
        if not options.device:
            for line in missing(plan_of(kernel)):
                print(f"weft: {line}", file=sys.stderr)
    return 0


def _derivative(
    text: str, name: str, formats: Mapping[str, str], dtypes: Mapping[str, str]
) -> tuple[str, dict[str, str], dict[str, str]]:
    """Return the statement of the gradient by an operand, with the formats and dtypes of what it reads."""
    assignment = parse(text)
    format = formats.get(name, "dense")
    axes = orders(assignment).get(name, 0)
    conjugate = has_complex_parts(assignment, {each: value_dtype(dtype) for each, dtype in dtypes.items()})
    statement = gradient_statement(assignment, name, not parse_format(format, axes).is_dense, conjugate)
    names = tensors(statement)
    extra = {} if parse_format(format, axes).is_dense else {pattern_of(statement): format, names[0]: format}
    known = {each: chosen for each, chosen in {**formats, **extra}.items() if each in names}
    typed = {each: chosen for each, chosen in dtypes.items() if each in names}
    if extra:
        typed[pattern_of(statement)] = "bool"
    return to_text(statement), known, typed


def _print(texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        print(f"=== {name} ===\n{text.rstrip()}\n")


def _chosen(kernel: CompiledKernel | ConversionReport, report: str, stages: Sequence[str]) -> dict[str, str]:
    """Return the texts of the requested stages, the list of passes and the short report, by name."""
    texts: dict[str, str] = {}
    for name in stages:
        if name == "passes":
            texts[name] = "\n".join(PASSES)
        elif name == "explain":
            texts[name] = report
        else:
            try:
                texts |= stage_texts(kernel, name)
            except ValueError as error:
                raise UsageError(f"{error}; or --print passes, or --print explain") from None
    return texts


def _pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """Convert ``NAME:VALUE`` arguments to a dictionary.

    Examples
    --------
    >>> _pairs(["A:ds:1,0", "x:d"], "-f")
    {'A': 'ds:1,0', 'x': 'd'}
    >>> _pairs(["A"], "-f")
    Traceback (most recent call last):
    weft.__main__.UsageError: -f takes NAME:VALUE, not 'A'
    """
    pairs: dict[str, str] = {}
    for text in texts:
        name, colon, value = text.partition(":")
        if not (colon and name and value):
            raise UsageError(f"{option} takes NAME:VALUE, not {text!r}")
        if name in pairs:
            raise UsageError(f"{option} names {name} twice: {pairs[name]} and {value}")
        pairs[name] = value
    return pairs


if __name__ == "__main__":
    sys.exit(main())
