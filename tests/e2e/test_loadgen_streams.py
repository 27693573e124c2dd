"""loadgen whose standard streams are closed, full, or read by nobody."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator

from loadgen_scene import GET, GET_LINE, LoadgenScene, one_byte_file
from peers import Peer
from programs import BUILD, environment
from scene import for_each
from waiting import eventually

LONG_S = 30


@contextlib.contextmanager
def unread_pipe() -> Iterator[int]:
    """The end to write to of a pipe that nobody can read."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)


@contextlib.contextmanager
def full_device() -> Iterator[int]:
    with open("/dev/full", "wb") as full:
        yield full.fileno()


@contextlib.contextmanager
def closed() -> Iterator[None]:
    yield None


# What becomes of standard error, by the name of the state that it is in.
STATES: dict[str, Callable[[], contextlib.AbstractContextManager[int | None]]] = {
    "closed": closed,
    "full": full_device,
    "unread": unread_pipe,
}


class LoadgenStreamsTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.peer = self.scene.keep(Peer(one_byte_file))
        self.json = self.scene.folder / "result.json"

    def start(self, stream: int, state: str, *flags: object) -> subprocess.Popen[bytes]:
        """With standard output (1) or standard error (2) in this state."""
        command = [str(BUILD / "loadgen"), *GET, "--file", "a", "--server", str(self.peer)]
        command += [str(flag) for flag in flags]
        with STATES[state]() as end:
            if end is None:
                command = ["sh", "-c", f'exec "$@" {stream}>&-', "sh", *command]
            its_end = subprocess.DEVNULL if end is None else end
            running = subprocess.Popen(
                command,
                env=environment() | {"LOADGEN_FISH": "a warning"},
                stdout=its_end if stream == 1 else subprocess.DEVNULL,
                stderr=its_end if stream == 2 else subprocess.DEVNULL,
            )
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        return running

    @for_each(tuple(STATES))
    def test_a_bad_standard_error_changes_nothing(self, state: str) -> None:
        running = self.start(2, state, "--requests", 20, "--json", self.json)
        self.assertEqual(running.wait(LONG_S), 0)
        result = json.loads(self.json.read_text())
        self.assertEqual((result["requests"], result["end"]), (20, "requests"))
        # No connection got the number of standard error, and with it the table.
        self.assertLessEqual(set(self.peer.lines), {GET_LINE, b"a\n"})

    @for_each(tuple(STATES))
    def test_a_bad_standard_error_hides_no_failure(self, state: str) -> None:
        flags = ("--password", "wrong", "--requests", 3, "--json", self.json)
        self.peer = self.scene.keep(Peer(lambda line, connection: b"ERR denied\n"))
        self.assertEqual(self.start(2, state, *flags).wait(LONG_S), 1)
        self.assertEqual(json.loads(self.json.read_text())["errors"]["denied"], 3)

    @for_each(tuple(STATES))
    def test_a_signal_is_told_by_the_status_too(self, state: str) -> None:
        asked = len(self.peer.lines)
        running = self.start(2, state, "--seconds", 3600, "--json", self.json)
        self.peer.wait_for_lines(asked + 1)
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(LONG_S), 143)
        self.assertEqual(json.loads(self.json.read_text())["end"], "signal")

    @for_each(tuple(STATES))
    def test_a_result_that_cannot_be_printed_is_a_failure(self, state: str) -> None:
        running = self.start(1, state, "--requests", 3, "--json", "-")
        self.assertEqual(running.wait(LONG_S), 1)

    def test_the_result_is_there_before_anything_is_printed(self) -> None:
        """The table fills a pipe that nobody reads yet."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
        command = [str(BUILD / "loadgen"), *GET, "--file", "a", "--server", str(self.peer)]
        command += ["--requests", "3", "--json", str(self.json)]
        running = subprocess.Popen(command, env=environment(), stderr=writer)
        os.close(writer)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        eventually(self.json.exists, "the result is written")
        self.assertIsNone(running.poll())
        while os.read(reader, 65536):
            pass
        self.assertEqual(running.wait(LONG_S), 0)
