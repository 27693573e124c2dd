"""What the bench decides: which promises it measures, at which load, and whether they are kept."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from host import PROJECT, ScriptTest, run

sys.path.insert(0, str(PROJECT))

from bench import before, cli, command, meters, promises, tls
from bench.promise import Outcome, Promise, Side, compare, in_turns
from bench.system import Bench
from lab.plan import catalog
from lab.systems.peers.packages import LeftOut
from rig.errors import WrongUsage
from rig.servers import Programs

BENCH = Bench(
    programs=Programs(Path("build")),
    folder=Path(),
    root=Path(),
    seconds=1,
    rounds=3,
    password="pw",
)


def promise(name: str, ratio: float, limit: float = 1.0, **options) -> Promise:
    return Promise(name, f"title of {name}", limit, lambda *_: Outcome(ratio, "seen"), **options)


class PromiseTest(unittest.TestCase):
    def test_a_ratio_at_its_limit_is_kept_and_one_beyond_is_not(self) -> None:
        at_least, at_most = promise("a", 0), promise("b", 0, at_most=True)
        self.assertTrue(at_least.is_kept(Outcome(1.0, "")))
        self.assertFalse(at_least.is_kept(Outcome(0.99, "")))
        self.assertTrue(at_most.is_kept(Outcome(1.0, "")))
        self.assertFalse(at_most.is_kept(Outcome(1.01, "")))

    def test_each_side_is_measured_at_its_own_best_load(self) -> None:
        ours = Side("ours", lambda n: 300 - abs(n - 8))
        theirs = Side("theirs", lambda n: 100 - abs(n - 32))
        outcome = compare(BENCH, ours, theirs)
        self.assertEqual(outcome.ratio, 3)
        self.assertEqual(outcome.evidence, "300/s at N=8 against 100/s of theirs at N=32")

    def test_a_side_may_have_loads_of_its_own(self) -> None:
        self.assertEqual(Side("sleeps", float, (8, 256)).best(), 256)

    def test_the_two_sides_take_turns_and_medians_count(self) -> None:
        order: list[str] = []
        rates = {"ours": iter([10.0, 90.0, 20.0]), "theirs": iter([10.0, 10.0, 10.0])}

        def rate(name: str) -> float:
            order.append(name)
            return next(rates[name])

        self.assertEqual(
            in_turns(BENCH, lambda: rate("ours"), lambda: rate("theirs")), (20.0, 10.0, 2.0)
        )
        self.assertEqual(order, ["ours", "theirs"] * 3)

    def test_names_are_words_and_unique_for_each_store(self) -> None:
        for store, listed in promises.OF_STORE.items():
            names = [each.name for each in listed]
            with self.subTest(store=store):
                self.assertEqual(len(names), len(set(names)))
                self.assertTrue(all(name.split() == [name] for name in names))


class TlsTest(unittest.TestCase):
    def test_its_cases_are_stages_of_the_lab_that_are_measured_with_files_of_this_size(
        self,
    ) -> None:
        cells = catalog.cells_of(catalog.experiments()["tls"], core_count=2)
        known = {(cell.stage, cell.row) for cell in cells}
        for each in tls.PROMISES:
            how = each.measure
            assert isinstance(how, tls.CpuRatio)
            self.assertLessEqual({(how.ours, how.size), (how.theirs, how.size)}, known, each.name)
            self.assertTrue(each.at_most)  # the CPU time of a request


class CommandTest(ScriptTest):
    def measure(self, *chosen: Promise) -> tuple[int, str]:
        """Runs these promises as `scripts/bench` does; returns its status and what it prints."""
        store = mock.Mock()
        with (
            tempfile.TemporaryDirectory(prefix="bench test ") as folder,
            mock.patch.object(cli.stores, "start", return_value=store),
            mock.patch.object(command.files, "make"),
            contextlib.redirect_stdout(io.StringIO()) as output,
        ):
            options = cli._parse(["--build", folder])
            status = cli._run(options, chosen)
            self.assertEqual(os.listdir(folder), [])
        return status, output.getvalue()

    def test_the_table_says_which_promises_are_kept_and_the_status_is_1_if_one_is_not(self) -> None:
        status, output = self.measure(promise("good", 2.5), promise("bad", 0.5))
        self.assertEqual(status, 1)
        self.assertRegex(output, r"(?m)^kept +good +at least 1 +2\.50 +title of good$")
        self.assertRegex(output, r"(?m)^BROKEN +bad +at least 1 +0\.50 +title of bad$")
        self.assertTrue(output.endswith("\n1 of 2 promises kept\n"))

    def test_a_peer_that_is_missing_is_skipped_by_name_in_one_line(self) -> None:
        absent = promise("peer", 0, missing=lambda: ["nginx", "wrk"])
        status, output = self.measure(promise("good", 2), absent)
        self.assertEqual(status, 0)
        self.assertIn("skipped peer: nginx, wrk missing: scripts/setup bench\n", output)
        self.assertTrue(output.endswith("\n1 of 1 promises kept, 1 skipped\n"))

    def test_a_server_that_this_host_cannot_run_is_skipped_with_its_reason(self) -> None:
        def left_out(*_: object) -> Outcome:
            raise LeftOut("vsftpd is left out: only root can start it")

        status, output = self.measure(Promise("ftp", "title", 1, left_out), promise("good", 2))
        self.assertEqual(status, 0)
        self.assertIn("ftp: skipped: vsftpd is left out: only root can start it\n", output)
        self.assertTrue(output.endswith("\n1 of 1 promises kept, 1 skipped\n"))

    def test_systems_of_the_chosen_promises_are_downloaded_where_there_is_a_network(self) -> None:
        with (
            mock.patch.object(cli.namespace, "is_inside", return_value=False),
            mock.patch.object(cli.known, "fetch") as fetch,
            mock.patch.object(cli, "carry_out"),
        ):
            cli.main(["get-vsftpd", "idle"])
        self.assertEqual(list(fetch.call_args.args[0]), ["vsftpd"])

    def test_what_every_peer_needs_is_named_where_nothing_is_installed(self) -> None:
        with (
            mock.patch("rig.host.shutil.which", return_value=None),
            mock.patch("bench.peers.nginx.Path.is_file", return_value=False),
        ):
            named = {each.name: each.missing() for each in promises.OF_STORE["redis"]}
            witness = meters.missing()
        self.assertEqual(named["get-lua"], ["nginx", "libnginx-mod-http-lua", "lua-nginx-redis"])
        self.assertEqual(named["get-100KB-static"], ["nginx"])
        self.assertEqual(named["http-kept-caddy"], ["caddy"])
        self.assertEqual(witness, ["wrk", "nginx"])
        self.assertEqual(named["get-two-hops"], [])

    def test_only_the_named_promises_are_measured(self) -> None:
        listed = [promise("a", 1), promise("b", 1)]
        self.assertEqual(cli.choose(listed, ["b"]), [listed[1]])
        self.assertEqual(cli.choose(listed, []), listed)
        with self.assertRaisesRegex(WrongUsage, "no promise is called 'c'; there are a, b"):
            cli.choose(listed, ["c"])

    def test_an_unknown_name_is_one_line_before_anything_starts(self) -> None:
        result = run(PROJECT / "scripts" / "bench", "--store", "mysql", "get-lua")
        self.assert_one_line(result, 2, "no promise is called 'get-lua'; there are new-paper")

    def test_quick_is_short_and_an_explicit_duration_wins(self) -> None:
        options = cli._parse(["--quick", "--rounds", "4"])
        self.assertEqual((options.seconds, options.rounds), (1.0, 4))

    def test_a_build_from_before_that_is_not_there_is_one_line(self) -> None:
        result = run(PROJECT / "scripts" / "bench", "--before", "/nowhere")
        self.assert_one_line(result, 2, "/nowhere")

    def test_each_model_is_measured_beside_the_build_from_before(self) -> None:
        build = Path(os.environ.get("TURNSTILE_BUILD", PROJECT / "build"))
        names = [row.name for row in before.promises(build)]
        self.assertEqual(len(names), len(set(names)))
        for model in ("thread", "process", "event"):
            self.assertIn(f"kept-{model}", names)
        self.assertNotIn("put-process", names)
        rows = ("kept-event", "idle-event")
        with tempfile.TemporaryDirectory() as folder:  # the lock of all measurements is there
            ends = run(
                PROJECT / "scripts" / "bench",
                *("--before", build, "--build", build),
                *("--seconds", "0.2", "--rounds", "1", *rows),
                env={**os.environ, "TMPDIR": folder},
            )
        self.assertRegex(ends.stdout, r"kept-event: [\d.]+, [\d,]+/s, [\d,]+/s before")
        self.assertRegex(ends.stdout, r"idle-event: -?[\d.]+, .* KiB each")
