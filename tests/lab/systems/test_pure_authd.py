"""pure-ftpd that asks our authserver for each log-in, by way of pure-authd."""

import ftplib
import os
import subprocess
import time
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import ftp_scene
import real_lab
from ftp_scene import BYTES, OTHER, RIGHT, fetched

from lab.systems.peers import known
from lab.systems.peers.server import Account, PeerServer
from rig import servers
from rig.errors import Failed
from rig.process_tree import tree
from rig.servers import Pair, Programs

SCRIPT = real_lab.ROOT / "lab/systems/peers/ask_authserver"
GRANTED = ["auth_ok:1", "uid:7", "end"]
REFUSED = ["auth_ok:-1", "end"]


@contextmanager
def our_servers(folder: Path) -> Iterator[Pair]:
    """An authserver with the account RIGHT."""
    with servers.running(
        Programs(real_lab.BUILD),
        store_flags=["--store", "sqlite", "--sqlite-path", str(folder / "accounts")],
        root=folder / "root",
        logs=folder,
    ) as pair:
        servers.make_account(pair.auth_address, RIGHT.user, RIGHT.password)
        yield pair


@unittest.skipIf(real_lab.why_no_run(), real_lab.why_no_run())
class PureAuthdTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = ftp_scene.made_for(self)
        ftp_scene.served(self.folder)

    def test_it_asks_our_authserver_for_each_log_in(self) -> None:
        ftp_scene.skip_if_left_out(self, "pure-ftpd-authd")
        with our_servers(self.folder) as pair:
            setting = ftp_scene.setting(self.folder, pair.auth_address)
            with known.running("pure-ftpd-authd", setting) as server:
                self.check_answers(server)
                pair.authserver.stop()
                self.check_refused(server, RIGHT)
                processes = server.pids()
        self.assertGreaterEqual(len(processes), 2)  # pure-authd is one of them
        self.assertTrue(self.are_gone(processes), processes)
        for log in (self.folder / "server").glob("*.log"):
            self.assertNotIn(RIGHT.password, log.read_text())

    def are_gone(self, processes: list[int]) -> bool:
        """Whether they end within a time in which the host may be busy with others."""
        deadline = time.monotonic() + 30
        while any(tree(pid) for pid in processes):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def check_answers(self, server: PeerServer) -> None:
        self.assertEqual(fetched(server.address, RIGHT, "a.bin"), BYTES)
        # Only a file of the server's own would have OTHER. Each refusal is delayed for seconds.
        with ThreadPoolExecutor(2) as pool:
            for refused in [
                pool.submit(self.check_refused, server, account)
                for account in (Account(RIGHT.user, "wrong"), OTHER)
            ]:
                refused.result()
        self.assertNotIn(RIGHT.password, server.program.command_line())

    def check_refused(self, server: PeerServer, account: Account) -> None:
        with self.assertRaises(ftplib.error_perm):
            fetched(server.address, account, "a.bin")

    def test_without_an_authserver_it_does_not_start(self) -> None:
        ftp_scene.skip_if_left_out(self, "pure-ftpd-authd")
        server = known.ENTRIES["pure-ftpd-authd"].server(ftp_scene.setting(self.folder))
        with self.assertRaisesRegex(Failed, "to ask our authserver, but there is none"):
            server.start()

    def test_the_script_asks_for_exactly_this_user_and_password(self) -> None:
        with our_servers(self.folder) as pair:
            port = pair.auth_address.port
            name, colons = "lab.b-c_d@e+f", "a:b: c"
            servers.make_account(pair.auth_address, name, colons)
            servers.make_account(pair.auth_address, "blank", " p")
            for user, password, answer in (
                (RIGHT.user, RIGHT.password, GRANTED),
                (name, colons, GRANTED),
                ("blank", " p", GRANTED),
                ("blank", "p", REFUSED),
                (f"{name}:a", "b: c", REFUSED),  # the same line as the user lab…
                (RIGHT.user, RIGHT.password + "x", REFUSED),
                (RIGHT.user, f"{RIGHT.password}\n", REFUSED),
                (f"x\nauth:{RIGHT.user}", RIGHT.password, REFUSED),
                (RIGHT.user, "", REFUSED),
                ("", RIGHT.password, REFUSED),
                (RIGHT.user, "x" * 129, REFUSED),
            ):
                with self.subTest(user=user, password=password):
                    self.assertEqual(self.asked(user, password, port), answer)
        self.assertEqual(self.asked(RIGHT.user, RIGHT.password, port), REFUSED)

    def asked(self, user: str, password: str, port: int) -> list[str]:
        """What the script tells pure-authd."""
        done = subprocess.run(
            [SCRIPT],
            env={
                "PATH": os.environ["PATH"],
                "AUTHD_ACCOUNT": user,
                "AUTHD_PASSWORD": password,
                "TURNSTILE_HOST": "127.0.0.1",
                "TURNSTILE_PORT": str(port),
                "TURNSTILE_SESSION": "uid:7",
            },
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        self.assertNotIn(password or "?", done.stderr)
        return done.stdout.splitlines()
