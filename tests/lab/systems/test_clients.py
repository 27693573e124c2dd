"""The command lines of clients: what they ask for, and that no password is on them."""

import socket
import unittest
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest import mock

import examples
from needs import missing

from lab.systems.clients import known
from lab.systems.clients.client import Client, Wanted
from lab.systems.peers.packages import Copy, LeftOut
from rig.errors import WrongUsage
from rig.login import Login
from rig.servers import Programs

PASSWORD = "very-secret"
_LOADGEN = "#!/bin/sh\necho '  --requests N  {}'\n"


class ClientsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = examples.folder(self)
        unpacked = mock.patch("lab.systems.clients.client.unpacked", self.unpacked)
        unpacked.start()
        self.addCleanup(unpacked.stop)
        permitted = mock.patch("lab.systems.clients.client.require_namespaces")
        permitted.start()
        self.addCleanup(permitted.stop)
        self.wanted = Wanted(
            protocol="http",
            server="198.18.0.1:8080",
            name="4MB1.txt",
            size_bytes=4_000_001,
            user="ann",
            password=PASSWORD,
            channels=4,
            own_address="198.18.0.2",
            folder=self.folder,
            is_kept=False,
            receiver=Login("198.18.0.1:8021", "bob", PASSWORD),
            receiver_name="upload-%d",
        )

    def unpacked(self, package: str, _parent: Path) -> Copy:
        """One with empty programs."""
        programs = self.folder / package / "usr" / "bin"
        programs.mkdir(parents=True, exist_ok=True)
        for name in ("aria2c", "lftp", "globus-url-copy"):
            (programs / name).touch()
        return Copy(package, self.folder / package)

    def client(self, name: str, flag: str = "--channels K") -> Client:
        loadgen = self.folder / "loadgen"
        loadgen.write_text(_LOADGEN.format(flag), encoding="utf-8")
        loadgen.chmod(0o755)
        return known.of(name, self.folder, Programs(self.folder))

    def command(self, name: str, **changes: object) -> str:
        changed = replace(self.wanted, **changes)  # type: ignore[arg-type]
        return " ".join(self.client(name).command(changed))

    @unittest.skipIf(missing("curl"), missing("curl"))
    def test_no_password_is_on_a_command_line_or_readable_by_others(self) -> None:
        for name in known.CLIENTS:
            with self.subTest(name):
                self.assertNotIn(PASSWORD, self.command(name))
                for path in (self.folder / "netrc", self.folder / "script"):
                    if path.exists():
                        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
                        self.assertIn(PASSWORD, path.read_text(encoding="utf-8"))
                        path.unlink()

    @unittest.skipIf(missing("curl"), missing("curl"))
    def test_curl_asks_for_a_range_on_each_connection_or_for_the_file_on_one(self) -> None:
        command = self.command("curl")
        for part in ("0-999999", "1000000-1999999", "2000000-2999999", "3000000-4000000"):
            self.assertEqual(command.count(f"--range {part} --output /dev/null "), 1)
        self.assertEqual((command.count("--netrc-file"), command.count("--next")), (4, 3))
        self.assertIn("--parallel-max 4", command)
        alone = self.command("curl", channels=1)
        self.assertNotIn("--range", alone)
        self.assertTrue(alone.endswith("--output /dev/null http://198.18.0.1:8080/4MB1.txt"))

    @unittest.skipIf(missing("curl"), missing("curl"))
    def test_where_the_log_cannot_tell_ranges_they_are_saved(self) -> None:
        kept = replace(self.wanted, is_kept=True)
        saved = self.client("curl").saved(kept)
        self.assertEqual([path.name for path in saved], ["part0", "part1", "part2", "part3"])
        command = self.command("curl", is_kept=True)
        for path in saved:
            self.assertIn(f"--output {path} ", command)
        self.assertEqual(self.client("curl").saved(self.wanted), [])

    def test_the_others_are_told_the_number_of_channels(self) -> None:
        self.assertIn("-x 4 -s 4 ", self.command("aria2"))
        self.assertIn(" -p 4 'ftp://198.18.0.1:8080/~/4MB1.txt' file:///dev/null ", self.globus(4))
        self.assertNotIn(" -p ", self.globus(1))
        self.assertIn(" --channels 4", self.command("loadgen"))
        self.assertNotIn("--channels", self.command("loadgen-plain"))
        self.command("lftp")
        script = (self.folder / "script").read_text(encoding="utf-8")
        self.assertIn(f"\npget -n 4 -O {self.folder} 4MB1.txt\n", script)

    def test_a_client_that_must_know_its_address_has_its_own_file_of_hosts(self) -> None:
        self.assertIn(f"--bind {self.folder}/hosts /etc/hosts && exec ", self.globus(4))
        hosts = (self.folder / "hosts").read_text(encoding="utf-8")
        self.assertIn(f"\n198.18.0.2 {socket.gethostname()}\n", hosts)

    def globus(self, channels: int) -> str:
        return self.command("globus-url-copy", channels=channels, protocol="ftp")

    def test_what_is_saved_is_known(self) -> None:
        for name, is_kept in (
            ("aria2", False),
            ("lftp", False),
            ("globus-url-copy", True),
            ("loadgen", True),
        ):
            kept = replace(self.wanted, is_kept=is_kept)
            self.assertEqual(self.client(name).saved(kept), [self.folder / "4MB1.txt"])
        self.assertEqual(self.client("globus-url-copy").saved(self.wanted), [])
        self.assertEqual(self.client("loadgen").saved(self.wanted), [])
        self.assertIn(f" --save {self.folder}", self.command("loadgen", is_kept=True))
        self.assertNotIn("--save", self.command("loadgen"))

    def test_loadgen_says_how_much_waited_in_its_pool(self) -> None:
        self.assertIn(" --json - ", self.command("loadgen"))
        loadgen = self.client("loadgen")
        said = '{"channels": {"reorder_bytes_max": 65536}}'
        self.assertEqual(loadgen.reorder_bytes_max(said), 65536)
        for said in ("", "{}", '{"channels": {}}'):
            self.assertIsNone(loadgen.reorder_bytes_max(said))

    def test_a_loadgen_without_channels_is_left_out(self) -> None:
        self.client("loadgen")
        with self.assertRaisesRegex(LeftOut, "loadgen is left out: it has no --channels"):
            self.client("loadgen", flag="")

    def test_a_host_without_curl_is_told(self) -> None:
        with (
            mock.patch("shutil.which", return_value=None),
            self.assertRaisesRegex(LeftOut, "curl is left out: it is not installed"),
        ):
            self.client("curl")

    def test_one_that_there_is_not_is_told_with_the_names(self) -> None:
        with self.assertRaisesRegex(WrongUsage, "no client 'wget9'; there are: curl, aria2, lftp"):
            self.client("wget9")

    def test_ranges_are_the_whole_file_without_a_gap(self) -> None:
        for channels in (1, 3, 7, 16):
            ranges = replace(self.wanted, channels=channels).ranges()
            self.assertEqual((ranges[0][0], ranges[-1][1]), (0, 4_000_000))
            for (_, last), (first, _) in pairwise(ranges):
                self.assertEqual(first, last + 1)
