"""The pages whose blocks are run, and the report about them."""

from collections import Counter

import paste
from shell import PROJECT

_AT_TOP = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "course/README.md", "tests/README.md")
# Reports of runs. They are made by a program, and have no commands.
_MADE = "docs/results/*/*.md"


def names() -> list[str]:
    """Every page, by its path in the checkout."""
    made = set(PROJECT.glob(_MADE))
    found = [path for path in sorted(PROJECT.glob("docs/**/*.md")) if path not in made]
    found += sorted(PROJECT.glob("tests/*/README.md"))
    return [*_AT_TOP, *(str(path.relative_to(PROJECT)) for path in found)]


def needs(name: str) -> set[str]:
    """What the commands of a page need, as in commands.NEEDS."""
    parts = paste.parts_of_page((PROJECT / name).read_text(encoding="utf-8"), name)
    return {need for part in parts for command in part.commands for need in command.needs}


def summary(outcome: paste.Outcome) -> str:
    text = "".join(f"FAILED {failure}\n" for failure in outcome.failed)
    text += f"{outcome.page}: {outcome.run} run, {len(outcome.failed)} failed"
    if outcome.not_run:
        text += f"; not run: {reasons(outcome.not_run)}"
    return f"{text}; {outcome.seconds:.1f} s"


def reasons(not_run: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(not_run.items()))
