"""The function of weft that a user has called, for messages of what many functions share."""

from __future__ import annotations

import sys
from types import FrameType

_PACKAGE = __name__.partition(".")[0]
_BENEATH = ("execution", "operations", "storage")  # blocks of which users call nothing
_SPELLINGS = {
    "__getitem__": "A[key]", "__setitem__": "A[key] = value", "__iter__": "iteration", "__contains__": "in",
    "__reduce__": "pickle", "__array__": "np.asarray", "__bool__": "bool", "__float__": "float", "__int__": "int",
    "__complex__": "complex", "__index__": "index", "__format__": "format", "__deepcopy__": "copy", "__copy__": "copy",
}  # fmt: skip


def called_function() -> str:
    """Return the name of the function, method or operator of weft that the innermost caller from outside has called."""
    frame: FrameType | None = sys._getframe(1)
    names = []
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        names.append(_name(frame))
        frame = frame.f_back
    return next((name for name in reversed(names) if name), "the operation")


def _name(frame: FrameType) -> str:
    """Return the name by which users know a function that runs; empty if they do not know it."""
    name, local = frame.f_code.co_name, frame.f_locals
    if name == "__array_function__":
        return str(local["function"].__name__)
    if name == "__array_ufunc__":
        return str(local["ufunc"].__name__)
    if name in ("__get__", "__set__"):  # of a property that is imported when it is first used
        return str(getattr(local.get("self"), "name", ""))
    if "<locals>" in frame.f_code.co_qualname:  # a function that another returns knows its operator, or what it calls
        if isinstance(local.get("op"), str):
            return str(local["op"])
        return str(getattr(local.get("function"), "__name__", local.get("name", "")))
    if name in _SPELLINGS:
        return _SPELLINGS[name]
    if str(frame.f_globals["__name__"]).partition(".")[2].partition(".")[0] in _BENEATH:
        return ""
    if name.startswith("<") or (name.startswith("_") and not name.endswith("__")):
        return ""
    return name
