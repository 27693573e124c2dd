"""`loadgen --hold`: a server in a real control group does not run while all threads ask."""

import contextlib
import ctypes
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from real_lab import BUILD

from rig.control_group import ControlGroup, Limits, limited
from rig.errors import Failed

_THREADS = 8
_ROUNDS = 20
_BURST = [str(BUILD / "loadgen"), "get", "--user", "ann", "--file", "a", "--release", "transfer"]
_BURST += ["--threads", str(_THREADS), "--requests", str(_ROUNDS)]

# A server that says how many of its clients it has found asking for a file at once.
_SERVER = """
import selectors, socket
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print(listener.getsockname()[1], flush=True)
waiting = selectors.DefaultSelector()
waiting.register(listener, selectors.EVENT_READ)
while True:
    asked = 0
    for key, _ in waiting.select():
        if key.fileobj is listener:
            waiting.register(listener.accept()[0], selectors.EVENT_READ)
            continue
        try:
            line = key.fileobj.recv(100)
        except ConnectionError:
            line = b""
        if not line:
            waiting.unregister(key.fileobj)
            key.fileobj.close()
        elif line == b"a\\n":
            asked += 1
            key.fileobj.sendall(b"OK 1\\nx")
        else:
            key.fileobj.sendall(b"OK\\n")
    if asked:
        print(asked, flush=True)
"""

_LONG_S = 60
_PR_SET_CHILD_SUBREAPER = 36
_names = itertools.count(1)


