"""promtool: the metrics of a fileserver that has answered HTTP are as Prometheus wants them."""

import shared_path  # noqa: F401
import telemetry
from http_client import HttpClient
from judge_scene import PASSWORD, USER, JudgeTest, needs

_REQUESTS = (
    ("GET", "/small.txt", 200),
    ("HEAD", "/large.bin", 200),
    ("GET", "/sub/", 200),
    ("GET", "/none", 404),
    ("DELETE", "/small.txt", 204),
)


@needs("promtool")
class PromtoolTest(JudgeTest):
    server_flags = (*JudgeTest.server_flags, *telemetry.FLAG)

    def test_it_has_nothing_to_say(self) -> None:
        for password, expected in (("wrong", 401), (PASSWORD, None)):
            client = HttpClient(self.server, USER, password)
            for method, path, status in _REQUESTS:
                answer = client.ask(path, method=method)
                self.assertEqual(answer.status, expected or status, f"{method} {path}")
            client.close()
        metrics = telemetry.scrape(self.server).text
        self.assertIn("turnstile_transfers_aborted_total", metrics)
        said = self.run_judge("promtool", "check", "metrics", stdin=metrics.encode())
        self.assertEqual(said.stdout + said.stderr, "")
