"""The counters of the host."""

import contextlib
import socket
import unittest

from lab.observe.proc_host import ganglia_used, read_tasks, run_delay_s
from rig.host import open_ends


class ReadHostTest(unittest.TestCase):
    def test_an_open_connection_has_two_ends(self):
        # Others may open and close connections meanwhile, so the difference is not exact.
        listener = socket.create_server(("127.0.0.1", 0))
        before = open_ends()
        with contextlib.ExitStack() as stack:
            stack.enter_context(listener)
            for _ in range(100):
                stack.enter_context(socket.create_connection(listener.getsockname()))
                stack.enter_context(listener.accept()[0])
            self.assertGreater(open_ends(), before + 100)

    def test_the_wait_for_a_core_is_added_up_over_the_cores(self):
        schedstat = (
            "version 16\ntimestamp 4295\n"
            "cpu0 0 0 71 22 33 14 9000000000 1500000000 47\n"
            "domain0 MC 3 0 0 0\n"
            "cpu1 0 0 70 21 32 13 8000000000 500000000 46\n"
        )
        self.assertEqual(run_delay_s(schedstat), 2.0)

    def test_ganglia_counts_swap_and_leaves_out_the_cache(self):
        sizes = {"MemTotal": 1000, "MemFree": 300, "Buffers": 50, "Cached": 200}
        self.assertEqual(ganglia_used({**sizes, "SwapTotal": 0, "SwapFree": 0}), 450)
        self.assertEqual(ganglia_used({**sizes, "SwapTotal": 400, "SwapFree": 390}), 460)

    def test_tasks_are_those_of_the_host(self):
        tasks = read_tasks()
        self.assertGreaterEqual(tasks["processes"], 1)
        self.assertGreaterEqual(tasks["threads"], 1)
