"""Specifications of functions: what is to be made of the loops of a program."""

from __future__ import annotations

from ..records import record
from .append_writer import usual_writer
from .function_kind import FunctionKind
from .result_writer import WriterOf


@record
class FunctionSpec:
    """A function that the loops of a program become."""

    name: str  # in C, without the prefix of all names
    kind: FunctionKind
    writer: WriterOf = usual_writer  # makes what writes the result
