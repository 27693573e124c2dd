"""Who called whom under callgrind, as stacks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

_NAMED = re.compile(r"c?fn=\((\d+)\)(?: (.*))?$")
_COST = re.compile(r"[+*\-\d]\S* (\d+)$")
_TEMPLATE = re.compile(r"<[^<>]*>")
_AGAIN = re.compile(r"'\d+$")  # of a function that calls itself
_OURS = ("fileserver::", "serve::", "net::", "wire::", "http::", "base::")


@dataclass(frozen=True)
class Frame:
    """A function below those that called it; share is of all instructions, with what it calls."""

    name: str
    share: float
    called: tuple[Frame, ...] = ()

    @property
    def depth(self) -> int:
        return 1 + max((each.depth for each in self.called), default=0)

    @property
    def is_ours(self) -> bool:
        """Whether the function is of this project, not of a library."""
        return self.name.startswith(_OURS)


def stacks(profile: str, least: float) -> tuple[Frame, ...]:
    """What was done for no caller, each function above what it called; none below the least share.

    Callgrind knows callers, not stacks: what a function took is shared out among its callers, in
    proportion to what it did for each. A function of a library that only passes on to another is
    left out, and so is one that calls itself, below the first time.
    """
    functions = _functions(profile)
    for_callers: dict[str, int] = defaultdict(int)
    for function in functions.values():
        for name, cost in function.calls.items():
            for_callers[name] += cost
    tops = [(name, float(one.whole - for_callers[name])) for name, one in functions.items()]
    return _Stacks(functions, least).frames(tops, ())


def short_name(function: str) -> str:
    """Without what it returns, its parameters, and namespaces that have no name."""
    if function.startswith("0x"):
        return "(no name)"
    plain = function.replace("(anonymous namespace)::", "").replace("[abi:cxx11]", "")
    before = None
    while before != plain:
        before, plain = plain, _TEMPLATE.sub("", plain)
    plain = plain.partition("(")[0] or plain
    return plain if "operator" in plain else plain.rpartition(" ")[2]


@dataclass
class _Function:
    own: int = 0
    calls: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @cached_property
    def whole(self) -> int:
        return self.own + sum(self.calls.values())


class _Stacks:
    def __init__(self, functions: Mapping[str, _Function], least: float) -> None:
        self._functions = functions
        self._total = sum(function.own for function in functions.values())
        self._least = least * self._total

    def frames(
        self, costs: Iterable[tuple[str, float]], above: tuple[str, ...]
    ) -> tuple[Frame, ...]:
        """The most expensive first."""
        kept = [(name, cost) for name, cost in costs if cost >= self._least and name not in above]
        kept.sort(key=lambda each: (-each[1], each[0]))
        return tuple(chain.from_iterable(self._frame(name, cost, above) for name, cost in kept))

    def _frame(self, name: str, cost: float, above: tuple[str, ...]) -> tuple[Frame, ...]:
        function = self._functions[name]
        part = cost / function.whole
        costs = [(callee, part * whole) for callee, whole in function.calls.items()]
        frame = Frame(short_name(name), cost / self._total, self.frames(costs, (*above, name)))
        passes_on = len(frame.called) == 1 and part * function.own < self._least
        return frame.called if passes_on and not frame.is_ours else (frame,)


def _functions(profile: str) -> dict[str, _Function]:
    """Reads what callgrind has written. A name stands there once, and then as its number."""
    names: dict[str, str] = {}
    functions: dict[str, _Function] = defaultdict(_Function)
    of = callee = ""
    is_call = False
    for line in profile.splitlines():
        if match := _NAMED.match(line):
            if match[2]:
                names[match[1]] = _AGAIN.sub("", match[2])
            if line.startswith("c"):
                callee = names[match[1]]
            else:
                of = names[match[1]]
        elif line.startswith("calls="):
            is_call = True
        elif match := _COST.match(line):
            if is_call and callee != of:
                functions[of].calls[callee] += int(match[1])
            elif not is_call:
                functions[of].own += int(match[1])
            is_call = False
    return functions
