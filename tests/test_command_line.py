"""The command line: C that stands alone, stages, files, and errors."""

import re
import subprocess

import numpy as np
import pytest

import weft
from weft.__main__ import main
from weft.optimizations import PASSES
from weft.runtime import toolchain
from weft.runtime.loader import load

pytestmark = pytest.mark.compiles_alone

SUM = ["A(i,j) = B(i,j) + C(i,j)", "-f", "B:csr", "-f", "C:csr"]
TTV = ["A(i,j) = B(i,j,k)*c(k)", "-f", "A:ds", "-f", "B:sss", "-f", "c:d"]


def test_the_c_stands_alone(capsys, tmp_path):
    assert main(TTV) == 0
    text = capsys.readouterr().out
    source = tmp_path / "kernel.c"
    source.write_text(text)
    done = subprocess.run(
        [
            "cc",
            "-std=gnu11",
            "-O1",
            "-Wall",
            "-Wno-unknown-pragmas",
            "-Werror",
            "-c",
            str(source),
            "-o",
            str(tmp_path / "k.o"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert main([*TTV, "-o", str(tmp_path / "other.c")]) == 0
    assert (tmp_path / "other.c").read_text() == text


STRUCTURED = {  # formats of the operands and of the result, by expression
    "C(i,j) = A(i,j) + B(i,j)": [("csr", "csr", "dia"), ("csr", "dcsr", "bsr"), ("csr", "csr", "hash")],
    "C(i,j) = A(i,k)*B(k,j)": [("csr", "csr", "csr"), ("csr", "csr", "csc")],
}


@pytest.mark.parametrize(("text", "formats"), [(text, of) for text, all_of in STRUCTURED.items() for of in all_of])
def test_the_c_of_structured_results_computes_them(text, formats, capsys, monkeypatch):
    named = dict(zip("ABC", formats, strict=True))
    assert main([text, *[word for name, format in named.items() for word in ("-f", f"{name}:{format}")]]) == 0
    source, notes = capsys.readouterr()
    names = re.search(r"functions, in order: (.*)", source)[1].replace("weft_", "").split(", ")
    plan, functions = weft.compile(text, **named)._plan, load(source, names, 3, "printed C")
    monkeypatch.setattr(plan.kernel.loops, "functions", lambda group: functions)
    arrays = [np.where(np.arange(16).reshape(4, 4) % n, 0.0, n + 1.5) for n in (2, 3)]
    storages = [weft.asarray(array, format=of)._storage for array, of in zip(arrays, formats, strict=False)]
    expected = arrays[0] @ arrays[1] if "*" in text else arrays[0] + arrays[1]
    np.testing.assert_array_equal(weft.SparseTensor(plan.run(storages)).todense(), expected)
    converts = formats[-1] == "csc"
    line = "missing: A is converted from csr to csc first; see weft convert --from csr --to csc --print c\n"
    assert (line in source, f"weft: {line}" in notes) == (converts, converts)


def test_phases_are_printed_apart(capsys, monkeypatch):
    command = ["C(i,j) = A(i,j)*B(i,j)", "-f", "A:csr", "-f", "B:csr"]
    kernel = weft.compile(command[0], A="csr", B="csr")._plan.kernel
    texts, A = [], weft.asarray(np.triu(np.ones((4, 4))), format="csr")
    for phase, names in (("assemble", ("count", "assemble")), ("compute", ("compute",))):
        assert main([*command, f"--{phase}"]) == 0
        texts.append(load(capsys.readouterr().out, names, 3, "printed C"))
    monkeypatch.setattr(kernel.loops, "functions", lambda group: texts[0])
    C = kernel.assemble((A._storage, A._storage))
    vars(kernel.assembly)["functions"] = texts[1]
    kernel.compute(C, (A._storage, (A * 3)._storage))
    np.testing.assert_array_equal(C.vals, np.full(10, 3.0))


@pytest.mark.parametrize(
    "stage", ["index-notation", "formats", "schedule", "concrete-notation", "lattices", "ir", "c", "explain", "all"]
)
def test_stages(stage, capsys):
    assert main([*TTV, "--print", stage]) == 0
    assert capsys.readouterr().out.startswith("=== ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["A(i = B(i)"], "^"),
        (["A(i) = B(i)", "-f", "B"], "-f takes NAME:VALUE"),
        (["A(i) = B(i)", "-f", "B:d", "-f", "B:s"], "names B twice"),
        (["A(i) = B(i)", "-f", "B:ss"], "format"),
        (["A(i) = B(i)", "--print", "nothing"], "no stage 'nothing'"),
        (["dtypes(i) = B(i)", "-f", "dtypes:d"], "'dtypes' is an argument of weft.compile"),
        (["A(i) = B(i)", "--dtype", "B:floaty"], "no dtype 'floaty'; the dtypes are bool, "),
        (["convert"], "takes two files, or two formats"),
        (["convert", "a.mtx"], "takes two files, or two formats"),
        (["convert", "a.mtx", "b.npz", "--from", "csr"], "not both"),
        (["convert", "--from", "csr"], "takes both --from and --to"),
        (["convert", "--from", "csr", "--to", "cssr"], "no format 'cssr'; did you mean 'csr'?"),
        (["convert", "--from", "nothing", "--to", "dia"], "no format 'nothing'; known are dense, "),
        (
            ["convert", "--from", "csr", "--to", "dia", "--print", "it"],
            "there is no stage 'it'\nthe stages are steps, ways, ",
        ),
        (["convert", "--from", "csr", "--to", "dia", "--shape", "4x4"], "sizes separated by commas, such as 4,4"),
        (["convert", "--from", "csr", "--to", "csf", "--shape", "4,4,4"], "format 'csr' stores matrices"),
        (["convert", "--from", "csr", "--to", "dia", "--dtype", "float16"], "the dtypes are"),
        (["info", "nowhere.mtx"], "nowhere.mtx"),
        (["A(i) = B(i)", "--compute"], "no separate compute function, since A has no structure: all of its C computes"),
        (
            ["A(i,j) = 2*B(i,j)", "-f", "B:csr", "-f", "A:dia", "--assemble"],
            "since the last pass writes coordinates of A together with its values",
        ),
        ([*SUM, "-f", "A:mode_generic", "--assemble"], "since operands or the result are converted at each call; "),
        (["info", "a.xyz"], "the kind of the file"),
    ],
)
def test_errors(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("weft: error: ")
    assert message in error


def test_files(tmp_path, capsys):
    A = weft.asarray(np.array([[0, 2.0, 0], [3.0, 0, 4.0]]), format="csr")
    weft.save(tmp_path / "a.mtx", A)
    assert main(["convert", str(tmp_path / "a.mtx"), str(tmp_path / "a.npz"), "--format", "ell"]) == 0
    assert str(weft.load(tmp_path / "a.npz").format) == "ell"
    assert main(["info", str(tmp_path / "a.npz")]) == 0
    text = capsys.readouterr().out
    for line in [
        "shape    2 x 3",
        "format   ell: (i,j) -> (#i,i,j)",
        "entries  3 of 6, 0.5",
        "rows     1 to 2 entries",
    ]:
        assert line in text


def test_conversions_are_shown(capsys):
    command = ["convert", "--from", "csr", "--to", "dia"]
    assert main(command) == 0
    steps = capsys.readouterr().out
    assert steps.startswith("=== steps ===\ncsr float64 is converted to dia float64 in 1 step (insert)\n1. insert, ")
    assert "select [j-i] -> id() as nz" in steps
    assert main([*command, "--print", "ways", "--print", "c", "--dtype", "float32"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("=== ways ===\nthe price of an entry by each way:\n  insert, 6: attribute queries tell")
    assert "\n=== c ===\n-- step 1, insert, csr to dia\n" in text
    assert "float *restrict" in text
    assert main([*command, "--print", "prefetch"]) == 0
    assert "=== prefetch ===\n-- step 1, insert, csr to dia\nfunction query1(" in capsys.readouterr().out
    assert main([*command, "--print", "all"]) == 0
    assert steps in capsys.readouterr().out
    assert main([*command, "--print", "explain"]) == 0
    assert capsys.readouterr().out == steps.replace("=== steps ===", "=== explain ===")
    assert main(["convert", "--print", "passes"]) == 0
    assert capsys.readouterr().out.split("\n")[1:-2] == list(PASSES)


@pytest.mark.parametrize(("entries", "rule"), [("3", "sort and append"), ("40", "via rows")])
def test_conversions_of_a_shape_are_shown(entries, rule, capsys):
    assert main(["convert", "--from", "csr", "--to", "dcsc", "--shape", "10,10", "--entries", entries]) == 0
    assert f"({rule})" in capsys.readouterr().out


def test_demo(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(weft.config, "cache_dir", str(tmp_path))
    assert main(["demo"]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 30  # one screen
    assert max(map(len, text.splitlines())) <= 100
    assert text.count(" us") == 6
    assert any(origin in text for origin in ("shipped", "compiled", "cached", "in memory"))
    assert "for (int64_t i = chunk_begin" in text
    assert "int64_t weft_" not in text
    assert main(["demo", "--c"]) == 0
    assert "int64_t weft_evaluate(" in capsys.readouterr().out


def test_cache(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(weft.config, "cache_dir", str(tmp_path))
    assert main(["cache", "info"]) == 0
    text = capsys.readouterr().out
    assert str(tmp_path) in text
    assert f"threads   {weft.config.num_threads}\n" in text
    monkeypatch.setattr(toolchain.current(), "refused", frozenset(["-falign-loops=32"]))
    assert main(["cache", "info"]) == 0
    assert "refuses -falign-loops=32" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert "removed" in capsys.readouterr().out


def test_without_arguments_the_commands_are_shown(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    for command in ("weft demo", "weft cache", "weft info FILE", "weft convert IN OUT", "example:"):
        assert command in text


@pytest.mark.parametrize(("wrong", "meant"), [("dmeo", "demo"), ("Info", "info"), ("covnert", "convert")])
def test_misspelt_commands(wrong, meant, capsys):
    assert main([wrong, "a.mtx"]) == 2
    error = capsys.readouterr().err
    assert f"there is no command '{wrong}'; did you mean '{meant}'?" in error
    assert "demo, cache, info, convert" in error


def test_files_that_do_not_say_all(tmp_path, capsys):
    (tmp_path / "a.tns").write_text("0 1 5\n1 0 7\n")
    options = ["--start", "0", "--dtype", "int16", "--shape", "3,4"]
    assert main(["info", str(tmp_path / "a.tns"), *options]) == 0
    text = capsys.readouterr().out
    assert "shape    3 x 4\ndtype    int16" in text
    assert main(["convert", str(tmp_path / "a.tns"), str(tmp_path / "a.npz"), "--start", "0"]) == 0
    assert weft.load(tmp_path / "a.npz")[0, 1] == 5
    assert main(["info", str(tmp_path / "a.npz"), "--start", "0"]) == 2
    assert "start is for .tns files" in capsys.readouterr().err


def test_schedules(capsys):
    product = ["C(i,k) = A(i,j)*B(j,k)", "-f", "A:csr", "--schedule"]
    assert main([*product, "split(i, i0, i1, 8)", "--schedule", "parallelize(i0)", "--print", "concrete notation"]) == 0
    assert "forall i0 parallel\n  forall i1" in capsys.readouterr().out
    for text, message in (
        ("tile(i)", "there is no command 'tile'"),
        ("split(i, i0)", "split takes arguments such as"),
        ("reorder(j, i)", "not directly nested"),
    ):
        assert main([*product, text]) == 2
        assert message in capsys.readouterr().err


def test_derivatives(capsys):
    expression = "C(i,k) = A(i,j)*B(j,k)"
    assert main([expression, "--derivative", "B"]) == 0
    assert capsys.readouterr().out == "B_bar(j,k) = sum(i, C_bar(i,k)*A(i,j))\n"
    assert main([expression, "-f", "A:csr", "-f", "C:dense", "--derivative", "A", "--print", "explain"]) == 0
    report = capsys.readouterr().out
    assert "A_bar(i,j) = select(A_stored(i,j), sum(k, C_bar(i,k)*B(j,k)))" in report
    assert "A_bar csr float64; A_stored csr bool; C_bar dense float64" in report
    assert main([expression, "--dtype", "A:complex64", "--derivative", "B"]) == 0
    assert capsys.readouterr().out == "B_bar(j,k) = sum(i, C_bar(i,k)*conjugate(A(i,j)))\n"
    assert main([expression, "--derivative", "X"]) == 2
    assert "has no operand X; its operands are A, B" in capsys.readouterr().err


def test_files_that_cannot_hold_a_tensor(tmp_path, capsys):
    weft.save(tmp_path / "t.tns", weft.from_coords([[1], [0], [2]], [1.0]))
    assert main(["convert", str(tmp_path / "t.tns"), str(tmp_path / "t.mtx")]) == 2
    error = capsys.readouterr().err
    assert "a Matrix Market file holds a matrix, not a tensor of shape (2, 1, 3)" in error
    assert not (tmp_path / "t.mtx").exists()
    for A in (weft.asarray([1.0, 2.0]), weft.asarray(1.0)):
        with pytest.raises(weft.errors.ShapeError, match=r"save it in a file ending in \.npz"):
            weft.save(tmp_path / "t.mtx", A)
