"""loadgen --protocol http against nginx, which asks for a password and takes uploads."""

import unittest

from loadgen_scene import LoadgenScene
from needs import missing

from bench.peers import nginx

HTTP = ("--protocol", "http", "--user", "alice")


@unittest.skipIf(missing("nginx"), missing("nginx"))
class LoadgenNginxTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        passwords = self.scene.folder / "htpasswd"
        passwords.write_text("alice:{PLAIN}wonderland\n", encoding="ascii")
        guard = nginx.Guard(
            server=f'auth_basic files; auth_basic_user_file "{passwords}"; '
            "dav_methods PUT; client_max_body_size 0;"
        )
        context = nginx.running(self.scene.folder, self.scene.root, guard)
        self.server = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)

    def run_on_nginx(self, *flags: object, password: str = "wonderland", status: int = 0) -> dict:
        given = (*flags, *HTTP, "--password", password)
        return self.result(*given, server=self.server, status=status)

    def test_files_are_compared_with_their_copies(self) -> None:
        name = "Grüße/a b%20+?#%d.txt"
        for number in range(1, 4):
            self.scene.write(name.replace("%d", str(number)), bytes([number]) * 100_000)
        for connection in ("per-request", "keep-alive"):
            flags = ("get", "--file", name, "--unique", 3, "--requests", 6)
            verify = ("--verify", "--verify-root", self.scene.root, "--connection", connection)
            result = self.run_on_nginx(*flags, *verify)
            self.assertEqual((result["requests"], result["bytes"]), (6, 600_000))

    def test_a_wrong_password_and_a_missing_file_are_told_apart(self) -> None:
        kept = ("--requests", 3, "--connection", "keep-alive")
        result = self.run_on_nginx("get", "--file", "file1", *kept, password="no", status=1)
        self.assertEqual(self.errors(result), {"denied": 3})
        result = self.run_on_nginx("get", "--file", "nothing", *kept, status=1)
        self.assertEqual(self.errors(result), {"not-found": 3})

    def test_what_is_put_is_there_whole(self) -> None:
        for size in (1000, 2_000_000):
            folder = self.scene.root
            before = set(folder.iterdir())
            flags = ("put", "--size", size, "--requests", 3, "--threads", 2)
            result = self.run_on_nginx(*flags, "--connection", "keep-alive")
            self.assertEqual((result["requests"], result["bytes"]), (6, 6 * size))
            made = set(folder.iterdir()) - before
            self.assertEqual([path.stat().st_size for path in made], [size] * 6)
            self.assertEqual(len({path.read_bytes() for path in made}), 1)
