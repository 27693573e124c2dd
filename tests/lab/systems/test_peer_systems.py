"""The servers of others as systems under test: with a cell, cores, a place and a record."""

import unittest
from dataclasses import replace

import ftp_scene
import real_lab
from ftp_scene import BYTES, Account, fetched

from lab.plan.catalog import Cell, Stage
from lab.plan.pinning import choose
from lab.systems import known
from lab.systems.peers import known as peers
from lab.systems.system import Site
from rig.cores import usable_cores
from rig.errors import Failed
from rig.servers import Programs

STAGE = Stage("ftp", "as delivered", "", False, (), (), (), system="proftpd")
CELL = Cell("ftp", "1KB")


@unittest.skipIf(real_lab.why_no_run(), real_lab.why_no_run())
class PeerSystemsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = ftp_scene.made_for(self)
        ftp_scene.served(self.folder)
        (self.folder / "packages").symlink_to(ftp_scene.PACKAGES)
        self.site = Site(root=self.folder / "root", logs=self.folder / "logs")

    def check(self, stage: Stage) -> dict[str, int]:
        """Starts it and fetches a file. Returns its processes by component."""
        ftp_scene.skip_if_left_out(self, stage.system)
        cores = usable_cores()
        system = known.of(stage)
        with (
            system.prepared(stage, Programs(real_lab.BUILD), self.folder, cores) as prepared,
            prepared.running(CELL, choose("none", cores), self.site) as running,
        ):
            account = Account(running.user, running.password)
            self.assertEqual(fetched(running.address, account, "a.bin"), BYTES)
            self.assertEqual(running.store, stage.store)
            self.assertEqual(running.settings["asks whom"], peers.ENTRIES[stage.system].asks_whom)
            self.assertTrue(running.settings["version"])
            has_file = stage.system.startswith(("proftpd", "vsftpd"))
            self.assertEqual(bool(running.settings["configuration"]), has_file)
            self.assertNotIn(running.password, str(running.commands()))
            running.check_running()
            ids = running.process_ids()
            names = list(running.commands())
        self.assertEqual(sorted(f"ftp-1KB.{name}.log" for name in names), self.logs())
        self.assertEqual(list((self.folder / "stores").iterdir()), [])
        return ids

    def logs(self) -> list[str]:
        return sorted(path.name for path in self.site.logs.iterdir())

    def test_a_server_with_accounts_of_its_own(self) -> None:
        self.assertEqual(list(self.check(STAGE)), ["fileserver"])

    def test_a_server_that_asks_nobody(self) -> None:
        self.check(replace(STAGE, system="vsftpd-anonymous"))

    def test_a_server_that_asks_our_authserver(self) -> None:
        ids = self.check(replace(STAGE, store="sqlite", system="pure-ftpd-authd"))
        self.assertEqual(list(ids), ["fileserver", "authserver"])

    def test_a_server_that_has_ended_is_told(self) -> None:
        ftp_scene.skip_if_left_out(self, STAGE.system)
        cores = usable_cores()
        with (
            known.of(STAGE).prepared(STAGE, Programs(real_lab.BUILD), self.folder, cores) as ready,
            ready.running(CELL, choose("none", cores), self.site) as running,
        ):
            running.server.program.kill()
            with self.assertRaisesRegex(Failed, "proftpd-core ended: "):
                running.check_running()

    def test_whom_it_asks_decides_whether_a_stage_has_a_store(self) -> None:
        for stage, reason in (
            (replace(STAGE, store="sqlite"), "proftpd asks a file, so it has no store"),
            (replace(STAGE, system="pure-ftpd-authd"), "asks our authserver, so it has a store"),
        ):
            with self.subTest(stage=stage), self.assertRaisesRegex(Failed, reason):
                self.start(stage)

    def start(self, stage: Stage) -> None:
        programs = Programs(real_lab.BUILD)
        with known.of(stage).prepared(stage, programs, self.folder, usable_cores()):
            pass

    def test_each_system_says_whom_it_asks(self) -> None:
        self.assertEqual(set(known.asks_whom()), set(known.SYSTEMS))
        self.assertEqual(known.asks_whom()["vsftpd-anonymous"], "nobody")

    def test_every_entry_is_a_system(self) -> None:
        ours, pairs = {"turnstile", "turnstile-hosts"}, {"gridftp-pair", "pure-ftpd-pair"}
        self.assertEqual(set(known.SYSTEMS), {*ours, *peers.ENTRIES, *pairs})
