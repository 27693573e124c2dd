"""Sources in which each function has all its mutations: copies of its body, one chosen at run time.

    bool is_user(std::string_view user) {
      ::turnstile_mutants::reach(4711);
      if (::turnstile_mutants::chosen == 12) { the body with mutation 12 }
      else { the body as it is }
    }

A mutation of what is not in the body of a function, such as a constant, needs a build of its own.
point.h says how a mutation is chosen when a program starts.
"""

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from functions import Function
from place import Mutation, Place, Sources

# What is linked with the library. Its files of C++ can have copies.
PROGRAMS = ("lib", "fileserver", "authserver", "loadgen", "lab/delay_line")
_COMPILED = re.compile(r"\.(?:cpp|h|c|css|js|sql)$")
POINTS = 1 << 20  # as in point.h
CHOSEN = "TURNSTILE_MUTATION"
REACHED = "TURNSTILE_REACHED"
MARK = "// mutation "  # stands in front of its name, above the copy


def number_of(name: str) -> int:
    """Of a mutation, in TURNSTILE_MUTATION. It depends on the name only, so files stay as built."""
    return zlib.crc32(name.encode()) & 0x7FFFFFFF or 1


def point_of(file: str, function: Function) -> int:
    """Of a function, in TURNSTILE_REACHED. Those of one name and file have one point."""
    return zlib.crc32(f"{file} {function.name}".encode()) % POINTS


@dataclass
class Plan:
    """How each mutation is tried."""

    chosen: dict[str, tuple[Mutation, Place, Function]] = field(default_factory=dict)
    compiled: list[Mutation] = field(default_factory=list)  # each in a build of its own
    replaced: list[Mutation] = field(default_factory=list)  # in a file that is not compiled

    def points(self) -> dict[str, int]:
        """Of the functions of the mutations that are chosen at run time, by their names."""
        return {
            name: point_of(place.file, function)
            for name, (_, place, function) in self.chosen.items()
            if not function.is_constexpr
        }

    def files(self, sources: Sources, paths: Iterable[str]) -> Mapping[str, str]:
        """The new text of each of these files that has functions."""
        by_file: dict[str, list[tuple[Mutation, Place, Function]]] = {}
        for one in self.chosen.values():
            by_file.setdefault(one[1].file, []).append(one)
        return {
            path: with_copies(path, sources, by_file.get(path, []))
            for path in paths
            if may_have_copies(path)
        }


def may_have_copies(path: str) -> bool:
    return path.endswith((".cpp", ".h")) and path.startswith(tuple(f"{one}/" for one in PROGRAMS))


def plan(mutations: Iterable[Mutation], sources: Sources) -> Plan:
    """Failed if the text of one is not where it should be."""
    made = Plan()
    for mutation in mutations:
        place = sources.place_of(mutation)
        function = sources.function_of(place) if may_have_copies(place.file) else None
        if function is not None:
            made.chosen[mutation.name] = (mutation, place, function)
        elif _COMPILED.search(place.file):
            made.compiled.append(mutation)
        else:
            made.replaced.append(mutation)
    return made


def with_copies(
    path: str, sources: Sources, mutated: Iterable[tuple[Mutation, Place, Function]]
) -> str:
    text = sources.text(path)
    by_function: dict[Function, list[tuple[Mutation, Place, Function]]] = {}
    for one in mutated:
        by_function.setdefault(one[2], []).append(one)
    parts, at = [], 0
    for function in sorted(sources.functions(path), key=lambda one: one.body):
        inside = by_function.get(function, [])
        if function.is_constexpr and not inside:
            continue
        parts += [text[at : function.body], _body(text, path, function, inside)]
        at = function.end
    return "".join([*parts, text[at:]])


def mutation_at(text: str, line: int) -> str:
    """The name of the mutation whose copy of a body has this line. Empty for any other line."""
    lines = text.splitlines()[:line]
    for number, one in enumerate(reversed(lines)):
        if MARK in one:
            return one.partition(MARK)[2]
        if (number and one.endswith("} else")) or "::turnstile_mutants::reach(" in one:
            return ""  # the original body, or no function at all
    return ""


def _body(
    text: str, path: str, function: Function, mutated: list[tuple[Mutation, Place, Function]]
) -> str:
    original = text[function.body : function.end]
    words = [f"::turnstile_mutants::reach({point_of(path, function)}U);"]
    for mutation, place, _ in mutated:
        body = text[function.body : place.begin] + place.new + text[place.end : function.end]
        condition = f"if (::turnstile_mutants::chosen == {number_of(mutation.name)})"
        words.append(f"{condition}  {MARK}{mutation.name}\n{body} else")
    copies = "\n".join([*words, original])
    if function.is_constexpr:
        return f"{{ if (__builtin_is_constant_evaluated()) {original} else {{ {copies} }} }}"
    return f"{{ {copies} }}"
