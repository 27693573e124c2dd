"""The systems that the bench compares with do what they are compared for."""

import base64
import os
import re
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from host import PROJECT, run

sys.path.insert(0, str(PROJECT))

from needs import missing

from bench.peers import bare, caddy, nginx, paced, wrk
from bench.system import Bench
from lab.systems.peers.nginx import Guard, configuration
from rig import loadgen, stores
from rig.errors import Failed
from rig.host import NGINX
from rig.processes import Address, Program
from rig.servers import Programs

PROGRAMS = Programs(Path(os.environ.get("TURNSTILE_BUILD", PROJECT / "build")))
CONTENT = b"x" * 1000
WRONG = ("user1:wrong", "nobody:secret", "user1:", ":secret", "user1", "user1:secretly", "")


def skip_without(packages: list[str]):
    reason = f"not installed: {', '.join(packages)}"
    return unittest.skipIf(packages, reason)


class PeersTest(unittest.TestCase):
    """Each test has a Redis with user1 and user2, whose password is `secret`."""

    def setUp(self) -> None:
        # nginx gets paths with a blank in them.
        self.folder = Path(self.enterContext_(tempfile.TemporaryDirectory(prefix="bench test ")))
        self.root = self.folder / "files"
        self.root.mkdir()
        (self.root / "1KB1.txt").write_bytes(CONTENT)
        store = stores.start("redis", self.folder)
        self.addCleanup(store.stop)
        assert store.server
        self.redis = store.server
        for user in ("user1", "user2"):
            self.redis.ask("set", f"user:{user}", "$plain$secret")

    def enterContext_(self, context):  # noqa: N802  Python 3.10 has no enterContext()
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def asked(self) -> int:
        """How many GETs Redis has answered."""
        for line in self.redis.ask("info", "commandstats").splitlines():
            if line.startswith("cmdstat_get:"):
                return int(line.partition("calls=")[2].partition(",")[0])
        return 0

    def fetch(self, address: Address, credentials: str = "") -> tuple[int, bytes]:
        request = urllib.request.Request(f"http://{address}/1KB1.txt")
        if credentials:
            encoded = base64.b64encode(credentials.encode()).decode()
            request.add_header("Authorization", f"Basic {encoded}")
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, b""

    def check_that_each_request_is_validated(self, address: Address) -> None:
        before = self.asked()
        for credentials in ("user1:secret", "user2:secret", "user1:secret"):
            self.assertEqual(self.fetch(address, credentials), (200, CONTENT))
        self.assertEqual(self.asked() - before, 3)
        for credentials in WRONG:
            with self.subTest(credentials=credentials):
                self.assertEqual(self.fetch(address, credentials), (401, b""))


@skip_without(nginx.missing())
class NginxTest(PeersTest):
    @contextmanager
    def serving(self, guard: Guard) -> Iterator[Address]:
        with nginx.running(self.folder, self.root, guard) as address:
            yield address

    def test_its_configuration_is_valid_without_a_warning(self) -> None:
        guards = [nginx.STATIC, nginx.with_auth_request(Address("127.0.0.1", 1))]
        if not nginx.missing_for_lua():
            guards.append(nginx.with_lua(1))
        for guard in guards:
            path = self.folder / "nginx.conf"
            path.write_text(
                configuration(self.folder, self.root, Address("127.0.0.1", 1100), guard)
            )
            result = run(NGINX.found(), "-e", "stderr", "-q", "-t", "-c", path)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_static_serves_the_files_of_our_folder_to_everybody(self) -> None:
        with self.serving(nginx.STATIC) as address:
            self.assertEqual(self.fetch(address), (200, CONTENT))

    @skip_without(nginx.missing_for_lua())
    def test_with_lua_every_request_is_validated(self) -> None:
        with self.serving(nginx.with_lua(self.redis.port)) as address:
            self.check_that_each_request_is_validated(address)

    def test_with_auth_request_every_request_is_validated(self) -> None:
        with (
            bare.auth_service(PROGRAMS, self.folder, self.redis.port) as service,
            self.serving(nginx.with_auth_request(service)) as address,
        ):
            self.check_that_each_request_is_validated(address)

    @skip_without(nginx.missing_for_lua())
    def test_with_lua_nobody_is_served_while_redis_is_down(self) -> None:
        with self.serving(nginx.with_lua(self.redis.port)) as address:
            self.redis.stop()
            self.assertEqual(self.fetch(address, "user1:secret"), (503, b""))

    def test_uploads_are_renamed_by_the_library_that_syncs_them(self) -> None:
        library = PROGRAMS.path("peers") / "durable_rename.so"
        with nginx.running(self.folder, self.root, nginx.TAKES_UPLOADS, library) as address:
            request = urllib.request.Request(f"http://{address}/new", b"content", method="PUT")
            with urllib.request.urlopen(request, timeout=30) as response:
                self.assertEqual(response.status, 201)
            self.assertEqual((self.root / "new").read_bytes(), b"content")
            master = next(self.folder.glob("nginx-*/nginx.pid")).read_text().strip()
            children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
            for worker in children:
                self.assertIn(library.name, Path(f"/proc/{worker}/maps").read_text())

    def test_its_workers_stay_in_our_session_and_end_with_it(self) -> None:
        with self.serving(nginx.STATIC):
            master = next(self.folder.glob("nginx-*/nginx.pid")).read_text().strip()
            children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
            self.assertTrue(children)
            for pid in (master, *children):
                self.assertEqual(os.getsid(int(pid)), os.getsid(0))
        for pid in (master, *children):
            self.assertFalse(Path(f"/proc/{pid}").exists())

    @unittest.skipIf(missing("wrk"), missing("wrk"))
    def test_wrk_costs_time_and_fails_when_a_request_is_refused(self) -> None:
        with self.serving(nginx.STATIC) as address:
            measured = wrk.measure(address, "1KB1.txt", 2, seconds=1)
            self.assertTrue(0.1 < measured.cpu_us < 100_000, measured)
            self.assertGreater(measured.rate, 0)
            with self.assertRaisesRegex(Failed, "wrk: Non-2xx .* for nothing"):
                wrk.measure(address, "nothing", 2, seconds=1)


