"""The page as HTML, for the server and, without one, for the documentation."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING

from .highlight import highlighted
from .presets import PRESETS, Preset
from .stages import Answer, answer
from .state import EXPRESSION_LENGTH, SCHEDULE_LENGTH, State

if TYPE_CHECKING:
    from jinja2 import Environment

STATIC = Path(__file__).parent / "static"
"""The folder with the style sheet and the script."""
_LINE = 30  # characters of an expression in a line of its field


@lru_cache
def _environment() -> Environment:
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["coloured"] = lambda text, language: Markup(highlighted(text, language))
    # As images, drawings are documents of their own, in which no script runs.
    environment.filters["image"] = lambda svg: f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
    return environment


def page(
    state: State, answer: Answer, *, preset: Preset | None = None, example: Answer | None = None, served: bool = True
) -> str:
    """Return the whole page."""
    return _environment().get_template("page.html").render(
        state=state, answer=answer, preset=preset, example=example, presets=PRESETS, served=served,
        expression_length=EXPRESSION_LENGTH, schedule_length=SCHEDULE_LENGTH,
        rows=max(3, 1 + -(-len(state.expression) // _LINE)) if served else -(-len(state.expression) // _LINE),
    )  # fmt: skip


def fragments(answer: Answer) -> dict[str, object]:
    """Return the parts of the page that change with the state, as HTML, and the error."""
    environment, trouble = _environment(), answer.trouble
    return {
        "tensors": environment.get_template("tensors.html").render(answer=answer, state=State(""), served=True),
        "parsed": bool(answer.tensors),
        "results": environment.get_template("results.html").render(answer=answer, served=True),
        "trouble": None
        if trouble is None
        else {
            "field": trouble.field,
            "reason": trouble.reason,
            "place": trouble.place,
        },
    }


def write_presets(folder: Path) -> list[Path]:
    """Write a page for each example, and the style sheet, into a folder; they need no server."""
    folder.mkdir(parents=True, exist_ok=True)
    copyfile(STATIC / "playground.css", folder / "playground.css")
    paths = []
    for preset in PRESETS:
        path = folder / f"{preset.key}.html"
        path.write_text(page(preset.state, answer(preset.state), preset=preset, served=False), encoding="utf-8")
        paths.append(path)
    return paths
