"""scripts/setup with real apt and dpkg, in a scratch system. This host's packages do not change."""

import os
import platform
import shutil
import tempfile
import unittest
from pathlib import Path
from subprocess import CompletedProcess

from host import NOBODY, SCRIPTS, ScriptTest, run
from scratch_system import SERVICES, ScratchSystem, why_no_scratch_system

TABLE = Path(__file__).with_name("packages.txt")
GROUPS = ("all", "mysql", "redis")  # together, every package that setup may name

BUILD = [
    "g++",
    "dpkg-dev",
    "make",
    "pkg-config",
    "python3",
    "libcli11-dev",
    "libspdlog-dev",
    "libfmt-dev",
    "nlohmann-json3-dev",
    "libboost-context-dev",
    "libsodium-dev",
    "libssl-dev",
    "libseccomp-dev",
    "libsqlite3-dev",
    "libexpat1-dev",
    "zlib1g-dev",
    "libhiredis-dev",
    "default-libmysqlclient-dev",
    "curl",
    "openssl",
]
TEST = [
    "ccache",
    "catch2",
    "git",
    "iperf3",
    "sqlite3",
    "redis-server",
    "mariadb-server",
    "strace",
    "netcat-openbsd",
    "iproute2",
    "valgrind",
    "fail2ban",
    "prometheus",
    "util-linux-extra",
    "lintian",
    "logrotate",
]

# What the bench compares with, and the lab's proxy, where a distribution has it.
PEERS = ["nginx", "libnginx-mod-http-lua", "lua-nginx-redis", "wrk", "caddy", "haproxy"]

# What judges the HTTP front, likewise. wrk is among the peers.
JUDGES = ["wget", "aria2", "lftp", "rclone", "apache2-utils", "hey", "litmus", "slowhttptest"]
JUDGES += ["cadaver", "davfs2", "gvfs-backends", "chromium", "tidy"]
SSH_SERVER = "openssh-server"  # with `all` only
BINDFS = "bindfs"  # likewise
RSYNC = "rsync"  # likewise

# The linters that each distribution gets. Debian 13 has no version 14 of clang's tools.
TOOLS_14 = "clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev g++-11 g++-12"
LINTERS = {
    "debian-12": TOOLS_14,
    "debian-13": "clang clang-tidy clang-format libclang-rt-dev g++-12",
    "ubuntu-22.04": TOOLS_14.replace("libclang-rt-14-dev", "libclang-common-14-dev"),
    "ubuntu-24.04": TOOLS_14,
}
FINCORE = dict.fromkeys(LINTERS, "util-linux-extra") | {"ubuntu-22.04": "util-linux"}

SETUP = "/mnt/scripts/setup"
LIST_INSTALLED = "dpkg-query -W -f '${Package}\\n'"


def packages_of_each_distribution() -> dict[str, list[str]]:
    """Reads packages.txt."""
    lines = [line.split() for line in TABLE.read_text().splitlines() if line[0] != "#"]
    (_, *distributions), *rows = lines
    return {
        name: [row[0] for row in rows if row[column] == "yes"]
        for column, name in enumerate(distributions, start=1)
    }


def needs_without_apt(*groups: str) -> CompletedProcess[str]:
    """Runs setup where there is no apt, so that it prints what it needs."""
    with tempfile.TemporaryDirectory() as tools:
        for name in ("bash", "env", "tr", "sort", "sed"):
            os.symlink(str(shutil.which(name)), f"{tools}/{name}")
        return run(SCRIPTS / "setup", *groups, env={"PATH": tools})


def this_distribution() -> str:
    """Such as debian-12."""
    release = platform.freedesktop_os_release()
    return f"{release.get('ID')}-{release.get('VERSION_ID')}"


def known_to_apt(packages: list[str]) -> set[str]:
    """The packages that the lists of this host's apt have."""
    known = set()
    for paragraph in run("apt-cache", "policy", *packages).stdout.split("\n\n"):
        name = ""
        for line in paragraph.splitlines():
            if not line.startswith(" "):
                name = line.rstrip(":")
            elif line.startswith("  Candidate:") and "(none)" not in line:
                known.add(name)
    return known


class SetupUsageTest(ScriptTest):
    def test_an_unknown_group_is_one_line(self) -> None:
        self.assert_one_line(run(SCRIPTS / "setup", "build", "everything"), 2, "'everything'")

    def test_a_system_without_apt_is_told_what_it_needs(self) -> None:
        result = needs_without_apt()
        self.assert_one_line(result, 1, "has no apt")
        self.assertTrue(all(package in result.stderr for package in BUILD))


