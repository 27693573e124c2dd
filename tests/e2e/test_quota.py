"""A folder with a quota of its file system: what is too much is answered so, and leaves nothing."""

import json
import os
from pathlib import Path

from http_client import HttpClient, request
from links_scene import ADDRESS
from mount_namespace import QUOTAS, NoMount, with_quota
from parts_scene import FOLDER, LAST, MORE, STREAM, TUS, PartsTest
from scene import for_each, with_loops
from waiting import eventually

TOO_MUCH = os.urandom(3 << 20)  # the quota is 2 MiB; nothing of it is compressed
MUCH = TOO_MUCH[: 5 << 18]  # it fits once
USER = "nobody"


@with_loops
class QuotaTest(PartsTest):
    def serve(self, kind: str, folder: str = "limited") -> HttpClient:
        self.scene.folder.chmod(0o711)  # another user must get to the files
        image = self.scene.folder / f"{kind}.image"
        try:
            prefix = with_quota(kind, self.scene.root, folder, image, USER)
        except NoMount as reason:
            self.skipTest(f"{kind}: {reason}")
        self.server = self.start("--trash", 7, "--user", USER, prefix=prefix)
        return self.http(self.server)

    def there(self) -> dict[str, int]:
        """What the server has on its disk, but for the parts, and how long it is."""
        root = Path(f"/proc/{self.server.pid}/root{self.scene.root}")
        files = [path for path in root.rglob("*") if path.is_file()]
        sizes = {str(path.relative_to(root)): path.stat().st_size for path in files}
        return {name: size for name, size in sizes.items() if FOLDER not in name}

    @for_each(QUOTAS)
    def test_an_upload_beyond_the_quota_is_507_and_leaves_nothing(self, kind: str) -> None:
        self.assertEqual(self.put(self.serve(kind), "limited/kept", b"old").status, 201)
        before = self.there()
        self.assertEqual(before, {"limited/kept": 3})
        for name in ("limited/new", "limited/kept"):
            client = self.http(self.server)
            self.assertEqual(self.put(client, name, TOO_MUCH).status, 507)
            client = self.http(self.server)
            chunked = (*client._credentials, "Transfer-Encoding: chunked")
            client.send(request(f"/{name}", *chunked, method="PUT"))
            client.send(b"300000\r\n" + TOO_MUCH + b"\r\n0\r\n\r\n")
            self.assertEqual(client.answer("PUT").status, 507)
        client = self.http(self.server)
        made = client.ask("/-/links", method="POST", body=b'{"path": "limited", "may": "drop"}')
        link = ADDRESS.fullmatch(json.loads(made.body)["address"])
        assert link
        guest = self.scene.keep(HttpClient(self.server))
        self.assertEqual(guest.ask(f"{link[0]}x", method="PUT", body=TOO_MUCH).status, 507)
        self.assertEqual(self.there(), before)
        self.assertEqual(client.ask("/limited/kept").body, b"old")
        # What is beside it has no quota, and what fits is taken.
        self.assertEqual(self.put(client, "free", TOO_MUCH).status, 201)
        self.assertEqual(self.put(client, "limited/fits", MUCH).status, 201)

    @for_each(QUOTAS)
    def test_an_upload_in_parts_waits_until_there_is_room(self, kind: str) -> None:
        client = self.serve(kind)
        self.assertEqual(self.put(client, "limited/fits", MUCH).status, 201)
        before = self.there()
        half = len(MUCH) // 2
        path = self.begin(client, "limited/parts", MUCH[:half])
        self.assertEqual(self.append(client, path, half, MUCH[half:], LAST).status, 507)
        client = self.http(self.server)
        tus = self.begin_tus(client, "limited/tus", len(MUCH))
        at = "Upload-Offset: {}".format
        sent = self.ask(client, "PATCH", tus, MUCH, TUS, STREAM, at(0))
        self.assertEqual(sent.status, 507)
        self.assertEqual(self.there(), before)
        client = self.http(self.server)
        self.assertEqual(self.offset(client, path), len(MUCH))
        self.remove(client, "limited/fits")
        eventually(
            lambda: self.append(client, path, len(MUCH), b"", LAST).status == 201, "there is room"
        )
        self.assertEqual(client.ask("/limited/parts").body, MUCH)
        self.remove(client, "limited/parts")
        empty = (TUS, STREAM, at(len(MUCH)))
        eventually(
            lambda: self.ask(client, "PATCH", tus, b"", *empty).status == 204, "there is room again"
        )
        self.assertEqual(client.ask("/limited/tus").body, MUCH)

    @for_each(QUOTAS)
    def test_parts_that_have_no_room_are_507_and_not_too_many(self, kind: str) -> None:
        client = self.serve(kind, FOLDER)
        statuses = []
        for body, times in ((TOO_MUCH[: 1 << 17], 20), (b"", 40)):
            for number in range(times):
                answer = self.ask(client, "POST", f"/-/parts/{number}", body, MORE)
                statuses.append(answer.status)
                if answer.closes():
                    client = self.http(self.server)
        self.assertEqual((set(statuses), statuses[-1]), ({201, 507}, 507))
        self.assertEqual(self.put(client, "free", TOO_MUCH).status, 201)

    @for_each(QUOTAS)
    def test_an_upload_into_it_takes_nothing_from_the_trash(self, kind: str) -> None:
        client = self.serve(kind)
        for name in ("other", "limited/old"):
            self.assertEqual(self.put(client, name, MUCH).status, 201)
            self.assertEqual(client.ask(f"/{name}", method="DELETE").status, 204)
        chunks = (*client._credentials, "Transfer-Encoding: chunked")
        client.send(request("/limited/more", *chunks, method="PUT"))
        client.send(b"300000\r\n" + TOO_MUCH + b"\r\n0\r\n\r\n")
        self.assertEqual(client.answer("PUT").status, 507)
        self.assertEqual(self.put(self.http(self.server), "limited/new", MUCH).status, 507)
        self.assertEqual(self.kept_paths(self.http(self.server)), ["/limited/old", "/other"])

    def remove(self, client: HttpClient, name: str) -> None:
        """For good: the file system counts what lies in the trash still."""
        self.assertEqual(client.ask(f"/{name}", method="DELETE").status, 204)
        [kept] = json.loads(client.ask("/-/trash/").body)
        self.assertEqual(client.ask(f"/-/trash/{kept['id']}", method="DELETE").status, 204)

    def kept_paths(self, client: HttpClient) -> list[str]:
        return [one["path"] for one in json.loads(client.ask("/-/trash/").body)]

    @for_each(QUOTAS)
    def test_a_copy_or_a_move_into_it_leaves_nothing_half(self, kind: str) -> None:
        client = self.serve(kind)
        self.assertEqual(self.put(client, "limited/kept", b"old").status, 201)
        self.assertEqual(client.ask("/folder", method="MKCOL").status, 201)
        for name in ("file", "folder/a", "folder/b"):
            self.assertEqual(self.put(client, name, MUCH if "/" in name else TOO_MUCH).status, 201)
        before = self.there()
        for method in ("COPY", "MOVE"):
            for name in ("file", "folder"):
                for to in ("limited/new", "limited/kept"):
                    with self.subTest(method, name=name, to=to):
                        asked = client.ask(f"/{name}", f"Destination: /{to}", method=method)
                        self.assertEqual((asked.status, self.there()), (507, before))
        moved = client.ask("/folder/a", "Destination: /limited/a", method="MOVE")
        self.assertEqual((moved.status, client.ask("/limited/a").body), (201, MUCH))
        moved = client.ask("/limited/a", "Destination: /folder/a", method="MOVE")
        self.assertEqual((moved.status, client.ask("/folder/a").body), (201, MUCH))
