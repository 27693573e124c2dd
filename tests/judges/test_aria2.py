"""aria2: one file by four connections, and again after it was killed in between."""

import re

from judge_scene import LARGE, PASSWORD, USER, JudgeTest, needs
from waiting import eventually

_PIECE_BYTES = 1 << 20


@needs("aria2c")
class Aria2Test(JudgeTest):
    def command(self, *arguments: str) -> tuple[str, ...]:
        parallel = ("-x4", "-s4", "-k1M", "--no-conf", "--file-allocation=none")
        account = (f"--http-user={USER}", f"--http-passwd={PASSWORD}")
        return ("aria2c", *parallel, *account, *arguments, f"{self.url}/large.bin")

    def got(self) -> bytes:
        return (self.work / "large.bin").read_bytes()

    def test_four_connections(self) -> None:
        for challenge in ("true", "false"):
            with self.subTest(challenge=challenge):
                (self.work / "large.bin").unlink(missing_ok=True)
                self.run_judge(*self.command(f"--http-auth-challenge={challenge}"))
                self.assertEqual(self.got(), LARGE)

    def test_it_goes_on_after_it_was_killed(self) -> None:
        control = self.work / "large.bin.aria2"
        slow = ("--max-download-limit=200K", "--auto-save-interval=1")
        first = self.start_judge(*self.command(*slow))
        # Its control file is written when it starts. Later it names the parts that have come.
        before = eventually(lambda: control.exists() and control.read_bytes(), "it has started")
        eventually(lambda: control.read_bytes() not in (b"", before), "it has got a part")
        first.kill()
        first.wait()
        self.assertNotEqual(self.got(), LARGE)
        said = self.run_judge(*self.command("-c", "--console-log-level=info")).stdout
        starts = [int(start) for start in re.findall(r"Range: bytes=(\d+)-", said)]
        self.assertTrue(any(start % _PIECE_BYTES for start in starts), f"all again: {starts}")
        self.assertEqual(self.got(), LARGE)
        self.assertFalse(control.exists())
