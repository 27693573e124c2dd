"""PROPFIND, PROPPATCH and the claims of OPTIONS."""

import calendar
import os
import shutil
import socket
import time
import unittest
from urllib.parse import quote_from_bytes, unquote_to_bytes

from dav import ALL, DAV, DavAnswer, Response, ask, prop, responses
from dav_client import lock_info
from http_client import FLAG, HttpClient, basic, request
from processes import resident_bytes, sleep_count
from programs import SANITIZED
from scene import SharedSceneTest, for_each
from waiting import eventually

_LOGIN = f"Authorization: {basic('alice', 'wonderland')}"
_LIVE = [
    "resourcetype",
    "displayname",
    "creationdate",
    "getcontentlength",
    "getcontenttype",
    "getetag",
    "getlastmodified",
    "supportedlock",
    "lockdiscovery",
]
_NOT_OF_FOLDERS = {"getcontentlength", "getcontenttype", "getetag"}
_MANY = 2_000
_LARGE = 10_000
_ODD = (b"a b+c%&'#?.txt", b"caf\xe9", "snow \u2603".encode(), b"<b>&", b"no\xef\xbf\xbfchar")


class PropertiesTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        long_ago_ns = 1_000_000_000_123_456_789
        for name in ("file.txt", "sub/one", "sub/deep/two"):
            os.utime(cls.scene.write(name, b"0123456"), ns=(long_ago_ns, long_ago_ns))
        for odd in _ODD:
            cls.scene.write(b"odd/" + odd, b"x")
        (cls.scene.root / "many").mkdir()
        for number in range(_MANY):
            (cls.scene.root / "many" / f"name-{number:05}").touch()
        (cls.scene.root / "-").mkdir()
        cls.authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.server = cls.scene.fileserver(cls.authserver, *FLAG, "--uploads", "folder")

    def ask(
        self, path: str, *fields: str, body: bytes = b"", method: str = "PROPFIND"
    ) -> DavAnswer:
        return ask(self.server, method, path, *fields, body=body)

    def find(self, path: str, depth: int = 0, body: bytes = b"") -> list[Response]:
        answer = self.ask(path, f"Depth: {depth}", body=body)
        self.assertEqual(answer.status, 207)
        self.assertEqual(answer.fields["content-type"], "application/xml; charset=utf-8")
        return responses(answer.body)

    def test_a_file_has_what_get_says_of_it(self) -> None:
        get = self.ask("/file.txt", method="GET")
        for depth in (0, 1):
            for body in (b"", ALL, prop(*_LIVE)):
                [file] = self.find("/file.txt", depth, body)
                self.assertEqual(file.href, "/file.txt")
                self.assertFalse(file.is_folder())
                self.assertEqual(file.text("displayname"), "file.txt")
                self.assertEqual(file.text("getcontentlength"), get.fields["content-length"])
                self.assertEqual(file.text("getcontenttype"), get.fields["content-type"])
                self.assertEqual(file.text("getetag"), get.fields["etag"])
                self.assertEqual(file.text("getlastmodified"), get.fields["last-modified"])
                self.assertEqual(list(file.properties), [200])

    @for_each(["/sub/", "/sub"])
    def test_a_folder_names_its_members(self, path: str) -> None:
        [itself] = self.find(path)
        self.assertEqual((itself.href, itself.is_folder()), ("/sub/", True))
        for name in _LIVE:
            self.assertEqual(itself.text(name) is None, name in _NOT_OF_FOLDERS, name)
        found = {one.href: one for one in self.find(path, 1)}
        self.assertEqual(list(found), ["/sub/", "/sub/deep/", "/sub/one"])
        self.assertTrue(found["/sub/deep/"].is_folder())
        [alone] = self.find("/sub/one")
        for name in _LIVE:
            self.assertEqual(found["/sub/one"].text(name), alone.text(name), name)

    def lock(self, path: str) -> None:
        """Until the test ends."""
        answer = self.ask(path, "Depth: 0", body=lock_info(), method="LOCK")
        self.assertEqual(answer.status, 200)
        token = f"Lock-Token: {answer.fields['lock-token']}"
        self.addCleanup(self.ask, path, token, method="UNLOCK")

    def test_members_have_the_locks_of_their_own(self) -> None:
        for name in ("a", "b"):
            self.scene.write(f"locked/real/{name}", b"x")
        self.addCleanup(shutil.rmtree, self.scene.root / "locked")
        (self.scene.root / "locked" / "link").symlink_to("real")
        self.lock("/locked/link/a")
        for folder in ("/locked/link/", "/locked/real/"):
            found = {one.href: one.properties[200] for one in self.find(folder, 1)}
            locks = {href: len(named[f"{DAV}lockdiscovery"]) for href, named in found.items()}
            self.assertEqual(locks, {folder: 0, f"{folder}a": 1, f"{folder}b": 0})
        [itself] = self.find("/locked/link/a")
        self.assertEqual(len(itself.properties[200][f"{DAV}lockdiscovery"]), 1)

    def test_the_served_folder(self) -> None:
        found = [one.href for one in self.find("/", 1)]
        self.assertEqual(found, ["/", "/file.txt", "/many/", "/odd/", "/sub/"])

    def test_a_file_says_when_it_was_made(self) -> None:
        def made(path: str, depth: int, *names: str) -> list[str | None]:
            body = prop(*names) if names else ALL
            return [found.text("creationdate") for found in self.find(path, depth, body)]

        form = "%Y-%m-%dT%H:%M:%SZ"
        before_s = int(time.time()) - 2
        os.utime(self.scene.write("made/file", b"x"), (1_000_000_000, 1_000_000_000))
        self.addCleanup(shutil.rmtree, self.scene.root / "made")
        [folder, file] = made("/made/", 1)
        for text in (folder, file):
            assert text is not None
            self.assertIn(
                calendar.timegm(time.strptime(text, form)), range(before_s, before_s + 60)
            )
        self.assertEqual(made("/made/file", 0, "creationdate"), [file])
        self.assertEqual(made("/made/file", 0, "getetag"), [None])
        [text] = made("/", 0)
        assert text is not None
        self.assertLessEqual(calendar.timegm(time.strptime(text, form)), time.time())

    def test_what_is_not_there_for_get(self) -> None:
        for path in ("/no", "/no/", "/file.txt/", "/file.txt/x", "/%zz", "/a//b", "/-", "/sub/.."):
            with self.subTest(path):
                self.assertEqual(self.ask(path, "Depth: 0").status, 404)

    def test_depths(self) -> None:
        for fields in ((), ("Depth: infinity",), ("Depth: Infinity",)):
            answer = self.ask("/sub/", *fields, body=ALL)
            self.assertEqual(answer.status, 403)
            self.assertIn(
                b'<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>', answer.body
            )
        for depth in ("2", "1,noroot", "00", "-1", "x"):
            self.assertEqual(self.ask("/sub/", f"Depth: {depth}").status, 400, depth)

    def test_a_depth_that_comes_twice_is_malformed(self) -> None:
        client = HttpClient(self.server)
        self.addCleanup(client.close)
        client.send(request("/", _LOGIN, "Depth: 0", "Depth: 0", method="PROPFIND"))
        self.assertEqual(client.answer().status, 400)

    def test_bodies_that_are_refused(self) -> None:
        """element_test.cpp has the bounds, property_request_test.cpp what is malformed."""
        elements = prop(*["a"] * 1_998)
        self.assertEqual(self.ask("/", "Depth: 0", body=elements).status, 207)
        one_more = elements.replace(b"<D:a/>", b"<D:a/><D:a/>", 1)
        for body in (b" ", b"<a>", b'<propfind xmlns="DAV:"/>', b"<!DOCTYPE a>" + ALL, one_more):
            with self.subTest(body[:80]):
                self.assertEqual(self.ask("/", "Depth: 0", body=body).status, 400)
        for method in ("PROPFIND", "PROPPATCH", "LOCK"):
            zipped = self.ask("/", "Depth: 0", "Content-Encoding: gzip", body=ALL, method=method)
            self.assertEqual(zipped.status, 415, method)

    def test_a_line_break_before_a_body_and_a_nul_behind_it_are_passed_over(self) -> None:
        for body in (b"\r\n" + ALL, ALL + b"\0", b"\n" + ALL + b"\0"):
            with self.subTest(body):
                self.assertEqual(self.ask("/", "Depth: 0", body=body).status, 207)

    def test_a_body_is_bounded(self) -> None:
        fits = ALL.ljust(64 << 10)
        self.assertEqual(self.ask("/", "Depth: 0", body=fits).status, 207)
        self.assertEqual(self.ask("/", "Depth: 0", body=fits + b" ").status, 413)
        client = HttpClient(self.server)
        self.addCleanup(client.close)
        chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
        client.send(request("/", _LOGIN, "Transfer-Encoding: chunked", method="PROPFIND"))
        client.send(3 * chunk)
        self.assertEqual(client.answer().status, 413)

    def test_names_without_values(self) -> None:
        body = b'<propfind xmlns="DAV:"><propname/></propfind>'
        [file] = self.find("/file.txt", body=body)
        self.assertEqual({name.removeprefix(DAV) for name in file.properties[200]}, set(_LIVE))
        self.assertEqual({element.text for element in file.properties[200].values()}, {None})

    def test_properties_that_are_not_there_keep_their_namespaces(self) -> None:
        body = (
            b'<D:propfind xmlns:D="DAV:" xmlns:x="urn:x&amp;&lt;&quot;"><D:prop><x:a/><b/>'
            b'<D:quota/><c xmlns="urn:c"/><D:getetag/></D:prop></D:propfind>'
        )
        missing = {'{urn:x&<"}a', "b", f"{DAV}quota", "{urn:c}c"}
        for response, tagged in zip(self.find("/sub/", 1, body), (False, False, True), strict=True):
            tag = set() if tagged else {f"{DAV}getetag"}
            self.assertEqual(set(response.properties[404]), missing | tag)
            self.assertEqual(f"{DAV}getetag" in response.properties.get(200, {}), tagged)

    def test_what_is_asked_for_often_is_answered_once(self) -> None:
        asked = b"<D:getetag/><D:none/>" * 900
        for body in (
            b'<D:propfind xmlns:D="DAV:"><D:prop>' + asked + b"</D:prop></D:propfind>",
            b'<D:propfind xmlns:D="DAV:"><D:allprop/><D:include>' + asked
            + b"</D:include></D:propfind>",
        ):  # fmt: skip
            answer = self.ask("/file.txt", "Depth: 0", body=body)
            self.assertEqual(answer.status, 207)
            counts = [answer.body.count(name) for name in (b"<D:getetag>", b":none")]
            self.assertEqual(counts, [1, 1], answer.body)

    def test_an_answer_of_up_to_32_kib_has_its_length(self) -> None:
        folder, most = self.scene.root / "sized", 32 * 1024
        folder.mkdir()
        self.addCleanup(shutil.rmtree, folder)
        body = prop("resourcetype")  # as long for each file, and at any time

        def asked(names: list[str]) -> DavAnswer:
            for name in names:
                (folder / name).touch()
            answer = self.ask("/sized/", "Depth: 1", body=body)
            for name in names:
                (folder / name).unlink()
            return answer

        empty = len(asked([]).body)
        each = len(asked(["0000"]).body) - empty
        end = len(b"</D:multistatus>\n")
        for size in (most - 1, most, most + 1, most + end - 1, most + end, most + 2 * end):
            count, rest = divmod(size - empty, each)
            names = [f"{number:04}" for number in range(count)]
            names[-1] += "x" * rest
            answer = asked(names)
            self.assertEqual(len(answer.body), size)
            self.assertEqual("content-length" in answer.fields, size <= most, size)
            self.assertEqual("transfer-encoding" in answer.fields, size > most, size)

    def test_a_connection_goes_on_behind_small_answers(self) -> None:
        client = HttpClient(self.server, "alice", "wonderland")
        self.addCleanup(client.close)
        for path, depth, status in (("/sub/", 1, 207), ("/no", 0, 404), ("/", "infinity", 403),
                                    ("/file.txt", 0, 207)):  # fmt: skip
            answer = client.ask(path, f"Depth: {depth}", method="PROPFIND", body=ALL)
            self.assertEqual((answer.status, answer.closes()), (status, False), path)

    def test_names_that_are_hard_to_show(self) -> None:
        found = {unquote_to_bytes(one.href): one for one in self.find("/odd/", 1)}
        self.assertEqual(set(found), {b"/odd/", *(b"/odd/" + name for name in _ODD)})
        for name in _ODD:
            [alone] = self.find("/odd/" + quote_from_bytes(name))
            shown = name.decode(errors="replace").replace("\uffff", "\ufffd")
            self.assertEqual(alone.text("displayname"), shown)
            self.assertEqual(found[b"/odd/" + name].text("displayname"), shown)

    def test_a_large_folder_comes_in_chunks_and_names_all_once(self) -> None:
        answer = self.ask("/many/", "Depth: 1", body=prop("resourcetype", "getetag"))
        self.assertEqual(answer.fields["transfer-encoding"], "chunked")
        hrefs = [one.href for one in responses(answer.body)]
        self.assertEqual(hrefs, ["/many/", *(f"/many/name-{n:05}" for n in range(_MANY))])

    def test_http_1_0_gets_a_length(self) -> None:
        host, port = self.server.further_address("http")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            head = f"PROPFIND /many/ HTTP/1.0\r\nDepth: 1\r\n{_LOGIN}\r\n"
            connection.sendall(f"{head}Content-Length: {len(ALL)}\r\n\r\n".encode() + ALL)
            got, _, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
        self.assertIn(f"\r\nContent-Length: {len(body)}\r\n".encode(), got + b"\r\n")
        self.assertEqual(len(responses(body)), _MANY + 1)

    def test_an_upload_has_its_tag_at_once(self) -> None:
        for number in range(20):
            answer = self.ask("/fresh", body=b"%d" % number, method="PUT")
            tags = {one.text("getetag") for one in self.find("/", 1) if one.href == "/fresh"}
            tags |= {one.text("getetag") for one in self.find("/fresh")}
            self.assertEqual(tags, {answer.fields["etag"]})
        self.assertEqual(self.ask("/fresh", method="DELETE").status, 204)

    def test_a_file_that_another_program_goes_on_changing_has_a_weak_tag(self) -> None:
        path = self.scene.write("sub/busy", b"")

        def has_weak_tag() -> bool:
            path.write_bytes(b"x")
            found = {one.href: one.text("getetag") for one in self.find("/sub/", 1)}
            return found["/sub/busy"].startswith("W")

        eventually(has_weak_tag, "it is listed soon enough behind a change")
        path.unlink()

    def test_proppatch_refuses_each_property(self) -> None:
        body = (
            b'<D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:">'
            b"<D:set><D:prop><Z:Win32CreationTime>x</Z:Win32CreationTime></D:prop></D:set>"
            b"<D:remove><D:prop><D:getetag/></D:prop></D:remove></D:propertyupdate>"
        )
        for path, href in (("/file.txt", "/file.txt"), ("/sub", "/sub/"), ("/", "/")):
            answer = self.ask(path, method="PROPPATCH", body=body)
            self.assertEqual(answer.status, 207)
            [response] = responses(answer.body)
            self.assertEqual(response.href, href)
            refused = ["{urn:schemas-microsoft-com:}Win32CreationTime", f"{DAV}getetag"]
            self.assertEqual({s: list(p) for s, p in response.properties.items()}, {403: refused})
        for path, sent, status in (
            ("/no", body, 404),
            ("/file.txt", b"", 400),
            ("/file.txt", ALL, 400),
            ("/file.txt", body[:-1], 400),
        ):
            self.assertEqual(self.ask(path, method="PROPPATCH", body=sent).status, status)

    def test_credentials_are_needed(self) -> None:
        for method in ("PROPFIND", "PROPPATCH"):
            answer = ask(self.server, method, "/", "Depth: 0", user=("alice", "wrong"))
            self.assertEqual(answer.status, 401)


