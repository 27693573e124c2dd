"""A file is copied from one real server to another: by order of a client, and through it."""

import unittest
from unittest import mock

import ftp_scene
from ftp_scene import BYTES
from real_lab import BUILD

from lab.kinds.client.fetching import Fetching
from lab.kinds.client.load import FetchLoad
from lab.plan.catalog import Cell, Stage
from lab.plan.pinning import choose
from lab.systems import known
from lab.systems.clients import known as clients
from lab.systems.clients.client import Client
from lab.systems.peers.packages import LeftOut
from lab.systems.peers.pair import RunningPair
from lab.systems.system import Site
from rig.cores import usable_cores
from rig.servers import Programs


class PairsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = ftp_scene.made_for(self)
        self.root = ftp_scene.served(self.folder)
        for name in ("peers.system", "clients.known"):
            kept = mock.patch(f"lab.systems.{name}.packages_in", return_value=ftp_scene.PACKAGES)
            kept.start()
            self.addCleanup(kept.stop)

    def check(self, system: str, *names: str) -> None:
        for name in names:
            with self.subTest(client=name):
                try:
                    self.copied(system, name, clients.of(name, self.folder, Programs(BUILD)))
                except LeftOut as reason:
                    self.skipTest(str(reason))

    def copied(self, system: str, name: str, client: Client) -> None:
        stage = Stage(
            name="copied",
            title="",
            store="",
            cold=False,
            authserver=(),
            fileserver=(),
            loadgen=(),
            system=system,
        )
        site = Site(root=self.root, logs=self.folder / name)
        cell, pinning = Cell("copied", "1MB", workload="client"), choose("none", usable_cores())
        programs = Programs(BUILD)
        with (
            known.of(stage).prepared(stage, programs, self.folder, usable_cores()) as ready,
            ready.running(cell, pinning, site) as pair,
        ):
            assert isinstance(pair, RunningPair)
            load = FetchLoad(
                threads=1,
                server=str(pair.address),
                user=pair.user,
                password=pair.password,
                protocol="ftp",
                name="a.bin",
                size_bytes=len(BYTES),
                receiver=pair.receiver,
                receiver_name=pair.upload_name,
            )
            attempt = Fetching(client, load, site, pair.transfer_log, ())
            try:
                result = attempt.finish()
            finally:
                attempt.stop()
            pair.check_running()
        self.assertEqual(load.failures(result), [])
        self.assertEqual(result.bytes, len(BYTES))

    def test_gridftp_pair(self) -> None:
        self.check("gridftp-pair", "globus-by-order", "globus-through")

    def test_pure_ftpd_pair(self) -> None:
        self.check("pure-ftpd-pair", "lftp-by-order", "curl-through")
