"""Uploads into each server that takes them, and what the server's own log says of them."""

import io
import json
import math
import os
import subprocess
import time
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import ftp_scene
import real_lab
from ftp_scene import BYTES, RIGHT

from lab.observe.transfer_logs import Recorded
from lab.plan.catalog import Cell, Stage
from lab.plan.pinning import choose
from lab.procedures import server_log
from lab.procedures.server_log import ServerLog
from lab.systems import known
from lab.systems.peers import known as peers
from lab.systems.peers.ftp_server import ANONYMOUS
from lab.systems.peers.server import Account
from lab.systems.system import Site
from rig import servers
from rig.cores import usable_cores
from rig.processes import Address
from rig.servers import Programs, Server
from rig.transfer_log import TransferLog

LOADGEN = Path(os.environ.get("TURNSTILE_BUILD", "build")) / "loadgen"
USERS = 3
TAKING = [name for name, entry in peers.ENTRIES.items() if entry.upload_name]


def upload(address: Address, account: Account, pattern: str) -> None:
    """Each user logs in and stores two files, one after the other, under its own name."""
    for number in range(USERS):
        with ftp_scene.session(address, account) as client:
            for content in (BYTES, BYTES[:1000]):
                client.storbinary(f"STOR {pattern.replace('%d', str(number))}", io.BytesIO(content))


class UploadsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = ftp_scene.made_for(self)
        ftp_scene.served(self.folder)
        self.log = self.folder / "transfers.log"
        far_east = mock.patch.dict(os.environ, {"TZ": "LAB-9"})
        far_east.start()
        self.addCleanup(far_east.stop)
        self.setting = replace(ftp_scene.setting(self.folder), transfer_log=self.log)

    def check(self, name: str) -> None:
        ftp_scene.skip_if_left_out(self, name)
        entry, begun_s = peers.ENTRIES[name], time.time()
        account = Account(ANONYMOUS, "a@b") if entry.asks_whom == peers.NOBODY else RIGHT
        with peers.running(name, self.setting) as server:
            log = ServerLog(TransferLog(self.log, server.log_form))
            upload(server.address, account, entry.upload_name)
            recorded = log.recorded(2 * USERS)
        self.check_recorded(recorded, entry.upload_name, begun_s)

    def check_recorded(self, recorded: Recorded, pattern: str, begun_s: float) -> None:
        self.assertEqual((len(recorded.served), recorded.skipped), (2 * USERS, 0), recorded)
        sizes = [one.bytes for one in recorded.served]
        self.assertEqual(sizes, USERS * [len(BYTES), 1000])
        for number, one in enumerate(recorded.served):
            self.assertTrue(one.is_whole)
            self.assertEqual(one.peer_address, "127.0.0.1")
            name = Path(pattern).name.replace("%d", str(number // 2))
            self.assertEqual(Path(one.name).name, name)
            self.assertGreaterEqual(one.end_s, math.floor(begun_s) - one.resolution_s)
            self.assertLessEqual(one.end_s, time.time() + one.resolution_s)
        start_s = min(one.start_s for one in recorded.served)
        course = server_log.both_views([], recorded.served, start_s, time.time() + 2 - start_s)
        moved = sum(one.bytes_per_s for one in course.server) * course.step_s
        self.assertAlmostEqual(moved, sum(sizes), places=3)
        self.assertEqual(sum(one.ended for one in course.server), 2 * USERS)

    def test_pure_ftpd(self) -> None:
        self.check("pure-ftpd-uploads")

    def test_pure_ftpd_receiver(self) -> None:
        self.check("pure-ftpd-receiver")

    def test_vsftpd(self) -> None:
        self.check("vsftpd-uploads")

    def test_proftpd(self) -> None:
        self.check("proftpd-uploads")

    def test_gridftp(self) -> None:
        self.check("gridftp")

    def test_each_that_takes_uploads_has_a_test(self) -> None:
        tests = {name.removeprefix("test_") for name in dir(self)}
        names = {name.removesuffix("-uploads").replace("-", "_") for name in TAKING}
        self.assertEqual(names - tests, set())

    def test_the_load_generator_and_the_server_agree(self) -> None:
        for name in ("pure-ftpd-uploads", "vsftpd-uploads", "proftpd-uploads"):
            with self.subTest(server=name):
                ftp_scene.skip_if_left_out(self, name)
                log = self.folder / f"{name}.log"
                setting = replace(self.setting, transfer_log=log, folder=self.folder / name)
                with peers.running(name, setting) as server:
                    result = self.put(server.address)
                    recorded = ServerLog(TransferLog(log, server.log_form))
                    self.assertEqual(recorded.recorded(1).served, [])  # it knows later ones only
                    self.put(server.address)
                    served = recorded.recorded(result["requests"]).served
                self.assertEqual(result["errors"]["total"], 0, result["first_errors"])
                self.assertEqual(len(served), result["requests"])
                self.assertEqual(sum(one.bytes for one in served), result["bytes"])

    def test_the_load_generator_and_our_sink_agree(self) -> None:
        with servers.running(
            Programs(LOADGEN.parent),
            store_flags=["--store", "sqlite", "--sqlite-path", str(self.folder / "accounts")],
            root=self.setting.root,
            logs=self.folder / "logs",
            fileserver=Server(
                [
                    "--http-listen",
                    "127.0.0.1:0",
                    "--uploads",
                    "sink",
                    "--transfer-log",
                    str(self.log),
                ]
            ),
        ) as pair:
            servers.make_account(pair.address, RIGHT.user, RIGHT.password)
            log = ServerLog(TransferLog(self.log))
            result = self.put(pair.fileserver.further_address("http"), "http")
            served = log.recorded(result["requests"]).served
        self.assertEqual(result["errors"]["total"], 0, result["first_errors"])
        self.assertEqual(len(served), result["requests"])
        self.assertEqual(sum(one.bytes for one in served), result["bytes"])
        self.assertTrue(all(one.is_whole for one in served))

    def put(self, server: Address, protocol: str = "ftp") -> dict:
        command = [str(LOADGEN), "put", "--protocol", protocol, "--server", str(server)]
        command += ["--user", RIGHT.user, "--password", RIGHT.password, "--json", "-"]
        command += ["--size", "300000", "--threads", "2", "--requests", "3"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        return json.loads(done.stdout)


@unittest.skipIf(real_lab.why_no_run(), real_lab.why_no_run())
class RunningTest(unittest.TestCase):
    """Each as a system under test says how users upload, and where its log is."""

    def setUp(self) -> None:
        self.folder = ftp_scene.made_for(self)
        ftp_scene.served(self.folder)
        (self.folder / "packages").symlink_to(ftp_scene.PACKAGES)
        self.site = Site(root=self.folder / "root", logs=self.folder / "logs")

    def check(self, name: str) -> None:
        ftp_scene.skip_if_left_out(self, name)
        stage, cores = Stage("up", "uploads", "", False, (), (), (), system=name), usable_cores()
        with (
            known.of(stage).prepared(stage, Programs(real_lab.BUILD), self.folder, cores) as ready,
            ready.running(Cell("up", "1KB"), choose("none", cores), self.site) as running,
        ):
            log = ServerLog(running.transfer_log)
            upload(running.address, Account(running.user, running.password), running.upload_name)
            self.assertEqual(len(log.recorded(2 * USERS).served), 2 * USERS)
            self.assertEqual(log.transfers(1), [])

    def test_one_with_a_sink(self) -> None:
        self.check("gridftp")

    def test_one_with_a_file_for_each_user(self) -> None:
        self.check("proftpd-uploads")

    def test_one_that_takes_no_uploads_keeps_no_log(self) -> None:
        ftp_scene.skip_if_left_out(self, "proftpd")
        stage, cores = Stage("up", "", "", False, (), (), (), system="proftpd"), usable_cores()
        with (
            known.of(stage).prepared(stage, Programs(real_lab.BUILD), self.folder, cores) as ready,
            ready.running(Cell("up", "1KB"), choose("none", cores), self.site) as running,
        ):
            self.assertEqual((running.transfer_log, running.upload_name), (None, ""))
