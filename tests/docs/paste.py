"""Pastes the blocks of a page, one after the other, and writes down what became of each command."""

import functools
import os
import re
import shlex
import shutil
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field

import blocks
from commands import BadBlock, Command, Part, parts_of
from shell import PROJECT, Gone, Shell, namespaces

LIMIT_S = 120.0
DOCKER_LIMIT_S = 540.0  # a store of Docker's may take minutes to start
FULL_LIMIT_S = 4 * 3600.0
_REDIS = (
    "mkdir -p /run/redis && redis-server --save '' --dir /run/redis --daemonize yes "
    "--unixsocket /run/redis/redis.sock >/dev/null && "
    "until redis-cli ping >/dev/null 2>&1; do sleep 0.1; done"
)
# Of the server that was started last: its job is a process group.
_CTRL_C = (
    "kill -INT -- -${started[-1]}; wait ${started[-1]}; set -- $?; unset 'started[-1]'; (exit $1)"
)


@dataclass
class Outcome:
    """What became of a page. `not_run` counts reasons; `failed` are texts for people."""

    page: str
    run: int = 0
    not_run: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Form:
    """How a page is run."""

    full: bool = False  # with the commands that take long, and each as it is written
    docker: bool = False  # only the blocks that need Docker, on the ports of this host

    @property
    def limit_s(self) -> float:
        if self.full:
            return FULL_LIMIT_S
        return DOCKER_LIMIT_S if self.docker else LIMIT_S


# A program may be there, and the system may still forbid what it does.
_PROBES = {
    **{
        name: ("sh", "-c", f"command -v {name}")
        for name in ("wget", "aria2c", "lftp", "rclone", "jq", "nc")
    },
    "perf": ("perf", "record", "-o", "/dev/null", "true"),
    "strace": ("strace", "-f", "-o", "/dev/null", "true"),
}