class PackageTableTest(unittest.TestCase):
    """Which packages exist where, for the distributions that no test can install on here."""

    def setUp(self) -> None:
        self.distributions = packages_of_each_distribution()
        self.needs = needs_without_apt(*GROUPS).stderr.rpartition(": ")[2].split()

    def test_the_four_distributions_of_the_readme_are_there(self) -> None:
        self.assertEqual(list(self.distributions), list(LINTERS))

    def test_every_need_of_setup_can_be_met_in_every_distribution(self) -> None:
        for distribution, packages in self.distributions.items():
            for need in self.needs:
                candidates = need.split("|")  # an optional need ends with an empty candidate
                with self.subTest(distribution=distribution, need=need):
                    self.assertTrue({*packages, ""} & set(candidates))

    def test_it_has_the_packages_of_setup_and_no_others(self) -> None:
        listed = {line.split()[0] for line in TABLE.read_text().splitlines() if line[0] != "#"}
        named = {name for need in self.needs for name in need.split("|") if name}
        self.assertEqual(listed - {"package"}, named)

    def test_the_apt_of_this_host_knows_what_the_table_promises(self) -> None:
        packages = self.distributions.get(this_distribution())
        if packages is None:
            self.skipTest(f"the table has no column for {this_distribution()}")
        known = known_to_apt(packages)
        if "catch2" not in known and "g++" not in known:
            self.skipTest("the lists of apt are empty here")
        self.assertEqual(set(packages) - known, set())


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
        script = f"""
            {SETUP} test >&2; rm /usr/bin/apt-cache /etc/apt/sources.list
            {SETUP} test 2>&1; echo end
        """
        result = self.run_with(BUILD + TEST, script)
        self.assertEqual(result.stdout, "end\n", result.stderr)

    def test_each_distribution_gets_the_packages_that_its_apt_knows(self) -> None:
        for name, packages in packages_of_each_distribution().items():
            wanted = {*BUILD, *TEST, *LINTERS[name].split()} | (
                {*PEERS, *JUDGES, SSH_SERVER, BINDFS, RSYNC} & {*packages}
            )
            wanted |= {"shellcheck", "python3-venv", "libhttp-parser-dev"}
            wanted = wanted - {"util-linux-extra"} | {FINCORE[name]}
            with self.subTest(distribution=name):
                result = self.run_with(packages, f"{SETUP} all >&2; {LIST_INSTALLED}; {SETUP} all")
                self.assertEqual(sorted(result.stdout.split()), sorted(wanted), result.stderr)

    def test_a_package_beside_the_one_that_is_wanted_does_not_stand_in_for_it(self) -> None:
        """On Debian 12 clang-14 installs libclang-common-14-dev, which does not have the fuzzer."""
        script = f"apt-get update; apt-get install -y libclang-common-14-dev; {SETUP} lint"
        debian_12 = packages_of_each_distribution()["debian-12"]
        result = self.run_with(debian_12, f"{{ {script}; }} >&2; {LIST_INSTALLED}")
        self.assertIn("libclang-rt-14-dev", result.stdout.split(), result.stderr)

    def test_no_service_is_started_now_or_with_the_host(self) -> None:
        script = f"{SETUP} test bench >&2; ls /run /etc/rc2.d /usr/sbin/policy-rc.d* || true"
        result = self.run_with(BUILD + TEST + PEERS, script)
        own = [service for package, service in SERVICES.items() if package != SSH_SERVER]
        services = " ".join([*own, "caddy"])
        self.assertIn(f"not started, now or with the host: {services}", result.stderr)
        self.assertNotIn(".start", result.stdout)
        self.assertNotRegex(result.stdout, rf"S\d+({'|'.join(SERVICES.values())})")
        self.assertRegex(result.stdout, r"K\d+redis-server")
        self.assertNotIn("policy-rc.d", result.stdout)

    def test_a_service_of_systemd_only_is_not_started_with_the_host(self) -> None:
        systemctl = "/usr/bin/systemctl"
        script = f"""
            printf '#!/bin/sh\necho "$*" >>/run/asked\n' >{systemctl}; chmod 755 {systemctl}
            {SETUP} bench >&2; cat /run/asked
        """
        result = self.run_with(BUILD + TEST + PEERS, script)
        self.assertIn("--quiet disable caddy\n", result.stdout, result.stderr)

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
        script = f"""
            echo own >{policy}; {SETUP} test >&2; cat {policy}
            mv {policy} {policy}.before-turnstile
            mark=$(sed -n 's/^policy_mark="\\(.*\\)"/\\1/p' {SETUP})
            printf '#!/bin/sh\\n%s\\nexit 101\\n' "$mark" >{policy}; apt-get remove -y strace >&2
            {SETUP} test >&2; cat {policy}; ls {policy}*
        """
        result = self.run_with(BUILD + TEST, script)
        self.assertEqual(result.stdout, f"own\nown\n{policy}\n", result.stderr)

    def test_the_policy_of_a_killed_run_denies_nothing(self) -> None:
        policy = "/usr/sbin/policy-rc.d"
        script = f"""
            mkdir /tmp/killer; printf '#!/bin/sh\nkill -9 $PPID\n' >/tmp/killer/apt-get
            chmod 755 /tmp/killer/apt-get
            PATH=/tmp/killer:$PATH {SETUP} test >&2 || echo killed
            cat {policy} >&2; {policy} redis-server start && echo permitted
            printf '#!/bin/sh\necho "own: $*"\nexit 104\n' >{policy}.before-turnstile
            chmod 755 {policy}.before-turnstile; {policy} redis-server start || echo $?
        """
        result = self.run_with(BUILD + TEST, script)
        self.assertEqual(
            result.stdout.splitlines(),
            ["killed", "permitted", "own: redis-server start", "104"],
            result.stderr,
        )

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
            "apt-get install -y --no-install-recommends curl default-libmysqlclient-dev dpkg-dev",
            result.stderr,
        )