@skip_without(caddy.missing())
class CaddyTest(PeersTest):
    def test_its_configuration_is_valid(self) -> None:
        path = self.folder / "Caddyfile"
        path.write_text(caddy.configuration(self.root, 1100))
        flags = ("--config", path, "--adapter", "caddyfile")
        result = run(caddy.PROGRAM.found(), "validate", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_it_serves_the_files_of_our_folder_to_everybody(self) -> None:
        with caddy.running(self.folder, self.root) as address:
            self.assertEqual(self.fetch(address), (200, CONTENT))


class DurableRenameTest(unittest.TestCase):
    def test_a_file_is_synced_before_it_gets_its_name_and_then_its_folder(self) -> None:
        if reason := missing("strace"):
            self.skipTest(reason)
        if run("strace", "-o", "/dev/null", "true").returncode != 0:
            self.skipTest("strace is not permitted here")
        environment = nginx.preloading(PROGRAMS.path("peers") / "durable_rename.so")
        with tempfile.TemporaryDirectory(prefix="bench test ") as name:
            folder = Path(name).resolve()
            (folder / "to").mkdir()
            (folder / "old").write_bytes(CONTENT)
            trace = ("-y", "-e", "trace=rename,fsync,fdatasync", "-o", str(folder / "trace"))
            rename = f"import os; os.rename({str(folder / 'old')!r}, {str(folder / 'to/new')!r})"
            command = (
                "strace",
                *trace,
                *(f"--env={name}={value}" for name, value in environment.items()),
                sys.executable,
                "-c",
                rename,
            )
            self.assertEqual(run(*command).stderr, "")
            calls = re.findall(
                r"^(\w+)\(.*?([^/<]*)[>\"]\) += 0$", (folder / "trace").read_text(), re.M
            )
        self.assertEqual(calls, [("fdatasync", "old"), ("rename", "new"), ("fsync", "to")])


class BareTest(PeersTest):
    def get(self, address: Address, *flags: str) -> dict:
        program = PROGRAMS.path("loadgen")
        user = ("--user", "user%d", "--accounts", "2", "--file", "1KB1.txt")
        protocol = () if "http" in flags else ("--pipeline",)
        flags = ("get", *user, *protocol, "--server", str(address), "--requests", "5", *flags)
        started = loadgen.start(program, list(flags), self.folder / "log", password="secret")
        return loadgen.result(started, 60)

    def test_two_hops_ask_redis_once_for_each_request(self) -> None:
        for flags in ((), ("--connection", "keep-alive")):
            with (
                self.subTest(flags=flags),
                bare.two_hops(PROGRAMS, self.folder, self.redis.port) as address,
            ):
                before = self.asked()
                result = self.get(address, "--threads", "2", *flags)
                self.assertEqual((result["requests"], result["errors"]["total"]), (10, 0))
                self.assertEqual(result["bytes"], 10 * len(CONTENT))
                self.assertEqual(self.asked() - before, 10)

    def test_two_hops_without_redis_ask_nobody(self) -> None:
        with bare.two_hops(PROGRAMS, self.folder, None) as address:
            self.assertEqual(self.get(address)["requests"], 5)
        self.assertEqual(self.asked(), 0)

    def test_two_hops_send_a_file_of_any_size(self) -> None:
        for size in (0, 16_383, 16_384, 1_000_000):
            with (
                self.subTest(size=size),
                bare.two_hops(PROGRAMS, self.folder, None, size) as address,
            ):
                result = self.get(address, "--connection", "keep-alive")
                self.assertEqual((result["requests"], result["errors"]["total"]), (5, 0))
                self.assertEqual(result["bytes"], 5 * size)

    @contextmanager
    def authserver(self) -> Iterator[Address]:
        store = ("--store", "redis", "--redis-port", str(self.redis.port))
        listen = ("--listen", "127.0.0.1:0")
        program = PROGRAMS.path("authserver")
        server = Program(
            "authserver", [str(program), *store, *listen], self.folder / "authserver.log"
        )
        try:
            yield server.wait_ready(30)
        finally:
            server.stop()

    def test_events_ask_an_authserver_once_for_each_request(self) -> None:
        with self.authserver() as authserver:
            for size, flags in ((1000, ()), (1_000_000, ("--connection", "keep-alive"))):
                with (
                    self.subTest(size=size),
                    bare.event_hop(
                        PROGRAMS, self.folder, authserver, "user1:secret", size
                    ) as address,
                ):
                    before = self.asked()
                    result = self.get(address, "--protocol", "http", "--threads", "2", *flags)
                    self.assertEqual((result["requests"], result["errors"]["total"]), (10, 0))
                    self.assertEqual(result["bytes"], 10 * size)
                    self.assertEqual(self.asked() - before, 10)

    def test_two_creating_hops_create_each_account(self) -> None:
        with bare.two_creating_hops(PROGRAMS, self.folder, self.redis.port) as address:
            flags = ("new", "--user", "user%d", "--accounts", "9", "--server", str(address))
            started = loadgen.start(
                PROGRAMS.path("loadgen"), list(flags), self.folder / "log", password="secret"
            )
            self.assertEqual(loadgen.result(started, 60)["requests"], 9)
        self.assertEqual(self.redis.ask("dbsize").strip(), "9")
        self.assertEqual(self.redis.ask("get", "user:user9").strip(), "$plain$secret")

    def test_durable_put_keeps_what_it_is_sent(self) -> None:
        with bare.durable_put(PROGRAMS, self.folder, self.root) as address:
            for size in (0, 1000, 100_000):
                content = os.urandom(size)
                url = f"http://{address}/{size}"
                with urllib.request.urlopen(
                    urllib.request.Request(url, content, method="PUT"), timeout=30
                ) as answer:
                    self.assertEqual(answer.status, 201)
                self.assertEqual((self.root / str(size)).read_bytes(), content)


class PacedTest(PeersTest):
    def bench(self) -> Bench:
        return Bench(
            programs=PROGRAMS,
            folder=self.folder,
            root=self.root,
            seconds=0.2,
            rounds=1,
            password="secret",
        )

    def p99_ms(self, address: Address, requests: list[bytes]) -> float:
        return paced.p99_ms(self.bench(), address, requests, rate=50)

    def test_it_sends_as_many_requests_as_are_due(self) -> None:
        with bare.two_hops(PROGRAMS, self.folder, self.redis.port) as address:
            before = self.asked()
            requests = paced.native_requests("1KB1.txt", 2, "secret")
            self.assertGreater(self.p99_ms(address, requests), 0)
            self.assertEqual(self.asked() - before, 10 + 1)  # and the one that tells the length

    def test_in_a_closed_loop_it_counts_each_request(self) -> None:
        with bare.two_hops(PROGRAMS, self.folder, self.redis.port) as address:
            before = self.asked()
            requests = paced.native_requests("1KB1.txt", 2, "secret")
            rate = paced.closed_rate(self.bench(), address, requests, threads=2)
            self.assertGreater(rate, 0)
            self.assertEqual(self.asked() - before, round(rate * 0.2) + 1)

    @skip_without(nginx.missing_for_lua())
    def test_it_speaks_http_and_fails_when_a_request_is_denied(self) -> None:
        with nginx.running(self.folder, self.root, nginx.with_lua(self.redis.port)) as address:
            requests = paced.http_requests("1KB1.txt", 2, "secret")
            self.assertGreater(self.p99_ms(address, requests), 0)
            denied = paced.http_requests("1KB1.txt", 3, "secret")
            with self.assertRaisesRegex(Failed, "requests failed"):
                self.p99_ms(address, denied)
