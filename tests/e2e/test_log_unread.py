"""Standard error is a pipe that nobody reads, and it is full."""

import fcntl
import os
from contextlib import suppress

from scene import SceneTest, for_each
from waiting import eventually

_CLIENTS = 8
_REQUESTS = 20  # of each; with --log-level debug each has a line, and the pipe takes some
_CONTENT = b"content"


class UnreadLogTest(SceneTest):
    def small_pipe(self) -> tuple[int, list[str]]:
        """Its reading end, and what is put in front of a command whose errors go there."""
        path = self.scene.folder / "pipe"
        if not path.exists():
            os.mkfifo(path)
        reader = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        return reader, ["sh", "-c", f'exec "$@" 2> {path}', "sh"]

    @for_each(("thread", "process", "event"))
    def test_it_stops_no_request_and_is_told_what_was_lost(self, model: str) -> None:
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        self.scene.write("small", _CONTENT)
        reader, prefix = self.small_pipe()
        flags = ("--model", model, "--log-level", "debug", "--wrong-passwords", 0)
        server = self.scene.fileserver(authserver, *flags, prefix=prefix)
        clients = [self.scene.client(server) for _ in range(_CLIENTS)]
        for client in clients:
            self.assertEqual(client.ask("get:alice:wonderland"), "OK")
            for _ in range(_REQUESTS):
                self.assertEqual(client.ask("small"), _CONTENT)
        told = b""

        def is_told() -> bool:
            nonlocal told
            with suppress(BlockingIOError):
                told += os.read(reader, 1 << 16)
            self.assertEqual(clients[0].ask("no-file"), "not-found")
            return b"lines of the log were lost here" in told

        eventually(is_told, "the log says that lines were lost")
