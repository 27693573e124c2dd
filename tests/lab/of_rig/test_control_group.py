"""A control group holds a program to its limits, and nothing of it is left.

The groups of version 1 are the kernel's own. Version 2 is tested by what is written to its files.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from contextlib import ExitStack
from pathlib import Path

import examples

from rig.control_group import ControlGroup, Hierarchies, Limits, limited, remove_leftovers
from rig.errors import Failed
from rig.processes import Program

_MIB = 1 << 20
_HOLD_AND_READ = """
import sys
held = bytearray(b"x" * (12 << 20))
for word in ("ready", "read"):
    print(word, flush=True)
    sys.stdin.readline()
    with open(sys.argv[1], "rb", 0) as file:
        while file.read(1 << 16):
            pass
"""
_NO_PROCESS = 2**22 + 1  # above the highest id that a kernel gives


class FilesTest(unittest.TestCase):
    """The folders are ordinary ones."""

    def setUp(self) -> None:
        self.root = examples.folder(self)
        self.own = self.root / "own"
        self.hierarchies = Hierarchies(root=self.root, own=self.own)

    def _mount(self, *hierarchies: str) -> None:
        self.own.touch()
        for path in hierarchies:
            (self.root / path).mkdir(parents=True)

    def _unify(self) -> None:
        (self.root / "cgroup.controllers").touch()

    def test_version_2_gets_its_values_and_the_controllers_are_enabled(self) -> None:
        self._unify()
        limits = Limits(memory_bytes=6 * _MIB, cores=0.25, processes=40)
        with limited(limits, self.root, self.hierarchies) as group:
            folder = group.folders["memory"]
            self.assertEqual({folder}, set(group.folders.values()))
            self.assertEqual(self.root, folder.parent)
            self.assertEqual(str(6 * _MIB), (folder / "memory.max").read_text())
            self.assertEqual("25000 100000", (folder / "cpu.max").read_text())
            self.assertEqual("40", (folder / "pids.max").read_text())
            self.assertEqual("+pids", (self.root / "cgroup.subtree_control").read_text())
            self.assertEqual(1, sum("cgroup.procs" in word for word in group.prefix))

    def test_version_2_gets_its_share_in_the_period_that_was_asked_for(self) -> None:
        self._unify()
        with limited(Limits(cores=0.25, period_s=0.02), self.root, self.hierarchies) as group:
            self.assertEqual("5000 20000", (group.folders["cpu"] / "cpu.max").read_text())

    def test_version_2_is_frozen_when_the_kernel_says_so_and_thawed_at_the_end(self) -> None:
        self._unify()
        with limited(Limits(), self.root, self.hierarchies) as group:
            folder = group.folders["freezer"]
            (folder / "cgroup.events").write_text("populated 1\nfrozen 1\n")
            group.freeze()
            self.assertEqual("1", (folder / "cgroup.freeze").read_text())
        self.assertEqual("0", (folder / "cgroup.freeze").read_text())

    def test_version_2_says_what_was_used(self) -> None:
        self._unify()
        with limited(Limits(), self.root, self.hierarchies) as group:
            folder = group.folders["memory"]
            (folder / "memory.current").write_text("500\n")
            (folder / "memory.stat").write_text(
                "file 300\nfile_mapped 20\nworkingset_refault_anon 2\nworkingset_refault_file 5\n"
            )
            (folder / "cpu.stat").write_text("usage_usec 2500000\nthrottled_usec 1500000\n")
            (folder / "memory.events").write_text("low 0\noom 5\noom_kill 3\n")
            usage = group.usage()
        self.assertEqual(
            (500, 300, 7), (usage.memory_bytes, usage.page_cache_bytes, usage.refaults)
        )
        self.assertEqual((1.5, 2.5, 3), (usage.throttled_s, usage.cpu_s, usage.oom_kills))
        self.assertIsNone(usage.peak_memory_bytes)

    def test_it_says_what_the_kernel_ended_at_a_limit_that_it_has(self) -> None:
        self._unify()
        for limits, count, wanted in (
            (Limits(memory_bytes=56 * _MIB), 1, "the kernel ended the server at 56 MiB of memory"),
            (Limits(memory_bytes=56 * _MIB), 0, ""),
            (Limits(), 1, ""),  # of the whole host
        ):
            with limited(limits, self.root, self.hierarchies) as group:
                events = group.folders["memory"] / "memory.events"
                events.write_text(f"low 0\noom_kill {count}\n")
                self.assertIn(wanted, group.why_killed())
                self.assertEqual(bool(wanted), bool(group.oom_kills))

    def test_version_2_gives_the_cache_beside_what_is_in_use(self) -> None:
        self._unify()
        with limited(Limits(cache_bytes=1000), self.root, self.hierarchies) as group:
            folder = group.folders["memory"]
            self.assertFalse((folder / "memory.max").exists())
            (folder / "memory.current").write_text("500\n")
            (folder / "memory.stat").write_text("file 300\nfile_mapped 20\n")
            group.limit_cache()
            self.assertEqual("1220", (folder / "memory.high").read_text())
            self.assertEqual(1220 + (8 << 20), int((folder / "memory.max").read_text()))

    def test_without_a_limit_of_the_cache_memory_stays_as_it_is(self) -> None:
        self._unify()
        with limited(Limits(memory_bytes=500), self.root, self.hierarchies) as group:
            group.limit_cache()
            self.assertEqual("500", (group.folders["memory"] / "memory.max").read_text())

    def test_version_1_lies_below_the_group_of_the_lab(self) -> None:
        self._mount("memory/session", "cpu", "freezer")
        self.own.write_text("3:memory:/session\n2:cpu,cpuacct:/not/seen\n0::/\n")
        with limited(Limits(cores=1.0), self.root, self.hierarchies) as group:
            self.assertEqual(self.root / "memory" / "session", group.folders["memory"].parent)
            self.assertEqual(self.root / "cpu", group.folders["cpu"].parent)

    def test_version_1_says_what_was_used(self) -> None:
        self._mount("memory", "cpu", "cpuacct", "freezer")
        with limited(Limits(cores=1.0), self.root, self.hierarchies) as group:
            memory = group.folders["memory"]
            (memory / "memory.usage_in_bytes").write_text("500\n")
            (memory / "memory.stat").write_text("cache 1\ntotal_cache 300\n")
            (memory / "memory.oom_control").write_text("oom_kill_disable 0\noom_kill 2\n")
            (group.folders["cpu"] / "cpu.stat").write_text("throttled_time 1500000000\n")
            (group.folders["cpuacct"] / "cpuacct.usage").write_text("2500000000\n")
            usage = group.usage()
        self.assertEqual((500, 300), (usage.memory_bytes, usage.page_cache_bytes))
        self.assertEqual((1.5, 2.5, 2), (usage.throttled_s, usage.cpu_s, usage.oom_kills))

    def test_version_1_counts_without_a_limit_where_that_shares_out_no_cores(self) -> None:
        self._mount("memory", "cpu", "cpuacct", "freezer")
        with limited(Limits(), self.root, self.hierarchies) as group:
            self.assertEqual(["memory", "freezer", "cpuacct"], list(group.folders))
            self.assertEqual(
                (None, None, None),
                (group.usage().throttled_s, group.usage().cpu_s, group.usage().oom_kills),
            )

    def test_version_1_may_have_both_in_one_hierarchy(self) -> None:
        self._mount("memory", "cpu,cpuacct", "freezer")
        for name in ("cpu", "cpuacct"):
            (self.root / name).symlink_to("cpu,cpuacct")
        with limited(Limits(), self.root, self.hierarchies) as group:
            self.assertEqual(["memory", "freezer"], list(group.folders))
            self.assertIsNone(group.usage().cpu_s)
        with limited(Limits(cores=1.0), self.root, self.hierarchies) as group:
            folder = group.folders["cpuacct"]
            self.assertEqual(group.folders["cpu"], folder)
            (folder / "cpuacct.usage").write_text("1000000000\n")
            self.assertEqual(1.0, group.usage().cpu_s)
            self.assertEqual(1, sum("cpu" in word and "procs" in word for word in group.prefix))

    def test_a_group_that_cannot_be_made_leaves_nothing(self) -> None:
        self._mount("memory", "cpu")  # but no freezer
        with (
            self.assertRaisesRegex(Failed, "no control group"),
            limited(Limits(), self.root, self.hierarchies),
        ):
            self.fail("there is no freezer")
        self.assertEqual([], list(self.root.glob("*/*")))

    def test_only_the_groups_of_ended_labs_are_removed(self) -> None:
        self.own.touch()
        left = self.root / "memory" / f"turnstile-lab-{_NO_PROCESS}-1"
        used = self.root / "memory" / f"turnstile-lab-{os.getpid()}-9999"
        for folder in (left, used):
            folder.mkdir(parents=True)
        remove_leftovers(self.hierarchies)
        self.assertFalse(left.exists())
        self.assertTrue(used.exists())


class KernelTest(unittest.TestCase):
    def setUp(self) -> None:
        self._stack = ExitStack()
        self.addCleanup(self._stack.close)
        self.work = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))

    def _group(self, limits: Limits) -> ControlGroup:
        try:
            return self._stack.enter_context(limited(limits, self.work))
        except Failed as error:
            self.skipTest(str(error))

    def _run(self, group: ControlGroup, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*group.prefix, *command], check=False, capture_output=True, text=True, timeout=60
        )

    def test_a_child_is_in_the_group_from_its_start(self) -> None:
        group = self._group(Limits())
        ran = self._run(group, "sh", "-c", "cat /proc/self/cgroup")
        for folder in group.folders.values():
            self.assertIn(folder.name, ran.stdout)

    def test_memory_is_limited_and_the_page_cache_with_it(self) -> None:
        group = self._group(Limits(memory_bytes=8 * _MIB))
        file = self.work / "file"
        ran = self._run(
            group, "dd", "if=/dev/zero", f"of={file}", "bs=1M", "count=24", "conv=fsync"
        )
        self.assertEqual(0, ran.returncode, ran.stderr)
        usage = group.usage()
        assert usage.page_cache_bytes is not None
        self.assertLessEqual(usage.page_cache_bytes, 8 * _MIB)
        if usage.peak_memory_bytes is not None:
            self.assertGreater(usage.peak_memory_bytes, 4 * _MIB)

    def test_what_takes_more_than_there_is_is_killed_and_counted(self) -> None:
        group = self._group(Limits(memory_bytes=32 * _MIB))
        self.assertIn(group.usage().oom_kills, (0, None))  # older kernels do not say
        ran = self._run(group, sys.executable, "-I", "-S", "-c", "b'x' * (64 << 20)")
        self.assertEqual(-9, ran.returncode)
        self.assertIn(group.usage().oom_kills, (1, None))

    def test_a_ready_program_keeps_its_memory_and_gets_the_cache_beside_it(self) -> None:
        group = self._group(Limits(cache_bytes=4 * _MIB))
        file = self.work / "file"
        file.write_bytes(bytes(16 * _MIB))
        _drop_from_cache(file)
        command = [*group.prefix, sys.executable, "-I", "-S", "-c", _HOLD_AND_READ, str(file)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as program:
            assert program.stdin and program.stdout
            self.assertEqual("ready\n", program.stdout.readline())
            group.limit_cache()
            program.stdin.write("read\n")
            program.stdin.flush()
            self.assertEqual("read\n", program.stdout.readline())
            used = group.usage()
            program.communicate("\n", timeout=60)
        assert used.memory_bytes is not None and used.page_cache_bytes is not None
        self.assertGreater(used.memory_bytes, 12 * _MIB)
        self.assertLess(used.page_cache_bytes, 6 * _MIB)
        self.assertGreater(used.page_cache_bytes, 2 * _MIB)

    def test_who_finds_the_cache_full_waits_and_is_not_killed(self) -> None:
        group = self._group(Limits(cache_bytes=_MIB))
        group.limit_cache()
        write = f"head -c {16 * _MIB} /dev/zero >{self.work}/file"
        for _ in range(3):
            self.assertEqual(0, self._run(group, "sh", "-c", write).returncode)

    def test_a_share_of_a_core_is_held_and_the_wait_for_it_is_told(self) -> None:
        group = self._group(Limits(cores=0.1))
        loop = "import time\nwhile time.process_time() < 0.2: pass"
        self.assertEqual(0, self._run(group, "python3", "-S", "-c", loop).returncode)
        self.assertGreater(group.usage().throttled_s or 0.0, 0.1)

    def test_what_all_have_used_is_told_without_a_limit(self) -> None:
        group = self._group(Limits())
        before = group.usage()
        if before.cpu_s is None:
            self.skipTest("this kernel counts only where cores are limited")
        loop = "import time\nwhile time.process_time() < 0.2: pass"
        both = f"{sys.executable} -S -c '{loop}' & {sys.executable} -S -c '{loop}'; wait"
        self.assertEqual(0, self._run(group, "sh", "-c", both).returncode)
        self.assertGreaterEqual((group.usage().cpu_s or 0.0) - before.cpu_s, 0.39)

    def test_a_program_that_the_kernel_ended_for_want_of_memory_is_counted(self) -> None:
        group = self._group(Limits(memory_bytes=16 * _MIB))
        if group.usage().oom_kills is None:
            self.skipTest("this kernel does not say")
        self.assertEqual(0, group.usage().oom_kills)
        hold = f"held = bytearray(b'x' * {64 * _MIB})"
        self.assertNotEqual(0, self._run(group, sys.executable, "-S", "-c", hold).returncode)
        self.assertGreaterEqual(group.usage().oom_kills or 0, 1)

    def test_no_process_beyond_the_limit_starts(self) -> None:
        group = self._group(Limits(processes=2))
        ran = self._run(group, "sh", "-c", "sleep 1 & sleep 1 & sleep 1 & wait; exit 0")
        self.assertIn("fork", ran.stderr.lower())

    def test_reads_from_the_disk_keep_to_the_rate(self) -> None:
        group = self._group(Limits(read_bytes_per_s=4 * _MIB))
        file = self.work / "file"
        file.write_bytes(os.urandom(2 * _MIB))
        copy = "import os,sys,time; s=time.monotonic(); os.system(sys.argv[1]); "
        copy += "print(time.monotonic()-s)"
        read = f"dd if={file} of=/dev/null bs=256K iflag=direct"
        ran = self._run(group, "python3", "-c", copy, read)
        if "Invalid argument" in ran.stderr:
            self.skipTest("this file system has no direct reads")
        self.assertGreater(float(ran.stdout), 0.3)

    def test_a_frozen_program_ends_after_the_thaw_and_the_group_is_gone(self) -> None:
        group = self._group(Limits())
        program = Program("sleeper", [*group.prefix, "sleep", "60"], self.work / "log")
        self.addCleanup(program.kill)
        while "sleep" not in Path(f"/proc/{program.pid}/comm").read_text():
            pass
        group.freeze()
        program.signal(15)
        self.assertTrue(program.is_running())
        group.thaw()
        self.assertEqual(-15, program.stop())
        self._stack.close()
        self.assertFalse(any(folder.exists() for folder in group.folders.values()))


def _drop_from_cache(file: Path) -> None:
    with open(file, "rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
