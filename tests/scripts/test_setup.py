"""scripts/setup, with real apt and dpkg in a throw-away system; this host's packages stay as they are."""

import os
import shutil
import tempfile
import unittest

from host import NOBODY, SCRIPTS, ScriptTest, run
from scratch_system import ScratchSystem, why_no_scratch_system

BUILD = ["g++", "make", "pkg-config", "python3", "libcli11-dev", "libspdlog-dev", "libfmt-dev", "nlohmann-json3-dev", "libsodium-dev", "libsqlite3-dev", "libhiredis-dev", "default-libmysqlclient-dev"]
TEST = ["catch2", "python3-matplotlib", "iperf3", "sqlite3", "redis-server", "mariadb-server", "strace", "netcat-openbsd", "iproute2", "valgrind", "util-linux-extra"]

# What `lint` finds on each system: the default clang is 19 on Debian 13, where the old compilers are gone.
DEBIAN_12 = ["clang", "clang-14", "clang-tidy", "clang-tidy-14", "clang-format", "clang-format-14", "libclang-rt-dev", "libclang-rt-14-dev", "libclang-common-14-dev", "g++-11", "g++-12", "shellcheck"]
DEBIAN_13 = ["clang", "clang-tidy", "clang-format", "libclang-rt-dev", "g++-12", "shellcheck"]
UBUNTU_22 = ["clang", "clang-14", "clang-tidy-14", "clang-format-14", "libclang-common-14-dev", "g++-11", "g++-12", "shellcheck"]

SETUP = "/mnt/scripts/setup"
LIST_INSTALLED = "dpkg-query -W -f '${Package}\\n'"


class SetupUsageTest(ScriptTest):
    def test_an_unknown_group_is_one_line(self) -> None:
        self.assert_one_line(run(SCRIPTS / "setup", "build", "everything"), 2, "'everything'")

    def test_a_system_without_apt_is_told_what_it_needs(self) -> None:
        with tempfile.TemporaryDirectory() as tools:
            for name in ("bash", "env", "tr", "sort", "sed"):
                os.symlink(str(shutil.which(name)), f"{tools}/{name}")
            result = run(SCRIPTS / "setup", env={"PATH": tools})
        self.assert_one_line(result, 1, "has no apt")
        self.assertTrue(all(package in result.stderr for package in BUILD))


REASON = why_no_scratch_system()


