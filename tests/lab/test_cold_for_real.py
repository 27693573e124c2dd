"""`lab run` for real, with files that are not in memory."""

import unittest

from lab_run import LabRun
from real_lab import table, why_no_cold_stages, why_no_run


@unittest.skipIf(why_no_run(), why_no_run())
@unittest.skipIf(why_no_cold_stages(), why_no_cold_stages())
class ColdStagesTest(LabRun):
    stages = ("multithreaded",)

    def test_every_point_is_there_with_all_its_bytes(self):
        self.check_points()

    def test_files_came_from_the_disk_or_the_point_says_that_they_did_not(self):
        usage = table(self.out / "usage.csv")
        for row in self.points():
            read_bytes = [
                float(line["value"])
                for line in usage
                if line["trial"] == row["trial"] and line["component"].startswith("disk ")
                if line["metric"] == "read_bytes_per_s"
            ]
            self.assertTrue(sum(read_bytes) > 0 or "not cold" in row["notes"], row)
