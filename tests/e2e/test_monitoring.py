"""docs/monitoring: its files are valid, and name only metrics that the servers have."""

import json
import re
import subprocess
import tempfile
import unittest
from collections.abc import Mapping, Sequence
from pathlib import Path

import server_pairs
from needs import missing
from scene import SharedSceneTest
from telemetry import FLAG, scrape

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "monitoring"
_METRIC = re.compile(r"\b(?:(?:turnstile|process)_[a-z_]+|up)\b")


def expressions_of_dashboard() -> list[str]:
    dashboard = json.loads((FOLDER / "dashboard.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


def alerts() -> list[str]:
    return re.findall(r"- alert: (\w+)", (FOLDER / "alerts.yml").read_text())


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, check=False
    )


class NamesTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        authserver = cls.scene.authserver(*FLAG)
        tls = () if server_pairs.MISSING else server_pairs.https_flags()
        fileserver = cls.scene.fileserver(authserver, *FLAG, *tls)
        texts = [scrape(authserver).text, scrape(fileserver).text]
        cls.families = {name for text in texts for name in re.findall("# TYPE (\\w+)", text)}
        cls.names = {name for text in texts for name in re.findall("^\\w+", text, re.MULTILINE)}

    def assert_known(self, text: str) -> None:
        names = set(_METRIC.findall(text))
        self.assertTrue(names, text)
        self.assertEqual(names - self.names - {"up"}, set(), text)

    def test_the_dashboard_uses_metrics_that_exist(self) -> None:
        expressions = expressions_of_dashboard()
        self.assertGreater(len(expressions), 20)
        for expression in expressions:
            self.assert_known(expression)

    def test_the_dashboard_shows_every_metric(self) -> None:
        text = " ".join(expressions_of_dashboard())
        self.assertEqual([name for name in sorted(self.families) if name not in text], [])

    def test_the_alerts_use_metrics_that_exist(self) -> None:
        self.assert_known((FOLDER / "alerts.yml").read_text())

    def test_every_metric_is_described(self) -> None:
        described = set(re.findall(r"`((?:turnstile|process)_[a-z_]+)", self.readme()))
        self.assertEqual(described, self.families)

    def test_every_alert_is_described_and_tested(self) -> None:
        tested = (FOLDER / "alerts_test.yml").read_text()
        self.assertGreater(len(alerts()), 5)
        for alert in alerts():
            self.assertIn(f"`{alert}`", self.readme())
            self.assertRegex(tested, rf"alertname: {alert}\n +exp_alerts:\n +- exp_labels")

    def readme(self) -> str:
        return (FOLDER / "README.md").read_text()


@unittest.skipIf(missing("promtool"), missing("promtool"))
class PromtoolTest(unittest.TestCase):
    def assert_accepts(self, *arguments: object) -> None:
        done = promtool(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_configuration(self) -> None:
        self.assert_accepts("check", "config", FOLDER / "prometheus.yml")

    def test_the_alerts(self) -> None:
        self.assert_accepts("check", "rules", FOLDER / "alerts.yml")
        self.assert_accepts("test", "rules", FOLDER / "alerts_test.yml")

    def test_the_expressions_of_the_dashboard(self) -> None:
        rules: list[Mapping[str, object]] = [
            {"record": "a:b", "labels": {"number": str(number)}, "expr": expression}
            for number, expression in enumerate(self.without_variables())
        ]
        self.assertEqual(self.check(rules).returncode, 0, self.check(rules).stderr)
        broken = {"record": "a:b", "expr": "rate(turnstile_requests_total)"}
        self.assertNotEqual(self.check([*rules, broken]).returncode, 0)

    def without_variables(self) -> list[str]:
        """The expressions as Grafana sends them, with values in place of its variables."""
        return [
            text.replace("$__rate_interval", "1m").replace("$instance", ".*")
            for text in expressions_of_dashboard()
        ]

    def check(self, rules: Sequence[Mapping[str, object]]) -> subprocess.CompletedProcess[str]:
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)  # JSON is YAML
            file.flush()
            return promtool("check", "rules", file.name)