@unittest.skipIf(REASON, REASON)
class SetupTest(ScriptTest):
    def run_with(self, packages: list[str], script: str):
        with ScratchSystem(packages) as system:
            return system.run(script)

    def test_the_build_group_is_installed_whole_and_announced_first(self) -> None:
        result = self.run_with(BUILD + TEST, f"{SETUP}; {LIST_INSTALLED}")
        announcement, *installed = result.stdout.splitlines()
        self.assertEqual(sorted(installed), sorted(BUILD), result.stderr)
        self.assertEqual(announcement.split()[:2], ["setup:", "installing"])
        self.assertEqual(set(announcement.split()[2:]), set(BUILD))

    def test_a_second_run_is_silent_and_asks_neither_apt_nor_the_network(self) -> None:
        script = f"{SETUP} test >&2; rm /usr/bin/apt-cache /etc/apt/sources.list; {SETUP} test 2>&1; echo end"
        result = self.run_with(BUILD + TEST, script)
        self.assertEqual(result.stdout, "end\n", result.stderr)

    def test_each_system_gets_the_linters_that_its_apt_knows(self) -> None:
        expected = {
            "Debian 12": (
                DEBIAN_12,
                "clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev g++-11 g++-12 shellcheck",
            ),
            "Debian 13": (
                DEBIAN_13,
                "clang clang-tidy clang-format libclang-rt-dev g++-12 shellcheck",
            ),
            "Ubuntu 22.04": (
                UBUNTU_22,
                "clang-14 clang-tidy-14 clang-format-14 libclang-common-14-dev g++-11 g++-12 shellcheck",
            ),
        }
        for name, (packages, wanted) in expected.items():
            with self.subTest(system=name):
                result = self.run_with(
                    packages, f"{SETUP} lint >&2; {LIST_INSTALLED}; {SETUP} lint"
                )
                self.assertEqual(
                    sorted(result.stdout.split()), sorted(wanted.split()), result.stderr
                )

    def test_a_package_beside_the_one_that_is_wanted_does_not_stand_in_for_it(self) -> None:
        """On Debian 12 clang-14 brings libclang-common-14-dev, which has no run-time for the fuzzer there."""
        script = f"apt-get update; apt-get install -y libclang-common-14-dev; {SETUP} lint"
        result = self.run_with(DEBIAN_12, f"{{ {script}; }} >&2; {LIST_INSTALLED}")
        self.assertIn("libclang-rt-14-dev", result.stdout.split(), result.stderr)

    def test_no_service_is_started_now_or_with_the_host(self) -> None:
        script = f"{SETUP} test >&2; ls /run /etc/rc2.d /usr/sbin/policy-rc.d* || true"
        result = self.run_with(BUILD + TEST, script)
        self.assertIn("not started, now or with the host: redis-server mariadb", result.stderr)
        self.assertNotIn(".start", result.stdout)
        self.assertNotRegex(result.stdout, r"S\d+(redis-server|mariadb)")
        self.assertRegex(result.stdout, r"K\d+redis-server")
        self.assertNotIn("policy-rc.d", result.stdout)

    def test_a_service_that_was_installed_before_keeps_starting(self) -> None:
        script = (
            f"apt-get update; apt-get install -y redis-server; ls /run; {SETUP} test; ls /etc/rc2.d"
        )
        result = self.run_with(BUILD + TEST, script)
        self.assertIn("redis-server.start", result.stdout, result.stderr)
        self.assertRegex(result.stdout, r"S\d+redis-server")
        self.assertRegex(result.stdout, r"K\d+mariadb")

    def test_the_hosts_own_service_policy_is_back_even_after_a_killed_run(self) -> None:
        policy = "/usr/sbin/policy-rc.d"
        leave = f"printf '#!/bin/sh\\n%s\\nexit 101\\n' \"$(sed -n 's/^policy_mark=\"\\(.*\\)\"/\\1/p' {SETUP})\""
        script = f"""
            echo own >{policy}; {SETUP} test >&2; cat {policy}
            mv {policy} {policy}.before-turnstile; {leave} >{policy}; apt-get remove -y strace >&2
            {SETUP} test >&2; cat {policy}; ls {policy}*
        """
        result = self.run_with(BUILD + TEST, script)
        self.assertEqual(result.stdout, f"own\nown\n{policy}\n", result.stderr)

    def test_a_package_that_apt_does_not_have_is_one_line(self) -> None:
        result = self.run_with(BUILD[1:], SETUP)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(
            result.stderr, "setup: apt finds no package g++; on Ubuntu, it may be in 'universe'\n"
        )

    def test_a_failed_installation_is_one_line_and_the_policy_is_gone(self) -> None:
        with ScratchSystem(BUILD) as system:
            (system.folder / "repository" / "make.deb").write_bytes(b"damaged")
            result = system.run(
                f"trap 'ls /usr/sbin/policy-rc.d* 2>/dev/null || true' EXIT; {SETUP}"
            )
        self.assert_one_line(result, 1, "setup: apt-get install failed: E: ")
        self.assertNotIn("policy-rc.d", result.stdout)

    def test_without_root_the_command_for_root_is_named(self) -> None:
        result = self.run_with(BUILD, f"{' '.join(NOBODY)} {SETUP}")
        self.assertEqual(
            (result.returncode, result.stdout, result.stderr.count("\n")), (1, "", 1), result.stderr
        )
        self.assertIn(
            "apt-get install -y --no-install-recommends default-libmysqlclient-dev g++",
            result.stderr,
        )


if __name__ == "__main__":
    unittest.main()
