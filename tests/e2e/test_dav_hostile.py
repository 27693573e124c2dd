"""MOVE, COPY, LOCK and UNLOCK whose fields somebody has made up to get around a check."""

from dav_client import granted_s, lock, lock_info, token_of, unlock
from http_client import Answer
from lock_scene import LocksScene
from scene import for_each
from upload_scene import USER

_TOKEN = "<urn:a>"


class HostileFieldsTest(LocksScene):
    def ask_from_x(self, method: str, *fields: str, body: bytes = b"") -> Answer:
        """Of a/b in a folder of its own, on a connection of its own. The Host of all is x."""
        return self.http(*USER).ask(self.at("a"), *fields, method=method, body=body)

    def everything(self) -> list[str]:
        return sorted(str(path) for path in self.scene.folder.rglob("*") if path.suffix != ".log")

    @for_each(("MOVE", "COPY"))
    def test_destinations(self, method: str) -> None:
        before = self.everything()
        here = f"/{self.folder}"
        for to, *statuses in (
            ("http://localhost@evil/c", 502),
            ("http://localhost:80@evil/c", 502),
            ("http://localhost\\@evil/c", 502),
            ("http://localhost.evil/c", 502),
            ("http://[::1]/c", 502),
            ("http://127.0.0.1/c", 502),
            ("http://localhost:81/c", 502),
            ("http://localhost:99999999999/c", 502),
            ("http://localhost:080/c", 502),
            ("https://localhost:80/c", 502),
            ("http://@/c", 502),
            ("http://localhost#@evil/c", 400),
            ("http://localhost?@evil/c", 403),
            ("http://localhost", 403),
            ("http://localhost/c http://localhost/d#", 400),
            ("http:/c", 400),
            ("http:c", 400),
            ("file:///etc/passwd", 400),
            ("\\\\evil\\c", 400),
            ("//evil/c", 400),
            ("/%2e%2e/c", 400),
            ("/%2E%2E%2Fc", 400),
            (f"{here}/%2e%2e/%2e%2e/c", 400),
            (f"{here}/..%2f..%2fc", 400),
            ("http://localhost/../c", 400),
            (f"{here}/./c", 400),
            (f"{here}//c", 400),
            (f"{here}/c%00", 400),
            (f"{here}/c%0d%0aX-Y:%20z", 400),
            (f"{here}/%u0063", 400),
            (f"{here}/%", 400),
            (f"{here}/none%2fc", 409),
            (f"{here}/{256 * 'n'}", 409),
            (f"{here}{1000 * '/d'}", 409),
            (f"/{6000 * 'x'}", 409),
            ("/" + 20_000 * "x", 431),
            ("/%2d/c", 403),
            ("/-/sha256/a", 403),
            ("/%2d", 403),
            (f"{here}/%2eturnstile-upload-1", 409),
            (f"{here}/.turnstile-upload-1/c", 409),
            (f"{here}/%61", 403),  # it is itself
            ("", 400),
            ("*", 400),
        ):
            with self.subTest(to[:60]):
                answer = self.ask_from_x(method, f"Destination: {to}")
                self.assertEqual([answer.status], statuses)
                self.assertNotIn("x-y", answer.fields)
                self.assertEqual(self.everything(), before)

    @for_each(("MOVE", "COPY"))
    def test_destinations_of_this_host_in_other_words(self, method: str) -> None:
        for number, host in enumerate(
            (
                "http://evil@localhost",
                "http://localhost:",
                "https://localhost:443",
                "hTTp://LOCALHOST",
            )
        ):
            with self.subTest(host):
                self.write("a", b"old")
                to = f"{method}-{number}"
                answer = self.ask_from_x(method, f"Destination: {host}{self.at(to)}")
                self.assertEqual((answer.status, self.read(to)), (201, b"old"))

    @for_each(("MOVE", "COPY", "LOCK", "DELETE", "PUT"))
    def test_other_fields(self, method: str) -> None:
        before = self.everything()
        copies = method in ("MOVE", "COPY")
        body = {"LOCK": lock_info(), "PUT": b"new"}.get(method, b"")
        asked: list[tuple[int, tuple[str, ...]]] = [
            (431, (f"If: {3000 * f'({_TOKEN})'}",)),
            (431, (f"If: ({3000 * f'{_TOKEN} '})",)),
            (400, (f"If: ({201 * f'{_TOKEN} '})",)),
            (400, (f"If: {5000 * '('}",)),
            (400, (f"If: <{6000 * 'x'}",)),
            (400, (f"If: ({_TOKEN})", f"If: ({_TOKEN})")),
            (412, (f"If: ({200 * f'{_TOKEN} '})",)),
        ]
        if copies:
            asked += [
                (400, ("Depth: 1",)),
                (400, ("Depth: ",)),
                (400, ("Depth: 0", "Depth: infinity")),
                (400, ("Overwrite: ",)),
                (400, ("Overwrite: TF",)),
            ]
        for status, fields in asked:
            with self.subTest([field[:40] for field in fields]):
                to = (f"Destination: {self.at('c')}",) if copies else ()
                answer = self.ask_from_x(method, *to, *fields, body=body)
                self.assertEqual(answer.status, status)
                self.assertEqual(self.everything(), before)
        self.assertEqual(self.read("a"), b"old")

    def test_time_outs(self) -> None:
        for asked, granted in (
            ("Infinite", 3600),
            ("Second-4294967295", 3600),
            ("Second-4294967296", 3600),
            (f"Second-{99 * '9'}", 3600),
            ("Second--1", 3600),
            ("Second-", 3600),
            ("Second-1x", 3600),
            ("Second- 5", 3600),
            (",,,,", 3600),
            (", ".join(["Extend"] * 900), 3600),
            ("second-5,Infinite", 5),
        ):
            with self.subTest(asked[:40]):
                answer = lock(self.http(*USER), self.at("a"), f"Timeout: {asked}")
                self.assertEqual((answer.status, granted_s(answer)), (200, granted))
                self.assertEqual(unlock(self.amy, self.at("a"), token_of(answer)).status, 204)

    def test_tokens_of_unlock(self) -> None:
        own = self.lock("a")
        for token in ("<>", f"<{6000 * 'x'}>", own, f"<{own}", f"<{own}><{own}>", f"<{own}>x"):
            with self.subTest(token[:40]):
                answer = self.ask_from_x("UNLOCK", f"Lock-Token: {token}")
                self.assertEqual(answer.status, 400)
        twice = (f"Lock-Token: <{own}>",) * 2
        self.assertEqual(self.ask_from_x("UNLOCK", *twice).status, 400)
        for token in (f"{own}0", own[:-1], own.upper()):
            self.assertEqual(unlock(self.amy, self.at("a"), token).status, 409)
        self.assert_locked(self.put("a"), "a")


class HostileFieldsInLoopsTest(HostileFieldsTest):
    model = "event"
