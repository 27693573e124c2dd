"""loadgen --protocol ftp --channels: one file by several log-ins to the FTP servers of others."""

import json
import os
import subprocess
import time
import unittest
from pathlib import Path

import ftp_scene
from ftp_scene import RIGHT

from lab.systems.peers import known
from rig.processes import Address

LOADGEN = Path(os.environ.get("TURNSTILE_BUILD", "build")) / "loadgen"
LARGE = bytes(range(251)) * 40_000  # ten million bytes, so that parts are cut off
FILES = {"large": LARGE, "small": b"some bytes", "empty": b""}


class LoadgenChannelsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = ftp_scene.made_for(self)
        self.root = ftp_scene.served(self.folder)
        self.copies = self.folder / "copies"
        self.copies.mkdir()
        (self.copies / "missing").touch()
        for name, content in FILES.items():
            (self.copies / name).write_bytes(content)
            (self.root / name).write_bytes(content)
            (self.root / name).chmod(0o644)

    def result(self, server: Address, file: str, *flags: object, status: int = 0) -> dict:
        """Each run gets the file twice, so the second one comes after connections were cut."""
        command = [LOADGEN, "get", "--protocol", "ftp", "--server", server, "--json", "-"]
        command += ["--user", RIGHT.user, "--password", RIGHT.password, "--file", file]
        command += ["--verify", "--verify-root", self.copies, "--requests", 2, *flags]
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=120, check=False
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)

    def check(self, name: str) -> None:
        ftp_scene.skip_if_left_out(self, name)
        with known.running(name, ftp_scene.setting(self.folder)) as server:
            for connection in ("per-request", "keep-alive"):
                for channels in (1, 3, 8):
                    for file, content in FILES.items():
                        with self.subTest(connection=connection, channels=channels, file=file):
                            flags = ("--channels", channels, "--connection", connection)
                            result = self.result(server.address, file, *flags)
                            self.assertEqual(result["bytes"], 2 * len(content))
                            self.assertEqual(result["channels"]["lost"], 0)
                            if file == "large":
                                self.assertIn(result["channels"]["used"], range(1, channels + 1))
            self.check_saved(server.address)
            asked = ("--channels", 2, "--requests", 1)
            missing = self.result(server.address, "missing", *asked, status=1)
            self.assertEqual(missing["errors"], {"total": 1, "not-found": 1})

    def check_saved(self, server: Address) -> None:
        """A part of this version that an earlier run has left is kept."""
        saved = self.folder / "saved"
        saved.mkdir()
        flags = ("--channels", 4, "--save", saved, "--requests", 1)
        result = self.result(server, "large", *flags)
        self.assertEqual((saved / "large").read_bytes(), LARGE)
        self.assertEqual(sorted(path.name for path in saved.iterdir()), ["large"])
        self.assertEqual(result["channels"]["resumed_bytes"], 0)
        modified = time.gmtime((self.root / "large").stat().st_mtime)
        version = f"{len(LARGE)} {time.strftime('%Y%m%d%H%M%S', modified)}\n"
        (saved / "large.loadgen-0.part").write_bytes(LARGE[:1_000_001])
        (saved / "large.loadgen-0.version").write_text(version)
        result = self.result(server, "large", *flags)
        self.assertEqual(result["channels"]["resumed_bytes"], 1_000_001)
        self.assertEqual(result["bytes"], len(LARGE) - 1_000_001)
        self.assertEqual((saved / "large").read_bytes(), LARGE)

    def test_pure_ftpd(self) -> None:
        self.check("pure-ftpd")

    def test_vsftpd(self) -> None:
        self.check("vsftpd")

    def test_proftpd(self) -> None:
        self.check("proftpd")

    def test_pyftpdlib(self) -> None:
        self.check("pyftpdlib")
