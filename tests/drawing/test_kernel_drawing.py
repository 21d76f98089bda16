"""Drawings of iteration graphs and merge lattices, and ``explain(..., format="svg")``."""

from pathlib import Path

import pytest

import weft
from formats.test_descriptions import FIGURE
from weft.drawing import Drawing, iteration_graph_svg, kernel_drawing, lattices_svg
from weft.drawing.iteration_graphs import graph_scene, iteration_graph
from weft.drawing.lattices import lattice_scene, lattices
from weft.errors import FormatError
from weft.index_notation import to_text

from .geometry import SVG, checked, checked_svg

EXPRESSIONS = {
    "product of matrices": ("C(i,k) = A(i,j)*B(j,k)", {"A": "csr", "B": "csr"}),
    "matrix times vector": ("y(i) = A(i,j)*x(j)", {"A": "csr"}),
    "diagonals times vector": ("y(i) = A(i,j)*x(j)", {"A": "dia"}),
    "blocks times vector": ("y(i) = A(i,j)*x(j)", {"A": "bsr"}),
    "sum": ("A(i,j) = B(i,j) + C(i,j)", {"A": "csr", "B": "csr", "C": "dcsr"}),
    "sum and product": ("A(i,j) = B(i,j) + C(i,j)*D(i,j)", {"A": "csr", "B": "dcsr", "C": "csr", "D": "csr"}),
    "four vectors": ("a(i) = b(i) + c(i) + d(i) + e(i)", dict.fromkeys("abcde", "coo")),
    "sampled product": ("A(i,j) = B(i,j)*C(i,k)*D(j,k)", {"A": "csr", "B": "csr"}),
    "three axes": ("A(i,j) = B(i,k,l)*C(k,j)*D(l,j)", {"B": "csf"}),
    "diagonal": ("a(i) = B(i,i)", {"B": "csr"}),
    "sum of a vector": ("a = b(i)*c(i) + d(i)", {"b": "coo", "c": "coo", "d": "coo"}),
    "no index": ("a = b*c", {}),
    "maximum": ("a(i) = maximum(b(i), c(i))", {"b": "coo", "c": "coo", "a": "coo"}),
    "into blocks": ("A(i,j) = B(i,j) + C(i,j)", {"A": "bsr", "B": "csr", "C": "csr"}),
}

DISPLAY = Path(__file__).parents[2] / "docs" / "_static" / "display"
PICTURES = {  # as the page on display makes them
    "csr": lambda: weft.asarray(FIGURE.astype(int), format="csr").draw(),
    "sum": lambda: weft.explain("A(i,j) = B(i,j) + C(i,j)", B="csr", C="dcsr", format="svg"),
}


def planned(kernel):
    return [each.module for each in kernel.kernels]


def drawn_lattices(module):
    return lattices(module.context, module.evaluation.lattices)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_drawings_of_expressions(name):
    text, formats = EXPRESSIONS[name]
    kernel = weft.compile(text, **formats)
    for module in planned(kernel):
        graph = iteration_graph(module.context, to_text(module.loops.assignment))
        shown = {label.text for label in checked(graph_scene(graph)).iter(f"{SVG}text")}
        assert shown.issuperset(v for v, _ in graph.loops)
        assert shown.issuperset(path.access for path in graph.paths)
        for lattice in drawn_lattices(module):
            root = checked(lattice_scene(lattice))
            assert all(point.computed for point in lattice.points)
            assert lattice.text in {label.text for label in root.iter(f"{SVG}text")}
    checked_svg(iteration_graph_svg(kernel))
    assert [v for v, _ in lattices_svg(kernel)] == [
        lattice.var for module in planned(kernel) for lattice in drawn_lattices(module)
    ]
    checked_svg(kernel_drawing(kernel))


def test_iteration_graph():
    (module,) = planned(weft.compile("C(i,k) = A(i,j)*B(j,k)", A="csr", B="csc:1,0"))
    graph = iteration_graph(module.context, "")
    assert graph.loops == (("i", "parallel"), ("j", ""), ("k", ""))
    assert [(path.access, path.stops) for path in graph.paths] == [
        ("A(i,j)", (("i", "A1 dense"), ("j", "A2 compressed"))),
        ("B(j,k)", (("j", "B1 dense"), ("k", "B2 compressed"))),
        ("w(k)", (("k", "w1 listed"),)),
        ("C(i,k)", (("i", "C1 dense"), ("k", "C2 compressed"))),
    ]


