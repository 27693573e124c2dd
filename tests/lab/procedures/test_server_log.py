"""The lines that a server wrote for one trial."""

import threading
import unittest

import examples

from lab.procedures.server_log import ServerLog


def line(name: str) -> str:
    return f'{{"result":"ok","asked":1.0,"last_byte":2.0,"bytes":5,"name":"{name}"}}\n'


class ServerLogTest(unittest.TestCase):
    def setUp(self) -> None:
        self.path = examples.folder(self) / "log"

    def append(self, text: str) -> None:
        with open(self.path, "a", encoding="ascii") as file:
            file.write(text)

    def test_lines_of_earlier_trials_are_not_of_this_one(self) -> None:
        self.append(line("before"))
        log = ServerLog(self.path)
        self.append(line("a") + line("b"))
        self.assertEqual([one.name for one in log.transfers(2)], ["a", "b"])

    def test_it_waits_for_lines_that_are_not_whole_yet(self) -> None:
        self.append(line("before"))
        log = ServerLog(self.path)
        text = line("late")
        self.append(text[:20])
        writer = threading.Timer(0.1, self.append, [text[20:]])
        writer.start()
        self.addCleanup(writer.join)
        self.assertEqual([one.name for one in log.transfers(1)], ["late"])

    def test_without_a_log_there_are_none(self) -> None:
        self.assertEqual(ServerLog(None).transfers(4), [])
