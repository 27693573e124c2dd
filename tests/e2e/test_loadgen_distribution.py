"""loadgen: the whole distribution of the response times."""

import json

from loadgen_scene import GET, LoadgenScene
from programs import run


def counted(buckets: list) -> int:
    return sum(count for _, count in buckets)


def lines_of(hgrm: str) -> list[list[float]]:
    """The numbers of each line between the head and the foot."""
    lines = [line.split() for line in hgrm.splitlines() if line and not line.startswith("#")]
    return [[float(number) for number in line] for line in lines[1:]]


class LoadgenDistributionTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.serve()

    def measured(self, *flags: object) -> dict:
        """On a busy machine loadgen may be late. Then the run is not valid, but has its figures."""
        path = self.scene.folder / "result.json"
        run("loadgen", *flags, "--server", self.fileserver, "--json", path)
        result = json.loads(path.read_text())
        self.assertEqual(result["errors"], {"total": 0})
        return result

    def assert_is_distribution(self, result: dict) -> None:
        buckets, times = result["distribution"], result["response_time_ms"]
        uppers = [upper for upper, _ in buckets]
        self.assertEqual(uppers, sorted(set(uppers)))
        self.assertTrue(all(count > 0 for _, count in buckets))
        self.assertGreaterEqual(uppers[-1], times["max"])
        self.assertLessEqual(uppers[-1], 1.016 * times["max"] + 1e-4)
        half = (counted(buckets) + 1) // 2
        passed = 0
        for end, count in buckets:
            passed += count
            if passed >= half:
                upper = end
                break
        self.assertLessEqual(times["p50"], upper)
        self.assertGreaterEqual(times["p50"], 0.984 * upper - 1e-4)

    def assert_halves_are_the_whole(self, result: dict) -> None:
        sums: dict[float, int] = {}
        for half in result["halves"]:
            for upper, count in half:
                sums[upper] = sums.get(upper, 0) + count
        self.assertEqual(sorted(map(list, sums.items())), result["distribution"])

    def test_every_kind_of_loop_has_it_and_its_halves(self) -> None:
        for kind in (
            ("--threads", 2, "--seconds", 1),
            ("--threads", 2, "--requests", 9),
            ("--threads", 2, "--seconds", 1, "--rate", 50),
            ("--threads", 2, "--requests", 4, "--release", "transfer"),
        ):
            with self.subTest(kind):
                result = self.measured(*GET, "--file", "file1", *kind)
                self.assertEqual(counted(result["distribution"]), result["requests"])
                self.assert_is_distribution(result)
                self.assert_halves_are_the_whole(result)

    def test_a_run_by_number_has_half_of_each_threads_requests_in_each_half(self) -> None:
        for extra, halves in (((), [10, 8]), (("--release", "transfer"), [10, 8])):
            result = self.result(*GET, "--file", "file1", "--threads", 2, "--requests", 9, *extra)
            self.assertEqual([counted(half) for half in result["halves"]], halves)

    def test_the_halves_of_an_open_loop_are_those_of_its_window(self) -> None:
        result = self.measured(
            *GET, "--file", "file1", "--threads", 4, "--rate", 40, "--seconds", 2
        )
        self.assertEqual([counted(half) for half in result["halves"]], [40, 40])

    def test_the_service_and_the_lateness_of_an_open_loop_have_one_too(self) -> None:
        result = self.measured(*GET, "--file", "file1", "--rate", 20, "--seconds", 1)
        for name in ("service_distribution", "lateness_distribution"):
            self.assertEqual(counted(result[name]), 20)

    def test_a_run_that_ended_otherwise_has_no_halves(self) -> None:
        result = self.result(*GET, "--file", "file%d", "--unique", 3, "--once", "--seconds", 3600)
        self.assertEqual(result["requests"], 3)
        self.assertIsNone(result["halves"])

    def test_each_distribution_is_one_line_of_the_json(self) -> None:
        path = self.scene.folder / "r.json"
        flags = (*GET, "--file", "file1", "--requests", 5, "--server", self.fileserver)
        self.assertEqual(run("loadgen", *flags, "--json", path).returncode, 0)
        lines = [
            line for line in path.read_text().splitlines() if line.startswith('  "distribution"')
        ]
        self.assertEqual(len(lines), 1)
        self.assertIn("]]", lines[0])

    def test_the_text_form_says_the_same(self) -> None:
        path = self.scene.folder / "r.hgrm"
        result = self.result(
            *GET, "--file", "file1", "--threads", 2, "--requests", 50, "--distribution", path
        )
        text = path.read_text()
        lines = lines_of(text)
        self.assertTrue(
            text.startswith("       Value     Percentile TotalCount 1/(1-Percentile)\n")
        )
        self.assertEqual([len(line) for line in lines], [4] * (len(lines) - 1) + [3])
        self.assertEqual(lines[-1][1:], [1.0, 100.0])
        passed, counts = 0, set()  # each value with how many requests took no longer
        for upper, count in result["distribution"]:
            passed += count
            counts.add((round(upper, 3), passed))
        for value, share, count, *_ in lines:
            self.assertIn((value, count), counts)
            self.assertGreaterEqual(count, share * 100 - 1e-6)
        self.assertIn("#[Mean    =", text)
        self.assertIn(f"Total count    = {100:12}]", text)

    def test_it_goes_to_standard_output_too(self) -> None:
        flags = (*GET, "--file", "file1", "--requests", 5, "--server", self.fileserver)
        ended = run("loadgen", *flags, "--distribution", "-")
        self.assertEqual((ended.returncode, lines_of(ended.stdout)[-1][2]), (0, 5.0))

    def test_a_file_that_cannot_be_written_is_told_before_the_run(self) -> None:
        flags = (*GET, "--file", "file1", "--seconds", 3600, "--server", self.fileserver)
        ended = run("loadgen", *flags, "--distribution", self.scene.folder)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("loadgen: --distribution: write ", ended.stderr)

    def test_it_does_not_go_where_something_else_goes(self) -> None:
        for other in ("--json", "--transfers", "--series"):
            ended = run("loadgen", *GET, "--file", "a", other, "x", "--distribution", "x")
            self.assertEqual(ended.returncode, 2)
            self.assertIn(f"--distribution and {other} need different files", ended.stderr)

    def test_a_crowd_has_no_response_times(self) -> None:
        crowd = ("--users", 2, "--pace", 1000)
        ended = run("loadgen", *GET, "--file", "a", *crowd, "--distribution", "x")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--distribution", ended.stderr)
