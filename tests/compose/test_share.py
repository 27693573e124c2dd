"""docker/share.yml: a folder of the host, with the page and WebDAV, for accounts that it makes."""

import hashlib
import http.client
import json
import os
import re
import ssl
import tempfile
import unittest
from pathlib import Path

from engine import PROJECT, System, run
from http_client import basic
from needs import missing
from test_https import make_certificate

from rig.host import free_port

FILE = str(PROJECT / "docker" / "share.yml")
# Nobody else has this number. Only root can give a folder to it.
OWNER = 23456 if os.geteuid() == 0 else os.geteuid()
_CLEARED = "\x1b[2K"  # Compose clears a line before it writes it.
_ACCOUNT = re.compile(r"user +(\S+)\n +password +(\S+)\n +one-time link +(\S+)")
_LINK = re.compile(r"https://127\.0\.0\.1:(\d+)/-/invitation#([A-Za-z0-9_-]{43})")


def shared(**settings: str) -> System:
    ports = {name: str(free_port()) for name in ("SHARE_PORT", "TLS_PORT")}
    return System(COMPOSE_FILE=FILE, **ports, **settings)


class Share(unittest.TestCase):
    """All tests share one running system, whose users may change the folder."""

    folder: Path
    system: System
    port: int
    tls_port: int
    amy: str  # what she sends as credentials
    secrets: list[str]  # what `account` has printed for her

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="turnstile-share-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        (cls.folder / "hello.txt").write_text("hello\n", encoding="utf-8")
        for path in (cls.folder / "hello.txt", cls.folder):
            path.chmod(0o700)
            os.chown(path, OWNER, -1)
        cls.system = shared(SHARE=folder.name, UPLOADS="folder")
        cls.addClassCleanup(cls.system.remove)
        cls.system.up()
        log = cls.system.log("account").replace(_CLEARED, "")
        found = _ACCOUNT.search(log)
        assert found, log
        address = re.search(r"http://127\.0\.0\.1:(\d+)/", log)
        assert address, log
        cls.port = int(address[1])
        assert found[1] == "amy", log
        cls.amy = basic("amy", found[2])
        link = _LINK.fullmatch(found[3])
        assert link, log
        cls.tls_port = int(link[1])
        cls.secrets = [found[2], link[2]]

    def certificate(self) -> str:
        return self.system.inside("fileserver", "cat /tls/certificate.pem")

    def https(self, name: str) -> http.client.HTTPConnection:
        """Trusts the certificate of the share alone, and looks whether it is for this name."""
        context = ssl.create_default_context(cadata=self.certificate())
        return http.client.HTTPSConnection(name, self.tls_port, timeout=60, context=context)

    def ask(
        self,
        method: str,
        path: str,
        who: str = "",
        body: bytes = b"",
        host: str = "",
        by: http.client.HTTPConnection | None = None,
    ) -> tuple[int, bytes]:
        """Returns the status and the body."""
        connection = by or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        fields = {"Depth": "1"} | ({"Authorization": who} if who else {})
        fields |= {"Host": host} if host else {}
        connection.request(method, path, body, fields)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def account(self, user: str) -> tuple[str, str]:
        """The credentials of the user with the password that `account` makes, and the link."""
        told = self.system.compose("run", "--rm", "-T", "account", user)
        found = _ACCOUNT.search(told)
        assert found and found[1] == user, told
        return basic(user, found[2]), found[3]

    def test_the_first_account_gets_the_page_and_the_files(self) -> None:
        self.assertEqual(self.ask("GET", "/hello.txt", self.amy), (200, b"hello\n"))
        status, page = self.ask("GET", "/", self.amy)
        self.assertEqual(status, 200)
        self.assertIn(b"hello.txt", page)
        status, listing = self.ask("PROPFIND", "/", self.amy)
        self.assertEqual(status, 207)
        self.assertIn(b"/hello.txt", listing)

    def test_nobody_else_gets_in_or_makes_an_account(self) -> None:
        self.assertEqual(self.ask("GET", "/hello.txt")[0], 401)
        self.assertEqual(self.ask("GET", "/hello.txt", basic("amy", "wrong"))[0], 401)
        wanted = json.dumps({"user": "eve", "password": "secret"}).encode()
        self.assertEqual(self.ask("POST", "/-/accounts", body=wanted)[0], 403)

    def test_a_page_that_gives_its_name_this_address_learns_nothing(self) -> None:
        self.assertEqual(self.ask("GET", "/hello.txt", self.amy, host="page.example")[0], 421)
        self.assertEqual(self.ask("GET", "/hello.txt", self.amy, host="localhost")[0], 200)

    def test_only_the_page_is_published_and_on_the_loopback_only(self) -> None:
        container = self.system.compose("ps", "--quiet", "network").strip()
        self.assertEqual(
            sorted(run("docker", "port", container).splitlines()),
            [f"{inside}/tcp -> 127.0.0.1:{port}" for inside, port in self.ports().items()],
        )

    def ports(self) -> dict[int, int]:
        return {8080: self.port, 8443: self.tls_port}

    def test_https_is_for_the_names_of_this_host(self) -> None:
        for name in ("localhost", "127.0.0.1"):
            answer = self.ask("GET", "/hello.txt", self.amy, by=self.https(name))
            self.assertEqual(answer, (200, b"hello\n"))
        fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.certificate())).digest()
        self.assertIn(fingerprint.hex(":").upper(), self.system.log("certificate"))

    def test_only_the_owner_of_the_folder_reads_the_key(self) -> None:
        shown = self.system.inside("fileserver", "stat -c '%a %u' /tls/key.pem /tls/made-for-*")
        self.assertEqual(shown, f"400 {OWNER}\n700 0\n")
        self.assertIn("BEGIN PRIVATE KEY", self.key(OWNER))
        self.assertEqual(self.key(10001), "")
        mounts = self.system.inside("fileserver", "grep ' /tls ' /proc/mounts")
        self.assertIn(" ro,", mounts)

    def key(self, user: int) -> str:
        """What this user of the container can read of it."""
        words = ("exec", "-T", "--user", str(user), "fileserver", "cat", "/tls/key.pem")
        return self.system.compose(*words, check=False)

    def test_the_first_account_is_an_administrator_and_others_are_not(self) -> None:
        status, people = self.ask("GET", "/-/admin/list", self.amy)
        self.assertEqual(status, 200)
        first = json.loads(people)[0]
        self.assertEqual((first["user"], first["admin"]), ("amy", True))
        ben, _ = self.account("ben")
        self.assertEqual(self.ask("GET", "/-/admin/list", ben)[0], 404)

    def test_the_link_sets_a_password_once(self) -> None:
        printed, address = self.account("cora")
        link = _LINK.fullmatch(address)
        assert link, address
        self.assertEqual(self.ask("GET", "/-/invitation", by=self.https("127.0.0.1"))[0], 200)
        for password, status in (("her own", 204), ("another", 401)):
            wanted = json.dumps({"token": link[2], "new": password}).encode()
            answer = self.ask("POST", "/-/invitation", body=wanted, by=self.https("127.0.0.1"))
            self.assertEqual(answer[0], status)
        self.assertEqual(self.ask("GET", "/hello.txt", basic("cora", "her own"))[0], 200)
        self.assertEqual(self.ask("GET", "/hello.txt", printed)[0], 401)

    def test_a_secret_is_in_the_log_of_account_and_nowhere_else(self) -> None:
        containers = self.system.containers("--all")
        shown = run("docker", "inspect", *containers)
        for container in self.system.containers():
            shown += run("docker", "top", container, "-eo", "pid,args")
        for service in ("network", "fileserver", "authserver", "certificate"):
            shown += self.system.log(service)
        key = self.key(OWNER).split("\n")[1]
        self.assertEqual(len(key), 64)
        for secret in (*self.secrets, key):
            self.assertNotIn(secret, shown)
        self.assertNotIn(key, self.system.log("account"))

    def test_what_is_uploaded_belongs_to_the_owner_of_the_folder(self) -> None:
        self.assertEqual(self.ask("PUT", "/new.txt", self.amy, b"new\n")[0], 201)
        self.assertEqual((self.folder / "new.txt").read_bytes(), b"new\n")
        self.assertEqual((self.folder / "new.txt").stat().st_uid, OWNER)

    def test_account_makes_others_and_gives_a_new_password(self) -> None:
        first, _ = self.account("ben")
        self.assertEqual(self.ask("GET", "/hello.txt", first)[0], 200)
        second, _ = self.account("ben")
        self.assertEqual(self.ask("GET", "/hello.txt", second)[0], 200)
        self.assertEqual(self.ask("GET", "/hello.txt", first)[0], 401)

    def test_another_start_keeps_the_accounts_and_the_certificate(self) -> None:
        first = self.certificate()
        self.system.down()
        self.system.up()
        self.assertEqual(self.ask("GET", "/hello.txt", self.amy)[0], 200)
        self.assertEqual(self.ask("GET", "/-/admin/list", self.amy)[0], 200)
        self.assertNotIn("password  ", self.system.log("account"))
        self.assertEqual(self.certificate(), first)

    def test_accounts_of_a_version_without_certificates_get_one(self) -> None:
        first = self.certificate()
        self.system.down()
        run("docker", "volume", "rm", f"{self.system.name}_share-tls")
        self.system.up()
        answer = self.ask("GET", "/hello.txt", self.amy, by=self.https("localhost"))
        self.assertEqual(answer, (200, b"hello\n"))
        self.assertNotEqual(self.certificate(), first)

    def test_the_servers_have_no_privilege(self) -> None:
        shown = self.system.inside("fileserver", "cat /proc/1/status")
        self.assertRegex(shown, rf"Uid:\s+{OWNER}\s+{OWNER}\s+{OWNER}\s")
        for field in ("CapPrm", "CapEff", "CapBnd"):
            self.assertRegex(shown, rf"{field}:\s+0+\n")
        self.assertEqual(self.system.inside("authserver", "id -u"), "10001\n")


