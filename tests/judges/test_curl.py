"""curl: resume, conditions, ranges, uploads, and asking for the password."""

import os

from judge_scene import LARGE, PASSWORD, SMALL, USER, JudgeTest, needs


@needs("curl")
class CurlTest(JudgeTest):
    def curl(self, *arguments: object, stdin: bytes = b"") -> list[str]:
        """Returns the words that -w asks for: status, bytes, connections made."""
        told = "%{http_code} %{size_download} %{num_connects}"
        return self.run_judge(
            *("curl", "-sS", "-o", "out", "-w", told, "-u", f"{USER}:{PASSWORD}", *arguments),
            stdin=stdin,
        ).stdout.split()

    def out(self) -> bytes:
        return (self.work / "out").read_bytes()

    def test_resume_gets_the_rest(self) -> None:
        (self.work / "out").write_bytes(LARGE[:1000])
        told = self.curl("-C", "-", f"{self.url}/large.bin")
        self.assertEqual(told[:2], ["206", str(len(LARGE) - 1000)])
        self.assertEqual(self.out(), LARGE)

    def test_resume_of_a_whole_file_leaves_it(self) -> None:
        (self.work / "out").write_bytes(SMALL)
        self.assertEqual(self.curl("-C", "-", f"{self.url}/small.txt")[0], "416")
        self.assertEqual(self.out(), SMALL)

    def test_newer_than(self) -> None:
        url = f"{self.url}/small.txt"
        self.assertEqual(self.curl("-R", url)[0], "200")
        self.assertEqual(self.curl("-z", "out", url), ["304", "0", "1"])
        self.assertEqual(self.curl("-z", "1 Jan 2000", url)[:2], ["200", str(len(SMALL))])
        self.assertEqual(self.curl("-z", "-1 Jan 2000", url)[0], "412")

    def test_etag(self) -> None:
        path = self.scene.write("etag", b"old")
        url = f"{self.url}/etag"
        self.assertEqual(self.curl("--etag-save", "tag", url)[0], "200")
        self.assertEqual(self.curl("--etag-compare", "tag", url), ["304", "0", "1"])
        self.assertEqual(self.out(), b"old")
        self.curl("-T", self.file(b"new"), url)
        self.assertEqual(path.read_bytes(), b"new")
        both = ("--etag-compare", "tag", "--etag-save", "tag")
        self.assertEqual(self.curl(*both, url)[0], "200")
        self.assertEqual(self.out(), b"new")
        self.assertEqual(self.curl(*both, url)[0], "304")

    def test_ranges(self) -> None:
        url = f"{self.url}/large.bin"
        for asked, content in (("0-9", LARGE[:10]), ("-7", LARGE[-7:]), ("8999990-", LARGE[-10:])):
            self.assertEqual(self.curl("-r", asked, url)[:2], ["206", str(len(content))])
            self.assertEqual(self.out(), content)
        self.assertEqual(self.curl("-r", "0-9,100-109,2000-2009", url)[0], "206")
        self.assertEqual(self.out().count(b"\r\nContent-Range: bytes "), 3)
        self.assertIn(LARGE[2000:2010], self.out())

    def test_uploads(self) -> None:
        body = os.urandom(300_000)
        for status, *how in (
            ("201", "-T", self.file(body)),
            ("204", "-T", self.file(body[:7])),
            ("204", "-T", self.file(b"")),
            ("204", "-T", "-"),
            ("204", "-T", self.file(body), "--anyauth"),
            ("204", "-T", self.file(body), "-H", "Expect:"),
        ):
            with self.subTest(how):
                told = self.curl(*how, f"{self.url}/put", stdin=body[5:])
                self.assertEqual(told[0], status)
                expected = body[5:] if how[1] == "-" else how[1].read_bytes()
                self.assertEqual((self.scene.root / "put").read_bytes(), expected)
                self.curl(f"{self.url}/put")
                self.assertEqual(self.out(), expected)

    def test_an_upload_to_a_folder_gets_the_name_of_the_file(self) -> None:
        self.assertEqual(self.curl("-T", self.file(b"named"), f"{self.url}/sub/")[0], "201")
        self.assertEqual((self.scene.root / "sub/upload-5").read_bytes(), b"named")

    def test_any_way_of_logging_in_needs_one_connection(self) -> None:
        told = self.curl("--anyauth", f"{self.url}/large.bin")
        self.assertEqual(told, ["200", str(len(LARGE)), "1"])
        self.assertEqual(self.out(), LARGE)

    def test_several_files_on_one_connection(self) -> None:
        urls = (f"{self.url}/small.txt", "-o", "two", f"{self.url}/large.bin")
        curl = ("curl", "-sS", "-u", f"{USER}:{PASSWORD}", "-w", "%{num_connects}", "-o", "one")
        told = self.run_judge(*curl, *urls)
        self.assertEqual(told.stdout, "10")
        self.assertEqual((self.work / "two").read_bytes(), LARGE)

    def file(self, content: bytes) -> object:
        path = self.work / f"upload-{len(content)}"
        path.write_bytes(content)
        return path
