"""httplint and REDbot: no answer has a field that they find bad.

They also warn. Each warning, and each answer that they judge wrongly, is named here with the
reason; any other fails a test.
"""

import re
import time
from pathlib import Path

import shared_path  # noqa: F401
from dav_client import lock_info
from judge_scene import AUTHORIZATION, PYTHON_TOOLS, USER, JudgeTest, needs, needs_python_tools
from scene import for_each

_PYTHON = PYTHON_TOOLS / "bin" / "python"
_NOTE = re.compile(r"^ *\* \[(BAD|WARN)\] (.*)$", re.MULTILINE)
_HEURISTIC = "This response allows caches to assign their own freshness lifetimes to it."
_NO_VALIDATOR = (
    "This response cannot be served from cache without validation, and doesn't have a validator."
)
# These only say what kind of answer it is. Files are `private` without an age: a cache may guess
# one. Listings and redirections are asked for each time, and have no tag. The listing's style is
# inline; scripts are not allowed. 400 is what was asked for.
_FINE = {
    _HEURISTIC,
    _NO_VALIDATOR,
    "Inline scripts are allowed.",
    "The server didn't understand the request.",
}
# What httplint finds bad, and RFC 9110 does not.
_MISJUDGED = {
    # Section 15.3.7.2: several parts have a Content-Range each, and the answer has none.
    "multipart": {"This response is partial, but doesn't have a Content-Range header."},
    # Section 15.3.2: without Location, what was created is what the request named.
    201: {"A new resource was created without its location being sent."},
    # It says what was asked for, and is bad for the client.
    414: {"The server won't accept a URI this long ."},
}

_WITH = ("-H", AUTHORIZATION)
_LOCK = (*_WITH, "-X", "LOCK", "-d", lock_info().decode())
_ANSWERS: tuple[tuple[int, str, tuple[str, ...]], ...] = (
    (200, "/small.txt", _WITH),
    (200, "/sub/page.html", _WITH),
    (200, "/sub/empty", _WITH),
    (206, "/small.txt", (*_WITH, "-r", "3-7")),
    (206, "/small.txt", (*_WITH, "-r", "0-1,10-11")),
    (416, "/small.txt", (*_WITH, "-r", "1000-")),
    (304, "/small.txt", (*_WITH, "-H", "If-None-Match: *")),
    (412, "/small.txt", (*_WITH, "-H", 'If-Match: "x"')),
    (200, "/", _WITH),
    (200, "/sub/deep/", (*_WITH, "-H", "Accept: application/json")),
    (301, "/sub", _WITH),
    (401, "/small.txt", ()),
    (401, "/small.txt", ("-u", "alice:wrong")),
    (404, "/nothing", _WITH),
    (405, "/small.txt", (*_WITH, "-X", "POST")),
    (501, "/small.txt", (*_WITH, "-X", "FISH")),
    (400, "/small.txt", ("-H", "Host:")),
    (417, "/small.txt", (*_WITH, "-H", "Expect: cake")),
    (431, "/small.txt", ("-H", f"X-Long: {'x' * 20_000}")),
    (414, f"/{'x' * 9_000}", ()),
    (204, "/", ("-X", "OPTIONS")),
    (200, "/-/health", ()),
    (201, "/-/accounts", ("-d", '{"user": "bob", "password": "secret"}')),
    (409, "/-/accounts", ("-d", f'{{"user": "{USER}", "password": "secret"}}')),
    (422, "/-/accounts", ("-d", "{")),
    (201, "/put", (*_WITH, "-T", "body")),
    (204, "/put", (*_WITH, "-T", "body")),
    (412, "/put", (*_WITH, "-T", "body", "-H", "If-None-Match: *")),
    (400, "/put", (*_WITH, "-T", "body", "-H", "Content-Range: bytes 0-3/9")),
    (415, "/put", (*_WITH, "-T", "body", "-H", "Content-Encoding: gzip")),
    (409, "/nowhere/put", (*_WITH, "-T", "body")),
    (413, "/put", (*_WITH, "-T", "large")),
    (204, "/put", (*_WITH, "-X", "DELETE")),
    (201, "/made", (*_WITH, "-X", "MKCOL")),
    (200, "/-/page.js", ()),
    (200, "/-/page.css", ()),
    (200, "/-/account", _WITH),
    (200, "/-/apps", _WITH),
    (304, "/-/page.js", ("-H", "If-None-Match: *")),
    (404, "/-/zip/none/", _WITH),
    (207, "/sub/", (*_WITH, "-X", "PROPFIND", "-H", "Depth: 1")),
    (403, "/sub/", (*_WITH, "-X", "PROPFIND", "-H", "Depth: infinity")),
    (201, "/locked", _LOCK),
    (423, "/locked", _LOCK),
    (423, "/locked", (*_WITH, "-T", "body")),
    (423, "/locked", (*_WITH, "-X", "DELETE")),
)


