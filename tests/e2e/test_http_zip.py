"""--http-listen: /-/zip/FOLDER/ is the whole folder as one zip file."""

import http.client
import io
import os
import random
import shutil
import subprocess
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

from client import Client
from http_client import FLAG, Answer, HttpClient, basic
from needs import missing
from programs import Program
from scene import SceneTest, for_each, with_loops
from transfer_lines import wait_for_lines
from waiting import LONG_S

USER = ("alice", "wonderland")
_SERVERS = {
    "prefetch": (),
    "disk": ("--files", "disk"),
    "over the limit": ("--memory-limit", "1K"),
}
_A_DAY_AGO_S = 86_400
# Around what is read as one piece, and what is sent as one.
SIZES = (0, 1, 16_383, 16_384, 32_767, 65_535, 65_536, 65_537, 131_072, 300_000)
_ZIP64_ENTRIES = 65_600
_BIG = 16_000_000  # more than all buffers on the way
_WITH_A_PART = 100_000  # bytes of a zip, some of them of its file
_SETTLED_S = 0.05  # a change of the file gives it another version then


def contents_of(archive: bytes) -> dict[str, bytes]:
    """What unpacking gives, by name; fails where a CRC is wrong. A folder has no bytes."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        names = [entry.filename for entry in opened.infolist()]
        assert len(names) == len(set(names)), "a name comes twice"
        return {name: opened.read(name) for name in names}


class ZipScene(SceneTest):
    def serve(self, *flags: object) -> Program:
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        return self.scene.fileserver(authserver, *FLAG, *flags)

    def connect(
        self, server: Program, receive_buffer: int | None = None
    ) -> http.client.HTTPConnection:
        """A client that knows chunks, and raises IncompleteRead where the last one is missing."""
        host, port = server.further_address("http")
        connection = http.client.HTTPConnection(host, port, timeout=LONG_S)
        connection.sock = Client((host, port), receive_buffer).socket
        return self.scene.keep(connection)

    def ask(self, connection: http.client.HTTPConnection, path: str) -> http.client.HTTPResponse:
        connection.request("GET", path, headers={"Authorization": basic(*USER)})
        return connection.getresponse()

    def get(self, server: Program, folder: str = "") -> Answer:
        response = self.ask(self.connect(server), f"/-/zip/{folder}")
        fields = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, fields, response.read())

    def write_tree(self) -> dict[str, bytes]:
        """Files and folders of all kinds, changed a day ago; returns what a zip has of them."""
        tree = {f"sizes/{size}": random.randbytes(size) for size in SIZES}
        tree |= {
            "a b+c%.txt": b"odd",
            "\u00e4\u20ac/\U0001f600.txt": "\u00e4".encode(),
            "deep/er/and/deeper/file": b"deep",
            ".hidden": b"x",
            "z": b"last",
        }
        for name, content in tree.items():
            self.scene.write(name, content)
        (self.scene.root / "empty").mkdir()
        folders = {path for name in (*tree, "empty/x") for path in Path(name).parents}
        for path in self.scene.root.rglob("*"):
            os.utime(path, (time.time() - _A_DAY_AGO_S,) * 2)
        return tree | {f"{path}/": b"" for path in folders if path != Path(".")}


@with_loops
class ZipTest(ZipScene):
    @for_each(_SERVERS)
    def test_a_folder_with_all_that_is_in_it(self, mode: str) -> None:
        shutil.rmtree(self.scene.root)
        self.scene.root.mkdir()
        tree = self.write_tree()
        server = self.serve(*_SERVERS[mode])
        answer = self.get(server)
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.fields["content-type"], "application/zip")
        self.assertEqual(
            answer.fields["content-disposition"],
            "attachment; filename=\"files.zip\"; filename*=UTF-8''files.zip",
        )
        self.assertEqual(contents_of(answer.body), tree)
        part = self.get(server, "deep/er/")
        expected = {"and/": b"", "and/deeper/": b"", "and/deeper/file": b"deep"}
        self.assertEqual(contents_of(part.body), expected)
        self.assertIn('filename="er.zip"', part.fields["content-disposition"])
        some = self.get(server, "?name=z&name=a%20b+c%25.txt&name=deep&name=none&name=er")
        chosen = {name: tree[name] for name in tree if name.startswith(("z", "a b", "deep/"))}
        self.assertEqual(contents_of(some.body), chosen)
        for none in ("deep/?name=deep", "?name=", "?name=%zz"):
            self.assertEqual(contents_of(self.get(server, none).body), {})
        self.assertEqual(server.stop(), 0)

    def test_a_link_to_a_folder_is_left_out(self) -> None:
        """It could lead to one that it is in, and so to a zip without an end."""
        self.scene.write("sub/file", b"x")
        (self.scene.root / "sub" / "up").symlink_to("..")
        (self.scene.root / "same").symlink_to("sub")
        (self.scene.root / "link").symlink_to("sub/file")
        (self.scene.root / "out").symlink_to("/etc/hostname")
        server = self.serve()
        expected = {"sub/": b"", "sub/file": b"x", "link": b"x"}
        self.assertEqual(contents_of(self.get(server).body), expected)
        self.assertEqual(contents_of(self.get(server, "same/").body), {"file": b"x"})

    def test_what_is_no_folder_is_not_found(self) -> None:
        self.scene.write("file", b"x")
        self.scene.write("sub/file", b"x")
        self.scene.write("-/zip/file", b"x")
        server = self.serve()
        for folder in ("none/", "file/", "sub", "file", "-/", "-/zip/", "../", "/", "sub//"):
            with self.subTest(folder):
                self.assertEqual(self.get(server, folder).status, 404)
        self.assertNotIn("-/", contents_of(self.get(server).body))
        self.assertEqual(HttpClient(server).ask("/-/zip/sub/").status, 401)
        client = self.scene.keep(HttpClient(server, *USER))
        self.assertEqual(client.ask("/-/zip/sub/", method="DELETE").status, 405)

    def test_a_connection_goes_on_behind_a_zip(self) -> None:
        self.scene.write("sub/file", b"x")
        connection = self.connect(self.serve())
        for method, path, body in (
            ("HEAD", "/-/zip/sub/", b""),
            ("GET", "/-/zip/sub/", None),
            ("GET", "/sub/file", b"x"),
        ):
            connection.request(method, path, headers={"Authorization": basic(*USER)})
            response = connection.getresponse()
            self.assertEqual(response.status, 200)
            found = response.read()
            if body is None:
                self.assertEqual(contents_of(found), {"file": b"x"})
            else:
                self.assertEqual(found, body)

    @for_each(("close", "keep-alive"))
    def test_to_http_1_0_the_connection_ends_the_zip(self, kept: str) -> None:
        self.scene.write("sub/file", bytes(_BIG))
        server = self.serve()
        head, body = self.ask_1_0(server, "sub/", f"Connection: {kept}")
        self.assertEqual(head.splitlines()[0], b"HTTP/1.1 200 OK")
        self.assertIn(b"\r\nConnection: close\r\n", head)
        for field in (b"Transfer-Encoding", b"Content-Length", b"keep-alive"):
            self.assertNotIn(field, head)
        self.assertEqual(contents_of(body), {"file": bytes(_BIG)})
        self.assertIn(b" 404 ", self.ask_1_0(server, "none/")[0])
        head, body = self.ask_1_0(server, "sub/", method="HEAD")
        self.assertEqual((b" 200 OK" in head, body), (True, b""))

    def test_to_http_1_0_a_zip_that_is_cut_is_a_reset(self) -> None:
        big = self.scene.write("big", bytes(_BIG))
        os.utime(big, (time.time() - _A_DAY_AGO_S,) * 2)
        client = self.send_1_0(self.serve("--files", "disk"), "", receive_buffer=1 << 16)
        received = 0
        while received < _WITH_A_PART:
            received += len(client.socket.recv(1 << 16))
        os.truncate(big, 5)
        with self.assertRaises(ConnectionResetError):
            while client.socket.recv(1 << 20):
                pass

    def test_to_http_1_0_a_zip_of_a_server_that_is_killed_is_a_reset(self) -> None:
        self.scene.write("big", bytes(_BIG))
        server = self.serve()
        client = self.send_1_0(server, "", receive_buffer=1 << 16)
        client.socket.recv(1)
        server.kill()
        with self.assertRaises(ConnectionResetError):
            while client.socket.recv(1 << 20):
                pass

    def send_1_0(
        self, server: Program, folder: str, *fields: str, method: str = "GET", **options
    ) -> Client:
        client = self.scene.keep(Client(server.further_address("http"), **options))
        lines = (f"{method} /-/zip/{folder} HTTP/1.0", f"Authorization: {basic(*USER)}", *fields)
        client.send("\r\n".join((*lines, "", "")).encode())
        return client

    def ask_1_0(self, *asked: Any, **options) -> tuple[bytes, bytes]:
        """The head of the answer, and all that follows until the connection ends."""
        client, received = self.send_1_0(*asked, **options), b""
        while part := client.socket.recv(1 << 20):
            received += part
        head, _, body = received.partition(b"\r\n\r\n")
        return head, body

    def test_a_file_that_changes_while_it_is_sent_ends_the_connection(self) -> None:
        """A file is whole and of one version, or the client sees that the zip was cut."""
        big = self.scene.write("big", b"")
        server = self.serve("--files", "disk")
        for size in (_BIG // 2, _BIG + 1):
            big.write_bytes(bytes(_BIG))
            os.utime(big, (time.time() - _A_DAY_AGO_S,) * 2)
            time.sleep(_SETTLED_S)
            connection = self.connect(server, receive_buffer=1 << 16)
            response = self.ask(connection, "/-/zip/")
            self.assertEqual(response.status, 200)
            response.read(1)
            os.truncate(big, size)
            with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
                while response.read(1 << 20):
                    pass
        self.assertIn("the connection is cut while a folder is sent", server.log())

    def test_a_file_that_is_in_memory_is_sent_as_it_was(self) -> None:
        big = self.scene.write("big", bytes(_BIG))
        os.utime(big, (time.time() - _A_DAY_AGO_S,) * 2)
        server = self.serve()
        response = self.ask(self.connect(server, receive_buffer=1 << 16), "/-/zip/")
        received = response.read(1)
        os.truncate(big, 5)
        self.assertEqual(contents_of(received + response.read()), {"big": bytes(_BIG)})

    def test_a_zip_that_is_cut_is_an_aborted_line_of_the_transfer_log(self) -> None:
        log = self.scene.folder / "log.json"
        self.scene.write("big", bytes(_BIG))
        connection = self.connect(self.serve("--transfer-log", log), receive_buffer=1 << 16)
        self.ask(connection, "/-/zip/").read(1)
        connection.close()
        (line,) = wait_for_lines(log, 1)
        self.assertEqual((line["name"], line["result"]), ("-/zip", "aborted"))
        self.assertLess(line["bytes"], _BIG)

    def test_uploads_under_way_leave_each_file_whole(self) -> None:
        server = self.serve("--uploads", "folder")
        versions = [bytes([i]) * 70_000 for i in range(8)]
        stop = threading.Event()
        self.scene.write("a", versions[0])

        def upload() -> None:
            client = HttpClient(server, *USER)
            while not stop.is_set():
                client.ask("/a", method="PUT", body=random.choice(versions))
            client.close()

        uploader = threading.Thread(target=upload)
        uploader.start()
        try:
            for _ in range(20):
                self.assertIn(contents_of(self.get(server).body)["a"], versions)
        finally:
            stop.set()
            uploader.join()

    def test_a_zip_is_one_line_of_the_transfer_log(self) -> None:
        log = self.scene.folder / "log.json"
        self.scene.write("sub/file", b"x" * 100_000)
        server = self.serve("--transfer-log", log)
        self.assertEqual(self.get(server, "none/").status, 404)
        whole = self.get(server, "sub/")
        missing, line = wait_for_lines(log, 2)
        self.assertEqual((missing["name"], missing["result"]), ("-/zip/none", "not-found"))
        self.assertEqual((line["name"], line["result"]), ("-/zip/sub", "ok"))
        self.assertEqual((line["bytes"], line["size"]), (len(whole.body),) * 2)


class FormTest(ZipScene):
    """What does not depend on the model."""

    def test_programs_of_others_unpack_it(self) -> None:
        """From the end of the file, as most do, and as a stream."""
        tree = self.write_tree()
        archive = self.scene.folder / "a.zip"
        archive.write_bytes(self.get(self.serve()).body)
        tried = []
        for tool, *command in (
            ("unzip", "unzip", "-q", str(archive)),
            ("bsdtar", "bsdtar", "-xf", str(archive)),
            ("bsdtar", "bsdtar", "-xf", "-"),
            ("7z", "7z", "x", "-bd", str(archive)),
        ):
            if missing(tool):
                continue
            tried.append(tool)
            folder = self.scene.folder / f"unpacked-{len(tried)}"
            folder.mkdir()
            with self.subTest(command=command), archive.open("rb") as stdin:
                ended = subprocess.run(
                    command, cwd=folder, stdin=stdin, capture_output=True, timeout=60,
                    env={**os.environ, "LC_ALL": "C.UTF-8"},
                )  # fmt: skip
                self.assertEqual(ended.returncode, 0, ended)
                for name, content in tree.items():
                    path = folder / name
                    if name.endswith("/"):
                        self.assertTrue(path.is_dir(), name)
                    else:
                        self.assertEqual(path.read_bytes(), content, name)
                        day = abs(time.time() - _A_DAY_AGO_S - path.stat().st_mtime)
                        self.assertLess(day, 3600, name)
        if not tried:
            self.skipTest(f"{missing('unzip', 'bsdtar', '7z')}: one of them is enough")

    def test_entries_come_folder_by_folder_in_the_order_of_listings(self) -> None:
        for name in ("b/2", "b/1/x", "a", "c/3"):
            self.scene.write(name, b"x")
        with zipfile.ZipFile(io.BytesIO(self.get(self.serve()).body)) as opened:
            names = opened.namelist()
        self.assertEqual(names, ["a", "b/", "c/", "b/1/", "b/2", "c/3", "b/1/x"])

    def test_names_of_the_zip_for_browsers(self) -> None:
        for name in ("\u00e4 %x", b"\xff"):
            self.scene.write(name, b"")
            path = self.scene.root / os.fsdecode(name)
            path.unlink()
            path.mkdir()
        server = self.serve()
        for folder, disposition in (
            ("%C3%A4%20%25x/", "filename=\"__ _x.zip\"; filename*=UTF-8''%C3%A4%20%25x.zip"),
            ("%ff/", 'filename="_.zip"'),
        ):
            answer = self.get(server, folder)
            self.assertEqual(answer.fields["content-disposition"], f"attachment; {disposition}")

    def test_more_entries_than_16_bits_count(self) -> None:
        folder = self.scene.root / "many"
        folder.mkdir()
        # Names of two files: a file of its own for each takes the disk ten times as long.
        files = [self.scene.folder / f"empty-{number}" for number in range(2)]
        for file in files:
            file.touch()
        for number in range(_ZIP64_ENTRIES):
            os.link(files[number % 2], folder / f"{number:05}")
        answer = self.get(self.serve("--files", "disk"), "many/")
        with zipfile.ZipFile(io.BytesIO(answer.body)) as opened:
            self.assertEqual(opened.namelist(), [f"{n:05}" for n in range(_ZIP64_ENTRIES)])
            for name in opened.namelist()[::100]:  # all of them take Python seconds
                self.assertEqual(opened.read(name), b"")

    def test_without_listings_there_is_none(self) -> None:
        self.scene.write("sub/file", b"x")
        self.assertEqual(self.get(self.serve("--listings", "off"), "sub/").status, 404)
