"""ab, wrk and hey: each request of these load generators is answered with the file."""

import re

from judge_scene import AUTHORIZATION, PASSWORD, SMALL, USER, JudgeTest, needs

_REQUESTS = 200
# wrk sends four requests at once on each connection.
_PIPELINE = """
init = function()
  local requests = {}
  for i = 1, 4 do requests[i] = wrk.format() end
  all = table.concat(requests)
end
request = function() return all end
"""


class MetersTest(JudgeTest):
    @needs("ab")
    def test_ab_with_kept_connections_of_http_1_0(self) -> None:
        account = ("-A", f"{USER}:{PASSWORD}")
        load = ("-n", _REQUESTS, "-c", 4)
        said = self.run_judge("ab", "-k", *account, *load, f"{self.url}/small.txt").stdout
        for name, value in (
            ("Complete requests", _REQUESTS),
            ("Keep-Alive requests", _REQUESTS),
            ("Failed requests", 0),
            ("HTML transferred", _REQUESTS * len(SMALL)),
        ):
            self.assertRegex(said, rf"(?m)^{name}: +{value}\b")
        self.assertNotIn("Non-2xx", said)

    @needs("wrk")
    def test_wrk_one_by_one_and_pipelined(self) -> None:
        (self.work / "pipeline.lua").write_text(_PIPELINE)
        for script in ((), ("-s", "pipeline.lua")):
            with self.subTest(script):
                load = ("-t1", "-c2", "-d1s", *script)
                said = self.run_judge(
                    "wrk", *load, "-H", AUTHORIZATION, f"{self.url}/small.txt"
                ).stdout
                self.assertGreater(int(re.search(r"(\d+) requests in", said)[1]), 0)
                self.assertNotIn("Non-2xx", said)
                self.assertNotIn("Socket errors", said)

    @needs("hey")
    def test_hey(self) -> None:
        load = ("-n", _REQUESTS, "-c", 4)
        said = self.run_judge("hey", *load, "-H", AUTHORIZATION, f"{self.url}/small.txt").stdout
        self.assertEqual(re.findall(r"\[(\d+)\]\s+(\d+) responses", said), [("200", "200")])
        self.assertNotIn("Error distribution", said)
