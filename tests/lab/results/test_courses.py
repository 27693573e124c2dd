"""What clients and server did over time is kept as texts, and read back as it was."""

import json
import unittest

from lab.results import courses
from lab.results.courses import Courses
from lab.workloads.uploads import Moment


def moment(t: float, load: float, mean_ms: float | None) -> Moment:
    return Moment(t=t, load=load, ended=3, bytes_per_s=12345.0, mean_ms=mean_ms)


CLIENTS = [moment(0.25, 0.125, None), moment(0.75, 1000.5, 17.25)]
SERVER = [moment(0.25, 2.0, 0.0), moment(0.75, 0.0, None)]


class CoursesTest(unittest.TestCase):
    def kept(self, made: Courses) -> Courses | None:
        """By way of a file."""
        return courses.unpacked(json.loads(json.dumps(courses.packed(made))))

    def test_both_views_are_read_back_as_they_were(self) -> None:
        made = Courses(0.5, CLIENTS, SERVER)
        self.assertEqual(self.kept(made), made)

    def test_a_server_without_a_log_has_none(self) -> None:
        found = self.kept(Courses(0.5, CLIENTS))
        assert found
        self.assertEqual((list(found.clients), list(found.server)), (CLIENTS, []))

    def test_a_reader_of_the_file_finds_the_columns_named(self) -> None:
        packed = courses.packed(Courses(0.5, CLIENTS))["courses"]
        self.assertEqual(packed["columns"], "load ended bytes_per_s mean_ms")
        self.assertEqual(packed["clients"], ["0.125 3 12345 -", "1000.500 3 12345 17.250"])

    def test_a_run_that_is_no_ramp_has_none(self) -> None:
        self.assertIsNone(courses.unpacked({"loadgen": {}, "samples": []}))
