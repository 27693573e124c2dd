"""A simulated power cut leaves what was synced, and nothing else."""

import platform
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import promise  # noqa: F401  # lets power_cut import the package lab
from needs import missing
from power_cut import PowerCut

_PRELUDE = """
import os
def write(path, data, at=0, flags=os.O_CREAT):
    file = os.open(path, os.O_WRONLY | flags)
    os.pwrite(file, data, at)
    return file
def sync(path):
    folder = os.open(path, os.O_RDONLY)
    os.fsync(folder)
"""


@unittest.skipIf(missing("gcc"), missing("gcc"))
class PowerCutTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="turnstile-power-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.power = PowerCut(self.folder)

    def left_after(self, program: str) -> dict[str, bytes]:
        """Runs the program in the watched folder and cuts the power. Returns all files."""
        subprocess.run(
            [sys.executable, "-c", _PRELUDE + program],
            cwd=self.power.root,
            env=self.power.variables(),
            check=True,
        )
        self.power.cut()
        paths = [path for path in self.power.root.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.power.root)): path.read_bytes() for path in paths}

    def test_what_was_not_synced_is_lost(self) -> None:
        self.assertEqual(self.left_after("write('a', b'1234')"), {})

    def test_a_name_needs_a_sync_of_its_folder(self) -> None:
        self.assertEqual(self.left_after("os.fsync(write('a', b'1234'))"), {})
        self.assertEqual(
            self.left_after("os.fsync(write('a', b'1234')); sync('.')"), {"a": b"1234"}
        )

    def test_content_needs_a_sync_of_the_file(self) -> None:
        self.assertEqual(self.left_after("write('a', b'1234'); sync('.')"), {"a": b""})

    def test_a_later_write_is_lost_and_an_earlier_one_stays(self) -> None:
        left = self.left_after(
            "file = write('a', b'1234'); os.fdatasync(file); sync('.'); os.pwrite(file, b'56', 4);"
            "os.pwrite(file, b'x', 0)"
        )
        self.assertEqual(left, {"a": b"1234"})
        self.assertEqual(self.left_after("os.fdatasync(write('a', b'yz', 3))"), {"a": b"123yz"})

    def test_a_sync_by_another_descriptor_counts(self) -> None:
        left = self.left_after("write('a', b'1234'); os.fsync(os.open('a', 0)); sync('.')")
        self.assertEqual(left, {"a": b"1234"})

    def test_a_file_that_became_shorter(self) -> None:
        program = "os.fsync(write('a', b'12345678')); sync('.');"
        self.assertEqual(self.left_after(program + "os.truncate('a', 2)"), {"a": b"12345678"})
        again = "file = write('a', b'', 0, 0); os.ftruncate(file, 2); os.pwrite(file, b'x', 5);"
        self.assertEqual(self.left_after(again + "os.fsync(file)"), {"a": b"12\0\0\0x"})
        self.assertEqual(
            self.left_after("os.fsync(write('a', b'z', 1, os.O_TRUNC))"), {"a": b"\0z"}
        )

    def test_renamed_and_removed_files_come_back(self) -> None:
        self.left_after("os.fsync(write('a', b'1')); os.fsync(write('b', b'2')); sync('.')")
        both = {"a": b"1", "b": b"2"}
        self.assertEqual(self.left_after("os.rename('a', 'b')"), both)
        self.assertEqual(self.left_after("os.unlink('a'); os.fsync(write('c', b'3'))"), both)
        self.assertEqual(self.left_after("os.rename('a', 'b'); sync('.')"), {"b": b"1"})

    def test_no_file_gets_the_number_of_one_that_was_replaced(self) -> None:
        """However it was: a raw system call is no function of the C library."""
        number = {"x86_64": 316, "aarch64": 276}.get(platform.machine())
        calls = ["libc.renameat2(-100, b'b', -100, b'a', 0)"]
        calls += [f"libc.syscall({number}, -100, b'b', -100, b'a', 0)"] if number else []
        for call in (*calls, "os.rename('b', 'a')", "os.unlink('a')"):
            left = self.left_after(
                "import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n"
                "write('a', b'1'); write('b', b'2'); inode = os.stat('a').st_ino\n"
                f"{call}\n"
                "assert os.path.exists(f'../synced/kept.{inode}'), 'the number is free'"
            )
            self.assertEqual(left, {}, call)

    def test_folders_inside(self) -> None:
        left = self.left_after("os.mkdir('d'); os.fsync(write('d/a', b'1')); sync('d')")
        self.assertEqual(left, {"d/a": b"1"})

    def test_a_file_of_stdio_is_copied_whole(self) -> None:
        left = self.left_after(
            "file = open('a', 'wb'); file.write(b'1234'); file.flush(); os.fsync(file.fileno());"
            "sync('.')"
        )
        self.assertEqual(left, {"a": b"1234"})

    def test_a_disk_that_ignores_syncs(self) -> None:
        self.power = PowerCut(self.folder / "ignoring", ignores_syncs=True)
        self.assertEqual(self.left_after("os.fsync(write('a', b'1')); sync('.')"), {})