@unittest.skipIf(missing("openssl"), missing("openssl"))
class Certificates(unittest.TestCase):
    """What the service `certificate` gives the fileserver."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="turnstile-share-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def system(self, **settings: str) -> System:
        system = shared(SHARE=str(self.folder), **settings)
        self.addCleanup(system.remove)
        return system

    @staticmethod
    def given(system: System, *script: str) -> str:
        """The certificate, or what the script prints, after another start."""
        system.compose("run", "--rm", "-T", "certificate")
        words = script or ("cat", "/tls/certificate.pem")
        return system.compose(
            "run", "--rm", "-T", "--entrypoint", words[0], "certificate", *words[1:]
        )

    def names(self, system: System) -> str:
        words = ("openssl", "x509", "-noout", "-ext", "subjectAltName")
        return self.given(system, *words, "-in", "/tls/certificate.pem").split("\n")[1].strip()

    def test_it_is_for_the_names_of_the_host_too_and_kept_for_a_month_before_its_end(self) -> None:
        system = self.system(SHARE_HOST="files.example.com, 192.0.2.7")
        own = "DNS:localhost, IP Address:127.0.0.1"
        told = f"{own}, DNS:files.example.com, IP Address:192.0.2.7"
        self.assertEqual(self.names(system), told)
        first = self.given(system)
        self.assertEqual(self.given(system), first)
        again = (
            "cd /tls/made-for-* && openssl req -x509 -key key.pem -subj /CN=x -out certificate.pem"
        )
        self.given(system, "bash", "-c", f"{again} -days 31")
        kept = self.given(system)
        self.assertNotEqual(kept, first)
        self.assertEqual(self.given(system), kept)
        self.given(system, "bash", "-c", f"{again} -days 29")
        self.assertEqual(self.names(system), told)

    def test_one_of_the_users_is_taken_and_then_its_successor(self) -> None:
        own = Path(tempfile.mkdtemp(dir=self.folder))
        paths = {"TLS_CERTIFICATE": own / "certificate.pem", "TLS_KEY": own / "key.pem"}
        system = self.system(**{name: str(path) for name, path in paths.items()})
        for _ in range(2):
            make_certificate(own)
            self.assertEqual(self.given(system), (own / "certificate.pem").read_text())
            shown = self.given(
                system, "bash", "-c", "cat /tls/key.pem; stat -c '%a %u' /tls/key.pem"
            )
            owner = self.folder.stat().st_uid
            self.assertEqual(shown, (own / "key.pem").read_text() + f"400 {owner}\n")
        (own / "certificate.pem").write_text("none", encoding="ascii")
        with self.assertRaisesRegex(AssertionError, "must name a certificate and its key, in PEM"):
            self.given(system)
        with self.assertRaisesRegex(AssertionError, "must name a certificate and its key, in PEM"):
            self.given(self.system(TLS_CERTIFICATE=str(paths["TLS_CERTIFICATE"])))


class Settings(unittest.TestCase):
    def test_users_only_read_unless_the_owner_lets_them_write(self) -> None:
        system = shared(SHARE="/my/folder")
        self.addCleanup(system.own_secrets.cleanup)
        shown = json.loads(system.compose("config", "--format", "json"))
        fileserver = shown["services"]["fileserver"]
        self.assertEqual(fileserver["environment"]["FILESERVER_UPLOADS"], "off")
        self.assertEqual(fileserver["volumes"][0]["source"], "/my/folder")

    def test_a_folder_that_is_not_there_is_named_and_not_made(self) -> None:
        missing = Path(tempfile.gettempdir(), f"turnstile-no-folder-{os.getpid()}")
        system = shared(SHARE=str(missing))
        self.addCleanup(system.remove)
        with self.assertRaisesRegex(AssertionError, f"does not exist: {missing}"):
            system.up()
        self.assertFalse(missing.exists())
