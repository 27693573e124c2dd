"""litmus: its tests of HTTP, and the basic ones of WebDAV as far as we promise these methods.

We do not promise WebDAV, so `OPTIONS` does not claim it. litmus counts that as a failure: it is
the only one that may be there, and it must be there.
"""

import re

from judge_scene import PASSWORD, USER, JudgeTest, needs

_RESULT = re.compile(r"^ *\d+\. (\w+)\.+ (?!.*\. )(pass|FAIL|SKIPPED|WARNING)(?: \((.*)\))?$", re.M)
_NO_CLAIM = ("options", "FAIL", "server does not claim WebDAV compliance")
_TESTS = {
    "http": "init begin expect100 finish",
    "basic": "init begin options put_get put_get_utf8_segment put_no_parent mkcol_over_plain "
    "delete delete_null delete_fragment mkcol mkcol_again delete_coll mkcol_no_parent "
    "mkcol_with_body finish",
}


@needs("litmus")
class LitmusTest(JudgeTest):
    def litmus(self, suite: str, status: int) -> list[tuple[str, str, str]]:
        """Returns name, result and remark of each test of a suite."""
        (self.scene.root / suite).mkdir()
        with_suite = ("env", f"TESTS={suite}", "litmus", f"{self.url}/{suite}/")
        said = self.run_judge(*with_suite, USER, PASSWORD, status=status).stdout
        results = _RESULT.findall(said.replace("\r", "\n"))
        self.assertEqual([name for name, _, _ in results], _TESTS[suite].split(), said)
        return results

    def test_http(self) -> None:
        self.assertEqual({result for _, result, _ in self.litmus("http", 0)}, {"pass"})

    def test_basic(self) -> None:
        results = self.litmus("basic", 1)
        self.assertEqual([row for row in results if row[1] != "pass"], [_NO_CLAIM])
