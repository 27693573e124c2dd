"""What a server that is killed leaves of its trash: nothing that was acknowledged is lost."""

import contextlib
import http.client
import json
import random
import threading
import time

from http_client import HttpClient, basic
from programs import Program
from scene import with_loops
from trash_scene import FOLDER, TRASH, listed
from upload_scene import USER, UploadTest
from waiting import eventually


class Sender:
    """Replaces, deletes and puts back one name, version after version, until the server is gone."""

    def __init__(self, server: Program, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.acknowledged: set[int] = set()
        self._address = server.further_address("http")
        self._fields = {"Authorization": basic(*USER)}
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection(*self._address, timeout=30)
            while True:
                self.number += 1
                body = content(self.name, self.number)
                assert self._ask(connection, "PUT", f"/{self.name}", body) in (201, 204)
                self.acknowledged.add(self.number)
                if self.number % 3 == 0:
                    assert self._ask(connection, "DELETE", f"/{self.name}") == 204
                if self.number % 6 == 0:
                    mine = [one for one in self._listed(connection) if one["name"] == self.name]
                    self._ask(connection, "POST", f"/-/trash/{random.choice(mine)['id']}")
                if self.number % 6 == 1:
                    other = {**self._fields, "Destination": f"/{self.name}"}
                    self._ask(connection, "PUT", f"/{self.name}.new", content(self.name, 0))
                    self._ask(connection, "MOVE", f"/{self.name}.new", fields=other)

    def _ask(self, connection, method: str, path: str, body: bytes = b"", fields=None) -> int:
        connection.request(method, path, body, fields or self._fields)
        with connection.getresponse() as response:
            response.read()
        return response.status

    def _listed(self, connection) -> list[dict]:
        connection.request("GET", "/-/trash/", headers=self._fields)
        with connection.getresponse() as response:
            return json.loads(response.read())


def content(name: str, number: int) -> bytes:
    """A version, which says its number in each line."""
    return f"{name} {number}\n".encode() * (1, 300, 20_000)[number % 3]


def number_in(name: str, data: bytes) -> int:
    number = int(data.partition(b"\n")[0].split()[1])
    assert data == content(name, number), "not whole"
    return number


@with_loops
class KilledTest(UploadTest):
    ROUNDS = 3
    SENDERS = 4

    def test_nothing_is_lost_or_half_when_the_server_is_killed(self) -> None:
        """All versions that were acknowledged are in the folder or in the trash, once and whole."""
        numbers = dict.fromkeys((f"n{i}" for i in range(self.SENDERS)), 0)
        acknowledged: dict[str, set[int]] = {name: set() for name in numbers}
        server = self.start(*TRASH, "--files", "disk")
        for _ in range(self.ROUNDS):
            senders = [Sender(server, name, number) for name, number in numbers.items()]
            eventually(lambda: all(len(one.acknowledged) > 2 for one in senders), "versions")
            time.sleep(random.uniform(0, 0.2))
            server.kill()
            for sender in senders:
                sender.thread.join()
                numbers[sender.name] = sender.number
                acknowledged[sender.name] |= sender.acknowledged
            server = self.start(*TRASH, "--files", "disk")
            self.check(self.http(server), acknowledged, numbers)

    def check(
        self, client: HttpClient, acknowledged: dict[str, set[int]], numbers: dict[str, int]
    ) -> None:
        kept = listed(client)
        trash = self.scene.root / FOLDER
        for name, wanted in acknowledged.items():
            places = [trash / one["id"] for one in kept if one["name"] == name]
            if (self.scene.root / name).exists():
                places.append(self.scene.root / name)
            found = [number_in(name, path.read_bytes()) for path in places]
            found = [number for number in found if number > 0]
            self.assertEqual(len(found), len(set(found)), "a version is shown twice")
            self.assertLessEqual(wanted, set(found), "a version is lost")
            self.assertLessEqual(max(found), numbers[name])