class PropertiesOfLoopsTest(PropertiesTest):
    model = "event"

    def test_helpers_are_asked_for_many_members_at_once(self) -> None:
        """A helper goes to sleep behind each job, and the loop meanwhile.

        Once there is a lock, each member is looked at for its locks too.
        """
        self.lock("/many/name-00000")
        before = sleep_count(self.server.pid)
        self.assertEqual(len(self.find("/many/", 1)), _MANY + 1)
        self.assertLess(sleep_count(self.server.pid) - before, _MANY // 2)


class ClaimsTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("a", b"x")
        cls.authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")

    def start(self, *flags: str) -> HttpClient:
        server = self.scene.fileserver(self.authserver, *FLAG, *flags)
        return self.scene.keep(HttpClient(server, "alice", "wonderland"))

    @for_each([("off", False), ("sink", False), ("folder", True)])
    def test_what_is_claimed_is_answered(self, case: tuple[str, bool]) -> None:
        uploads, is_changed = case
        client = self.start("--uploads", uploads)
        for target in ("/", "/a", "*"):
            answer = client.ask(target, method="OPTIONS")
            self.assertEqual(answer.fields["dav"], "1, 2")
            self.assertEqual(answer.fields["ms-author-via"], "DAV")
            allowed = answer.fields["allow"].split(", ")
            self.assertIn("PROPFIND", allowed)
            self.assertEqual("PROPPATCH" in allowed, is_changed)
        self.assertEqual(client.ask("/a", "Depth: 0", method="PROPFIND").status, 207)
        status = client.ask("/a", method="PROPPATCH").status
        self.assertEqual(status, 400 if is_changed else 405)

    def test_without_listings_there_is_no_webdav(self) -> None:
        client = self.start("--uploads", "folder", "--listings", "off")
        for target in ("/", "/-/health", "/-/tus/"):
            answer = client.ask(target, method="OPTIONS")
            self.assertNotIn("dav", answer.fields)
            self.assertNotIn("PROP", answer.fields["allow"])
        for method in ("PROPFIND", "PROPPATCH"):
            answer = client.ask("/a", "Depth: 0", method=method)
            self.assertEqual(answer.status, 405)
            self.assertNotIn("PROP", answer.fields["allow"])

    def test_our_own_paths_claim_it_and_answer_no_propfind(self) -> None:
        client = self.start()
        for target in ("/-/health", "/-/parts/a", "/-/none"):
            self.assertEqual(client.ask(target, method="OPTIONS").fields["dav"], "1, 2")
        self.assertEqual(client.ask("/-/health", "Depth: 0", method="PROPFIND").status, 405)

    @unittest.skipIf(SANITIZED, "a sanitizer keeps megabytes for each thread")
    def test_clients_that_do_not_read_hold_little_memory(self) -> None:
        clients = 40
        (self.scene.root / "large").mkdir()
        for number in range(_LARGE):
            (self.scene.root / "large" / f"name-{number:05}").touch()
        server = self.scene.fileserver(self.authserver, *FLAG, "--files", "disk")
        before = resident_bytes(server.pid)
        for _ in range(clients):
            connection = socket.socket()
            self.addCleanup(connection.close)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(60)
            connection.connect(tuple(server.further_address("http")))
            connection.sendall(request("/large/", _LOGIN, "Depth: 1", method="PROPFIND"))
            self.assertTrue(connection.recv(1, socket.MSG_PEEK))
        # The whole answer takes 5 MB.
        self.assertLess(resident_bytes(server.pid) - before, clients * 1_000_000)
