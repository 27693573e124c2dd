"""`lab run tls` for real: each way to encrypt, on kept connections and on new ones."""

import json
import unittest

import examples
from needs import missing
from real_lab import BUILD, DONE, disk_folder, lab, table, unexplained, why_no_run

KEPT = ("tls-thread-clear", "tls-event", "tls-nginx", "tls-proxy-event")
NEW = ("tls-event-new-rsa2048", "tls-event-resumed", "tls-nginx-resumed", "tls-thread-new")
STAGES = (*KEPT, *NEW)
WHY_NO_TLS = missing("nginx", "openssl")


class TlsTest(unittest.TestCase):
    @unittest.skipIf(why_no_run(), why_no_run())
    @unittest.skipIf(WHY_NO_TLS, WHY_NO_TLS)
    def test_each_way_to_encrypt_makes_the_handshakes_that_it_should(self) -> None:
        folder = examples.folder(self, disk_folder())
        places = ["--work", str(folder / "work"), "--out", str(folder / "out")]
        chosen = ["--stages", ",".join(STAGES), "--sizes", "1KB", "--seconds", "1"]
        done = lab("run", "tls", "--quick", "--shared", "--programs", str(BUILD), *chosen, *places)
        self.assertIn(done.returncode, DONE, done.stderr)
        rows = {row["stage"]: row for row in table(folder / "out" / "points.csv")}
        self.assertEqual(sorted(rows), sorted(STAGES))
        for stage, row in rows.items():
            self.assertEqual(unexplained(row["failures"]), [], stage)
            self.assertGreater(int(row["requests"]), 0, stage)
        self.require_handshakes(rows)
        stage_of = {row["trial"]: stage for stage, row in rows.items()}
        used = {
            (stage_of[line["trial"]], line["component"])
            for line in table(folder / "out" / "usage.csv")
        }
        self.assertIn(("tls-proxy-event", "proxy"), used)
        self.assertNotIn(("tls-event", "proxy"), used)
        self.assertNotIn(("tls-nginx", "authserver"), used)
        summary = (folder / "out" / "summary.md").read_text(encoding="utf-8")
        self.assertRegex(summary, r"\| tls-event-resumed \|.*\| (9|10)\d% \|")
        known = json.loads((folder / "out" / "environment.json").read_text(encoding="utf-8"))
        settings = known["stacks"]["tls-proxy-event-1KB-tls"]["store_settings"]
        self.assertIn("proxy_pass http://turnstile;", settings["nginx"])
        self.assertEqual(list((folder / "work" / "stores").iterdir()), [])  # no key is left

    def require_handshakes(self, rows: dict[str, dict[str, str]]) -> None:
        self.assertEqual(rows["tls-thread-clear"]["handshakes"], "")
        for stage in KEPT[1:]:
            self.assertEqual(int(rows[stage]["handshakes"]), 8, stage)
        for stage in NEW:
            row = rows[stage]
            self.assertGreaterEqual(int(row["handshakes"]), int(row["requests"]), stage)
            resumed = float(row["resumed_share"])
            self.assertEqual(resumed > 0.9, "resumed" in stage, stage)