@functools.cache
def _works(probe: tuple[str, ...]) -> bool:
    try:
        return subprocess.run(probe, capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def available(form: Form) -> set[str]:
    """Which of commands.NEEDS this machine has."""
    found = {name for name, probe in _PROBES.items() if _works(probe)}
    if os.geteuid() == 0:
        found.add("root")
    if form.docker:
        found.add("docker")
    elif namespaces():
        found.add("namespaces")
        # Redis listens on its usual port, so it is started in a namespace only.
        found |= {"redis"} if shutil.which("redis-server") else set()
    if (os.cpu_count() or 1) >= 4:
        found.add("several cores")
    return found


def parts_of_page(text: str, name: str) -> list[Part]:
    """Raises commands.BadBlock or ValueError."""
    return [part for block in blocks.of_text(text, name) for part in parts_of(block)]


def run(name: str, form: Form, settings: dict[str, str] | None = None) -> Outcome:
    """Runs a page of the checkout. `settings` are variables for its shell."""
    return run_text((PROJECT / name).read_text(encoding="utf-8"), name, form, settings)


def run_text(text: str, name: str, form: Form, settings: dict[str, str] | None = None) -> Outcome:
    start = time.monotonic()
    outcome = Outcome(name)
    try:
        parts = parts_of_page(text, name)
    except (BadBlock, ValueError) as error:
        outcome.failed.append(str(error))
        return outcome
    runner = _Runner(form, outcome, settings or {})
    try:
        for part in parts:
            runner.run(part)
        runner.end_page(name)
    except Gone as error:
        outcome.failed.append(f"{runner.place}: {runner.text}\n{str(error)[-2000:]}")
    finally:
        runner.close()
    outcome.seconds = time.monotonic() - start
    return outcome


# What the load generator says of itself on a busy machine, where no run of it is valid.
_BUSY = (
    "the load generator itself was late",
    "loadgen itself was late",
    "threads waited for a core",
)


class _Runner:
    """Has a shell as soon as a command is to be run."""

    def __init__(self, form: Form, outcome: Outcome, settings: dict[str, str]) -> None:
        self.form = form
        self.outcome = outcome
        self.settings = settings
        self.have = available(form)
        self.shell: Shell | None = None
        self.place = self.text = ""  # of what runs now
        self.said = ""  # the output of the last block
        self.section = ""
        self.terminals: list[str] = []  # jobs in terminals of their own
        self.server = ""  # HOST PORT of the last nc, which plays the next dialogue
        self.ran_last = False
        self.redis = False

    def run(self, part: Part) -> None:
        if part.block.section != self.section:
            self._close_terminals()
            self.section = part.block.section
        if part.kind == "commands":
            self.said, self.ran_last = "", False
            for number, command in enumerate(part.commands):
                last = number + 1 == len(part.commands)
                self._command(command, last)
        elif part.kind == "output":
            self._output(part)
        elif part.kind == "dialogue":
            self._dialogue(part)
        else:
            self.outcome.not_run[part.kind] += 1

    def close(self) -> None:
        if self.shell:
            self.shell.close()

    def end_page(self, name: str) -> None:
        """A page that leaves something running does not say how to stop it."""
        self._close_terminals()
        if self.shell and self.form.docker:
            _, running = self.shell.paste("docker compose ps --quiet", self.form.limit_s)
            if running.strip():
                self.outcome.failed.append(f"{name}: the page does not say `docker compose down`")
        if self.shell:
            _, running = self.shell.paste("jobs -r", self.form.limit_s)
            if "Running" in running:
                self.outcome.failed.append(
                    f"{name}: the page does not stop what it starts\n{running}"
                )

    def _command(self, command: Command, last: bool) -> None:
        reason = self._reason(command)
        if reason:
            self.outcome.not_run[reason] += 1
            return
        text = command.text if self.form.full else command.shortened()
        self.ran_last = True
        if "redis" in command.needs and not self.redis:
            self._paste(command.place, "(starts Redis)", _REDIS)
            self.redis = True
        if command.terminal:
            self._in_terminal(command, text)
        elif command.is_server:
            if not last:
                self._fail(command.place, text, "it does not end, so the lines behind it wait", 1)
            self._until_ready(command.place, text)
        else:
            self._paste(command.place, text, text, command.good_statuses, command.typed)

    def _reason(self, command: Command) -> str:
        """Why the command is not run now, or an empty string."""
        if command.not_run:
            return command.not_run
        missing = [name for name in command.needs if name not in self.have]
        if missing:
            return f"needs {missing[0]}"
        if self.form.docker and "docker" not in command.needs:
            return "needs no Docker"
        return "long" if command.long and not self.form.full else ""

    def _paste(
        self,
        place: str,
        shown: str,
        text: str,
        expected: tuple[int, ...] = (0,),
        typed: str = "",
    ) -> None:
        self.place, self.text = place, shown
        status, said = self._get_shell().paste(text, self.form.limit_s, typed)
        self.said += said
        if status in expected or any(reason in said for reason in _BUSY):
            self.outcome.run += 1
        else:
            self._fail(place, shown, said, status)

    def _fail(self, place: str, shown: str, said: str, status: int) -> None:
        self.outcome.failed.append(f"{place}: {shown}\nexit status {status}\n{said[-2000:]}")

    def _get_shell(self) -> Shell:
        if not self.shell:
            isolated = bool(namespaces()) and not self.form.docker
            self.shell = Shell(self.form.full, isolated, self.settings)
        return self.shell

    def _until_ready(self, place: str, text: str) -> None:
        """A server in the foreground: the reader sees READY, and ends it with Ctrl-C."""
        self._start(place, text)
        self._paste(place, text, _CTRL_C, (0, 130))

    def _start(self, place: str, text: str) -> None:
        shell = self._get_shell()
        self.place, self.text = place, text
        _, said = shell.paste(f"{{ {text}\n}} & started+=($!)", self.form.limit_s)
        deadline = time.monotonic() + self.form.limit_s
        while "READY" not in said:
            status, more = shell.paste("sleep 0.05; kill -0 ${started[-1]}", self.form.limit_s)
            said += more
            if status != 0 or time.monotonic() > deadline:
                raise Gone(f"it did not become ready\n{said}")
        self.said += said

    def _in_terminal(self, command: Command, text: str) -> None:
        assert command.terminal
        number, comment = command.terminal
        address = re.search(r"\bnc (?:-\S+ )*(\S+) (\d+)", text)
        if address:
            self.server = f"{address[1]} {address[2]}"
            self.outcome.not_run["played as a dialogue"] += 1
            return
        self._start(command.place, text)
        self.terminals.append(number)
        self.outcome.run += 1
        expected = re.search(r"prints (READY \S+?)[,;.]?(\s|$)", comment)
        if expected and expected[1] not in self.said:
            self._fail(command.place, text, f"it does not print {expected[1]}\n{self.said}", 1)

    def _close_terminals(self) -> None:
        for _ in self.terminals:
            self._get_shell().paste(_CTRL_C, self.form.limit_s)
        self.terminals.clear()

    def _dialogue(self, part: Part) -> None:
        if self.shell is None:
            self.outcome.not_run["nothing runs that would answer"] += 1
            return
        script = self.shell.folder / "dialogue"
        script.write_text("\n".join(part.lines) + "\n", encoding="utf-8")
        player = shlex.quote(str(PROJECT / "tests/docs/play.py"))
        address = self.server or "127.0.0.1 9000"
        place = f"{part.block.page}:{part.line}"
        self._paste(place, "the dialogue", f"/usr/bin/python3 {player} {address} {script}")

    def _output(self, part: Part) -> None:
        """Every line of it was printed before, if numbers and blanks do not count."""
        if not self.ran_last:
            self.outcome.not_run["output of what was not run"] += 1
            return
        printed = {_stable(line) for line in self.said.splitlines()}
        missing = [line for line in part.lines if _stable(line) not in printed]
        if missing:
            lines = "\n".join(missing)
            self._fail(f"{part.block.page}:{part.line}", f"not printed:\n{lines}", self.said, 1)
        else:
            self.outcome.run += 1


def _stable(line: str) -> str:
    return re.sub(r"[\d.,]+", "0", re.sub(r"\s+", " ", line.strip()))
