"""`loadgen --hold`: a server in a real control group does not run while all threads ask."""

import json
import signal
import subprocess
import sys
import tempfile
import unittest
from contextlib import ExitStack
from pathlib import Path

from real_lab import BUILD

from lab.rig.control_group import ControlGroup, Limits, limited
from lab.rig.errors import Failed

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
        line = key.fileobj.recv(100)
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


@unittest.skipUnless((BUILD / "loadgen").exists(), "loadgen is not built")
class HoldTest(unittest.TestCase):
    def setUp(self) -> None:
        self._stack = ExitStack()
        self.addCleanup(self._stack.close)
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            self.group: ControlGroup = self._stack.enter_context(limited(Limits(), self.folder))
        except Failed as error:
            self.skipTest(str(error))

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
        secret = {"LOADGEN_PASSWORD": "secret"}
        return subprocess.Popen(command, env=secret, text=True, **pipes)  # type: ignore[call-overload]

    def _refused(self, *flags: str, prefix: list[str] | None = None) -> str:
        running = self._start("--server", "127.0.0.1:1", *flags, prefix=prefix)
        _, said = running.communicate()
        self.assertEqual(running.returncode, 1)
        self.assertEqual(said.count("\n"), 1, said)
        return said

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
        """Its group has another process, so it can be held."""
        self._serve()
        running = self._start("--server", "127.0.0.1:1", "--json", "-")
        output, _ = running.communicate()
        self.assertEqual(running.returncode, 1)
        self.assertEqual(json.loads(output)["burst"]["failed"], _THREADS * _ROUNDS)

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
