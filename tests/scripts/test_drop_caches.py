"""scripts/drop-caches either works, or says that it did not."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

from host import NOBODY, SCRIPTS, ScriptTest, in_namespace, run, why_no_namespace, why_not_root
from needs import missing

DROP_CACHES = SCRIPTS / "drop-caches"
CONTROL = Path("/proc/sys/vm/drop_caches")
ON_DISK = "/var/tmp"


def why_not_permitted() -> str:
    if not os.access(CONTROL, os.W_OK):
        return f"{CONTROL} cannot be written here"
    return missing("fincore")


NOT_PERMITTED = why_not_permitted()
NO_DISGUISE = NOT_PERMITTED or why_no_namespace("--mount")


def cached_pages(path: Path) -> int:
    return int(run("fincore", "--noheadings", "--output", "PAGES", path).stdout)


class DropCachesTest(ScriptTest):
    @unittest.skipIf(NOT_PERMITTED, NOT_PERMITTED)
    def test_a_file_that_was_cached_is_not_afterwards(self) -> None:
        with tempfile.NamedTemporaryFile(dir=ON_DISK) as file:
            file.write(bytes(100_000))
            file.flush()
            self.assertGreater(cached_pages(Path(file.name)), 0)
            result = run(DROP_CACHES)
            self.assertEqual(cached_pages(Path(file.name)), 0)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(
            result.stdout,
            r"^dropped: Cached \d+ MB before, \d+ MB after; probe \d+ pages before, 0 after\n$",
        )

    @unittest.skipIf(NOT_PERMITTED, NOT_PERMITTED)
    def test_no_probe_stays_behind(self) -> None:
        with tempfile.TemporaryDirectory(dir=ON_DISK) as folder:
            self.assertEqual(run(DROP_CACHES, "--probe-dir", folder).returncode, 0)
            self.assertEqual(os.listdir(folder), [])

    @unittest.skipIf(NOT_PERMITTED, NOT_PERMITTED)
    def test_a_probe_that_another_program_drops_meanwhile_is_read_again(self) -> None:
        real = shutil.which("fincore")
        with tempfile.TemporaryDirectory() as folder:
            first_is_dropped = Path(folder, "fincore")
            first_is_dropped.write_text(
                '#!/bin/sh\n[ -e "$0.asked" ] || { : >"$0.asked"; echo 0; exit; }\n'
                f'exec {real} "$@"\n'
            )
            first_is_dropped.chmod(0o755)
            result = run("env", f"PATH={folder}:{os.environ['PATH']}", DROP_CACHES)
        self.assertEqual(result.returncode, 0, result.stderr)

    @unittest.skipIf(NO_DISGUISE, NO_DISGUISE)
    def test_a_kernel_that_takes_the_order_but_drops_nothing_is_found_out(self) -> None:
        with tempfile.NamedTemporaryFile() as idle:
            result = in_namespace(
                "--mount", f'mount --bind "$1" {CONTROL}; "$2"', idle.name, DROP_CACHES
            )
        self.assert_one_line(result, 1, "did not work")

    @unittest.skipIf(NO_DISGUISE, NO_DISGUISE)
    def test_a_read_only_control_as_in_a_container_is_one_line(self) -> None:
        script = f'mount --bind {CONTROL} {CONTROL}; mount -o remount,ro,bind {CONTROL}; "$1"'
        self.assert_one_line(
            in_namespace("--mount", script, DROP_CACHES),
            1,
            "the kernel does not permit it (Read-only",
        )

    @unittest.skipIf(why_not_root(), why_not_root())
    def test_without_root_it_names_sudo(self) -> None:
        # The user nobody may not be able to read the project's own folder.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            result = run(*NOBODY, shutil.copy(DROP_CACHES, folder))
        self.assert_one_line(result, 1, "needs root: sudo scripts/drop-caches")

    @unittest.skipIf(NOT_PERMITTED, NOT_PERMITTED)
    def test_a_probe_in_memory_proves_nothing_and_is_refused(self) -> None:
        self.assert_one_line(run(DROP_CACHES, "--probe-dir", "/dev/shm"), 1, "/dev/shm")

    def test_wrong_usage_is_one_line(self) -> None:
        self.assert_one_line(
            run(DROP_CACHES, "--probe-dir", "/no/such"), 2, "'/no/such' is not a folder"
        )
        self.assert_one_line(run(DROP_CACHES, "now"), 2, "'now'")
