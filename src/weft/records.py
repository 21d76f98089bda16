"""Frozen dataclasses whose definition is fast.

``dataclasses`` generates and compiles the methods of each class. For the hundred classes of a compiler, this took
longer than the rest of ``import weft``. Therefore records share methods. All records with the same number of arguments
share the bytecode of ``__init__``, with other names. The other methods are the same functions for all records. Records
with a ``default_factory`` are left to ``dataclasses``. The facts that ``dataclasses.fields`` needs are made on first
use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, make_dataclass
from dataclasses import replace as _replace
from functools import lru_cache
from inspect import get_annotations
from operator import attrgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    from dataclasses import replace as replace

_T = TypeVar("_T")


class cached(Generic[_T]):  # noqa: N801
    """A descriptor of an attribute that is computed when it is first read.

    ``functools.cached_property`` of Python 3.11 holds a lock during the computation, which all objects of a class
    share. Compilations would wait for each other, and a child that is forked during one would wait forever. This
    descriptor holds no lock. Threads that read an attribute at the same time may compute it twice.

    Examples
    --------
    >>> class Circle:
    ...     radius = 2
    ...
    ...     @cached
    ...     def diameter(self):
    ...         return 2 * self.radius
    >>> Circle().diameter
    4
    """

    def __init__(self, compute: Callable[[Any], _T]):
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached[_T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object | None, owner: type) -> cached[_T] | _T:
        if instance is None:
            return self
        value = self.compute(instance)
        # Later reads find the value in the instance, since this descriptor has no __set__.
        vars(instance)[self.name] = value
        return value


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[_T]) -> type[_T]:
    """Make a class a frozen dataclass, as ``dataclass(frozen=True)`` would.

    Examples
    --------
    >>> @record
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), len({Point(1), Point(1), Point(2)})
    (Point(x=1, y=0), True, 2)
    """
    fields = _fields(cls)
    if all(f.default_factory is MISSING for f in fields.values()):
        _make(cls, fields)
    else:
        dataclass(frozen=True, eq=False, repr=False)(cls)
    for method in _comparing(fields_getter([f.name for f in fields.values() if f.compare])):
        if method.__name__ not in vars(cls):
            setattr(cls, method.__name__, method)
    if cls.__repr__ is object.__repr__:  # a base class may define __repr__ for all classes that derive from it
        cls.__repr__ = __repr__  # type: ignore[method-assign]
    return cls


def keeps_hash(cls: type[_T]) -> type[_T]:
    """Make the objects of a record keep their hash, which else takes time in the size of all that a record holds.

    Pickles are made without it, since hashes of strings differ between processes.

    Examples
    --------
    >>> @keeps_hash
    ... @record
    ... class Pair:
    ...     left: object
    ...     right: object
    >>> hash(Pair(1, Pair(2, 3))) == hash(Pair(1, Pair(2, 3)))
    True
    """
    arguments = fields_getter(cls.__match_args__)  # type: ignore[attr-defined]
    cls.kept_hash = kept = cached(cls.__hash__)  # type: ignore[attr-defined]
    kept.__set_name__(cls, "kept_hash")

    def __hash__(self: Any) -> int:  # noqa: N807
        return self.kept_hash  # type: ignore[no-any-return]

    def __reduce__(self: Any) -> tuple[Any, ...]:  # noqa: N807
        return type(self), arguments(self)

    cls.__hash__, cls.__reduce__ = __hash__, __reduce__  # type: ignore[method-assign]
    return cls


if not TYPE_CHECKING:

    def replace(record, /, **changes):
        """Return a copy of a record with other values of some fields, without use of the facts of ``dataclasses``."""
        cls = type(record)
        members = vars(cls)
        if "__record_fields__" not in members:
            return _replace(record, **changes)
        kept = vars(record)
        values = [changes.pop(name) if name in changes else kept[name] for name in members["__match_args__"]]
        return cls(*values, **changes)  # of which none is left, unless there is no such field


def fields_getter(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that reads some fields of an object as a tuple.

    Even one field is read as a tuple, since identical objects in tuples are equal, including NaN.
    """
    match names:
        case []:
            return lambda self: ()
        case [name]:
            return lambda self: (getattr(self, name),)
    return attrgetter(*names)