def test_loops_that_are_cut_stand_for_their_variables():
    (module,) = planned(weft.compile("y(i) = A(i,j)*x(j)", A="dia"))
    assert iteration_graph(module.context, "").loops == (("j-i", ""), ("j", ""), ("i", "in tiles, parallel"))


def test_lattices():
    """The union of 2017, Fig. 8, whose second operand is an intersection."""
    (module,) = planned(weft.compile("a(i) = b(i) + c(i)*d(i)", **dict.fromkeys("abcd", "coo")))
    (lattice,) = drawn_lattices(module)
    assert [(point.merged, point.computed) for point in lattice.points] == [
        (("b1", "c1", "d1"), "a(i) = b(i) + c(i)*d(i)"),
        (("c1", "d1"), "a(i) = c(i)*d(i)"),
        (("b1",), "a(i) = b(i)"),
    ]
    assert lattice.text == "loop over i: a merge of 3 cases"


def test_loops_without_a_merge_say_so():
    (module,) = planned(weft.compile("y(i) = A(i,j)*x(j)", A="csr"))
    texts = [lattice.text for lattice in drawn_lattices(module)]
    assert texts == [
        "loop over i: walks A1 alone, so that nothing is merged",
        "loop over j: walks A2 alone, so that nothing is merged, and locates x1",
    ]


@pytest.mark.parametrize("name", ["sum", "product of matrices"])
def test_golden(name, golden):
    text, formats = EXPRESSIONS[name]
    golden(f"{name.replace(' ', '_')}.svg", kernel_drawing(weft.compile(text, **formats)) + "\n")


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_the_documentation(name, request):
    path, text = DISPLAY / f"{name}.svg", PICTURES[name]() + "\n"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_explain():
    A = weft.eye(4, format="csr")
    drawn = weft.explain("ij,jk->ik", A, A, format="svg")
    assert isinstance(drawn, Drawing)
    checked_svg(drawn)
    checked_svg(weft.explain("C(i,k) = A(i,j)*B(j,k)", A="csr", B="csr", format="svg"))
    checked_svg(weft.explain("C(i,k) = A(i,j)*B(j,k)", A=A, B=A, format="svg"))
    kernel = weft.compile("a(i) = b(i) + c(i)", b="coo", c="coo")
    assert kernel.explain(format="svg") == kernel_drawing(kernel)
    assert kernel.explain(format="text") == kernel.explain()
    graph, both = kernel.explain(format="svg", stages="iteration-graph"), kernel.explain(format="svg")
    assert graph == iteration_graph_svg(kernel)
    assert len(graph) < len(both)
    assert "a merge of 3 cases" in kernel.explain(format="svg", stages=["lattices"])


def test_steps_are_drawn_one_by_one():
    names = "bcdefghi"
    text = f"a(j) = {' + '.join(f'{n}(j)' for n in names)}"
    kernel = weft.compile(text, **dict.fromkeys(names, "coo"), a="coo", dtypes={"b": "float32"})
    assert len(kernel.kernels) > 1
    checked_svg(kernel_drawing(kernel))


def test_what_cannot_be_drawn_is_refused():
    A = weft.eye(4, format="csr")
    with pytest.raises(ValueError, match="a conversion has no drawing"):
        weft.explain(A.tocsc, format="svg")
    with pytest.raises(ValueError, match=r"no drawing of the stage 'lattice'; did you mean 'lattices'\?"):
        weft.explain("ij,jk->ik", A, A, format="svg", stages="lattice")
    with pytest.raises(ValueError, match="'text' or 'svg', not 'pdf'"):
        weft.compile("y(i) = A(i,j)*x(j)", A="csr").explain(format="pdf")
    for given in ({"A": "csr", "B": "csr"}, {"A": A, "B": A}):
        with pytest.raises(FormatError, match="no format 'pdf'"):
            weft.explain("C(i,k) = A(i,j)*B(j,k)", **given, format="pdf")


def test_the_format_of_the_result_may_stand_beside_formats_of_operands():
    assert "C csc float64" in weft.explain("C(i,k) = A(i,j)*B(j,k)", A="csc", B="csc", format="csc")
