"""A fileserver of which one call fails, each in its turn, and the requests that it has then.

faults.c lets it fail. With TURNSTILE_FAULTS=all it has each of its errors, otherwise two of them.
"""

import os
import time
import unittest
from collections.abc import Callable

import processes
from client import Client, ConnectionEndedError
from faults import Faults, Kind
from http_client import FLAG, HttpClient
from programs import SANITIZED, Program
from scene import SceneTest, create_account
from waiting import LONG_S, eventually

USER = ("alice", "wonderland")
IS_FULL = os.environ.get("TURNSTILE_FAULTS") == "all"
MOST_CALLS = 400  # of one kind in one request
_MOST_KEPT = 2  # further connections to the authserver
ENDED = "ended"

BIG = b"0123456789" * 10_000


@unittest.skipIf(SANITIZED, "a sanitizer must be the first library that is loaded")
class FaultsScene(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.faults = Faults(self.scene.folder)
        self.authserver = self.scene.authserver("--password-scheme", "plain")
        create_account(self.authserver, *USER)
        self.scene.write("small", b"small")
        self.scene.write("big", BIG)
        self.scene.write("folder/f", b"f")
        self.stored: dict[str, set[bytes | None]] = {}  # what each name may lead to
        self.accounts = [USER[0]]

    def start(self, *flags: object) -> Program:
        return self.scene.fileserver(
            self.authserver, "--listen", "127.0.0.1:0", *flags, env=self.faults.env
        )

    def native(self, line: str) -> object:
        """The reply on a new connection, or "ended"."""
        client = None
        try:
            client = Client(self.server.address)
            client.socket.settimeout(LONG_S)
            return client.ask(line)
        except (ConnectionEndedError, OSError):
            return ENDED
        finally:
            if client:
                client.close()

    def http(
        self, target: str, method: str = "GET", body: bytes = b"", *fields: str
    ) -> tuple[object, bytes]:
        client = None
        try:
            client = HttpClient(self.server, *USER)
            client._client.socket.settimeout(LONG_S)
            if method == "PUT" and not body:
                fields += ("Content-Length: 0",)
            answer = client.ask(target, *fields, method=method, body=body)
            return answer.status, answer.body
        except (ConnectionEndedError, OSError):
            return ENDED, b""
        finally:
            if client:
                client.close()

    # The requests. Each checks its own answer.

    def get_native(self) -> None:
        client = None
        try:
            client = Client(self.server.address)
            client.socket.settimeout(LONG_S)
            reply = client.ask(f"get:{USER[0]}:{USER[1]}")
            self.assertIn(reply, ("OK", "unavailable", "internal", "busy"))
            if reply == "OK":
                for name, content in (("small", b"small"), ("big", BIG)):
                    self.assertIn(client.ask(name), (content, "internal"))
        except (ConnectionEndedError, OSError):
            pass
        finally:
            if client:
                client.close()

    def new_native(self) -> None:
        user = f"user{len(self.accounts)}"
        reply = self.native(f"new:{user}:pw")
        self.assertIn(reply, ("OK", "unavailable", "internal", "exists", "busy", ENDED))
        self.accounts.append(user if reply == "OK" else USER[0])

    def get_http(self) -> None:
        for name, content in (("small", b"small"), ("big", BIG)):
            status, body = self.http(f"/{name}")
            self.assertIn(status, (200, 500, 503, ENDED))
            if status == 200:
                self.assertEqual(body, content)

    def put_http(self, name: str = "put") -> None:
        body = f"version {len(self.stored)} {self.faults.failed()}".encode()
        may_be = self.stored.setdefault(name, {None})
        status, _ = self.http(f"/{name}", "PUT", body)
        self.assertIn(status, (201, 204, 500, 503, 507, ENDED))
        if status in (201, 204):
            may_be.clear()
        may_be.add(body)

    def put_new_http(self) -> None:
        self.put_http(f"new{self.number}")
        self.number += 1

    def delete_http(self) -> None:
        name = f"gone{self.number}"
        self.number += 1
        self.scene.write(name, b"x")
        status, _ = self.http(f"/{name}", "DELETE")
        self.assertIn(status, (204, 500, 503, 507, ENDED))
        self.stored[name] = {None} if status == 204 else {b"x", None}

    def mkcol_http(self) -> None:
        name = f"made{self.number}"
        self.number += 1
        status, _ = self.http(f"/{name}/", "MKCOL")
        self.assertIn(status, (201, 500, 503, 507, ENDED))
        if status == 201:
            self.assertTrue((self.scene.root / name).is_dir())

    def list_http(self) -> None:
        status, body = self.http("/folder/")
        self.assertIn(status, (200, 500, 503, ENDED))
        if status == 200:
            self.assertIn(b'href="f"', body)

    def follow(self) -> None:
        """Another program makes a folder, which the server follows meanwhile."""
        name = f"followed{self.number}"
        self.number += 1
        self.scene.write(f"{name}/below/f", name.encode())
        before, end_s = self.faults.failed(), time.monotonic() + 0.1
        while self.faults.failed() == before and time.monotonic() < end_s:
            time.sleep(0.001)
        self.stored[f"{name}/below/f"] = {name.encode()}

    number = 0
    has_http = False

    def each(self, kind: Kind, requests: tuple[Callable[[], None], ...]) -> None:
        """Each call of the kind fails once in each of the requests."""
        errors = kind.errors if IS_FULL else kind.errors[:2]
        for error in errors:
            for request in requests:
                for number in range(1, MOST_CALLS):
                    before = self.faults.failed()
                    self.faults.fail(kind, number, error)
                    with self.subTest(kind.name, error=error, of=request.__name__, number=number):
                        request()
                    self.faults.stop()
                    if self.faults.failed() == before:
                        break

    def check_all_is_well(self) -> None:
        self.assertTrue(self.server.is_running(), self.server.log())
        for _ in range(3):
            self.may_log_in(*USER)
        for user in set(self.accounts) - {USER[0]}:
            self.may_log_in(user, "pw")
        if not self.has_http:
            return
        for name, may_be in self.stored.items():
            path = self.scene.root / name
            content = path.read_bytes() if path.exists() else None
            self.assertIn(content, may_be, name)
            self.is_served_in_the_end(name, content)
        hidden = self.scene.root.rglob
        eventually(lambda: not list(hidden(".turnstile-upload-*")), "no part of an upload is left")

    def may_log_in(self, user: str, password: str) -> None:
        eventually(lambda: self.native(f"get:{user}:{password}") == "OK", f"{user} may log in")

    def is_served_in_the_end(self, name: str, content: bytes | None) -> None:
        expected = (404, None) if content is None else (200, content)
        eventually(lambda: self.served(name) == expected, f"{name} is served")

    def served(self, name: str) -> tuple[object, bytes | None]:
        status, body = self.http(f"/{name}")
        return status, body if status == 200 else None

    def holds_no_more(self, before: dict[int, tuple[int, int]], spare: int) -> bool:
        """Whether the server holds no more than it held at rest.

        Spare threads and processes, and helpers of loops, may come and go. Two requests at once, of
        which a client has given up the first one, leave two kept connections to the authserver
        instead of one.
        """
        pid = self.server.pid
        if spare or self.has_loops:
            return processes.held(pid)[pid][1] <= before[pid][1] + _MOST_KEPT
        return not processes.holds_more(pid, before, _MOST_KEPT)

    def run_all(self, kinds: tuple[Kind, ...], spare: int, *flags: object) -> None:
        self.has_http, self.has_loops = "process" not in flags, "event" in flags
        requests: tuple[Callable[[], None], ...] = (self.get_native, self.new_native)
        if "prefetch" in flags:
            requests += (self.follow,)
        if self.has_http:
            flags = (*FLAG, "--uploads", "folder", *flags)
            requests += (self.get_http, self.put_http, self.put_new_http, self.delete_http)
            requests += (self.mkcol_http, self.list_http)
        self.server = self.start("--debuggable", "--spare-threads", spare, *flags)
        self.may_log_in(*USER)
        before = processes.held(self.server.pid)
        for kind in kinds:
            self.each(kind, requests)
        self.check_all_is_well()
        eventually(lambda: self.holds_no_more(before, spare), f"it holds no more than {before}")
        self.assertEqual(self.server.stop(), 0)
