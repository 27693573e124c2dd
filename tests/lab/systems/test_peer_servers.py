"""Each server of others that the lab knows: it is found, serves, validates, and ends."""

import base64
import ftplib
import http.client
import io
import os
import ssl
import unittest
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest import mock

import ftp_scene
from ftp_scene import BYTES, OTHER, RIGHT, fetched

from lab.systems.peers import known, packages
from lab.systems.peers.ftp_server import ANONYMOUS
from lab.systems.peers.namespace import SERVED
from lab.systems.peers.packages import LeftOut
from lab.systems.peers.server import Account, PeerServer, Setting
from rig import certificates
from rig.errors import Failed, WrongUsage
from rig.process_tree import tree


def by_http(server: PeerServer, account: Account, path: str) -> tuple[int, bytes]:
    credentials = base64.b64encode(f"{account.user}:{account.password}".encode()).decode()
    client = http.client.HTTPConnection(server.address.host, server.address.port, timeout=60)
    with closing(client):
        client.request("GET", path, headers={"Authorization": f"Basic {credentials}"})
        reply = client.getresponse()
        return reply.status, reply.read()


class PeerServersTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = ftp_scene.made_for(self)
        self.root = ftp_scene.served(self.folder)

    def setting(self) -> Setting:
        return ftp_scene.setting(self.folder)

    def start(self, name: str) -> None:
        with known.running(name, self.setting()):
            pass

    def check(self, name: str) -> None:
        ftp_scene.skip_if_left_out(self, name)
        with known.running(name, self.setting()) as server:
            self.check_serves(server)
            with ftplib.FTP() as client:  # a session that is open when the server is stopped
                client.connect(server.address.host, server.address.port, timeout=60)
                client.login(RIGHT.user, RIGHT.password)
                processes = tree(server.program.pid)
                server.stop()
        self.assertEqual([pid for pid in processes if tree(pid)], [])

    def check_anonymous(self, name: str, refused: tuple[Account, ...]) -> None:
        """Any password is right for the user anonymous."""
        ftp_scene.skip_if_left_out(self, name)
        with known.running(name, self.setting()) as server:
            for password in ("a@b", "another"):
                anybody = Account(ANONYMOUS, password)
                self.assertEqual(fetched(server.address, anybody, "a.bin"), BYTES)
            for one in refused:
                with self.assertRaises(ftplib.error_perm):
                    fetched(server.address, one, "a.bin")
            with self.assertRaises(ftplib.error_perm):
                fetched(server.address, Account(ANONYMOUS, "a@b"), "../server/passwd")
            with ftp_scene.session(server.address, Account(ANONYMOUS, "a@b")):
                processes = tree(server.program.pid)
                self.assertGreater(len(processes), 1)
                server.stop()
        self.assertEqual([pid for pid in processes if tree(pid)], [])

    def check_serves(self, server: PeerServer) -> None:
        for account in (RIGHT, OTHER):
            self.assertEqual(fetched(server.address, account, "a.bin"), BYTES)
        self.assertTrue(server.version)
        self.assertNotIn(RIGHT.password, server.program.command_line())
        wrong = [Account("lab", "wrong"), Account("nobody", ""), Account("anonymous", "a@b")]
        with ThreadPoolExecutor(len(wrong)) as pool:  # each is delayed for seconds
            asked = [pool.submit(fetched, server.address, one, "a.bin") for one in wrong]
        for one in asked:
            self.assertIsInstance(one.exception(), ftplib.error_perm)
        with self.assertRaises(ftplib.error_perm):
            fetched(server.address, RIGHT, "../accounts")

    def test_pure_ftpd(self) -> None:
        self.check("pure-ftpd")

    def test_pure_ftpd_tuned(self) -> None:
        self.check("pure-ftpd-tuned")

    def test_pure_ftpd_inetd(self) -> None:
        self.check("pure-ftpd-inetd")

    def test_vsftpd(self) -> None:
        self.check("vsftpd")

    def test_vsftpd_tuned(self) -> None:
        self.check("vsftpd-tuned")

    def test_pure_ftpd_anonymous(self) -> None:
        self.check_anonymous("pure-ftpd-anonymous", ())  # it takes every name for anonymous

    def test_vsftpd_anonymous(self) -> None:
        self.check_anonymous("vsftpd-anonymous", (RIGHT, OTHER))

    def test_inetutils_ftpd(self) -> None:
        self.check_anonymous("inetutils-ftpd", (RIGHT, OTHER))

    def test_proftpd(self) -> None:
        self.check("proftpd")

    def test_proftpd_tuned(self) -> None:
        self.check("proftpd-tuned")

    def check_uploads(self, name: str) -> None:
        """Users store files, and again by the same name. The folder of the lab stays as it is."""
        ftp_scene.skip_if_left_out(self, name)
        with known.running(name, self.setting()) as server:
            for content in (BYTES, BYTES[:1000], b"", BYTES):
                with ftp_scene.session(server.address, OTHER) as client:
                    client.storbinary("STOR upload-7", io.BytesIO(content))
                self.assertEqual(fetched(server.address, RIGHT, "upload-7"), content)
            wrong = Account("lab", "wrong")
            with self.assertRaises(ftplib.error_perm):
                fetched(server.address, wrong, "upload-7")
        self.assertEqual([path.name for path in self.root.iterdir()], ["a.bin"])
        self.assertEqual(list(Path(SERVED).glob("upload-*")), [])

    def test_pure_ftpd_uploads(self) -> None:
        self.check_uploads("pure-ftpd-uploads")

    def test_vsftpd_uploads(self) -> None:
        self.check_uploads("vsftpd-uploads")

    def test_proftpd_uploads(self) -> None:
        self.check_uploads("proftpd-uploads")

    def test_gridftp(self) -> None:
        """It stores into nothing but the sink."""
        self.check_anonymous("gridftp", (RIGHT, OTHER))
        self.root.chmod(0o777)
        with known.running("gridftp", self.setting()) as server:
            anybody = Account(ANONYMOUS, "a@b")
            with ftp_scene.session(server.address, anybody) as client:
                client.storbinary("STOR /dev/null", io.BytesIO(BYTES))
            for name in ("b.bin", "a.bin", "/tmp/turnstile-test", "/dev/zero"):
                with (
                    ftp_scene.session(server.address, anybody) as client,
                    self.assertRaises(ftplib.error_perm),
                ):
                    client.storbinary(f"STOR {name}", io.BytesIO(BYTES))
            self.assertEqual(fetched(server.address, anybody, "a.bin"), BYTES)
        self.assertEqual([path.name for path in self.root.iterdir()], ["a.bin"])

    def test_pyftpdlib(self) -> None:
        self.check("pyftpdlib")

    def test_nginx(self) -> None:
        ftp_scene.skip_if_left_out(self, "nginx")
        with known.running("nginx", self.setting()) as server:
            for account in (RIGHT, OTHER):
                self.assertEqual(by_http(server, account, "/a.bin"), (200, BYTES))
            self.assertRegex(server.version, r"^[0-9]+\.[0-9.]+")
            self.assertNotIn(RIGHT.password, server.program.command_line() + server.configuration)
            for one in (Account(RIGHT.user, "wrong"), Account(RIGHT.user, OTHER.password)):
                self.assertEqual(by_http(server, one, "/a.bin")[0], 401)
            self.assertNotEqual(by_http(server, RIGHT, "/../server/accounts")[0], 200)
            processes = tree(server.program.pid)
            self.assertGreater(len(processes), 1)  # its workers
            server.stop()
        self.assertEqual([pid for pid in processes if tree(pid)], [])

    def test_nginx_anonymous(self) -> None:
        """It serves anybody, in TLS if it is given a certificate, and then nobody in clear."""
        ftp_scene.skip_if_left_out(self, "nginx-anonymous")
        anybody = Account(ANONYMOUS, "a@b")
        with known.running("nginx-anonymous", self.setting()) as server:
            self.assertEqual(by_http(server, anybody, "/a.bin"), (200, BYTES))
        with certificates.made(self.folder, "p256") as pair:
            setting = replace(self.setting(), key_pair=pair)
            with known.running("nginx-anonymous", setting) as server:
                self.assertEqual(by_http(server, anybody, "/a.bin")[0], 400)
                url = f"https://{server.address}/a.bin"
                mine = ssl.create_default_context(cafile=str(pair.certificate))
                mine.check_hostname = False
                with urllib.request.urlopen(url, timeout=60, context=mine) as reply:
                    self.assertEqual(reply.read(), BYTES)

    def test_a_server_that_is_not_installed_is_left_out_by_name(self) -> None:
        nowhere = mock.patch("shutil.which", return_value=None)
        with nowhere, self.assertRaisesRegex(Failed, "^nginx is left out: "):
            self.start("nginx")

    def test_the_host_keeps_no_session_of_pure_ftpd(self) -> None:
        ftp_scene.skip_if_left_out(self, "pure-ftpd")
        sessions = Path("/var/run/pure-ftpd")
        with (
            known.running("pure-ftpd", self.setting()) as server,
            ftp_scene.session(server.address, RIGHT),
        ):
            pids = {f"client-{pid:08}" for pid in server.pids()}
            self.assertEqual(pids & {path.name for path in sessions.iterdir()}, set())
            ours = {path.name for path in (self.folder / "server" / "run").iterdir()}
        self.assertTrue(pids & ours, ours)

    def test_each_entry_has_a_test(self) -> None:
        tests = {name.removeprefix("test_") for name in dir(self)}
        names = {name.replace("-", "_") for name in known.ENTRIES}
        elsewhere = {"pure_ftpd_authd", "pure_ftpd_sender", "pure_ftpd_receiver"}
        self.assertEqual(names - tests, elsewhere)  # test_pure_authd.py, test_pairs.py

    def test_a_server_that_cannot_be_downloaded_is_left_out_by_name(self) -> None:
        with self.assertRaisesRegex(Failed, "^no-such-server is left out: "):
            packages.unpacked("no-such-server", self.folder / "packages")
        without_apt = mock.patch("shutil.which", return_value=None)
        with without_apt, self.assertRaisesRegex(Failed, "^vsftpd is left out: this system has no"):
            packages.unpacked("vsftpd", self.folder / "packages")
        self.assertEqual(list((self.folder / "packages").glob("*server/*")), [])

    def test_an_unknown_name_is_wrong_usage(self) -> None:
        with self.assertRaisesRegex(WrongUsage, "no server 'ncftpd'; there are: pure-ftpd, "):
            self.start("ncftpd")

    def test_without_root_the_reason_is_told(self) -> None:
        as_user = mock.patch("os.geteuid", return_value=1000)
        with as_user, self.assertRaisesRegex(LeftOut, "^vsftpd is left out: only root can start"):
            self.start("vsftpd")

    @unittest.skipIf(os.geteuid() != 0, "only root can start it")
    def test_a_folder_that_sessions_cannot_read_is_told(self) -> None:
        self.root.chmod(0o700)
        with self.assertRaisesRegex(Failed, "the user nobody may not read it"):
            self.start("vsftpd")
