"""The commands of a block, and why some of them are not run."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from blocks import Block

# What a block is, by its form. Anything else in a fence is an error.
SHELL = ("indented", "sh", "bash")
# Blocks that nobody pastes into a shell, and what the report calls them.
NOT_SHELL = {
    "plain": "text",
    "text": "text",
    "json": "a file",
    "yaml": "a file",
    "haproxy": "a file",
    "ini": "a file",
    "nginx": "a file",
    "logrotate": "a file",
}
# The comment `<!-- not run: REASON -->` above a block: all reasons that there are.
REASONS = (
    "changes this system",  # installs, or writes into /etc
    "needs cgroups of version 1",
    "needs another server",  # one that the reader has, such as an FTP server
    "needs a swarm",
    "downloads an image",
    "runs until Ctrl-C",
)
# What `<!-- needs: NAME -->` may name, and what the form of a command says that it needs.
NEEDS = (
    *("docker", "root", "namespaces", "redis", "strace", "perf", "nc", "several cores"),
    *("wget", "aria2c", "lftp", "rclone", "jq"),
)
_NEEDS_BY_FORM = (
    (re.compile(r"\bdocker\b"), "docker"),
    (re.compile(r"\bsudo\b"), "root"),
    (re.compile(r"\b(pidof|pgrep|pkill)\b"), "namespaces"),
    (re.compile(r"(^|[;&|]\s*)nc\s"), "nc"),
    (re.compile(r"(^|[;&|]\s*)wget\s"), "wget"),
    (re.compile(r"(^|[;&|][\s\\]*)aria2c\s"), "aria2c"),  # it may stand on the next line
    (re.compile(r"(^|[;&|]\s*)lftp\s"), "lftp"),
    (re.compile(r"(^|[;&|]\s*)rclone\s"), "rclone"),
    (re.compile(r"(^|[;&|]\s*)jq\s"), "jq"),
    (re.compile(r"(^|[;&|]\s*)(sudo )?strace\s"), "strace"),
    (re.compile(r"(^|[;&|]\s*)(sudo )?perf\s"), "perf"),
)
# Commands that take over a quarter of a minute. Only `tests/docs/run --all` runs them.
_LONG = re.compile(
    r"(^|[;&|]\s*|\s)(make\b(?! help| test-list)|scripts/lab (run|search|limits|compare|report)\b"
    r"|scripts/(demo|bench|bench-scale)\b|tests/with-stores\b|tests/(torture|install)/run\b)"
)
# These change the system or install something, so nobody's machine should have them run by a test.
_CHANGES_SYSTEM = re.compile(
    r"\b(apt|apt-get|systemctl|scripts/setup\S*)\b"
    r"|\bmake (install|uninstall|setup|setup-dev)\b"
)
_SYSTEM_FOLDER = re.compile(r"(?<![\w.])/(etc|opt|root|srv|usr|var)/")
# These pages change the whole host, so they are pasted on a fresh one.
PASTED_ELSEWHERE = {
    "docs/install.md": "pasted by tests/install/run",
    "docs/share.md": "pasted by tests/install/run",
}
# They serve until Ctrl-C, after a build. tests/scripts/test_try.py runs them.
_UNTIL_CTRL_C = re.compile(r"\bmake try\b|scripts/try\b")
# In the short form, these parts of commands are replaced.
SHORTER = (
    (re.compile(r"--seconds [\d.]+"), "--seconds 1"),
    (
        re.compile(r"--users \d{3,} --pace \d+"),
        "--users 50 --pace 5000 --least-rate 20 --ramp 1 --until-stable 1",
    ),
    (
        re.compile(
            r"build/loadgen (get|put|new)(?!.*--(seconds|requests|users|accounts|life)\b)", re.S
        ),
        r"build/loadgen \1 --seconds 1",
    ),
    (re.compile(r"--rate 2000 "), "--rate 200 "),
    (re.compile(r"--ramp \d+ --life \d+"), "--ramp 0.5 --life 1"),
    (re.compile(r"sleep 5\b"), "sleep 1"),
)
_DIALOGUE = re.compile(r"> |C: |S: ")
_SERVER = re.compile(r"^(\w+=\S+ |sudo )*build/(authserver|fileserver)\b")
_TERMINAL = re.compile(r"\s#\s*(\d+):\s*(.*)$")


class BadBlock(Exception):
    """A block is of no known form, or its comment names no known reason."""


@dataclass(frozen=True)
class Command:
    """A command, with all of its lines."""

    page: str
    line: int
    text: str
    needs: tuple[str, ...] = ()
    long: bool = False
    not_run: str = ""  # one of REASONS, or empty
    typed: str = ""  # what the reader types when it asks

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def terminal(self) -> tuple[str, str] | None:
        """The number of the terminal that the command is for, and what is said about it."""
        found = _TERMINAL.search(self.text)
        return (found[1], found[2]) if found else None

    @property
    def is_server(self) -> bool:
        """Whether it is a server in the foreground, which the reader ends with Ctrl-C."""
        return bool(_SERVER.match(self.text)) and "&" not in without_comment(self.text)

    @property
    def good_statuses(self) -> tuple[int, ...]:
        """lab doctor exits with 1 if this machine lacks something, lab run with 3 if it is busy."""
        if re.search(r"\blab doctor\b", self.text):
            return (0, 1)
        return (0, 3) if re.search(r"\blab (run|search)\b", self.text) else (0,)

    def shortened(self) -> str:
        text = self.text
        for pattern, instead in SHORTER:
            text = pattern.sub(instead, text)
        return text


@dataclass(frozen=True)
class Part:
    """A block, or its lines up to a dialogue, or the dialogue."""

    block: Block
    kind: str  # commands, dialogue, output, or one of the values of NOT_SHELL
    line: int
    commands: tuple[Command, ...] = ()
    lines: tuple[str, ...] = ()


def parts_of(block: Block) -> list[Part]:
    """Raises BadBlock."""
    dialogue = _dialogue_start(block)
    if "output" in block.notes:
        return [Part(block, "output", block.line, lines=block.lines)]
    if dialogue is None and block.language in NOT_SHELL:
        _require_no_commands(block)
        return [Part(block, NOT_SHELL[block.language], block.line)]
    if dialogue is None and block.language not in SHELL:
        raise BadBlock(f"{block.place}: a fence of {block.language} is of no known kind")
    if dialogue is None:
        return [Part(block, "commands", block.line, _commands(block, len(block.lines)))]
    found = [Part(block, "dialogue", block.line + dialogue, lines=block.lines[dialogue:])]
    if dialogue:
        found.insert(0, Part(block, "commands", block.line, _commands(block, dialogue)))
    return found


def _dialogue_start(block: Block) -> int | None:
    """Dialogues begin at the start of a block, or behind a blank line."""
    for number, line in enumerate(block.lines):
        if _DIALOGUE.match(line) and (number == 0 or not block.lines[number - 1].strip()):
            return number
    return None


def _require_no_commands(block: Block) -> None:
    looks = re.compile(r"\s*(\$ |(sudo )?(build/\w+|scripts/\w+|make|curl|docker|tests/\w+)\s)")
    for number, line in enumerate(block.lines):
        if block.language in ("plain", "text") and looks.match(line):
            raise BadBlock(
                f"{block.page}:{block.line + number}: this looks like a command, but a block that "
                "is a text is not run; use ```sh, or indent it"
            )


def _commands(block: Block, end: int) -> tuple[Command, ...]:
    notes = _notes(block)
    found = list(_split(block, end))
    needs = notes.needs
    if any("docker" in _needs(text) for _, text in found):
        needs = [*needs, "docker"]  # what stands beside it speaks to what Docker has started
    if notes.typed and len(found) != 1:
        raise BadBlock(f"{block.place}: lines behind one that asks would be taken for the answer")
    return tuple(
        Command(
            block.page,
            block.line + number,
            text,
            tuple(dict.fromkeys((*needs, *_needs(text)))),
            notes.long or bool(_LONG.search(without_comment(text))),
            PASTED_ELSEWHERE.get(block.page) or notes.not_run or _never_run(text),
            notes.typed,
        )
        for number, text in found
    )


@dataclass
class _Notes:
    """What the comments above a block say."""

    needs: list[str] = field(default_factory=list)
    not_run: str = ""
    long: bool = False
    typed: str = ""


def _notes(block: Block) -> _Notes:
    notes = _Notes()
    for note in block.notes:
        key, _, value = note.partition(":")
        value = value.strip()
        if key == "needs" and value in NEEDS:
            notes.needs.append(value)
        elif key == "not run" and value in REASONS:
            notes.not_run = value
        elif key == "types" and value:
            notes.typed = f"{value}\n"
        elif key == "long" and not value:
            notes.long = True
        else:
            raise BadBlock(f"{block.place}: no such reason: {note}")
    return notes


def _never_run(text: str) -> str:
    command = without_comment(text)
    if _CHANGES_SYSTEM.search(command) or (
        _SYSTEM_FOLDER.search(command) and "docker" not in command
    ):
        return "changes this system"
    return "runs until Ctrl-C" if _UNTIL_CTRL_C.search(command) else ""


def _needs(text: str) -> list[str]:
    return [name for pattern, name in _NEEDS_BY_FORM if pattern.search(without_comment(text))]


def _split(block: Block, end: int) -> Iterator[tuple[int, str]]:
    """Each command with the number of its first line. bash says where a command is complete."""
    start = 0
    held: list[str] = []
    for number, line in enumerate(block.lines[:end]):
        if not held and (not line.strip() or line.lstrip().startswith("#")):
            continue
        start = start if held else number
        held.append(line)
        if re.search(r"\.\.\.(\s|$|')|…", without_comment(line)):
            raise BadBlock(f"{block.page}:{block.line + number}: nobody can paste the dots: {line}")
        if not line.endswith("\\") and _is_complete("\n".join(held)):
            yield start, "\n".join(held)
            held = []
    if held:
        raise BadBlock(f"{block.page}:{block.line + start}: bash cannot parse this: {held[0]}")


def _is_complete(text: str) -> bool:
    checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    return checked.returncode == 0 and not checked.stderr


def without_comment(text: str) -> str:
    return re.sub(r"\s+#\s.*$", "", text, flags=re.MULTILINE)
