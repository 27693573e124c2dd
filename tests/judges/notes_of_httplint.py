"""Lets httplint judge answers: notes_of_httplint.py FILE...

Each file has one answer as it was received. For each, prints a line with a form feed, and then
what httplint says. test_lint.py runs this with the Python of `make judges`: once for all answers,
because httplint takes long to start.
"""

import sys
from pathlib import Path

from httplint.cli import main


def judge(paths: list[str]) -> None:
    for path in paths:
        print("\f")
        sys.argv[1:] = ["--now"]
        with Path(path).open() as sys.stdin:
            main()


if __name__ == "__main__":
    judge(sys.argv[1:])
