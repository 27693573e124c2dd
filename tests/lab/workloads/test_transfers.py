"""Rates that are computed from records of single transfers, made by hand."""

import tempfile
import unittest
from pathlib import Path

from lab.workloads import transfers
from lab.workloads.transfers import Transfer

# Two transfers of 1,000 bytes: from 10 s to 12 s, and from 11 s to 15 s. A third one failed.
RECORD = """\
round,thread,name,bytes,start_unix_s,started_s,asked_s,opened_s,first_byte_s,last_byte_s,failure,\
sent_s,cpu_us
1,0,"a,b.txt",1000,1.0,9.5,10.0,,10.5,12.0,,,12.345
1,1,c.txt,1000,1.0,9.5,11.0,,11.5,15.0,,14.0,
1,2,d.txt,500,1.0,9.5,11.0,,,30.0,closed,,
"""
LOG = """\
{"result":"ok","asked":110.0,"first_byte":110.5,"last_byte":112.0,"bytes":1000,"size":1000,"name":"a,b.txt"}
{"result":"ok","asked":111.0,"first_byte":111.5,"last_byte":115.0,"bytes":1000,"size":1000,"name":"c.txt"}
{"result":"aborted","asked":111.0,"first_byte":111.5,"last_byte":130.0,"bytes":500,"size":1000,"name":"d.txt"}
{"result":"not-found","asked":140.0,"bytes":0,"name":"e.txt"}
"""


class TransfersTest(unittest.TestCase):
    def client(self) -> list[Transfer]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "record.csv"
            path.write_text(RECORD, encoding="utf-8")
            return transfers.of_client(path)

    def server(self) -> list[Transfer]:
        return transfers.of_server(LOG.splitlines())

    def test_the_rate_is_all_bytes_from_the_first_asking_to_the_last_end(self) -> None:
        for found in (self.client(), self.server()):
            self.assertEqual(transfers.overall_rate(found), 2000 / 5)
        self.assertIsNone(transfers.overall_rate([]))

    def test_single_rates_are_of_those_that_succeeded(self) -> None:
        for found in (self.client(), self.server()):
            self.assertEqual(transfers.single_rates(found), [500.0, 250.0])

    def test_names_and_failures_are_kept(self) -> None:
        found = self.client()
        self.assertEqual([one.name for one in found], ["a,b.txt", "c.txt", "d.txt"])
        self.assertEqual([one.failure for one in found], ["", "", "closed"])

    def test_fairness_is_one_for_equal_rates_and_a_share_for_a_single_winner(self) -> None:
        self.assertEqual(transfers.fairness([3.0, 3.0, 3.0]), 1.0)
        self.assertEqual(transfers.fairness([5.0, 0.0, 0.0, 0.0]), 0.25)
        self.assertIsNone(transfers.fairness([]))
