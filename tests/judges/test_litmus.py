"""litmus: its tests of HTTP and of WebDAV.

What may fail is named here, and must fail: whoever repairs it takes it off the list. Properties
that are stored stay on it, because none is (docs/webdav.md): `owner_modify` stores one too.
"""

import re

from judge_scene import PASSWORD, USER, JudgeTest, needs

_RESULT = re.compile(r"^ *\d+\. (\w+)\.* (?!.*\. )(pass|FAIL|SKIPPED|WARNING)\b", re.M)
_REFUSED = re.compile(r"FAIL \(PROPPATCH on .*: (.*)$", re.M)
_STORED = {"propset", "propmanyns", "propget"}
# The suites, and the tests that fail. litmus skips those that need what has failed before.
_FAILURES: dict[str, set[str]] = {
    "http": set(),
    "basic": set(),
    "props": _STORED,
    "copymove": set(),
    "locks": {"owner_modify"},
}
_TESTS = {"http": 4, "basic": 16, "props": 30, "copymove": 13, "locks": 41}


@needs("litmus")
class LitmusTest(JudgeTest):
    def litmus(self, suite: str) -> dict[str, str]:
        """Returns the result of each test of a suite. One of several of a name counts as failed."""
        (self.scene.root / suite).mkdir()
        with_suite = ("env", f"TESTS={suite}", "litmus", f"{self.url}/{suite}/")
        status = 1 if _FAILURES[suite] else 0
        said = self.run_judge(*with_suite, USER, PASSWORD, status=status).stdout
        rows = _RESULT.findall(said.replace("\r", "\n"))
        self.assertIn(f"{_TESTS[suite] - 1:2}. finish", said)
        if suite == "locks":
            self.assertEqual(_REFUSED.findall(said), ["403 Forbidden"] * said.count("FAIL ("))
        results: dict[str, str] = {}
        for name, result in rows:
            results[name] = result if results.get(name) != "FAIL" else "FAIL"
        return results

    def check(self, suite: str) -> None:
        results = self.litmus(suite)
        self.assertEqual(
            {name for name, result in results.items() if result == "FAIL"}, _FAILURES[suite]
        )
        if not _FAILURES[suite]:
            self.assertEqual(set(results.values()), {"pass"})

    def test_http(self) -> None:
        self.check("http")

    def test_basic(self) -> None:
        self.check("basic")

    def test_props(self) -> None:
        self.check("props")

    def test_copymove(self) -> None:
        self.check("copymove")

    def test_locks(self) -> None:
        self.check("locks")


class LitmusOfLoopsTest(LitmusTest):
    model = "event"
