"""The flags that a page names, each with the command that it belongs to."""

import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shell import PROJECT, programs

_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_WORD = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*|[\w./][\w./-]*|[&|;`()\n]")
_ROW = re.compile(r"^\| (`--.*?) \| ([a-z, ]+)[.;|].*$", re.MULTILINE)
_ENDS_COMMAND = frozenset("&|;`()")
# Commands of others, with those of their flags that the pages name.
FOREIGN: dict[str, set[str]] = {
    "apt-get": {"--reinstall"},
    "aria2c": {"--checksum", "--http-passwd", "--http-user"},
    "certbot": {"--deploy-hook", "--standalone"},
    "curl": {"--anyauth", "--cacert", "--etag-save", "--resolve"},
    "docker": {"--build", "--entrypoint", "--env-file", "--network", "--no-deps", "--profile"}
    | {"--image", "--label-add", "--publish-add", "--rm", "--update-order", "--wait"},
    "logrotate": {"--force"},
    "make": set(),
    "nginx": set(),
    "perf": {"--stdio"},
    "rclone": {"--config", "--dir-cache-time", "--download", "--http-url", "--multi-thread-cutoff"}
    | {"--read-only", "--vfs-cache-mode"},
    "redis-server": {"--daemonize", "--dir", "--port", "--replicaof", "--save", "--sentinel"},
    "rsync": {"--delete", "--temp-dir"},
    "systemctl": {"--no-pager", "--now"},
    "systemd-tmpfiles": {"--create"},
    "unshare": set(),
    "wget": {"--password", "--user"},
}
# Our scripts that have commands with flags of their own.
_COMMANDS = {
    "scripts/course": ("check", "grade"),
    "scripts/lab": (
        *("list", "run", "ab", "search users", "report", "watch", "compare", "doctor", "limits"),
    ),
}
# What runs in the containers of these names.
_IN_DOCKER = {"files": "scripts/make-files", "turnstile/loadgen": "loadgen"}


def of_help(command: list[str]) -> set[str]:
    """The flags in the help text of a program."""
    said = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, timeout=60)
    return set(_FLAG.findall(said.stdout)) | {"--help"}


def ours() -> dict[str, set[str]]:
    """The flags of each of our programs and scripts."""
    helps = {name: [str(path), "--help=all"] for name, path in programs().items()}
    for script in _scripts():
        helps[str(script.relative_to(PROJECT))] = [str(script), "--help"]
    for with_commands, commands in _COMMANDS.items():
        for command in commands:
            helps[f"{with_commands} {command}"] = [with_commands, *command.split(), "--help"]
    helps["ask"] = ["docker/ask", "--help"]
    with ThreadPoolExecutor() as pool:
        found = dict(zip(helps, pool.map(of_help, helps.values()), strict=True))
    for with_commands, commands in _COMMANDS.items():
        found[with_commands] = set().union(
            *(found.pop(f"{with_commands} {name}") for name in commands)
        )
    found["scripts/accounts"] |= found["authserver"]
    found["accounts"] = found["scripts/accounts"]
    found["lab"] = found["scripts/lab"]
    return found


def _scripts() -> list[Path]:
    scripts = [path for path in (PROJECT / "scripts").iterdir() if path.is_file()]
    runners = [PROJECT / "tests" / name for name in ("docs/run", "torture/run", "run_unittests.py")]
    return sorted(scripts) + runners


def on_page(text: str, known: dict[str, set[str]]) -> Iterator[tuple[int, str, str]]:
    """Each flag with its line and its command, which is empty if the page names none before it.

    A flag belongs to the last command before it in the same line of code, or in the same code span.
    """
    command, number, in_span = "", 1, False
    for found in _WORD.finditer(text):
        word = found[0]
        if word == "\n":
            number += 1
            command = command if in_span or text[: found.start()].endswith("\\") else ""
        elif word in _ENDS_COMMAND:
            in_span = not in_span if word == "`" else in_span
            command = ""
        elif word.startswith("--"):
            yield number, word, command
        elif command == "docker" and word in _IN_DOCKER:
            command = _IN_DOCKER[word]
        elif word.removeprefix("build/") in (*FOREIGN, *known):
            command = word.removeprefix("build/")


def by_group(help_text: str) -> dict[str, list[str]]:
    """The flags of a program by the groups of its --help=all, as a page has them.

    Each has its value, and its default in brackets: `--rate R`, `--seed N` [1].
    """
    groups: dict[str, list[str]] = {}
    for line in help_text.splitlines():
        if re.fullmatch(r"[A-Z][\w ]*:", line):
            flags = groups.setdefault(line[:-1], [])
        flag = re.match(r"  (--\w\S*(?: \S+)?)(  \[\S+\])?(  |$)", line)
        if flag:
            default = f" {flag[2].strip()}" if flag[2] else ""
            text = flag[1].replace("|", "\\|")
            flags.append(f"`{text}`{default}".replace("[|", "["))
    return {name: flags for name, flags in groups.items() if flags}


def unknown(text: str, known: dict[str, set[str]]) -> list[tuple[int, str]]:
    """The flags that nobody has, with their lines."""
    everywhere = set().union(*known.values(), *FOREIGN.values())
    wrong = []
    for line, flag, command in on_page(text, known):
        if flag not in {**FOREIGN, **known}.get(command, everywhere):
            wrong.append((line, f"{command} {flag}".strip()))
    return wrong


def rows_with_owners(text: str) -> list[tuple[str, set[str], list[str]]]:
    """The rows of tables `| flags | of |`: each row, its flags, and the programs that it names."""
    rows = [(row[0], _FLAG.findall(row[1]), _owners(row[2])) for row in _ROW.finditer(text)]
    return [(row, set(flags), owners) for row, flags, owners in rows if owners]


def of_no_owner(text: str, known: dict[str, set[str]]) -> list[str]:
    """The rows whose programs do not have these flags."""
    return [
        row
        for row, flags, owners in rows_with_owners(text)
        if not flags <= set().union(*(known[owner] for owner in owners))
    ]


def _owners(cell: str) -> list[str]:
    words = cell.replace("both servers", "authserver fileserver").replace(",", " ").split()
    return [word for word in words if word in ("authserver", "fileserver", "loadgen")]
