"""The playground: a page that shows each stage of the compiler for an expression, while it is typed.

Nothing that is typed is executed. The compiler generates code, in a process that is stopped if it takes too long; no
kernel is compiled to machine code, and none runs.
"""

from .pages import write_presets
from .presets import PRESETS
from .server import serve
from .stages import answer
from .state import State

__all__ = ["PRESETS", "State", "answer", "serve", "write_presets"]
