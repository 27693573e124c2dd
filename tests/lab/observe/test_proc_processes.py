"""The counters of processes and their children."""

import os
import signal
import subprocess
import sys
import unittest

from lab.observe.proc_processes import context_switches, has_more_than, read_process
from rig.process_tree import tree

# Prints a line when it starts, and uses a tenth of a second of CPU time.
_BUSY = (
    "import time; print(flush=True); end = time.process_time() + 0.1\n"
    "while time.process_time() < end: pass\n"
)


# Three children, of which one has a child.
_FAMILY = """
sleep 60 & sleep 60 & sh -c 'sleep 60 & echo; wait' & wait
"""


class ContextSwitchesTest(unittest.TestCase):
    def test_those_of_all_threads_and_children_count(self):
        """Each of both sleeps a hundred times, and a sleep is a switch at least."""
        slept = "[time.sleep(0.0001) for _ in range(100)]"
        child = f"import time; {slept}; print(flush=True); time.sleep(600)"
        parent = (
            "import subprocess, sys, threading, time\n"
            f"thread = threading.Thread(target=lambda: ({slept}, time.sleep(600)), daemon=True)\n"
            "thread.start()\n"
            f"subprocess.run([sys.executable, '-c', {child!r}])"
        )
        with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            family = tree(process.pid)
            of_child, of_both = (self.counted(pid) for pid in (family[1], family[0]))
            for pid in family[::-1]:
                os.kill(pid, signal.SIGKILL)
        self.assertGreaterEqual(of_child, 100)
        self.assertGreaterEqual(of_both, of_child + 50)  # its thread may still be at it

    def test_a_process_that_is_gone_has_none(self):
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        self.assertEqual(context_switches(ended.pid), {})

    def counted(self, pid: int) -> int:
        return sum(one.count for one in context_switches(pid).values())


class ReadProcessTest(unittest.TestCase):
    def test_it_reads_its_own_process(self):
        values = read_process(os.getpid())
        self.assertGreater(values["cpu_s"], 0)
        self.assertGreater(values["resident_bytes"], 1e6)
        self.assertGreater(values["virtual_bytes"], values["resident_bytes"])
        self.assertGreater(values["text_bytes"], 0)
        self.assertGreater(values["data_bytes"], values["text_bytes"])
        self.assertIn("major_faults", values)
        self.assertIn("main_thread_delay_s", values)

    def test_a_process_that_is_gone_has_no_values(self):
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        self.assertEqual(read_process(ended.pid), {})

    def test_the_work_of_children_counts_alive_and_dead(self):
        parent = (
            "import subprocess, sys, time\n"
            f"subprocess.run([sys.executable, '-c', {_BUSY!r}], stdout=subprocess.DEVNULL)\n"
            "print(flush=True)\ntime.sleep(60)"
        )
        with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            self.assertGreaterEqual(read_process(process.pid)["cpu_s"], 0.09)  # in steps of 0.01
            process.kill()

    def test_the_work_of_grandchildren_counts_while_they_live(self):
        busy = f"{_BUSY}print(flush=True)\ntime.sleep(60)"
        child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
        parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
        with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as process:
            for _ in range(2):  # the second line comes when the work is done
                process.stdout.readline()
            family = tree(process.pid)
            worked = read_process(family[2])["cpu_s"]
            values = read_process(process.pid)
            for pid in family:
                os.kill(pid, signal.SIGKILL)
        self.assertEqual((values["processes"], values["threads"]), (3, 3))
        self.assertGreaterEqual(worked, 0.09)  # in steps of 0.01
        self.assertGreaterEqual(values["cpu_s"], worked)

    def test_living_descendants_are_counted_up_to_a_number(self):
        with subprocess.Popen(["sh", "-c", _FAMILY], stdout=subprocess.PIPE) as process:
            process.stdout.readline()  # the last of them runs
            found = [has_more_than(count, process.pid) for count in (0, 3, 4)]
            for pid in tree(process.pid):  # parents first: a parent that waits ends with its child
                os.kill(pid, signal.SIGKILL)
        self.assertEqual(found, [True, True, False])
        self.assertFalse(has_more_than(0, process.pid))
