"""`lab run scale-out` for real: one of three hosts behind haproxy is lost."""

import json

from real_lab import unexplained
from scale_out_scene import ScaleOutScene

from lab.results import series

LATE = (  # what a busy machine does to a host that is lost
    r"\d+ requests failed before \([^;]*\)",
    r"the fileserver-3 was not lost and started again within the run",
)


class LostHostTest(ScaleOutScene):
    def test_a_lost_host_moves_its_own_names_and_the_others_answer(self):
        folder = self.run_lab("--stages", "scale-out-3-lost", "--seconds", "15", "--threads", "24")
        (row,) = self.rows(folder).values()
        self.assertEqual(float(row["names_moved"]), float(row["names_of_lost"]))
        self.assertGreater(int(row["requests"]), 0)
        self.assertEqual(unexplained(row["failures"], *LATE), [])
        (sample,) = folder.glob("samples/*run1-trial1.json*")
        kept = series.unpacked(json.loads(sample.read_text(encoding="utf-8")))
        self.assertEqual(
            [event.what for event in kept.events],
            ["fileserver-3 killed", "fileserver-3 started again"],
        )
        figures = {one.name for one in (folder / "figures").iterdir()}
        self.assertIn("series-scale-out-3-lost-10KB-hosts.svg", figures)
