"""Loops that are planned: facts about them and their functions, from the index of plans or from the compiler."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from ..config import config
from ..doors import Door
from ..optimizations import PASSES, VERIFY
from ..records import cached, replace
from ..runtime import plan_index
from ..runtime.loader import Functions, TextFacts, as_json, facts_of
from .encoding import Unsayable, decode, encode, question
from .facts import LoopFacts, LoopRequest, Request, RunFacts

if TYPE_CHECKING:
    from ..module import Module
    from . import planning
else:
    planning = Door("weft.execution.planning")


def asked(name: str, *parts: Any) -> Any:
    """Return the answer of a function of ``planning`` to a question, from the index of plans if it is there."""
    key = _key(name, *parts)
    if key is not None:
        with suppress(Exception):  # an answer that cannot be read is none, whatever is wrong with it
            (told,) = plan_index.answer(key)
            return decode(told)
    answer = getattr(planning, name)(*parts)
    if key is not None:
        _keep(key, answer)
    return answer


def _key(name: str, *parts: Any) -> str | None:
    """Return the key of a question; None if it is not one for the index."""
    if not plan_index.is_used():
        return None
    try:
        return plan_index.key_of(name, question(*parts))
    except Unsayable:
        return None


def _keep(key: str, found: Any) -> None:
    with suppress(Unsayable):
        plan_index.keep(key, [encode(found)])


class Loops:
    """Loops of a kernel: facts about them, and their functions. They are planned and lowered when more is asked."""

    def __init__(self, request: Request | None, module: Module | None = None):
        self.request = request
        self._key = None if request is None else _key("loops", request)
        self._texts: dict[str, TextFacts] = {}
        self._functions: dict[str, Functions] = {}
        if module is not None:
            vars(self)["module"] = module
        if self._key is not None:
            self._look_up(self._key)

    def _look_up(self, key: str) -> None:
        """Take facts from the index, if they are there and can be read."""
        with suppress(Exception):  # an answer that cannot be read is none, whatever is wrong with it
            facts, run, told = plan_index.answer(key)
            read = decode(facts), decode(run), {name: facts_of(text) for name, text in told.items()}
            vars(self)["facts"], vars(self)["run"], self._texts = read

    def encoded(self) -> Any:
        """Return the JSON form of what the loops are planned for."""
        if self.request is None:
            raise Unsayable("loops that a user has scheduled")
        return encode(self.request)

    @classmethod
    def decoded(cls, request: Request) -> Loops:
        """Return the loops that are planned for a request."""
        return cls(request)

    @cached
    def module(self) -> Module:
        """Return the functions of the loops, which are planned now if they are not."""
        assert self.request is not None
        return planning.module(self.request)

    @cached
    def facts(self) -> LoopFacts:
        """Return what is known once they are planned."""
        return planning.loop_facts(self.module.loops)

    @cached
    def run(self) -> RunFacts:
        """Return what is known once their functions are lowered."""
        return planning.run_facts(self.module)

    @property
    def text(self) -> str:
        """The computation in words: an expression, or what is done with tensors of which formats."""
        return self.facts.text if self.request is None or isinstance(self.request, LoopRequest) else self.run.described

    def functions(self, group: str) -> Functions:
        """Return functions of the loops."""
        functions = self._functions.get(group)
        if functions is None:
            facts = self.facts
            known = {name.partition("/")[2]: of for name, of in self._texts.items() if name.startswith(f"{group}/")}
            arity = 1 + len(facts.operands) + len(facts.fills)
            learn = None if self._key is None else partial(self._learn, group)
            made = Functions(partial(self._text, group), arity, self.run.described, known, learn)
            functions = self._functions.setdefault(group, made)
        return functions

    def _text(self, group: str, name: str) -> str:
        return self.module.text(f"{group}/{name}")

    def _learn(self, group: str, name: str, facts: TextFacts) -> None:
        """Keep what is known of the loops beside the library of a function."""
        self._texts = {**self._texts, f"{group}/{name}": facts}
        assert self._key is not None
        with suppress(Unsayable):
            texts = {name: as_json(of) for name, of in self._texts.items()}
            plan_index.keep(self._key, [encode(self.facts), encode(self.run), texts])

    def varied(self, change: Mapping[str, Any], keeps_order: bool) -> Loops:
        """Return the same for a variant with other fields; what a user has scheduled stays if it ``keeps_order``."""
        request = self.request
        if not isinstance(request, LoopRequest):  # loops that a user has scheduled
            planned = self.module.loops
            if keeps_order:
                return Loops(None, planning.varied(planned, change))
            request = LoopRequest(planned.assignment, planned.types, planned.variant, planned.skip_fill)
        return Loops(replace(request, variant=replace(request.variant, **change)))


def show(loops: Loops) -> None:
    """Print the stages and passes of loops that ``config.debug`` names."""
    stages = config.debug - {VERIFY}
    if not stages:
        return
    passes = loops.module.passes if stages.intersection(PASSES) or "all" in stages else {}
    for name, text in {**passes, **loops.module.stages}.items():
        if name in stages or "all" in stages:
            print(f"== {name}: {loops.text}\n{text}\n", file=sys.stderr)
