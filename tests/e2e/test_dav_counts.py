"""What metrics and the transfer log say of requests of WebDAV."""

from dav import ALL
from dav_client import lock_info
from scene import with_loops
from telemetry import FLAG as TELEMETRY
from telemetry import scrape
from transfer_lines import wait_for_lines
from upload_scene import UploadTest
from waiting import eventually

_PATCH = (
    b'<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:a>1</D:a></D:prop></D:set>'
    b"</D:propertyupdate>"
)


@with_loops
class CountsTest(UploadTest):
    def test_questions_are_files_and_changes_are_changes(self) -> None:
        log = self.scene.folder / "transfers.json"
        self.scene.write("a", b"a")
        server = self.start(*TELEMETRY, "--transfer-log", log, "--transfer-log-users", "on")
        client = self.http(server)
        before = scrape(server).requests()
        for method, path, body, status in (
            ("PROPFIND", "/", ALL, 207),
            ("PROPFIND", "/a", b"", 207),
            ("PROPFIND", "/none", ALL, 404),
            ("PROPPATCH", "/a", _PATCH, 207),
            ("PROPPATCH", "/none", _PATCH, 404),
            ("LOCK", "/a", lock_info(), 200),
            ("MOVE", "/none", b"", 404),
        ):
            fields = ("Depth: 0", "Destination: /b")
            self.assertEqual(
                client.ask(path, *fields, method=method, body=body).status, status, method
            )
        self.assertEqual(client.ask("/a").body, b"a")
        expected = {
            ("file", "OK"): 3,
            ("file", "not-found"): 1,
            ("change", "OK"): 2,
            ("change", "not-found"): 2,
        }

        def counted() -> dict[tuple[str, ...], int]:
            after = scrape(server).requests()
            verbs = {key: after[key] - before.get(key, 0) for key in after}
            return {key: count for key, count in verbs.items() if key[0] in ("file", "change")}

        eventually(lambda: sum(counted().values()) >= 8, "all are counted")
        self.assertEqual(counted(), expected)
        lines = wait_for_lines(log, 3)
        self.assertEqual([line["method"] for line in lines], ["LOCK", "MOVE", "GET"])
