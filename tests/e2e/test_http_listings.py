"""--http-listen: listings that are large, or of names that are hard to show."""

import http.client
import json
import os
import re
import shutil
import socket
import unittest
from html.parser import HTMLParser
from urllib.parse import unquote_to_bytes

from http_client import FLAG, basic, request
from processes import resident_bytes
from programs import SANITIZED
from scene import SharedSceneTest

_NAMES = [f"name-{i:05}" for i in range(10_000)]
_LOGIN = f"Authorization: {basic('alice', 'wonderland')}"
_JSON = "Accept: application/json"
_UNREAD = 60
_RIGHT_TO_LEFT = "\u202e"


class _Links(HTMLParser):
    """Those of the table. The heading has links to the folders above."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag == "table":
            self.links.clear()
        if tag == "a":
            self.links.append(dict(attrs)["href"])


def links_of(page: bytes) -> list[str]:
    parser = _Links()
    parser.feed(page.decode())
    return parser.links


class ListingsTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        for folder in ("large", "vanishing"):
            (cls.scene.root / folder).mkdir()
            for name in _NAMES:
                (cls.scene.root / folder / name).touch()
        cls.scene.write(f"odd/rtl{_RIGHT_TO_LEFT}gpj.exe", b"rtl")
        cls.scene.write(b"odd/caf\xe9", b"latin")
        cls.scene.write(b"odd/\xf0\x9f<b>&", b"cut")
        cls.scene.write(b"odd/sub\xff/x", b"below")
        authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.server = cls.scene.fileserver(authserver, *FLAG, "--files", "disk")

    def connect_to(self, *fields: str, path: str = "/large/", buffer: int = 0) -> socket.socket:
        """A connection that has asked for the listing and has read nothing."""
        connection = socket.socket()
        self.addCleanup(connection.close)
        if buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(60)
        connection.connect(tuple(self.server.further_address("http")))
        connection.sendall(request(path, _LOGIN, *fields))
        return connection

    def connection(self) -> http.client.HTTPConnection:
        host, port = self.server.further_address("http")
        connection = http.client.HTTPConnection(host, port, timeout=60)
        self.addCleanup(connection.close)
        return connection

    def ask(self, path: str, *fields: str, method: str = "GET") -> http.client.HTTPResponse:
        connection = self.connection()
        headers = dict(field.split(": ") for field in (_LOGIN, *fields))
        connection.request(method, path, headers=headers)
        return connection.getresponse()

    def test_both_forms_of_a_large_listing_have_every_name_once(self) -> None:
        answer = self.ask("/large/", _JSON)
        self.assertEqual(answer.getheader("transfer-encoding"), "chunked")
        self.assertIsNone(answer.getheader("content-length"))
        self.assertEqual([entry["name"] for entry in json.load(answer)], _NAMES)
        page = self.ask("/large/").read()
        links = re.findall(rb'<td><a href="([^"]*)"', page)  # links_of() takes a second
        self.assertEqual([link.decode() for link in links], ["../", *_NAMES])
        self.assertTrue(page.endswith(b"</html>\n"))

    def test_a_large_listing_comes_in_pieces_of_32_kib_and_an_entry(self) -> None:
        reader = self.connect_to(_JSON).makefile("rb")
        while reader.readline().strip():
            pass
        sizes = []
        while size := int(reader.readline(), 16):
            sizes.append(size)
            self.assertEqual(len(reader.read(size + 2)), size + 2)
        self.assertGreater(len(sizes), 1)
        self.assertLess(max(sizes), 33 * 1024)

    def test_a_connection_goes_on_behind_a_large_listing(self) -> None:
        connection = self.connection()
        headers = dict([_LOGIN.split(": ")])
        for method, path, size in (
            ("GET", "/large/", None),
            ("HEAD", "/large/", 0),
            ("GET", "/large/name-00007", 0),
        ):
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            body = answer.read()
            if size is not None:
                self.assertEqual(len(body), size)

    def test_head_has_the_fields_of_get(self) -> None:
        for path in ("/odd/", "/large/"):
            for fields in ((), (_JSON,)):
                head, get = (self.ask(path, *fields, method=m) for m in ("HEAD", "GET"))
                drop = {"Date"}
                self.assertEqual(
                    [f for f in head.getheaders() if f[0] not in drop],
                    [f for f in get.getheaders() if f[0] not in drop],
                )

    def test_http_1_0_gets_a_length_and_no_chunks(self) -> None:
        connection = socket.create_connection(self.server.further_address("http"), timeout=60)
        self.addCleanup(connection.close)
        connection.sendall(f"GET /large/ HTTP/1.0\r\n{_LOGIN}\r\n\r\n".encode())
        head, _, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
        self.assertNotIn(b"transfer-encoding", head.lower())
        length = re.search(rb"Content-Length: ([0-9]+)", head)
        self.assertEqual(len(body), int(length[1]))
        self.assertEqual(body, self.ask("/large/").read())

    def test_an_http_1_0_connection_goes_on_behind_a_large_listing(self) -> None:
        connection = socket.create_connection(self.server.further_address("http"), timeout=60)
        self.addCleanup(connection.close)
        for path in ("/large/", "/large/name-00007"):
            head = f"GET {path} HTTP/1.0\r\nConnection: keep-alive\r\n{_LOGIN}\r\n\r\n"
            connection.sendall(head.encode())
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            self.assertEqual(answer.getheader("connection"), "keep-alive")
            self.assertEqual(len(answer.read()), int(answer.getheader("content-length", "0")))

    @unittest.skipIf(SANITIZED, "a sanitizer keeps megabytes for each thread")
    def test_clients_that_do_not_read_hold_little_memory(self) -> None:
        before = resident_bytes(self.server.pid)
        clients = [self.connect_to(buffer=4096) for _ in range(_UNREAD)]
        for client in clients:  # the head was sent, so the listing is under way
            self.assertTrue(client.recv(1, socket.MSG_PEEK))
        names = [entry["name"] for entry in json.load(self.ask("/large/", _JSON))]
        self.assertEqual(names, _NAMES)
        grown = resident_bytes(self.server.pid) - before
        # A listing whose page and entries are kept takes 5 MB.
        self.assertLess(grown, _UNREAD * 1_000_000)

    def test_a_listing_whose_folder_goes_is_seen_as_cut(self) -> None:
        fillers = [self.connect_to(buffer=4096) for _ in range(8)]  # they have all large batches
        for client in fillers:
            self.assertTrue(client.recv(1, socket.MSG_PEEK))
        cut = self.connect_to(path="/vanishing/", buffer=4096)
        self.assertTrue(cut.recv(1, socket.MSG_PEEK))
        os.rename(self.scene.root / "vanishing", self.scene.root / "vanished")
        shutil.rmtree(self.scene.root / "vanished")
        answer = http.client.HTTPResponse(cut)
        answer.begin()
        with self.assertRaises(http.client.IncompleteRead):
            answer.read()

    def test_a_name_from_right_to_left_is_isolated(self) -> None:
        page = self.ask("/odd/").read().decode()
        self.assertIn(f"<bdi>rtl{_RIGHT_TO_LEFT}gpj.exe</bdi>", page)

    def test_names_that_are_not_utf_8_break_no_page_and_can_be_fetched(self) -> None:
        contents = {b"caf\xe9": b"latin", b"\xf0\x9f<b>&": b"cut"}
        links = links_of(self.ask("/odd/").read())  # which is decoded strictly
        by_name = {unquote_to_bytes(link): link for link in links}
        for name, content in contents.items():
            self.assertEqual(self.ask("/odd/" + by_name[name]).read(), content)
        below = self.ask("/odd/" + by_name[b"sub\xff/"]).read()
        self.assertIn("<title>/odd/sub\ufffd/</title>", below.decode())
        self.assertEqual(links_of(below), ["../", "x"])
        self.assertEqual(len(json.loads(self.ask("/odd/", _JSON).read().decode())), 4)
