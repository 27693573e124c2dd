#!/usr/bin/env python3
"""Plays a dialogue of a page with a server: play.py HOST PORT FILE.

In the file, a line `> TEXT` is sent, and the lines below it must be the answer. Or, byte by byte,
`C: 6f 6b   comment` is sent, and `S: 4f ...` must be answered: those bytes, and then any to the LF.
Exits with status 1 and says what was answered if it was something else.
"""

import re
import socket
import sys
from pathlib import Path

_BYTES = re.compile(r"([CS]): ((?:[0-9a-f]{2} )*(?:[0-9a-f]{2}|\.\.\.))(?=\s|$)")


def play_lines(lines: list[str], server: socket.socket) -> None:
    answers = server.makefile("rb")
    for line in lines:
        if line.startswith("> "):
            server.sendall(line[2:].encode() + b"\n")
        elif line:
            _require(line, answers.readline().decode(errors="replace").rstrip("\n"))


def play_bytes(lines: list[str], server: socket.socket) -> None:
    answers = server.makefile("rb")
    for line in filter(None, lines):
        found = _BYTES.match(line)
        if not found:
            sys.exit(f"this line of a dialogue is of no known form: {line}")
        text = found[2].removesuffix("...")
        data = bytes.fromhex(text)
        if found[1] == "C":
            server.sendall(data)
        else:
            answer = answers.read(len(data))
            _require(data.hex(" "), answer.hex(" "))
            if text != found[2]:
                answers.readline()


def _require(wanted: str, answer: str) -> None:
    if answer != wanted:
        sys.exit(f"the page says:      {wanted}\nthe server answers: {answer}")


def main() -> None:
    host, port, script = sys.argv[1:]
    lines = Path(script).read_text(encoding="utf-8").splitlines()
    with socket.create_connection((host, int(port)), timeout=20) as server:
        (play_bytes if lines[0][:2] in ("C:", "S:") else play_lines)(lines, server)


if __name__ == "__main__":
    main()