def _fields(cls: type) -> dict[str, Field[Any]]:
    """Return the fields of a class that is to be a record, with those of its bases first."""
    all_fields: dict[str, Field[Any]] = {}
    for base in cls.__mro__[-1:0:-1]:
        if "__record_fields__" in vars(base):
            all_fields.update(vars(base)["__record_fields__"])
        elif "__dataclass_fields__" in vars(base):
            all_fields.update({f.name: f for f in fields(base)})
    for name, annotation in get_annotations(cls).items():
        if not str(annotation).removeprefix("typing.").startswith("ClassVar"):
            given = vars(cls).get(name, MISSING)
            all_fields[name] = given if isinstance(given, Field) else field(default=given)
            all_fields[name].name, all_fields[name].type = name, annotation
    return all_fields


def _make(cls: Any, fields: Mapping[str, Field[Any]]) -> None:
    """Make a record of a class whose fields have no ``default_factory``."""
    # A field object in the class body is replaced by its default, as dataclasses does.
    for name, f in fields.items():
        if vars(cls).get(name) is f:
            delattr(cls, name)
            if f.default is not MISSING:
                setattr(cls, name, f.default)
    parameters = {name: f for name, f in fields.items() if f.init}
    defaults = tuple(f.default for f in parameters.values() if f.default is not MISSING)
    late = [f.name for f in [*parameters.values()][: -len(defaults) or None] if f.default is not MISSING]
    if late:
        raise TypeError(f"{cls.__qualname__}: fields without default follow {late[0]!r}, which has one")
    # dataclasses.fields and similar functions find these attributes, which compute their values on first use.
    facts = {name: _Facts(name) for name in ("__dataclass_fields__", "__dataclass_params__")}
    for name, value in {"__record_fields__": fields, "__match_args__": tuple(parameters), **facts}.items():
        setattr(cls, name, value)
    cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
    if "__init__" not in vars(cls):
        code = _named(tuple(parameters), hasattr(cls, "__post_init__"))
        init = FunctionType(code, {"store": object.__setattr__}, "__init__", defaults)
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        init.__annotations__ = {**{f.name: f.type for f in parameters.values()}, "return": None}
        cls.__init__ = init


def _named(names: tuple[str, ...], calls: bool) -> CodeType:
    """Return the code of an ``__init__`` that stores its arguments in the fields of the same names."""
    # The names of arguments are variables of the code, and the names of fields are among its constants.
    code = _nameless(len(names), calls)
    new = dict(zip(code.co_varnames[1:], names, strict=True))
    constants = tuple(new.get(c, c) for c in code.co_consts)
    return code.replace(co_varnames=("self", *names), co_consts=constants)


@lru_cache
def _nameless(n: int, calls: bool) -> CodeType:
    """Return the code of an ``__init__`` with ``n`` placeholders for names, which may call ``__post_init__``."""
    names = [f"field_{k}" for k in range(n)]
    stores = [f" store(self, {name!r}, {name})\n" for name in names]
    attributes: dict[str, Any] = {}
    then = " self.__post_init__()" if calls else " return"
    exec(f"def __init__({', '.join(['self', *names])}):\n{''.join(stores)}{then}", attributes)
    return attributes["__init__"].__code__  # type: ignore[no-any-return]


class _Facts:
    """A descriptor of an attribute in which ``dataclasses`` keeps facts on a class; it is computed on first use."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, instance: object, cls: Any) -> Any:
        # The attribute may be read from a derived class, and is replaced on the class that has this descriptor.
        mine = next(base for base in cls.__mro__ if vars(base).get(self.name) is self)
        found = [(f.name, f.type, f) for f in mine.__record_fields__.values()]
        made: Any = make_dataclass(mine.__name__, found, init=False, repr=False, eq=False, frozen=True)
        setattr(mine, self.name, getattr(made, self.name))
        return getattr(mine, self.name)


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _comparing(values: Callable[[Any], tuple[Any, ...]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __eq__, __hash__


def __repr__(self: Any) -> str:  # noqa: N807
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"
