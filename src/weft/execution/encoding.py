"""Records as JSON values: questions to the index of plans, and its answers.

A record becomes a list of the name of its class and its fields. Only records of weft's own modules can be told, so that
levels that users have written are in no index: the build stamp knows nothing of their code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from ..code_options import CodeOptions, code_options
from ..config import config
from ..formats import Format, TensorType
from ..formats.format import sound_format
from ..storage import tensor_type

_PACKAGE = __name__.split(".")[0]


class Unsayable(Exception):
    """A value has no JSON form: a function, or a record of another package."""


def question(*values: Any) -> str:
    """Return a text for values that only equal values have."""
    return json.dumps([encode(value) for value in values], separators=(",", ":"))


def encode(value: Any) -> Any:
    """Return the JSON form of a value, which ``decode`` reads."""
    if value is None or type(value) in (bool, int, float, str):  # and not a number of NumPy's
        return value
    cls = type(value)
    writer = _WRITERS.get(cls)
    if writer is not None:
        return writer(value)
    if hasattr(cls, "encoded"):
        return [_tag(cls), value.encoded()]
    if not _is_record(cls) or cls.__module__.split(".")[0] != _PACKAGE:
        raise Unsayable(cls.__qualname__)
    return [_tag(cls), *[encode(getattr(value, name)) for name in cls.__match_args__]]


def _is_record(cls: Any) -> bool:
    return "__record_fields__" in vars(cls) or issubclass(cls, tuple)  # or a named tuple


@lru_cache(maxsize=1024)
def _format_as_json(format: Format) -> list[Any]:
    return ["format", encode(format.remapping), *map(encode, format.levels)]


_WRITERS: Mapping[type, Callable[[Any], Any]] = {
    complex: lambda value: ["complex", value.real, value.imag],
    tuple: lambda value: ["tuple", *map(encode, value)],
    frozenset: lambda value: ["set", *sorted(map(encode, value))],
    dict: lambda value: ["map", *[[encode(key), encode(item)] for key, item in value.items()]],
    Format: _format_as_json,
    TensorType: lambda value: ["type", value.dtype, encode(value.format), value.index_dtypes, encode(value.fill)],
    # How C is compiled does not change it.
    CodeOptions: lambda value: [
        *("options", value.reassociate, value.vector_functions, sorted(value.disabled), value.target)
    ],
}


def decode(value: Any) -> Any:
    """Return the value of a JSON form."""
    if not isinstance(value, list):
        return value
    tag, *parts = value
    reader = _READERS.get(tag)
    if reader is not None:
        return reader(parts)
    cls = _class(tag)
    values = map(decode, parts)
    return cls.decoded(*values) if hasattr(cls, "decoded") else cls(*values)


@lru_cache(maxsize=1024)
def _format(parts: str) -> Format:
    remapping, *levels = map(decode, json.loads(parts))
    return sound_format(remapping, tuple(levels))


_READERS: Mapping[str, Callable[[list[Any]], Any]] = {
    "complex": lambda parts: complex(*parts),
    "tuple": lambda parts: tuple([decode(part) for part in parts]),
    "set": lambda parts: frozenset(map(decode, parts)),
    "map": lambda parts: {decode(key): decode(item) for key, item in parts},
    "format": lambda parts: _format(json.dumps(parts)),
    "type": lambda parts: tensor_type(parts[0], decode(parts[1]), tuple(parts[2]), decode(parts[3])),
    "options": lambda parts: _options(parts[0], parts[1], frozenset(parts[2]), parts[3]),
}


def _options(reassociate: bool, vector_functions: bool, disabled: frozenset[str], target: Any) -> CodeOptions:
    now, given = config.code, (reassociate, vector_functions, disabled, target)
    if (now.reassociate, now.vector_functions, now.disabled, now.target) == given:
        return now
    return code_options(
        reassociate=reassociate,
        vector_functions=vector_functions,
        disabled=disabled,
        verify=now.verify,
        build=now.build,
        target=target,
    )


def _tag(cls: type) -> str:
    return f"{cls.__module__.partition('.')[2]}:{cls.__qualname__}"


@lru_cache(maxsize=1024)
def _class(tag: str) -> Any:
    module, _, name = tag.partition(":")
    cls: Any = getattr(import_module(f"{_PACKAGE}.{module}"), name)
    if not (hasattr(cls, "decoded") or _is_record(cls)) or _tag(cls) != tag:
        raise ValueError(f"{tag} is no record")
    return cls
