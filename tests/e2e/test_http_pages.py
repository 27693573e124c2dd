"""--http-listen: what a browser shows when there is nothing to show."""

from http_client import FLAG, HttpClient
from scene import SharedSceneTest, create_account

_BROWSER = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
_HTML = "text/html; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"


class PagesTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        authserver = cls.scene.authserver("--password-scheme", "plain")
        create_account(authserver)
        cls.server = cls.scene.fileserver(authserver, *FLAG)
        cls.lonely = cls.scene.fileserver("127.0.0.1:1", *FLAG)

    def client(self, server, *account: str) -> HttpClient:
        client = HttpClient(server, *account)
        self.addCleanup(client.close)
        return client

    def cases(self):
        """Each status that has a page: who asks, for what, and where the page leads."""
        return (
            (404, self.client(self.server, "alice", "wonderland"), "/none", 'href="/"'),
            (401, self.client(self.server), "/none", 'href=""'),
            (503, self.client(self.lonely, "alice", "wonderland"), "/none", 'href=""'),
        )

    def test_a_browser_gets_a_page_with_a_way_back(self) -> None:
        for status, client, target, link in self.cases():
            with self.subTest(status):
                answer = client.ask(target, _BROWSER)
                self.assertEqual(answer.status, status)
                self.assertEqual(answer.fields["content-type"], _HTML)
                self.assertEqual(answer.fields["vary"], "Accept")
                policy = answer.fields["content-security-policy"]
                for part in ("default-src 'none'", "frame-ancestors 'none'"):
                    self.assertIn(part, policy)
                self.assertEqual(answer.fields["x-content-type-options"], "nosniff")
                self.assertIn(link, answer.body.decode())
                self.assertNotIn(b"<script", answer.body)
                # The connection goes on, so the length was right.
                self.assertEqual(client.ask(target).status, status)

    def test_every_other_client_gets_the_words_of_the_status(self) -> None:
        for status, client, target, _ in self.cases():
            json_first = "Accept: application/json, text/html"
            for fields in ((), ("Accept: */*",), ("Accept: application/json",), (json_first,)):
                with self.subTest(status=status, fields=fields):
                    answer = client.ask(target, *fields)
                    self.assertEqual(answer.status, status)
                    self.assertEqual(answer.fields["content-type"], _TEXT)
                    self.assertEqual(len(answer.body.splitlines()), 1)

    def test_head_has_the_fields_of_the_page_and_no_body(self) -> None:
        client = self.client(self.server, "alice", "wonderland")
        page = client.ask("/none", _BROWSER)
        head = client.ask("/none", _BROWSER, method="HEAD")
        self.assertEqual(head.body, b"")
        for name in ("content-type", "content-length", "vary"):
            self.assertEqual(head.fields[name], page.fields[name])

    def test_the_page_repeats_nothing_of_the_path(self) -> None:
        client = self.client(self.server, "alice", "wonderland")
        for target in ("/%3Cscript%3E", "/<script>", "/%22onload=%22", "/%3c/"):
            with self.subTest(target):
                page = client.ask(target, _BROWSER)
                self.assertEqual(page.status, 404)
                self.assertEqual(page.body, client.ask("/none", _BROWSER).body)

    def test_what_is_no_reading_has_no_page(self) -> None:
        client = self.client(self.server, "alice", "wonderland")
        answer = client.ask("/none", _BROWSER, method="PUT", body=b"x")
        self.assertEqual(answer.status, 405)
        self.assertEqual(answer.fields["content-type"], _TEXT)
