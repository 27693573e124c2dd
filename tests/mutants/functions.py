"""Where the functions of a source file are: C++ in the form that clang-format gives it, and Python.

This is no parser of C++. It matches brackets, and tells a function from a class, a namespace and an
initializer by the words in front of the brace. What it takes for no function is only handled less
cheaply.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

# Comments, texts and directives: there are no brackets in them that count.
_HIDDEN = re.compile(
    r"""(?P<number>(?<!\w)\d[\w.']*)
    | //[^\n]* | /\*.*?\*/
    | R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
_NAMESPACE = re.compile(r"\s*(?:inline\s+)?(?:namespace\b|extern\s*$)")
_CLASS = re.compile(r"\s*(?:class|struct|union)\b")
_ENUM = re.compile(r"\s*enum\b")
_NAME = re.compile(
    r"((?:[A-Za-z_]\w*(?:<[^<>]*>)?\s*::\s*)*"
    r"(?:operator\s*(?:\(\)|\[\]|[^\w\s(]+|\w[\w:<>\s*&]*)|~?[A-Za-z_]\w*))\s*$"
)
# What stands in front of parentheses that hold no parameters. Macros are in capitals.
_NO_NAME = re.compile(
    r"(?:noexcept|alignas|decltype|explicit|requires|void|bool|int|__attribute__|[A-Z_]+)$"
)
_TO_THE_MEMBERS = re.compile(r"(?:\s|const|noexcept|[A-Z_]+)*:(?!:)")
_LAMBDA = re.compile(r"\]\s*(?:\([^()]*\)\s*)?(?:mutable\s*|noexcept\s*)*(?:->[^{};=]*)?$")


@dataclass(frozen=True)
class Function:
    """text[begin:end] is all of it, text[body:end] its body with the braces (of Python: all).

    name has the classes around it: Stream::receive. A lambda outside functions has the name of the
    variable that it initializes.
    """

    name: str
    begin: int
    body: int
    end: int
    is_constexpr: bool = False

    def is_called(self, name: str) -> bool:
        """Whether name is its name, or the end of it: receive, Stream::receive."""
        return self.name == name or self.name.endswith(("::" + name, "." + name))


def functions(path: str, text: str) -> list[Function]:
    """All functions that are in no other one. None of a file in another language."""
    if path.endswith((".cpp", ".h")):
        return _Cpp(text).found
    return list(_of_python(text)) if path.endswith(".py") else []


class _Cpp:
    def __init__(self, text: str) -> None:
        self._text = _HIDDEN.sub(_spaces, text)
        self._pairs = _pairs_of(self._text)
        self.found: list[Function] = []
        self._walk(0, len(text), ())

    def _walk(self, begin: int, end: int, classes: tuple[str, ...]) -> None:
        """Looks at what is between two braces of a namespace or a class, or at all."""
        at = head = begin
        while at < end:
            byte = self._text[at]
            if byte == ";":
                head = at + 1
            elif byte == "{" and self._take(head, at, classes):
                head = self._pairs[at] + 1
            if byte in "({[":
                at = self._pairs[at]
            at += 1

    def _take(self, head: int, brace: int, classes: tuple[str, ...]) -> bool:
        """What begins with this brace. False if what is before it goes on behind it."""
        close = self._pairs[brace]
        words = _ACCESS.sub(lambda found: " " * len(found[0]), self._text[head:brace])
        words = _without_template(words)
        if _NAMESPACE.match(words):
            self._walk(brace + 1, close, classes)
            return True
        name = self._function_name(words, head)
        if name is None and _ENUM.match(words):
            return True
        if name is None and _CLASS.match(words):
            named = re.findall(r"[A-Za-z_]\w*", re.split(r"(?<!:):(?!:)", words)[0])
            named = [word for word in named if word != "final"]
            self._walk(brace + 1, close, (*classes, named[-1]))
            return True
        if name == "":
            return False  # the initializer of a member, in front of the body of a constructor
        if name is None:
            self._take_lambdas(head, brace, words)
            return False
        begin = head + len(words) - len(words.lstrip())
        full = "::".join([*classes, name])
        if not re.search(r"\bconsteval\b", words):  # nothing can be chosen when it runs
            self.found.append(Function(full, begin, brace, close + 1, _is_constexpr(words)))
        return True

    def _function_name(self, words: str, head: int) -> str | None:
        """None: it is no function. Empty: its members are still to be initialized."""
        at = 0
        while (at := words.find("(", at)) >= 0:
            end = self._pairs[head + at] - head + 1
            before = words[:at]
            if before.rstrip().endswith("operator") and words[at:end].strip("() ") == "":
                at = end  # the first parentheses of operator()
                before = words[:at]
                end = self._pairs[head + words.find("(", at)] - head + 1
            named = _NAME.search(before)
            is_value = re.search(r"(?<![=<>!])=", re.sub(r"operator\s*\W+", "", before))
            if is_value:
                return None
            if named and not _NO_NAME.match(named[1]):
                return self._if_body(named[1], words[end:])
            at = end
        return None

    def _if_body(self, name: str, tail: str) -> str | None:
        if _TO_THE_MEMBERS.match(tail):
            return "" if re.search(r"[\w>]\s*$", tail) else _without_spaces(name)
        return None if re.search(r"(?<![=<>!])=(?!=)", tail) else _without_spaces(name)

    def _take_lambdas(self, head: int, brace: int, words: str) -> None:
        """Those of an initializer, which begins with this brace or in front of it."""
        before = re.split(r"[={]", words)[0]
        named = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[.*?\]", "", before))
        if not named:
            return
        inside = self._pairs[brace]
        at = brace
        while at <= inside:
            if self._text[at] == "{" and _LAMBDA.search(self._text[head:at]):
                end = self._pairs[at]
                self.found.append(Function(named[-1], head, at, end + 1, _is_constexpr(words)))
                at = end
            at += 1


def _is_constexpr(words: str) -> bool:
    return re.search(r"\bconst(?:expr|init)\b", words) is not None


def _spaces(found: re.Match[str]) -> str:
    return found[0] if found["number"] else re.sub(r"[^\n]", " ", found[0])


def _pairs_of(text: str) -> dict[int, int]:
    """Where each bracket is closed."""
    pairs: dict[int, int] = {}
    open_ones: list[int] = []
    for bracket in re.finditer(r"[(){}\[\]]", text):
        if bracket[0] in "({[":
            open_ones.append(bracket.start())
        elif open_ones:
            pairs[open_ones.pop()] = bracket.start()
    return pairs | {one: len(text) - 1 for one in open_ones}


def _without_template(words: str) -> str:
    """Spaces in place of each template<...> in front."""
    while found := re.match(r"\s*template\s*<", words):
        at, depth = found.end(), 1
        while at < len(words) and depth:
            depth += {"<": 1, ">": -1}.get(words[at], 0) if words[at - 1] != "-" else 0
            at += 1
        words = " " * at + words[at:]
    return words


def _without_spaces(name: str) -> str:
    return re.sub(r"\s*::\s*", "::", " ".join(name.split()))


def _of_python(text: str) -> Iterator[Function]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def inside(node: ast.AST, classes: tuple[str, ...]) -> Iterator[Function]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield from inside(child, (*classes, child.name))
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                begin, end = starts[first - 1], starts[child.end_lineno or first]
                yield Function(".".join([*classes, child.name]), begin, begin, end)

    yield from inside(ast.parse(text), ())
