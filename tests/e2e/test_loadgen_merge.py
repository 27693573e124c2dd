"""loadgen merge: one result of many testers."""

import json
import subprocess
from pathlib import Path

from loadgen_scene import GET, one_byte_file, slow_file
from peers import Peer
from programs import BUILD, environment, run
from scene import SceneTest
from waiting import LONG_S


class LoadgenMergeTest(SceneTest):
    def measure(self, *kinds: tuple) -> list[Path]:
        """Runs of as many testers at the same time."""
        peer = self.scene.keep(Peer(one_byte_file))
        paths = [self.scene.folder / f"{number}.json" for number in range(len(kinds))]
        running = [
            subprocess.Popen(
                [str(BUILD / "loadgen"), *GET, "--file", "a", "--server", str(peer)]
                + [str(flag) for flag in (*kind, "--json", path)],
                env=environment(),
                stderr=subprocess.DEVNULL,
            )
            for kind, path in zip(kinds, paths, strict=True)
        ]
        for one in running:
            self.addCleanup(one.kill)
            one.wait(timeout=LONG_S)
        return paths

    def merged(self, *paths: Path, flags: tuple = (), status: int = 0) -> dict:
        out = self.scene.folder / "all.json"
        ended = run("loadgen", "merge", *paths, "--json", out, *flags)
        self.assertEqual(ended.returncode, status, ended.stderr)
        return json.loads(out.read_text())

    def refused(self, *paths: object) -> str:
        out = self.scene.folder / "none.json"
        ended = run("loadgen", "merge", *paths, "--json", out)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertFalse(out.exists())
        self.assertEqual(ended.stderr.count("\n"), 1)
        return ended.stderr

    def changed(self, path: Path, **fields: object) -> Path:
        copy = path.with_name("changed.json")
        copy.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
        return copy

    def test_the_sum_has_what_all_testers_have(self) -> None:
        for kind in (("--threads", 2), ("--rate", 50, "--threads", 3)):
            with self.subTest(kind):
                paths = self.measure(*[(*kind, "--seconds", 2)] * 3)
                parts = [json.loads(path.read_text()) for path in paths]
                hgrm = self.scene.folder / "all.hgrm"
                is_valid = all(part["valid"] for part in parts)  # on a busy machine it may not be
                status = 0 if is_valid else 1
                sum_of_all = self.merged(*paths, flags=("--distribution", hgrm), status=status)
                self.assertEqual(sum_of_all["valid"], is_valid)
                self.assertEqual(sum_of_all["merged_from"], 3)
                for name in ("requests", "bytes", "connections", "reconnects", "threads"):
                    self.assertEqual(sum_of_all[name], sum(part[name] for part in parts), name)
                buckets: dict[float, int] = {}
                for part in parts:
                    for upper, count in part["distribution"]:
                        buckets[upper] = buckets.get(upper, 0) + count
                self.assertEqual(sorted(map(list, buckets.items())), sum_of_all["distribution"])
                total = f"Total count    = {sum_of_all['requests']:12}]"
                self.assertIn(total, hgrm.read_text())
                rates = sum(part["throughput_rps"] for part in parts)
                self.assertAlmostEqual(sum_of_all["throughput_rps"], rates, delta=0.5 * rates)
                self.assertEqual(
                    sum(second["requests"] for second in sum_of_all["per_second"]),
                    sum(second["requests"] for part in parts for second in part["per_second"]),
                )
                self.assertLess(sum_of_all["start_spread_ms"], 2000)
                self.assertEqual(list(sum_of_all)[:4], list(parts[0])[:4])

    def test_the_sum_of_one_is_this_one(self) -> None:
        (path,) = self.measure(("--requests", 200))
        one, alone = json.loads(path.read_text()), self.merged(path)
        for name in ("requests", "bytes", "errors", "response_time_ms", "distribution", "halves"):
            self.assertEqual(alone[name], one[name], name)
        self.assertAlmostEqual(
            alone["throughput_rps"], one["throughput_rps"], delta=0.001 * one["throughput_rps"]
        )

    def test_errors_are_added_up_and_are_a_failure(self) -> None:
        peer = self.scene.keep(Peer(slow_file("a", 0.5)))
        path = self.scene.folder / "slow.json"
        flags = ("--requests", 2, "--timeout", 0.1, "--server", peer, "--json", path)
        run("loadgen", *GET, "--file", "a", *flags)
        (good,) = self.measure(("--requests", 2))
        found = self.merged(path, good, status=1)
        self.assertEqual(found["errors"], {"total": 2, "timeout": 2})

    def test_a_result_that_is_not_valid_is_named(self) -> None:
        good, other = self.measure(*[("--seconds", 1)] * 2)
        bad = self.changed(other, valid=False, invalid_because=["it was late"])
        found = self.merged(good, bad, status=1)
        self.assertFalse(found["valid"])
        self.assertEqual(found["invalid_because"], [f"{bad}: it was late"])

    def test_what_does_not_add_up_is_refused_in_one_line(self) -> None:
        (one,) = self.measure(("--requests", 2))
        self.assertIn("schema is 2", self.refused(one, self.changed(one, schema=2)))
        without = self.changed(one, distribution=None)
        self.assertIn(f"{without}: it has no distribution", self.refused(one, without))
        self.assertIn("another request", self.refused(one, self.changed(one, request="new")))
        sized = self.changed(one, bytes=2 * json.loads(one.read_text())["bytes"])
        self.assertIn("another size of files", self.refused(one, sized))
        nothing = self.scene.folder / "nothing.json"
        self.assertIn(f"read {nothing}: No such file", self.refused(nothing))
        nothing.write_text("[" * 100_000)
        self.assertIn("no JSON object", self.refused(nothing))
        self.assertIn("too large", self.refused("/dev/zero"))

    def test_a_sum_is_not_added_up_again(self) -> None:
        (one,) = self.measure(("--requests", 2))
        self.merged(one)
        self.assertIn("merged already", self.refused(one, self.scene.folder / "all.json"))

    def test_its_help_and_its_wrong_usage(self) -> None:
        told = run("loadgen", "merge", "--help")
        self.assertEqual(told.returncode, 0)
        self.assertIn("Usage: loadgen merge FILE...", told.stdout)
        self.assertIn("--distribution FILE", told.stdout)
        for wrong in ((), ("a.json",), ("--json", "x"), ("a.json", "--json", "x", "--user", "a")):
            self.assertEqual(run("loadgen", "merge", *wrong).returncode, 2, wrong)
        self.assertIn("loadgen merge", run("loadgen", "--help=all").stdout)
