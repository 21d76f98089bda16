"""Running totals become loops, in functions for a CPU."""

from __future__ import annotations

from ...records import replace
from .. import nodes as ir
from ..scans import serial
from ..traversal import rewrite_statements, statements


def serial_scans(function: ir.Function) -> ir.Function:
    """Return a function with a loop in place of each scan."""
    if not any(type(s) is ir.Scan for s in statements(function.body)):
        return function
    body = rewrite_statements(function.body, lambda n: serial(n) if isinstance(n, ir.Scan) else None)
    assert isinstance(body, ir.Stmt)
    return replace(function, body=body)
