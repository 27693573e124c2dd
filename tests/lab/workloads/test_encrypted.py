"""A closed loop in TLS and in clear: its command line, its plan, and which handshakes are right."""

import unittest
from typing import Any

import examples

from lab import kinds
from lab.kinds.tls import Encryption
from lab.kinds.tls import load as tls
from lab.kinds.tls.load import EncryptedLoop
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.plan.options import _require_closed_loops
from lab.plan.planned import Setting
from lab.workloads.load import Asked

KEPT = {"connection": "keep-alive"}


def made(how: Encryption) -> EncryptedLoop:
    own = {**vars(examples.GET), "flags": how.loadgen}
    return EncryptedLoop(**own, how=how, files=8, seed=3)


def in_tls(handshakes: int, resumed: int = 0) -> dict[str, Any]:
    """What loadgen says of them."""
    took = {"mean": 0.5, "p99": 2.0}
    return {"tls": {"handshakes": handshakes, "resumed": resumed, "handshake_ms": took}}


def load(stage: str, row: str = "1KB") -> EncryptedLoop:
    todo = examples.planned("tls")
    asked = Asked(
        planned=todo.planned[Cell(stage, row, workload="tls")],
        setting=Setting(8),
        repeat=2,
        server="127.0.0.1:1",
        user="ann",
        password="secret",
    )
    found = asked.load()
    assert isinstance(found, EncryptedLoop)
    return found


class CommandTest(unittest.TestCase):
    def test_all_ask_for_the_same_few_files_by_http(self) -> None:
        flags = " ".join(load("tls-event-clear", "10MB").command_flags())
        self.assertIn("get --server 127.0.0.1:1 --threads 8 ", flags)
        self.assertTrue(
            flags.endswith(
                "--file 10MB%d.txt --files 8 --seed 2 --protocol http --connection keep-alive"
            ),
            flags,
        )

    def test_what_encrypts_is_asked_in_tls_and_handshakes_are_full_unless_they_are_to_resume(
        self,
    ) -> None:
        for stage, told in (
            ("tls-thread", "keep-alive --tls --tls-insecure --tls-resume off"),
            ("tls-proxy-event", "keep-alive --tls --tls-insecure --tls-resume off"),
            ("tls-event-new-rsa2048", "per-request --tls --tls-insecure --tls-resume off"),
            ("tls-nginx-resumed", "per-request --tls --tls-insecure --tls-resume on"),
            ("tls-nginx-new-clear", "per-request"),
        ):
            flags = " ".join(load(stage).command_flags())
            self.assertTrue(flags.endswith(f"--connection {told}"), flags)


class HandshakesTest(unittest.TestCase):
    def failures(self, how: Encryption, raw: dict[str, Any]) -> list[str]:
        one = made(how)
        return one.failures(examples.result(one, **raw))

    def test_kept_connections_make_one_each(self) -> None:
        how = Encryption(by="server")
        self.assertEqual(self.failures(how, {**KEPT, **in_tls(4)}), [])
        self.assertEqual(
            self.failures(how, {**KEPT, **in_tls(5)}), ["5 handshakes for 4 kept connections"]
        )

    def test_full_ones_are_none_that_resume(self) -> None:
        how = Encryption(by="server", connections="new")
        self.assertEqual(self.failures(how, in_tls(8000)), [])
        self.assertEqual(self.failures(how, in_tls(8000, 80)), ["1% of the handshakes resumed"])

    def test_of_those_that_are_to_resume_a_tenth_may_be_full(self) -> None:
        how = Encryption(by="server", connections="resumed")
        self.assertEqual(self.failures(how, in_tls(100, 90)), [])
        self.assertEqual(
            self.failures(how, in_tls(100, 89)), ["only 89% of the handshakes resumed"]
        )

    def test_in_clear_there_is_none_and_in_tls_there_is_one(self) -> None:
        self.assertEqual(self.failures(Encryption(), KEPT), [])
        self.assertEqual(
            self.failures(Encryption(), {**KEPT, **in_tls(4)}), ["handshakes were made in clear"]
        )
        self.assertEqual(self.failures(Encryption(by="proxy"), KEPT), ["no handshake was made"])

    def test_their_figures_are_declared_and_there_only_in_tls(self) -> None:
        one = made(Encryption(by="server", connections="resumed"))
        found = one.figures(examples.result(one, **in_tls(100, 90)))
        self.assertEqual(
            found,
            {
                "n_check": 1.0,
                "handshakes": 100,
                "resumed_share": 0.9,
                "handshake_mean_ms": 0.5,
                "handshake_p99_ms": 2.0,
            },
        )
        self.assertLessEqual(set(found), set(kinds.figures()))
        self.assertLessEqual({one.name for one in tls.FIGURES}, set(found))
        self.assertEqual(one.figures(examples.result(one)), {"n_check": 1.0})


class PlanTest(unittest.TestCase):
    def test_handshakes_are_measured_with_small_files_only(self) -> None:
        rows: dict[str, set[str]] = {}
        for cell in examples.planned("tls").cells:
            rows.setdefault(cell.stage, set()).add(cell.row)
        for name, measured in rows.items():
            how = catalog.stages()[name].encryption
            assert how
            is_kept = how.connections == "kept"
            self.assertEqual(measured, {"1KB", "100KB", "10MB"} if is_kept else {"1KB"}, name)

    def test_few_files_are_made(self) -> None:
        self.assertEqual(examples.planned("tls").file_counts, {"1KB": 8, "100KB": 8, "10MB": 8})
        both = examples.planned("tls", "figure5")
        self.assertGreater(both.file_counts["1KB"], 8)
        self.assertEqual(both.planned[Cell("tls-event", "1KB", workload="tls")].file_count, 8)

    def test_a_quick_run_fits_into_a_lesson(self) -> None:
        self.assertLess(examples.planned("tls").seconds, 6 * 60)

    def test_it_can_be_shared_and_a_load_about_time_cannot(self) -> None:
        _require_closed_loops(examples.options("tls", is_shared=True))
        with self.assertRaisesRegex(Exception, "models is about time"):
            _require_closed_loops(examples.options("models", is_shared=True))

    def test_each_stage_in_tls_has_one_in_clear(self) -> None:
        stages = [catalog.stages()[name] for name in catalog.experiments()["tls"].stages]
        clear = {
            (one.system, one.fileserver, one.encryption.connections)
            for one in stages
            if one.encryption and not one.encryption.by
        }
        for one in stages:
            how = one.encryption
            assert how
            connections = "kept" if how.connections == "kept" else "new"
            self.assertIn((one.system, one.fileserver, connections), clear, one.name)
