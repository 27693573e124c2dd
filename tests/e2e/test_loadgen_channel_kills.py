"""loadgen --channels --save is killed at random and started again: no wrong byte, none twice.

KILLS is the number of kills, SEED what their moments are drawn from. `make kills KILLS=1000`.
"""

import itertools
import json
import os
import random
import subprocess
import sys
import time

from http_client import FLAG as FRONT
from loadgen_scene import GET, LoadgenScene
from programs import BUILD, environment
from transfer_lines import lines_of
from waiting import LONG_S

_KILLS = int(os.environ.get("KILLS", "10"))
_SEED = os.environ.get("SEED") or str(random.randrange(10**6))
_CHANNELS = 4
_PART = 64 * 1024
_POOL = 5 * _PART

# What a run may have asked for and not written: what the pool holds, and two parts of each channel.
_OPEN_BYTES = _POOL + 2 * _CHANNELS * _PART
_LONGEST_S = 0.1  # a run that is not killed takes about as long


class LoadgenChannelKillsTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.content = random.Random(1).randbytes(24_000_000)
        self.scene.write("big", self.content)
        self.log = self.scene.folder / "transfers.json"
        self.serve(*FRONT, "--transfer-log", self.log)
        self.saved = self.scene.folder / "saved"
        self.saved.mkdir()
        self.left = self.saved / "big.loadgen-0.part"
        self.json = self.scene.folder / "killed.json"

    def command(self, write: str) -> list[str]:
        front = "{}:{}".format(*self.fileserver.further_address("http"))
        pool = ("--pool", _POOL) if write == "in-order" else ()
        flags: tuple[object, ...] = (
            *(*GET, "--protocol", "http", "--server", front, "--file", "big", "--requests", 1),
            *("--channels", _CHANNELS, *pool, "--save", self.saved, "--write", write),
            *("--json", self.json),
        )
        return [str(BUILD / "loadgen"), *map(str, flags)]

    def is_killed(self, write: str, after_s: float) -> bool:
        """Whether it was killed before it had ended."""
        with subprocess.Popen(
            self.command(write), env=environment(), stderr=subprocess.PIPE, text=True
        ) as running:
            try:
                _, said = running.communicate(timeout=after_s)
            except subprocess.TimeoutExpired:
                running.kill()
                return True
            self.assertEqual(running.returncode, 0, said)
            return False

    def prefix_after_kill(self) -> bytes | None:
        """None: it has begun no file."""
        return self.left.read_bytes() if self.left.exists() else None

    def whole_file(self, moments: random.Random, kills: int) -> int:
        """One file, by runs of which at most so many are killed. Returns how many were."""
        killed, prefix = 0, b""
        (self.saved / "big").unlink(missing_ok=True)
        for _ in itertools.count():
            may_kill = killed < kills
            after_s = moments.uniform(0, _LONGEST_S) if may_kill else LONG_S
            if not self.is_killed("in-order", after_s):
                break
            killed += 1
            if (self.saved / "big").exists():  # it had nothing more to do
                self.assertEqual((self.saved / "big").read_bytes(), self.content)
                return killed
            longer = self.prefix_after_kill()
            if longer is not None:
                self.assertGreaterEqual(len(longer), len(prefix))
                self.assertEqual(longer, self.content[: len(longer)])
                prefix = longer
        result = json.loads(self.json.read_text())
        self.assertEqual((self.saved / "big").read_bytes(), self.content)
        self.assertEqual(result["channels"]["resumed_bytes"], len(prefix))
        self.assertEqual(result["bytes"], len(self.content) - len(prefix))
        return killed

    def test_it_goes_on_where_it_was_killed(self) -> None:
        moments = random.Random(_SEED)
        killed = files = 0
        while killed < _KILLS:
            killed += self.whole_file(moments, min(8, _KILLS - killed))
            files += 1
        self.assertEqual(self.fileserver.stop(), 0)  # then its log is whole
        sent = sum(line["bytes"] for line in lines_of(self.log))
        text = f"SEED={_SEED}: {files} files, {killed} kills, {sent} bytes sent"
        self.assertGreaterEqual(sent, files * len(self.content), text)
        again = sent - files * len(self.content)
        self.assertLessEqual(again, killed * _OPEN_BYTES, text)
        if _KILLS > 10:
            print(f"{text}, {again // max(killed, 1)} again for each kill", file=sys.stderr)

    def test_in_place_a_kill_leaves_holes(self) -> None:
        """The control: what is looked for above is found where it must be."""
        moments = random.Random(_SEED)
        start_s = time.monotonic()
        self.assertFalse(self.is_killed("in-place", LONG_S))
        whole_s = time.monotonic() - start_s
        for _ in range(200):
            (self.saved / "big").unlink(missing_ok=True)
            if self.is_killed("in-place", moments.uniform(0, whole_s)) and self.left.exists():
                left = self.left.read_bytes()
                if left != self.content[: len(left)]:
                    break
        else:
            self.fail("no kill left a hole")
        self.assertFalse(self.is_killed("in-place", LONG_S))
        self.assertEqual((self.saved / "big").read_bytes(), self.content)
        result = json.loads(self.json.read_text())
        self.assertEqual(result["channels"]["resumed_bytes"], 0)
        self.assertEqual(result["channels"]["begun_again"], 1)