class LintTest(JudgeTest):
    server_flags = ("--uploads", "folder", "--max-upload", "1000")

    @needs("curl")
    @needs_python_tools
    def test_httplint(self) -> None:
        (self.work / "body").write_bytes(b"body")
        (self.work / "large").write_bytes(bytes(2000))
        began = time.monotonic()
        answers = [self.ask(path, *options) for _, path, options in _ANSWERS]
        all_said = self.lint(answers)
        self.oldest_s = time.monotonic() - began
        for asked, answer, said in zip(_ANSWERS, answers, all_said):
            with self.subTest(asked):
                status = asked[0]
                self.assertRegex(answer, rf"\AHTTP/1\.1 {status} ")
                notes = set(_NOTE.findall(self.without_clock(said)))
                self.assertLessEqual({text for level, text in notes if level == "WARN"}, _FINE)
                kind = "multipart" if "multipart/byteranges" in answer else status
                bad = {text for level, text in notes if level == "BAD"}
                self.assertEqual(bad, _MISJUDGED.get(kind, set()))

    def without_clock(self, said: str) -> str:
        """Without the note on the clock, which is behind as long as the answer has waited."""
        note = re.search(r"\* \[(GOOD|BAD)\] The server's clock is (.*)\.\n", said)
        assert note is not None, said
        behind = re.fullmatch(r"(\d+) seconds? behind", note[2])
        if behind is None or int(behind[1]) > self.oldest_s + 1:
            self.assertEqual((note[1], note[2]), ("GOOD", "correct"))
        return said.replace(note[0], "")

    def ask(self, path: str, *options: str) -> str:
        """Returns the answer as it was received."""
        curl = ("curl", "-sS", "-i", "-H", "Expect:")
        return self.run_judge(*curl, *options, self.url + path).stdout

    def lint(self, answers: list[str]) -> list[str]:
        """Returns what httplint says of each answer."""
        for number, answer in enumerate(answers):
            (self.work / f"{number}.http").write_bytes(answer.encode())
        names = [f"{number}.http" for number in range(len(answers))]
        program = Path(__file__).with_name("notes_of_httplint.py")
        return self.run_judge(_PYTHON, "-B", program, *names).stdout.split("\f\n")[1:]

    @needs_python_tools
    def test_httplint_finds_what_is_bad(self) -> None:
        said = self.lint(["HTTP/1.1 416 \r\nETag: none\r\nContent-Length: 1\r\n\r\nx"])[0]
        self.assertIn(("WARN", "This response doesn't have a Date header."), _NOTE.findall(said))

    @needs_python_tools
    @for_each(
        (
            *("/small.txt", "/large.bin", "/sub/page.html", "/", "/sub", "/nothing", "/-/health"),
            *("/-/page.js", "/-/page.css", "/-/account", "/-/zip/sub/"),
        )
    )
    def test_redbot(self, path: str) -> None:
        notes = self.redbot(path, AUTHORIZATION)
        if path in ("/small.txt", "/large.bin", "/sub/page.html"):
            for answer in ("RangeRequest 206", "ETagValidate 304", "LmValidate 304"):
                self.assertIn(f"answer {answer}", notes)
            self.assertIn("good A ranged request returned the correct partial content.", notes)
        self.assert_fine(notes)

    @needs_python_tools
    def test_redbot_of_a_range_and_without_a_password(self) -> None:
        self.assert_fine(self.redbot("/small.txt", AUTHORIZATION, "Range: bytes=3-7"))
        self.assert_fine(self.redbot("/small.txt"))

    def redbot(self, path: str, *fields: str) -> list[str]:
        program = Path(__file__).with_name("notes_of_redbot.py")
        command = (_PYTHON, "-B", program, self.url + path, *fields)
        notes = self.run_judge(*command).stdout.splitlines()
        self.assertIn("good The server's clock is correct.", notes)
        return notes

    def assert_fine(self, notes: list[str]) -> None:
        said = {tuple(note.split(" ", 1)) for note in notes}
        complaints = {text for level, text in said if level in ("bad", "warning")}
        self.assertLessEqual(complaints, _FINE, "\n".join(notes))
