"""From the fields of the page to the stages: presets, limits, errors with carets, and hostile input."""

import re
import shlex
import subprocess
from contextlib import suppress
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.__main__ import main
from weft.errors import NotationError
from weft.execution import Kernel
from weft.playground.highlight import highlighted
from weft.playground.presets import PRESETS
from weft.playground.stages import answer
from weft.playground.state import (
    EXPRESSION_LENGTH,
    MOST_AXES,
    MOST_TENSORS,
    SCHEDULE_LENGTH,
    RefusedError,
    State,
    choices,
    state_of,
)
from weft.runtime import loader, toolchain
from weft.scheduling.commands import parse_commands

pytestmark = pytest.mark.compiles_alone


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_every_preset_has_all_stages(preset):
    found = answer(preset.state)
    assert found.trouble is None
    sections = {section.key: section for section in found.sections}
    assert {
        "report",
        "python",
        "command",
        "index-notation",
        "concrete-notation",
        "schedule",
        "lattices",
        "ir",
        "c",
    } <= set(sections)
    assert all(section.text or section.drawings for section in found.sections)
    assert "compiled:" not in sections["report"].text
    # Support code is folded, and every function of the kernel is shown.
    assert "weft_tensor {" in sections["c"].more
    assert "weft_tensor *" in sections["c"].text
    assert "weft_tensor *" not in sections["c"].more
    assert ("scheduled by hand" in sections["schedule"].text) == bool(preset.state.schedule)


