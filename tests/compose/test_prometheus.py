"""The profile `monitoring`: Prometheus reads the metrics of both servers."""

import json
import unittest
import urllib.parse
import urllib.request
from typing import Any

from engine import System
from waiting import eventually

WITHIN_S = 120.0  # Prometheus asks every 15 s


class Monitoring(unittest.TestCase):
    system: System

    @classmethod
    def setUpClass(cls) -> None:
        cls.system = System(STORE="sqlite")
        cls.addClassCleanup(cls.system.remove)
        cls.system.compose("--profile", "monitoring", "up", "--detach", "--wait", "--no-build")

    def api(self, path: str) -> Any:
        address = self.system.compose("port", "network", "9090").strip()
        self.assertTrue(address.startswith("127.0.0.1:"), address)
        with urllib.request.urlopen(f"http://{address}/api/v1/{path}", timeout=30) as answer:
            return json.load(answer)["data"]

    def query(self, expression: str) -> dict[str, float]:
        """The value for each job."""
        result = self.api("query?" + urllib.parse.urlencode({"query": expression}))["result"]
        return {one["metric"]["job"]: float(one["value"][1]) for one in result}

    def test_both_servers_are_read_and_up(self) -> None:
        both = {"fileserver": 1.0, "authserver": 1.0}
        eventually(lambda: self.query("up") == both, "both servers are read", WITHIN_S)
        self.assertEqual(self.query("turnstile_authserver_up"), {"fileserver": 1.0})
        self.assertEqual(self.query("turnstile_store_up"), {"authserver": 1.0})

    def test_what_a_client_does_arrives_in_prometheus(self) -> None:
        self.assertEqual(self.system.ask("new:watched:wonderland"), "OK")
        expression = 'turnstile_requests_total{verb="new",result="OK"}'
        expected = {"fileserver": 1.0, "authserver": 1.0}
        eventually(lambda: self.query(expression) == expected, "both counted it", WITHIN_S)

    def test_the_alert_rules_are_loaded_and_healthy(self) -> None:
        rules = [rule for group in self.api("rules")["groups"] for rule in group["rules"]]
        self.assertGreater(len(rules), 5)
        self.assertEqual({rule["type"] for rule in rules}, {"alerting"})
        self.assertNotIn("err", {rule["health"] for rule in rules})