def _group_of_version_2() -> Iterator[ControlGroup]:
    """A group that can be frozen, also where only other controllers are of version 1."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    roots = [Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"]
    if not roots:
        raise Failed("no control groups of version 2")
    folder = roots[0] / f"turnstile-hold-{os.getpid()}-{next(_names)}"
    try:
        folder.mkdir()
    except OSError as error:
        raise Failed(f"no control group: {error}") from error
    group = ControlGroup(folders={"freezer": folder}, is_unified=True)
    yield group
    group.thaw()
    _until(lambda: _is_removed(folder))


def _is_removed(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        folder.rmdir()
    return not folder.exists()


def _hear_every_signal() -> None:
    """A shell, nohup or a build machine may have these ignored in all that it starts."""
    for each in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)


def _until(is_so: Callable[[], bool]) -> None:
    """Returns when it is so. AssertionError if it is not after a long time."""
    deadline = time.monotonic() + _LONG_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.0002)


class _HoldScene(unittest.TestCase):
    """A control group, a server in it, and runs of loadgen that hold it."""

    def setUp(self) -> None:
        self._stack = ExitStack()
        self.addCleanup(self._stack.close)
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            self.group: ControlGroup = self._stack.enter_context(self._made())
        except Failed as error:
            self.skipTest(str(error))

    def _made(self) -> contextlib.AbstractContextManager[ControlGroup]:
        return limited(Limits(), self.folder)

    def _serve(self) -> tuple[subprocess.Popen[str], str]:
        """A server in the group, and its address."""
        command = [*self.group.prefix, sys.executable, "-I", "-S", "-c", _SERVER]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._stack.enter_context(server)
        self._stack.callback(server.kill)
        self._stack.callback(self.group.thaw)  # a frozen process does not end
        assert server.stdout
        return server, "127.0.0.1:" + server.stdout.readline().strip()

    def _start(self, *flags: str, prefix: list[str] | None = None) -> subprocess.Popen[str]:
        command = [*(prefix or []), *_BURST, "--hold", str(self.group.to_freeze), *flags]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        env = {**os.environ, "LOADGEN_PASSWORD": "secret"}
        return subprocess.Popen(  # type: ignore[call-overload]
            command, env=env, text=True, preexec_fn=_hear_every_signal, **pipes
        )


class HoldTest(_HoldScene):
    def _refused(self, *flags: str, prefix: list[str] | None = None) -> str:
        running = self._start("--server", "127.0.0.1:1", *flags, prefix=prefix)
        _, said = running.communicate()
        self.assertEqual(running.returncode, 1)
        (why,) = [line for line in said.splitlines() if not line.startswith("warning: ")]
        return why  # a machine that is used otherwise may have few free entries for connections

    def test_all_have_asked_before_the_server_runs_again(self) -> None:
        server, address = self._serve()
        running = self._start("--server", address, "--json", "-")
        output, said = running.communicate()
        self.assertEqual(running.returncode, 0, said)
        burst = json.loads(output)["burst"]
        self.assertEqual((burst["transfers"], burst["failed"]), (_THREADS * _ROUNDS, 0))
        self.assertEqual(burst["release_spread_ms"], 0)
        server.kill()
        assert server.stdout
        found_at_once = [int(line) for line in server.stdout]
        self.assertEqual(found_at_once, [_THREADS] * _ROUNDS)

    def test_a_server_that_has_ended_is_no_reason_to_hang(self) -> None:
        """Its group has another process, so it can be held. A slow machine leaves rounds out, as
        loadgen stops when nothing has succeeded for some seconds."""
        self._serve()
        running = self._start("--server", "127.0.0.1:1", "--json", "-")
        output, _ = running.communicate()
        self.assertEqual(running.returncode, 1)
        result = json.loads(output)
        rounds, left_over = divmod(result["burst"]["failed"], _THREADS)
        self.assertEqual(left_over, 0)
        self.assertTrue(rounds == _ROUNDS or (rounds > 0 and result["end"] == "failed"), output)

    def test_the_server_goes_on_when_loadgen_is_stopped(self) -> None:
        server, address = self._serve()
        running = self._start("--server", address, "--requests", "100000")
        assert server.stdout
        for _ in range(3):
            server.stdout.readline()
        running.send_signal(signal.SIGINT)
        running.communicate()
        self.assertEqual(running.returncode, 128 + signal.SIGINT)
        again = self._start("--server", address)
        again.communicate()
        self.assertEqual(again.returncode, 0)

    def test_what_cannot_be_held_is_said_in_one_line(self) -> None:
        self.assertIn("no process", self._refused())
        self.assertIn("no folder of a control group", self._refused("--hold", str(self.folder)))
        self.assertIn("loadgen itself", self._refused(prefix=self.group.prefix))


class ThawTest(_HoldScene):
    """However loadgen ends, the server goes on."""

    def setUp(self) -> None:
        super().setUp()
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # the guard of a killed loadgen is ours
        self.addCleanup(ctypes.CDLL(None).prctl, _PR_SET_CHILD_SUBREAPER, 0)

    def _is_frozen(self) -> bool:
        if self.group.is_unified:
            return "frozen 1" in (self.group.to_freeze / "cgroup.events").read_text()
        return (self.group.to_freeze / "freezer.state").read_text() != "THAWED\n"

    def _end_while_held(self, address: str, *signals: signal.Signals) -> None:
        """Sends the signals to a loadgen that has just been seen to hold the server."""
        running = self._start("--server", address, "--requests", "100000")
        self.addCleanup(running.kill)
        _until(lambda: self._is_frozen() or running.poll() is not None)
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text()
        for each in signals:
            running.send_signal(each)
        _, said = running.communicate()
        ends = [end for each in signals for end in (-each, 128 + each)]
        self.assertIn(running.returncode, ends, said)
        with contextlib.suppress(ChildProcessError):  # loadgen has waited for it
            os.waitpid(int(children), 0)
        _until(lambda: not self._is_frozen())

    def _check_server_goes_on(self, address: str) -> None:
        again = self._start("--server", address, "--requests", "1")
        again.communicate(timeout=_LONG_S)
        self.assertEqual(again.returncode, 0)

    def test_after_kill_9(self) -> None:
        _, address = self._serve()
        for _ in range(12):
            self._end_while_held(address, signal.SIGKILL)
        self._check_server_goes_on(address)

    def test_after_a_crash(self) -> None:
        _, address = self._serve()
        for crash in (signal.SIGABRT, signal.SIGSEGV, signal.SIGHUP):
            self._end_while_held(address, crash)
        self._check_server_goes_on(address)

    def test_after_a_second_signal(self) -> None:
        """The run may also have ended by the first one, with a result."""
        _, address = self._serve()
        for _ in range(12):
            self._end_while_held(address, signal.SIGTERM, signal.SIGINT)
        self._check_server_goes_on(address)


class ThawOfVersion2Test(ThawTest):
    def _made(self) -> contextlib.AbstractContextManager[ControlGroup]:
        return contextlib.contextmanager(_group_of_version_2)()
