"""docs/scaling.md: one folder, copied to each host by the command of the page."""

import json
import os
import shlex
import subprocess
import unittest
from pathlib import Path

from http_client import FLAG, HttpClient
from needs import missing
from prefetch_scene import SOON_S
from programs import Program
from scene import SceneTest
from waiting import eventually

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"
NAMES = ("a", "sub/b", "large")
LARGE = os.urandom(3_000_000)


@unittest.skipIf(missing("rsync"), missing("rsync"))
class CopiesTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        self.copy = self.scene.folder / "copy"
        self.incoming = self.scene.folder / "incoming"
        self.incoming.mkdir()
        for number, name in enumerate(NAMES):
            path = self.scene.write(name, LARGE if name == "large" else name.encode())
            os.utime(path, ns=(0, 1_700_000_000_123_456_789 + number))
        self.run_rsync()

    def rsync(self, *more: str) -> list[str]:
        """The command of the page, with the folders of this test."""
        (line,) = (line for line in PAGE.read_text().splitlines() if line.startswith("    rsync "))
        places = {
            "/srv/turnstile/": f"{self.scene.root}/",
            "10.0.0.2:/srv/turnstile/": f"{self.copy}/",
            "--temp-dir=/srv/incoming": f"--temp-dir={self.incoming}",
        }
        words = shlex.split(line)
        self.assertLessEqual(set(places), set(words))
        return [*(places.get(word, word) for word in words), *more]

    def run_rsync(self) -> None:
        subprocess.run(self.rsync(), check=True)

    def client(self, root: Path, *flags: object) -> HttpClient:
        server: Program = self.scene.fileserver(self.authserver, *FLAG, "--root", str(root), *flags)
        return self.scene.keep(HttpClient(server, "alice", "wonderland"))

    def both(self, *flags: object) -> tuple[HttpClient, HttpClient]:
        return self.client(self.scene.root, *flags), self.client(self.copy, *flags)

    def test_all_copies_have_the_same_tags_and_a_client_resumes_at_another(self) -> None:
        for mode in ("prefetch", "disk"):
            one, two = self.both("--files", mode)
            for name in NAMES:
                answers = [client.ask(f"/{name}") for client in (one, two)]
                self.assertEqual([answer.status for answer in answers], [200, 200])
                self.assertEqual(answers[0].body, answers[1].body)
                tag = answers[0].fields["etag"]
                self.assertEqual(answers[1].fields["etag"], tag)
                self.assertTrue(tag.startswith('"'), tag)
            resumed = two.ask("/large", "Range: bytes=1000000-", f"If-Range: {tag}")
            self.assertEqual((resumed.status, resumed.body), (206, LARGE[1_000_000:]))

    def test_changes_come_with_the_next_copy(self) -> None:
        one, two = self.both()
        self.scene.write("a", b"A")  # of the same size
        self.scene.write("new", b"new")
        (self.scene.root / "sub" / "b").unlink()
        eventually(lambda: one.ask("/a").body == b"A", "it is changed here", within_s=SOON_S)
        self.assertEqual(two.ask("/a").body, b"a")
        self.run_rsync()
        for path, status, body in (("/a", 200, b"A"), ("/new", 200, b"new"), ("/sub/b", 404, b"")):
            eventually(lambda: two.ask(path).status == status, path, within_s=SOON_S)
            if body:
                eventually(lambda: two.ask(path).body == body, path, within_s=SOON_S)
            self.assertEqual(
                one.ask(path).fields.get("etag"), two.ask(path).fields.get("etag"), path
            )

    def test_a_file_is_the_old_or_the_new_one_while_it_is_copied(self) -> None:
        new = LARGE[::-1]
        self.scene.write("large", new)
        two = self.client(self.copy)
        with subprocess.Popen(self.rsync("--bwlimit=2000", "--whole-file")) as copying:
            eventually(lambda: any(self.incoming.iterdir()), "rsync has begun")
            while copying.poll() is None:
                self.assertIn(two.ask("/large").body, (LARGE, new))
                listing = json.loads(two.ask("/", "Accept: application/json").body)
                self.assertEqual([entry["name"] for entry in listing], ["a", "large", "sub"])
        self.assertEqual(copying.returncode, 0)
        eventually(lambda: two.ask("/large").body == new, "the new one", within_s=SOON_S)
