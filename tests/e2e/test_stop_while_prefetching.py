"""SIGTERM and SIGINT while files are prefetched: the fileserver ends at once, without READY."""

import os
import signal
import subprocess
from pathlib import Path

from programs import BUILD, environment
from scene import SceneTest
from waiting import LONG_S, eventually

FILES = 5000
TRIES = 10


def blocks(pid: int, number: int) -> bool:
    """Whether the process blocks this signal, to take it later."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    return bool(int(status["SigBlk"], 16) & 1 << (number - 1))


class StopWhilePrefetchingTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        for number in range(FILES):
            os.utime(self.scene.write(f"{number}", b"x" * 5000), (1, 1))

    def was_ready_when_stopped_early(self, number: int) -> bool:
        command = [
            str(BUILD / "fileserver"),
            "--listen",
            "127.0.0.1:0",
            "--root",
            str(self.scene.root),
        ]
        process = subprocess.Popen(
            command,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            eventually(lambda: blocks(process.pid, number), "it is about to read")
            process.send_signal(number)
            printed, _ = process.communicate(timeout=LONG_S)
        finally:
            process.kill()
            process.wait()
        self.assertEqual(process.returncode, 0)
        return b"READY" in printed

    def test_it_ends_with_status_0_and_is_never_ready(self) -> None:
        # Several attempts, because a signal may come too late, after all files were read.
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                self.assertFalse(
                    all(self.was_ready_when_stopped_early(number) for _ in range(TRIES))
                )