def test_nothing_is_compiled_or_run(monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("this machine's compiler was called")

    for owner, name in ((subprocess, "Popen"), (toolchain, "current"), (loader, "load"), (Kernel, "run")):
        monkeypatch.setattr(owner, name, never)
    for preset in PRESETS:
        assert answer(preset.state).sections


def test_presets_differ():
    assert len({preset.key for preset in PRESETS}) == len({preset.state for preset in PRESETS}) == len(PRESETS)
    assert all(re.fullmatch(r"[a-z_]+", preset.key) for preset in PRESETS)


def test_a_conversion_shows_its_attribute_queries():
    sections = {
        section.key: section for section in answer(State("B(i,j) = A(i,j)", (("A", "csr"), ("B", "dia")))).sections
    }
    assert "select [j-i] -> id() as nz" in sections["attribute-queries"].text


def test_steps_show_the_stages_of_each_kernel():
    names = "ABCDEFG"
    text = "R(i) = " + " + ".join(f"{n}(i)" for n in names[:-1]) + " - G(i)"
    found = answer(State(text, tuple((n, "s") for n in names)))
    sections = {section.key: section for section in found.sections}
    assert "kernel 1: T1(i) = A(i) + B(i); in the same way T2" in sections["steps"].text
    assert sections["ir"].text.startswith("kernel 1, T1(i) = A(i) + B(i); in the same way T2")
    assert "\n\nkernel 2, R(i) = T5(i) - G(i):\n" in sections["ir"].text
    assert sections["c"].text.startswith("/* kernel 1, T1(i) =")
    assert "weft_tensor *restrict G" in sections["c"].text.replace("const ", "") or "G1" in sections["c"].text
    assert "weft_tensor {" in sections["c"].more
    assert "weft_tensor {" not in sections["c"].text


HARD = {
    "steps": State("R(i) = " + " + ".join(f"{n}(i)" for n in "ABCDEFG"), tuple((n, "s") for n in "ABCDEFG")),
    "bool": State("C(i,j) = less(A(i,j), B(i,j))", (("A", "csr"), ("B", "csc"), ("C", "coo"))),
    "names": State("lambda(i) = if(i,j)*text(j)", (("if", "ds:1,0"), ("text", "s"), ("lambda", "s"))),
    "scalars": State("y = a*b", (("y", "dense"),)),
    "many": State("A(i,j) = B(i,k,l)*C(k,j)*D(l,j)",
                  (("B", "sss:2,0,1"), ("C", "mode_generic"), ("D", "dense_f"), ("A", "coo_aos"))),
    "workspace": State("y(i) = A(i,j)*B(i,j)*x(j)", (("A", "csr"), ("B", "csr")),
                       ".precompute('A(i,j)*B(i,j)', name='t2')"),
    "python": State("C(i,k) = A(i,j)*B(j,k)", (("A", "csr"),), ".split('i', 'i0', \"i1\", 8).parallelize('i0')"),
}  # fmt: skip


@pytest.mark.parametrize("state", [*(preset.state for preset in PRESETS), *HARD.values()], ids=lambda s: s.query[:60])
def test_the_same_kernel_outside_the_page(state, capsys):
    """As Python and as a command: what each prints is the C on the page."""
    found = answer(state)
    assert found.trouble is None
    sections = {section.key: section for section in found.sections}
    exec(sections["python"].text, {})
    python = capsys.readouterr().out
    program, *arguments = shlex.split(sections["command"].text)
    assert program == "weft"
    assert main(arguments) == 0
    # The command says above the C how it is called.
    _, _, printed = capsys.readouterr().out.partition("*/\n")
    assert printed.strip() == python.strip()
    shown = sections["c"]
    if "steps" not in sections:
        assert f"{shown.more}\n\n{shown.text}".split() == python.split()
    for text in re.split(r"^/\* kernel .*\*/\n", shown.text, flags=re.MULTILINE):
        assert text.strip() in python
    assert max(map(len, sections["python"].text.splitlines())) < 110


def test_tensors_called_like_arguments_of_compile():
    found = answer(State("schedule(i) = dtypes(i)*text(i)", (("dtypes", "s"), ("schedule", "s"))))
    sections = {section.key: section.text for section in found.sections}
    assert sections["python"] == sections["command"]
    assert sections["python"].startswith("# weft.compile has an argument dtypes: give the tensor dtypes another name")


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_link_keeps_the_state(preset):
    assert state_of(parse_qsl(preset.state.query)) == preset.state


@pytest.mark.parametrize(
    ("expression", "reason", "place"),
    [
        ("", "type an expression", ""),
        ("y(i = A(i,j)", "expected", "  y(i = A(i,j)\n      ^"),
        ("y(i) = <script>alert(1)</script>", "'<'", "  y(i) = <script>alert(1)</script>\n         ^"),
        ("y[i] = A[i]", "y(i)", "  y[i] = A[i]\n   ^"),
        ("y(i) = __import__('os').system('x')", "", None),
        ("../../etc/passwd", "", None),
        ("y(i) = A(i) + A(i,j)", "indices", "  y(i) = A(i) + A(i,j)\n                ^"),
        ("y = " + "(" * 140 + "a" + ")" * 140, "nested too deeply", None),
        ("y = " + "-" * 290 + "a", "nested too deeply", None),
        ("y(" + ",".join("ijklmn") + ") = A(i,j,k,l,m,n)", f"has 6 axes; the playground takes at most {MOST_AXES}", ""),
        ("y = " + "*".join(f"a{n}" for n in range(12)), f"13 tensors; the playground takes at most {MOST_TENSORS}", ""),
        ("y(a,b,c,d,e) = A(a,b,c,d,e)*B(f,g,h,i,j)", "10 variables", ""),
    ],
)
def test_errors_in_the_expression(expression, reason, place):
    found = answer(State(expression))
    assert not found.sections
    assert found.trouble.field == "expression"
    assert reason in found.trouble.reason
    if place is not None:
        assert found.trouble.place == place


def test_names_of_weft_s_own_arguments_are_names_like_others():
    assert answer(State("schedule(i) = dtypes(i)*text(i)", (("dtypes", "s"), ("schedule", "s")))).trouble is None


@pytest.mark.parametrize("format", ["dia", "csf:1,0,2", "/etc/passwd", "ds:0,0", "d" * 40, "<b>", "csr\\0"])
def test_formats_that_are_not_offered(format):
    found = answer(State("y(i) = A(i)", (("A", format),)))
    assert found.trouble.field == "formats"
    assert found.tensors  # so that another can be chosen
    assert found.tensors[0].format == format


@pytest.mark.parametrize("axes", range(MOST_AXES + 1))
def test_every_format_that_is_offered_generates(axes):
    indices = ",".join("ijklm"[:axes])
    access = f"({indices})" if axes else ""
    for name in choices(axes).named:
        assert answer(State(f"B{access} = A{access}", (("A", name),))).trouble is None


@pytest.mark.parametrize(
    ("schedule", "reason", "place"),
    [
        ("tile(i)", "there is no command 'tile'", "  tile(i)\n  ^"),
        ("reorder(j, i)\n  paralleliz(i)", "did you mean 'parallelize'", "    paralleliz(i)\n    ^"),
        ("split(i, i0, i1, 0)", "between 1 and", "  split(i, i0, i1, 0)\n  ^"),
        ("split(i, i0, i1, 99999999999)", "takes arguments such as", "  split(i, i0, i1, 99999999999)\n  ^"),
        ("split(i, i0, i1)", "takes arguments such as", "  split(i, i0, i1)\n  ^"),
        ("parallelize", "takes arguments: parallelize(i0)", "  parallelize\n             ^"),
        ("parallelize(i", "this parenthesis is not closed", "  parallelize(i\n             ^"),
        ("parallelize(__import__('os'))", "takes arguments", "  parallelize(__import__('os'))\n  ^"),
        ("reorder()", "takes arguments", "  reorder()\n  ^"),
        ("reorder(i) + 1", "a command is expected here", "  reorder(i) + 1\n             ^"),
        ("split(j, j0, j1, 4)." * 13, "the playground takes at most 12 commands", None),
        ("precompute(A(i,j)*, j)", "", None),
        ("precompute(, j)", "takes arguments", None),
        ("reorder(j, i)", "not directly nested", ""),
        ("precompute(A(i,j), j, name=A)", "", None),
    ],
)
def test_errors_in_the_schedule(schedule, reason, place):
    found = answer(State("y(i) = A(i,j)*x(j)", (("A", "csr"),), schedule))
    assert found.trouble.field == "schedule"
    assert reason in found.trouble.reason
    if place is not None:
        assert found.trouble.place == place


def test_a_schedule_as_it_is_written_in_python():
    python = ".split('k', 'k0', \"k1\", 16).split('i', 'i0', 'i1', 256).parallelize('i0')"
    lines = "split(k, k0, k1, 16)\nsplit(i, i0, i1, 256); parallelize(i0)\n"
    same = [[(c.name, c.arguments) for c in parse_commands(text)] for text in (python, lines)]
    assert same[0] == same[1]
    formats = (("A", "csr"),)
    one, other = (answer(State("C(i,k) = A(i,j)*B(j,k)", formats, text)) for text in (python, lines))
    assert one == other
    assert one.trouble is None


def test_a_workspace_by_hand():
    found = answer(
        State("y(i) = A(i,j)*B(i,j)*x(j)", (("A", "csr"), ("B", "csr")), "precompute(A(i,j)*B(i,j), name=t2)")
    )
    assert found.trouble is None
    assert any("t2" in section.text for section in found.sections if section.key == "concrete-notation")


def test_an_expression_may_stand_in_several_lines():
    assert state_of([("expression", "y(i) = A(i,j)\r\n *x(j)\n")]).expression == "y(i) = A(i,j)  *x(j)"


@pytest.mark.parametrize(
    ("pairs", "field"),
    [
        ([("expression", "a" * (EXPRESSION_LENGTH + 1))], "expression"),
        ([("schedule", "a" * (SCHEDULE_LENGTH + 1))], "schedule"),
        ([("expression", "y = a\0b")], "expression"),
        ([("expression", "y = \ud800")], "expression"),
        ([("format.A", "x" * 41)], "formats"),
        ([("format." + "A" * 41, "csr")], "formats"),
        ([("format.A", "cs\x1br")], "formats"),
        ([(f"format.A{n}", "csr") for n in range(100)], "formats"),
    ],
)
def test_states_that_are_refused(pairs, field):
    with pytest.raises(RefusedError) as error:
        state_of(pairs)
    assert error.value.field == field


WORDS = st.lists(
    st.sampled_from([*"ABxyijk(),=+-*/ '\"<>&.^0123", "sum(", "min(j,", "maximum(", "(i,j)", "(i)", " = ", "1e9", "é"]),
    max_size=30,
).map("".join)
FORMATS = st.dictionaries(st.sampled_from("ABxy"), st.one_of(st.sampled_from(choices(2).named), WORDS), max_size=4)


@given(st.one_of(WORDS, WORDS.map("y(i) = ".__add__)), FORMATS, st.one_of(st.just(""), WORDS))
@settings(max_examples=150)
def test_any_text_is_answered(expression, formats, schedule):
    found = answer(State(expression, tuple(formats.items()), schedule))
    assert (found.trouble is None) == bool(found.sections)


TERMS = st.recursive(
    st.sampled_from(["A(i,j)", "A(j,i)", "B(i,j)", "x(i)", "x(j)", "s", "2", "0.5"]),
    lambda terms: st.one_of(
        st.tuples(terms, st.sampled_from("+-*/"), terms).map(lambda each: f"({''.join(each)})"),
        st.tuples(st.sampled_from(["maximum", "minimum", "power", "less"]), terms, terms).map(
            lambda each: f"{each[0]}({each[1]}, {each[2]})"
        ),
        terms.map("abs({})".format),
    ),
    max_leaves=5,
)


@given(
    st.sampled_from(["y(i)", "y(i,j)", "y(j,i)", "y"]),
    TERMS,
    st.sampled_from(choices(2).named),
    st.sampled_from(choices(2).named),
)
@settings(max_examples=60)
def test_valid_expressions_in_any_formats_are_answered(target, value, one, other):
    found = answer(State(f"{target} = {value}", (("A", one), ("B", other))))
    assert found.trouble is not None or found.sections[-1].text


@given(st.text())
def test_any_schedule_is_read_or_refused(text):
    commands = ()
    with suppress(NotationError):
        commands = parse_commands(text)
    assert all(command.name in command.line for command in commands)


@given(st.text(), st.sampled_from(["c", "notation", "plain"]))
def test_coloured_text_is_escaped(text, language):
    html = highlighted(text, language)
    plain = re.sub(r'</?span(?: class="[a-z]+")?>', "", html)
    assert "<" not in plain
    assert plain.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&#x27;", "'").replace(
        "&amp;", "&"
    ) == text  # fmt: skip
