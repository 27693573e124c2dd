"""loadgen --protocol ftp against the FTP servers of others."""

import json
import os
import subprocess
import unittest
from pathlib import Path

import ftp_scene
from ftp_scene import BYTES, RIGHT

from lab.systems.peers import known
from rig.processes import Address

LOADGEN = Path(os.environ.get("TURNSTILE_BUILD", "build")) / "loadgen"
LARGE = bytes(range(251)) * 40_000


class LoadgenFtpTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = ftp_scene.made_for(self)
        root = ftp_scene.served(self.folder)
        for name, content in (("large", LARGE), ("empty", b"")):
            (root / name).write_bytes(content)
            (root / name).chmod(0o644)

    def result(self, server: Address, file: str, *flags: str, password: str = "") -> dict:
        flags = ("--threads", "2", "--requests", "2", *flags)
        return self.run_of(server, file, *flags, password=password)

    def crowd(self, server: Address, *flags: str) -> dict:
        return self.run_of(server, "a.bin", *flags)

    def run_of(
        self, server: Address, file: str, *flags: str, password: str = "", request: str = "get"
    ) -> dict:
        command = [str(LOADGEN), request, "--protocol", "ftp", "--server", str(server)]
        command += ["--user", RIGHT.user, "--password", password or RIGHT.password]
        command += ["--file", file] if file else []
        command += ["--json", "-", *flags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        return json.loads(done.stdout)

    def check(self, name: str) -> None:
        ftp_scene.skip_if_left_out(self, name)
        with known.running(name, ftp_scene.setting(self.folder)) as server:
            verify = ("--verify", "--verify-root", str(self.folder / "root"))
            for connection in ("per-request", "keep-alive"):
                for data in ("epsv", "pasv"):
                    flags = ("--connection", connection, "--ftp-data", data)
                    for file, size in (("a.bin", len(BYTES)), ("large", len(LARGE)), ("empty", 0)):
                        result = self.result(server.address, file, *flags, *verify)
                        counts = (result["requests"], result["errors"]["total"], result["bytes"])
                        self.assertEqual(counts, (4, 0, 4 * size), result["first_errors"])
            self.check_crowd(server.address)
            self.check_burst(server.address)
            missing = self.result(server.address, "missing", "--connection", "keep-alive")
            self.assert_all_failed(missing, "not-found", 4)
            denied = self.result(server.address, "a.bin", "--requests", "1", password="wrong")
            self.assert_all_failed(denied, "denied", 2)

    def assert_all_failed(self, result: dict, cause: str, most: int) -> None:
        """A run in which all fail is given up after a second, before its end where all is slow."""
        total = result["errors"]["total"]
        self.assertEqual(result["requests"], 0)
        self.assertEqual(result["errors"], {"total": total, cause: total})
        self.assertIn(total, range(1, most + 1) if result["end"] == "failed" else (most,))

    def check_crowd(self, server: Address) -> None:
        """Each user logs in once, and the connections for its files come and go."""
        users = (
            *("--users", "10", "--pace", "50000", "--least-rate", "20"),
            *("--ramp", "0.5", "--until-stable", "2"),
        )
        for engine in ("epoll", "sigio"):
            result = self.crowd(server, *users, "--engine", engine)
            self.assertEqual(result["users"]["held"], 10, result["drop_outs"])
            self.assertGreaterEqual(result["requests"], 10)

    def check_burst(self, server: Address) -> None:
        """The data connections wait, unaccepted or idle, until all threads send RETR."""
        for connection in ("per-request", "keep-alive"):
            flags = ("--release", "transfer", "--connection", connection)
            result = self.result(server, "large", *flags, "--threads", "4", "--requests", "3")
            burst = result["burst"]
            counts = (burst["rounds"], burst["transfers"], burst["failed"], burst["bytes"])
            self.assertEqual(counts, (3, 12, 0, 12 * len(LARGE)), result["first_errors"])

    def check_put(self, name: str) -> None:
        """Sessions may write into the served folder, if its mode lets them."""
        ftp_scene.skip_if_left_out(self, name)
        root = self.folder / "root"
        root.chmod(0o777)
        with known.running(name, ftp_scene.setting(self.folder)) as server:
            for connection in ("per-request", "keep-alive"):
                flags = ["--size", "300000", "--connection", connection]
                flags += ["--threads", "2", "--requests", "3"]
                result = self.run_of(server.address, "", *flags, request="put")
                counts = (result["requests"], result["errors"]["total"], result["bytes"])
                self.assertEqual(counts, (6, 0, 6 * 300_000), result["first_errors"])
        self.assertEqual([file.stat().st_size for file in root.glob("load-*")], [300_000] * 12)

    def test_pure_ftpd(self) -> None:
        self.check("pure-ftpd")

    def test_put_into_pure_ftpd(self) -> None:
        self.check_put("pure-ftpd")

    def test_put_into_proftpd(self) -> None:
        self.check_put("proftpd")

    def test_vsftpd(self) -> None:
        self.check("vsftpd")

    def test_proftpd(self) -> None:
        self.check("proftpd")

    def test_pyftpdlib(self) -> None:
        self.check("pyftpdlib")
