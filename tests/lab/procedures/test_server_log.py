"""The lines that a server wrote for one trial."""

import threading
import time
import unittest
from unittest import mock

import examples

from lab.observe.log_formats import Served
from lab.observe.moment import INTERVAL_S
from lab.procedures import server_log
from lab.procedures.server_log import ServerLog
from lab.workloads.uploads import Upload
from rig.transfer_log import TURNSTILE, XFERLOG, TransferLog

OF_WU_FTPD = "Fri Oct  2 13:12:20 2026 3 10.0.0.7 300 /mnt/{} b _ i r lab ftp 0 * c\n"


def line(name: str) -> str:
    return (
        f'{{"result":"ok","asked":1.0,"last_byte":2.0,"bytes":5,"client":"::1","name":"{name}"}}\n'
    )


class ServerLogTest(unittest.TestCase):
    def setUp(self) -> None:
        self.path = examples.folder(self) / "log"

    def log(self, form: str = TURNSTILE) -> ServerLog:
        return ServerLog(TransferLog(self.path, form))

    def append(self, text: str) -> None:
        with open(self.path, "a", encoding="ascii") as file:
            file.write(text)

    def test_lines_of_earlier_trials_are_not_of_this_one(self) -> None:
        self.append(line("before"))
        log = self.log()
        self.append(line("a") + line("b"))
        self.assertEqual([one.name for one in log.transfers(2)], ["a", "b"])

    def test_it_waits_for_lines_that_are_not_whole_yet(self) -> None:
        self.append(line("before"))
        log = self.log()
        text = line("late")
        self.append(text[:20])
        writer = threading.Timer(0.1, self.append, [text[20:]])
        writer.start()
        self.addCleanup(writer.join)
        self.assertEqual([one.name for one in log.transfers(1)], ["late"])

    def test_without_a_log_there_are_none(self) -> None:
        self.assertEqual(ServerLog(None).transfers(4), [])
        self.assertEqual(ServerLog(None).recorded(4).served, [])

    def test_the_view_of_the_server_is_there_for_any_form(self) -> None:
        self.append(OF_WU_FTPD.format("before"))
        log = self.log(XFERLOG)
        self.append(OF_WU_FTPD.format("a") + OF_WU_FTPD.format("b") + "Fri")
        recorded = log.recorded(2)
        self.assertEqual([one.name for one in recorded.served], ["/mnt/a", "/mnt/b"])
        self.assertEqual(recorded.skipped, 1)
        self.assertEqual(log.transfers(2), [])  # it does not say when they were asked for
        self.path.unlink()
        self.append(line("c"))
        self.assertEqual([one.name for one in self.log().recorded(0).served], [])

    def test_a_log_may_begin_after_the_trial_did(self) -> None:
        log = self.log()
        with mock.patch.object(server_log, "_PATIENCE_S", 0.05):
            self.assertEqual(log.recorded(1).served, [])
        self.append(line("a"))
        self.assertEqual([one.name for one in log.recorded(1).served], ["a"])

    def test_of_a_file_all_parts_are_waited_for_and_what_comes_behind_them(self) -> None:
        self.append(line("before"))
        log = self.log()
        self.append(line("a"))

        def write_late() -> None:
            for name in ("late1", "late2"):
                time.sleep(0.1)
                self.append(line(name))

        writer = threading.Thread(target=write_late)
        writer.start()
        self.addCleanup(writer.join)
        with mock.patch.object(server_log, "_QUIET_S", 1.5):
            found = [one.name for one in log.of_file(10)]
        self.assertEqual(found, ["a", "late1", "late2"])

    def test_of_a_file_that_never_came_whole_there_is_what_came(self) -> None:
        log = self.log()
        self.append(line("a"))
        with mock.patch.object(server_log, "_PATIENCE_S", 0.1):
            self.assertEqual([one.name for one in log.of_file(10)], ["a"])
        self.assertEqual(ServerLog(None).of_file(10), [])


START_S = 1.79e9


def served(start_s: float, end_s: float, *, is_whole: bool = True) -> Served:
    return Served(
        start_s=START_S + start_s,
        end_s=START_S + end_s,
        bytes=100,
        peer_address="",
        name="a",
        is_whole=is_whole,
        resolution_s=1.0,
    )


class BothViewsTest(unittest.TestCase):
    def test_the_server_is_seen_by_the_start_of_the_clients(self) -> None:
        clients = [Upload(start_s=1, end_s=2, bytes=100)]
        found = server_log.both_views(clients, [served(1, 2)], START_S, 10.0)
        self.assertEqual(found.server, found.clients)
        self.assertEqual(sum(one.ended for one in found.server), 1)

    def test_an_upload_that_the_server_saw_fail_has_not_ended(self) -> None:
        found = server_log.both_views([], [served(1, 2, is_whole=False)], START_S, 10.0)
        self.assertEqual(sum(one.ended for one in found.server), 0)

    def test_a_step_is_that_of_the_samples_unless_they_would_be_too_many(self) -> None:
        for length_s, times in ((10.0, 1), (500.0, 1), (7200.0, 15)):
            found = server_log.both_views([], [], START_S, length_s)
            self.assertEqual(found.step_s, times * INTERVAL_S)
            self.assertLessEqual(len(found.clients), 2000)

    def test_a_server_without_a_log_has_no_view(self) -> None:
        self.assertEqual(server_log.both_views([], [], START_S, 10.0).server, [])
