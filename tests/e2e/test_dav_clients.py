"""What Finder and Explorer send when they mount the folder, as far as it is known.

Neither runs here. The requests are those that both are documented to send.
"""

from dav import DAV, Response, responses
from http_client import FLAG, Answer, HttpClient
from scene import SharedSceneTest, with_loops

_FINDER = "User-Agent: WebDAVFS/3.0.0 (03008000) Darwin/22.6.0 (x86_64)"
_EXPLORER = ("User-Agent: Microsoft-WebDAV-MiniRedir/10.0.19045", "Translate: f")
_FINDER_MOUNTS = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<D:propfind xmlns:D="DAV:">\n<D:prop>\n'
    b"<D:getlastmodified/>\n<D:getcontentlength/>\n<D:creationdate/>\n<D:resourcetype/>\n"
    b"</D:prop>\n</D:propfind>\n"
)
_FINDER_ASKS_FOR_ROOM = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<D:propfind xmlns:D="DAV:">\n<D:prop>\n'
    b"<D:quota-available-bytes/>\n<D:quota-used-bytes/>\n<D:quota/>\n<D:quotaused/>\n"
    b"</D:prop>\n</D:propfind>\n"
)
_WIN32_TIMES = (
    b'<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" '
    b'xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>'
    b"<Z:Win32CreationTime>Tue, 01 Sep 2026 10:00:00 GMT</Z:Win32CreationTime>"
    b"<Z:Win32LastAccessTime>Tue, 01 Sep 2026 10:00:00 GMT</Z:Win32LastAccessTime>"
    b"<Z:Win32LastModifiedTime>Tue, 01 Sep 2026 10:00:00 GMT</Z:Win32LastModifiedTime>"
    b"<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>"
)


@with_loops
class ClientsTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("sub/file.txt", b"hello")
        authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.server = cls.scene.fileserver(authserver, *FLAG, "--uploads", "folder")

    def setUp(self) -> None:
        self.client = HttpClient(self.server, "alice", "wonderland")
        self.addCleanup(self.client.close)

    def find(self, path: str, depth: int, *fields: str, body: bytes = b"") -> list[Response]:
        length = () if body else ("Content-Length: 0",)
        depth_field = f"Depth: {depth}"
        answer = self.client.ask(path, depth_field, *fields, *length, method="PROPFIND", body=body)
        self.assertEqual((answer.status, answer.closes()), (207, False))
        return responses(answer.body)

    def options(self, path: str, *fields: str) -> Answer:
        answer = self.client.ask(path, *fields, "Content-Length: 0", method="OPTIONS")
        self.assertEqual(answer.status, 204)
        self.assertIn("2", answer.fields["dav"].split(", "))
        return answer

    def test_finder(self) -> None:
        stranger = HttpClient(self.server)
        self.addCleanup(stranger.close)
        asked = ("Depth: 0", _FINDER, "Content-Type: text/xml")
        answer = stranger.ask("/", *asked, method="PROPFIND", body=_FINDER_MOUNTS)
        self.assertEqual(answer.status, 401)
        self.options("/", _FINDER)
        for path in ("/", "/sub"):
            [folder] = self.find(path, 0, _FINDER, body=_FINDER_MOUNTS)
            self.assertTrue(folder.is_folder())
        [root] = self.find("/", 0, _FINDER, body=_FINDER_ASKS_FOR_ROOM)
        self.assertEqual(set(root.properties), {404})
        members = self.find("/sub/", 1, _FINDER, body=_FINDER_MOUNTS)
        self.assertEqual([one.href for one in members], ["/sub/", "/sub/file.txt"])
        self.assertEqual(members[1].text("getcontentlength"), "5")
        for name in ("/._.", "/.DS_Store", "/sub/._file.txt", "/.metadata_never_index"):
            answer = self.client.ask(
                name, "Depth: 0", _FINDER, method="PROPFIND", body=_FINDER_MOUNTS
            )
            self.assertEqual((answer.status, answer.closes()), (404, False))
        # It writes an empty file first, then the file of its own beside it.
        for name in ("/sub/new", "/sub/._new"):
            put = self.client.ask(name, _FINDER, "Content-Length: 0", method="PUT")
            self.assertEqual(put.status, 201)
            [found] = self.find(name, 0, _FINDER, body=_FINDER_MOUNTS)
            self.assertEqual(found.text("getcontentlength"), "0")
            self.assertEqual(self.client.ask(name, _FINDER, method="DELETE").status, 204)

    def test_explorer(self) -> None:
        self.assertEqual(self.options("/", *_EXPLORER).fields["ms-author-via"], "DAV")
        [root] = self.find("/", 0, *_EXPLORER)
        self.assertTrue(root.is_folder())
        self.assertEqual([one.href for one in self.find("/sub", 1, *_EXPLORER)],
                         ["/sub/", "/sub/file.txt"])  # fmt: skip
        for name in ("/desktop.ini", "/sub/new.txt"):
            answer = self.client.ask(
                name, "Depth: 0", *_EXPLORER, "Content-Length: 0", method="PROPFIND"
            )
            self.assertEqual((answer.status, answer.closes()), (404, False))
        put = self.client.ask("/sub/new.txt", *_EXPLORER, method="PUT", body=b"new")
        self.assertEqual(put.status, 201)
        answer = self.client.ask("/sub/new.txt", *_EXPLORER, method="PROPPATCH", body=_WIN32_TIMES)
        self.assertEqual((answer.status, answer.closes()), (207, False))
        [response] = responses(answer.body)
        self.assertEqual(len(response.properties[403]), 4)
        [found] = self.find("/sub/new.txt", 0, *_EXPLORER)
        self.assertEqual(found.text("getetag"), put.fields["etag"])
        self.assertNotIn(f"{DAV}quota", found.properties[200])
        self.assertEqual(self.client.ask("/sub/new.txt", method="DELETE").status, 204)
